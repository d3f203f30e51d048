// Hostile bytes: 100,000 cases in CI, ten times as many under SOAK=1.
// asked for: node-22, node-24, node-26
// watchdog: 300 s
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attach, type ChannelOptions, CLOSED, channel, EMPTY, MillraceError, type Port } from '../../src/index.ts';
import { CLOSE_CODES } from '../../src/memory/layout.ts';
import { openMapped, openRegion, type Region } from '../../src/memory/region.ts';
import { mappedPair } from '../kit/mapped-pair.ts';
import { cases, eachCase, Random, seed } from '../kit/prng.ts';
import { startThread } from '../kit/thread.ts';
import { turn, within } from '../kit/watchdog.ts';
import { checkPrototypes, honestPayloads, hostileLane, scribble, typed } from './hostile.ts';

const LANE_CASES = cases(98_000, 980_000);
const PORT_CASES = cases(1_900, 38_000);
const MAPPED_CASES = cases(300, 6_000);
const ROUNDS = cases(100, 2_000);

const payloads = honestPayloads(new Random(seed, -1), 300);

for (let from = 0; from < LANE_CASES; from += 14_000) {
  const to = Math.min(LANE_CASES, from + 14_000);
  test(`damaged lanes ${from} to ${to - 1}: only typed errors, nothing outside is touched (SEED=${seed})`, () => {
    eachCase(from, to, (random) => hostileLane(random, payloads));
    checkPrototypes();
  });
}

interface Ends {
  readonly a: Port;
  readonly b: Port;
  readonly region: Region;
}

function sharedEnds(random: Random, options: ChannelOptions): Ends {
  const { port: a, remote } = channel(options);
  const region = openRegion(remote.memory);
  return { a, b: attach(remote, { overflow: random.chance(0.5) ? 'wait' : 'latest' }), region };
}
function mappedEnds(_: Random, options: ChannelOptions): Ends {
  const pair = mappedPair();
  const ports = pair.ports(options);
  return { ...ports, region: openMapped(pair.memory) };
}

/** Random calls on both ports while the region is scribbled on. */
async function hostilePorts(random: Random, open: typeof sharedEnds): Promise<void> {
  const overflow = random.chance(0.5) ? 'wait' : 'latest';
  const options = { capacityBytes: 1024, maxMessageBytes: 4096, outboxBytes: 8192, overflow } as const;
  const { a, b, region } = open(random, options);
  const pending: Promise<unknown>[] = [a.closed, b.closed];
  const keep = (promise: Promise<unknown>): void => {
    promise.catch(() => {});
    pending.push(promise);
  };
  const lost = new Map<Port, boolean>();
  for (const port of [a, b]) {
    port.onmessageerror = ({ data }) => assert.ok(data instanceof MillraceError, String(data));
    if (random.chance(0.3)) port.on('message', () => {});
  }
  for (let step = random.int(5, 40); step > 0; step--) {
    const port = random.pick([a, b]);
    if (random.chance(0.3)) scribble(random, region, random.pick([0, 1]));
    const value = random.chance(0.1) ? 'long'.repeat(400) : { step, text: 'x'.repeat(random.skewed(60)) };
    const goesOn = typed(() => {
      switch (random.int(0, 7)) {
        case 0:
        case 1:
          port.postMessage(value);
          break;
        case 2:
          port.trySend(value);
          break;
        case 3:
        case 4:
          port.tryReceive();
          break;
        case 5:
          keep(port.flush());
          keep(port.drained());
          break;
        case 6:
          keep(port.receiveAsync({ timeoutMs: 5 }));
          break;
        default:
          port.send(value, { timeoutMs: 0 });
      }
    });
    if (!goesOn) lost.set(port, true);
    if (random.chance(0.1)) await turn();
  }
  for (const port of lost.keys()) {
    // `lost`, unless the scribbling had put another reason into the word that says it.
    const reason = await within('closed after damage', Promise.race([port.closed, turn().then(() => turn())]));
    assert.ok(String(reason) in CLOSE_CODES, `closed says ${String(reason)}`);
    // What had been set aside can still be read; then comes the end, for ever.
    let value: unknown = EMPTY;
    for (let i = 0; i < 100 && value !== CLOSED; i++) typed(() => (value = port.tryReceive()));
    assert.equal(value, CLOSED);
  }
  a.close();
  b.close();
  for (const result of await within('every promise', Promise.allSettled(pending))) {
    if (result.status === 'rejected') assert.ok(result.reason instanceof MillraceError, String(result.reason));
  }
}

