// Real bytes of memory between processes, damaged by a generator: what is said on the line of descriptors, with what comes beside it, and what stands in a
// channel's memory and in the page of a link. A case is one connection; its peer is by hand (test/kit/memory-peer.ts).
import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { CLOSED, EMPTY, MillraceError } from '../../src/index.ts';
import { openMapped, type Region } from '../../src/memory/region.ts';
import { connect, type Listener, listen, type Port } from '../../src/process/index.ts';
import { FULL, Producer } from '../../src/ring/producer.ts';
import { DONE, LEFT, LENT, NO_REGION, REGION, TETHER } from '../../src/transport/process/memory-link.ts';
import * as frames from '../../src/transport/stream/frames.ts';
import { MemoryPeer } from '../kit/memory-peer.ts';
import { descriptors } from '../kit/native.ts';
import { Random } from '../kit/prng.ts';
import { WINDOW } from '../kit/stream-bench.ts';
import { until, within } from '../kit/watchdog.ts';
import { honestPayloads, scribble, typed } from './hostile.ts';
import { damageTopicLine, damageTopicMemory } from './topic-damage.ts';

/** Damaged inputs of one connection at the most: most end it sooner on the line, and hardly any in memory. */
const LINE_INPUTS = 12;
const MEMORY_INPUTS = 60;
const NUMBERS = [0, 1, 2, 3, 4, 98, -1, 2 ** 31 - 1];
const WORDS = [0, 1, -1, 2, 3, 7, 8, 61, 64, 4096, 2 ** 22, 2 ** 22 + 1, 2 ** 30, 2 ** 31 - 1, -(2 ** 31)];
/** Descriptors that sockets which are on their way out may still have. */
const SLACK = 40;

export type Kind = 'line' | 'memory' | 'topic-line' | 'topic-memory';
/** One connection of each; how many inputs it had. */
const CASES: Readonly<Record<Kind, (stage: Stage) => Promise<number>>> = {
  line: damageLine,
  memory: damageMemory,
  'topic-line': damageTopicLine,
  'topic-memory': damageTopicMemory,
};
export interface Found {
  readonly kind: Kind;
  readonly inputs: number;
  readonly connections: number;
  /** How its connections ended, before the end that each is given. */
  readonly ended: Record<string, number>;
}

/** One connection by hand, and one of this process with itself, which has to go on. */
export interface Stage {
  readonly random: Random;
  readonly peer: MemoryPeer;
  readonly main: Port;
  readonly other: Port;
}

const step = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** @param inputs so many at the least */
export async function damaged(kind: Kind, seed: number, inputs: number): Promise<Found> {
  const server = await listen(join(tmpdir(), `millrace-damaged-${process.pid}-${kind}.sock`));
  const ports = server[Symbol.asyncIterator]();
  const taken = ports.next();
  const near = await connect(server.address);
  const far = (await taken).value as Port;
  const had = descriptors().length;
  const ended: Record<string, number> = {};
  let done = 0;
  let connections = 0;
  for (; done < inputs; connections++) {
    const random = new Random(seed, connections);
    try {
      const { count, end } = await oneCase(kind, random, server, ports);
      done += count;
      ended[end] = (ended[end] ?? 0) + 1;
      if (connections % 100 === 0) {
        near.postMessage(connections);
        assert.equal(await within('the other connection', far.receiveAsync()), connections);
        assert.ok(descriptors().length <= had + SLACK, `${had} descriptors are ${descriptors().length}`);
      }
    } catch (cause) {
      throw new Error(`${(cause as Error).message}\n  repeat with SEED=${seed}, connection ${connections}`, { cause });
    }
  }
  await until('no descriptor is left', () => descriptors().length <= had);
  near.close();
  await server.close();
  return { kind, inputs: done, connections, ended };
}

async function oneCase(
  kind: Kind,
  random: Random,
  server: Listener,
  ports: AsyncIterator<Port, undefined>,
): Promise<{ count: number; end: string }> {
  const peer = await MemoryPeer.to(server.address.slice('unix:'.length));
  const taken = ports.next();
  await peer.met();
  const main = (await within('a connection', taken)).value as Port;
  const other = main.link!.channel('other', { capacityBytes: WINDOW });
  for (const port of [main, other]) port.onmessageerror = ({ data }) => assert.ok(data instanceof MillraceError);
  const stage = { random, peer, main, other };
  let count = 0;
  try {
    await peer.heard(frames.OPEN);
    count = await CASES[kind](stage);
    const { link } = main;
    const end = link!.reason ?? 'open';
    if (end === 'lost') assert.ok(link!.error instanceof MillraceError, `it ended with ${String(link!.error)}`);
    return { count, end };
  } finally {
    peer.close();
    main.close();
    other.close();
    await within('the ends', Promise.all([main.closed, other.closed, main.link!.closed]));
  }
}

