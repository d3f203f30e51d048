// A peer that says any frame in any state, to a side whose program does what it likes: whatever comes of it, the connection ends once, nobody
// waits for ever, no more is kept than credit was given, and nothing holds the process. Seeds are printed; SEED and CASE repeat one.
// asked for: node-22, node-24, node-26
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CLOSED, EMPTY, MillraceError } from '../../src/index.ts';
import type { Port } from '../../src/port/port.ts';
import type { StreamChannel } from '../../src/transport/stream/channel.ts';
import * as frames from '../../src/transport/stream/frames.ts';
import { cases, eachCaseAsync, type Random, seed } from '../kit/prng.ts';
import {
  chunk,
  type Frame,
  goodbyeFrame,
  HELLO,
  leavingFrame,
  StreamBench,
  text,
  WINDOW,
} from '../kit/stream-bench.ts';
import { turn, within } from '../kit/watchdog.ts';

interface End {
  readonly port: Port;
  readonly channel: StreamChannel;
}
interface Stage {
  readonly random: Random;
  readonly bench: StreamBench;
  readonly ends: End[];
  readonly waits: Promise<unknown>[];
  /** Of the channels that the peer has opened. */
  readonly theirs: number[];
}

const CASES = cases(1500, 200_000);
test(`any frame in any state, ${CASES} cases (SEED=${seed})`, async () => {
  await eachCaseAsync(0, CASES, async (random) => {
    const answer = random.pick([undefined, () => undefined, () => turn().then(() => undefined)]);
    const initiator = random.chance(0.5);
    const options = { initiator, waitingMax: random.pick([2, 100]), answer: initiator ? undefined : answer };
    const bench = new StreamBench(HELLO, options);
    let ended = 0;
    const stage: Stage = { random, bench, ends: [], waits: [], theirs: [initiator ? 0 : -1] };
    if (random.chance(0.5)) bench.whenFlushed = () => random.chance(0.5);
    for (let i = 0; i < 100 && bench.over === undefined; i++) {
      if (random.chance(0.6)) hear(stage);
      else act(stage);
      if (bench.over !== undefined) ended++;
      if (random.chance(0.05)) await turn();
      for (const { channel } of stage.ends) assert.ok(channel.source.came - channel.source.taken <= WINDOW);
    }
    if (random.chance(0.5)) bench.connection.close();
    else bench.connection.closed('terminated');
    for (const { port } of stage.ends) readOut(port);
    await within('whoever waits', Promise.allSettled(stage.waits));
    assert.deepEqual([bench.connection.channels, bench.held, ended <= 1], [0, 0, true]);
  });
});

/** The peer says something, in chunks that end anywhere. */
function hear(stage: Stage): void {
  const bytes = chunk(frameOf(stage));
  for (let at = 0; at < bytes.length; ) {
    const end = Math.min(bytes.length, at + stage.random.skewed(300) + 1);
    stage.bench.connection.received(bytes.slice(at, end));
    at = end;
  }
}

function frameOf({ random, ends, theirs }: Stage): Frame {
  const often = <T>(value: T, other: () => T): T => (random.chance(0.9) ? value : other());
  const word = (): number =>
    random.pick([0, 1, 8, 16, WINDOW, 2 * WINDOW, -1, 2 ** 31 - 1, -(2 ** 31), random.int(0, 100)]);
  const known = [...ends.map(({ channel }) => channel.number), ...theirs.slice(-2)].filter((number) => number > 0);
  const number = known.length > 0 && random.chance(0.995) ? random.pick(known) : random.int(1, 5);
  const position = (): readonly [number, number] => {
    const sent = ends.length === 0 ? 0 : random.pick(ends).channel.sink.position;
    const at = random.pick([0, sent, sent + WINDOW, sent + WINDOW / 2, frames.ASK_ALL, 2 ** 53, random.int(0, 4000)]);
    return [frames.lowWord(at), frames.highWord(at)];
  };
  const terms = (): number[] => [
    often(WINDOW, word),
    often(4096, word),
    often(0, word),
    often(0, word),
    often(0, word),
  ];
  if (known.length === 0 || random.chance(0.2)) {
    const next = (theirs.at(-1) as number) + 2 * random.int(1, 2);
    theirs.push(next);
    return [frames.OPEN, next, ...terms(), ...text(random.pick(['', 'a', 'b', 'c']))];
  }
  if (random.chance(0.01)) {
    return random.pick([
      goodbyeFrame(word(), '{"name":', word(), word()),
      leavingFrame(word()),
      [frames.HELLO, 0, ...HELLO],
    ]);
  }
  const record = (): number[] => {
    const [length, ...payload] = text(JSON.stringify('x'.repeat(random.skewed(300))));
    return [often(length, word), often(3, () => random.pick([3 | 0x100, 4, 5, 7, 255])), ...payload];
  };
  return random.pick<() => Frame>([
    () => [frames.ACCEPT, number, ...terms(), 0],
    () => [frames.DATA, number, ...Array.from({ length: random.int(0, 3) }, record).flat()],
    () => [frames.DATA, number, ...record()],
    () => [frames.ACK, number, ...position(), ...position(), random.int(0, 5), random.int(0, 2), 0, 0],
    () => [frames.ASK, number, ...position()],
    () => [frames.INTERRUPT, number, often(5, word), 0],
    () => [frames.CLOSE, number, often(1, word), random.int(0, 5)],
    () => [frames.RESET, number, random.pick([1, 3, 4, 5, 6, 256, word()]), ...text('why')],
    () => [frames.PING, 0, 1, 2],
    () => [random.int(128, 255), number, 1, 2],
  ])();
}

function act({ random, bench, ends, waits }: Stage): void {
  const { connection, openings } = bench;
  const take = (channel: StreamChannel): void => {
    const port = bench.portOver(channel);
    ends.push({ port, channel });
    waits.push(port.closed);
  };
  const wants = random.unit();
  try {
    if (wants < 0.2 && openings.length > 0) {
      const opening = openings.shift();
      if (opening !== undefined && random.chance(0.8)) take(connection.accept(opening));
      else opening?.refuse();
    } else if (wants < 0.35 && ends.length < 8) take(connection.open(random.pick(['', 'a', 'b'])));
    else if (wants < 0.36) connection.leave(random.chance(0.5) ? {} : { timeoutMs: 100_000 });
    else if (wants < 0.38) connection.close({ drain: true });
    else if (wants < 0.385) connection.endThread('exit', { code: 3 });
    else if (wants < 0.4) {
      bench.full = !bench.full;
      if (!bench.full) connection.drained();
    } else if (ends.length > 0) use(random, random.pick(ends).port, waits);
  } catch (error) {
    assert.ok(error instanceof MillraceError, String(error));
  }
}

function use(random: Random, port: Port, waits: Promise<unknown>[]): void {
  const value = 'x'.repeat(random.skewed(700));
  random.pick([
    () => port.postMessage(value),
    () => port.postMessage(value),
    () => port.trySend(value),
    () => waits.push(port.flush()),
    () => waits.push(port.drained()),
    () => waits.push(port.receiveAsync().catch(() => {})),
    () => port.tryReceive(),
    () => port.interrupt(3),
    () => random.chance(0.3) && port.close(),
  ])();
}

function readOut(port: Port): void {
  try {
    for (let value = port.tryReceive(); value !== EMPTY && value !== CLOSED; value = port.tryReceive());
  } catch (error) {
    if (!(error instanceof MillraceError)) throw error;
    if (error.code !== 'ERR_CLOSED') readOut(port);
  }
}