for (const [kind, count, open] of [
  ['channels', PORT_CASES, sharedEnds],
  ['mapped channels', MAPPED_CASES, mappedEnds],
] as const) {
  for (let from = 0; from < count; from += 950) {
    const to = Math.min(count, from + 950);
    test(`damaged ${kind} ${from} to ${to - 1}: only typed errors, every promise settles (SEED=${seed})`, async () => {
      for (let index = from; index < to; index++) {
        try {
          await hostilePorts(new Random(seed, index), open);
        } catch (cause) {
          throw new Error(`${(cause as Error).message}\n  repeat with SEED=${seed} CASE=${index}`, { cause });
        }
      }
      checkPrototypes();
    });
  }
}

test(`a thread that scribbles while we read and write, ${ROUNDS} channels (SEED=${seed})`, async () => {
  const random = new Random(seed, -2);
  const scribbler = startThread(
    (stage) => {
      const { memories, start } = stage.data;
      let state = start | 1;
      const bits = (): number => (state = (Math.imul(state, 1664525) + 1013904223) | 0) >>> 8;
      const hot = [16, 32, 33, 48, 49, 64, 80, 81, 96, 97, 128, 144, 160, 176, 192, 208];
      memories.forEach((memory: SharedArrayBuffer, round: number) => {
        const words = new Int32Array(memory);
        stage.gates.set(0, round + 1);
        while (stage.gates.get(1) <= round) {
          const word = bits() % 3 === 0 ? (hot[bits() % hot.length] as number) : 256 + (bits() % (words.length - 256));
          const values = [bits() << 8, bits() % 64, (words[word] as number) + 8, (words[word] as number) - 8, -1];
          Atomics.store(words, word, values[bits() % values.length] as number);
        }
      });
    },
    // One memory after the other, all made before: the channels are opened while it writes.
    { data: { memories: makeMemories(), start: seed | 0 } },
  );
  for (let round = 0; round < ROUNDS; round++) {
    await scribbler.gates.passAsync(0);
    while (scribbler.gates.get(0) <= round) await turn();
    const { port: a, remote } = channels[round]!;
    let b: Port | undefined;
    typed(() => {
      b = attach(remote, { overflow: round % 3 === 0 ? 'latest' : 'wait' });
    });
    for (let i = 0; i < 60; i++) {
      typed(() => void a.trySend({ i, text: 'x'.repeat(random.skewed(90)) }));
      typed(() => void b?.tryReceive());
      typed(() => void b?.send('back', { timeoutMs: 0 }));
      typed(() => void a.receive({ timeoutMs: i % 20 === 0 ? 1 : 0 }));
    }
    scribbler.gates.set(1, round + 1);
    a.close();
    b?.close();
    assert.ok(typeof (await within('closed', a.closed)) === 'string');
  }
  await scribbler.done();
  checkPrototypes();
});

const channels: ReturnType<typeof channel>[] = [];
function makeMemories(): SharedArrayBuffer[] {
  for (let i = 0; i < ROUNDS; i++) {
    const overflow = i % 2 === 0 ? 'latest' : 'wait';
    channels.push(channel({ capacityBytes: 1024, maxMessageBytes: 4096, overflow }));
  }
  return channels.map(({ remote }) => remote.memory);
}