// ---- the line ------------------------------------------------------------------------------------------------------

interface Message {
  words: number[];
  descriptors: number[];
}

function honest({ random, peer }: Stage): Message {
  const left = (): number => {
    const descriptor = peer.memory(64);
    const { buffer } = peer.map(descriptor, 64);
    new Int32Array(buffer).set([3, 8, 0, 0, 3, 16]);
    if (random.chance(0.5)) spoil(random, new Uint8Array(buffer));
    return descriptor;
  };
  const region = (): [number, number] => {
    const { descriptor, words, bytes } = peer.region();
    if (random.chance(0.5)) spoil(random, new Uint8Array(words.buffer, 0, 1024));
    return [descriptor, bytes];
  };
  switch (random.int(0, 5)) {
    case 0: {
      const [descriptor, bytes] = region();
      return { words: [REGION, 2, bytes], descriptors: [descriptor] };
    }
    case 1:
      return { words: [LEFT, 1, 64, 2], descriptors: [left()] };
    case 2:
      return { words: [LENT, 1, 4096, random.int(0, 3), random.int(0, 2)], descriptors: [peer.memory(4096)] };
    case 3:
      return { words: [DONE, 1], descriptors: [] };
    case 4:
      return { words: [TETHER, 0], descriptors: [peer.memory(8)] };
    default:
      return { words: [NO_REGION, 2, 12], descriptors: [] };
  }
}
function spoil(random: Random, bytes: Uint8Array): void {
  for (let i = random.int(1, 4); i > 0; i--) bytes[random.int(0, bytes.length - 1)] = random.bits();
}

async function damageLine(stage: Stage): Promise<number> {
  const { random, peer, main } = stage;
  if (random.chance(0.5)) peer.accept(2);
  let count = 0;
  while (count < LINE_INPUTS && main.link!.reason === undefined && !peer.over) {
    const { words, descriptors } = honest(stage);
    const all = Int32Array.from({ length: 8 }, (_, i) => words[i] ?? 0);
    for (let i = random.int(0, 2); i > 0; i--) {
      if (random.chance(0.4)) all[1] = random.pick(NUMBERS);
      else if (random.chance(0.5)) all[random.int(0, 4)] = random.pick(WORDS);
      else all[random.int(0, 4)]! ^= 1 << random.int(0, 31);
    }
    if (random.chance(0.1)) descriptors.push(peer.memory(8));
    if (random.chance(0.1)) descriptors.pop();
    if (random.chance(0.02)) descriptors.push(...Array<number>(9).fill(peer.memory(8)));
    const length = random.chance(0.03) ? random.int(1, 31) : 32;
    peer.write(new Uint8Array(all.buffer, 0, length), descriptors);
    count++;
    if (random.chance(0.7)) peer.ring();
    if (random.chance(0.5)) await step();
    read(stage);
  }
  peer.ring();
  await step();
  return count;
}

// ---- memory --------------------------------------------------------------------------------------------------------

let payloads: ReturnType<typeof honestPayloads> | undefined;

async function damageMemory(stage: Stage): Promise<number> {
  const { random, peer, other } = stage;
  payloads ??= honestPayloads(new Random(1, -1), 300);
  const { words } = peer.share(2);
  await within('a channel', other.ready);
  const region = openMapped(words.buffer as ArrayBuffer) as Region;
  const producer = new Producer(region.lanes[0]);
  let count = 0;
  for (; count < MEMORY_INPUTS && other.reason === undefined && !peer.over; count++) {
    const { kind, bytes } = random.pick(payloads);
    typed(() => {
      if (bytes.length > producer.maxPayload) return;
      const offset = producer.tryClaim(bytes.length);
      if (offset === FULL) return;
      region.views.bytes.set(bytes, offset);
      producer.commit(bytes.length, kind);
    });
    // Lanes; then park words, seats, ends, and all else that is no lane's; and the page.
    const what = random.int(0, 3);
    if (what < 2) scribble(random, region, random.int(0, 1) as 0 | 1);
    else if (what === 2) words[random.int(0, 255)] = random.pick(WORDS);
    else peer.page[random.int(0, peer.page.length - 1)] = random.pick([...WORDS, random.bits()]);
    if (random.chance(0.5)) peer.ring();
    if (random.chance(0.1)) await step();
    read(stage);
  }
  return count;
}

/** What a program does meanwhile: only errors of ours come of it. */
function read({ random, main, other }: Stage): void {
  for (const port of [main, other]) {
    typed(() => {
      if (random.chance(0.5)) port.postMessage('x'.repeat(random.skewed(600)));
    });
    for (let i = 0; i < 20; i++) {
      let value: unknown = EMPTY;
      typed(() => {
        value = port.tryReceive();
      });
      if (value === EMPTY || value === CLOSED) break;
    }
    typed(() => {
      if (random.chance(0.1)) port.receive({ timeoutMs: 0 });
    });
  }
}
