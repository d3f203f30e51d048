// Ports over a byte stream against arrays: chunks that fall anywhere and come late, a wire that is cut at any byte, bytes that
// somebody changes on the way. Seeds are printed; SEED and CASE repeat one.
// asked for: node-22, node-26
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CLOSED, EMPTY, MillraceError, type Port } from '../../src/index.ts';
import { FrameReader } from '../../src/transport/stream/frame-reader.ts';
import {
  ACCEPT,
  BEHIND_BYTES_MAX,
  BODY_BYTES,
  CHANNEL_MAX,
  DATA,
  FRAME_HEADER_BYTES,
  frameHead,
  HELLO,
  OPEN,
} from '../../src/transport/stream/frames.ts';
import { cases, eachCase, eachCaseAsync, Random, seed } from '../kit/prng.ts';
import { type StreamPair, streamPair } from '../kit/stream-pair.ts';
import { randomValue } from '../kit/values.ts';
import { within } from '../kit/watchdog.ts';

const WINDOW = 1024;
const TYPES = [...Object.keys(BODY_BYTES).map(Number), DATA, 128, 255];

/** A few honest frames, and what a reader should tell of them. */
function someFrames(random: Random): { bytes: Uint8Array; told: string[] } {
  const bytes: number[] = [];
  const told: string[] = [];
  for (let i = random.int(1, 8); i > 0; i--) {
    const type = random.pick(TYPES);
    const behind = type === DATA ? 240 : (BEHIND_BYTES_MAX[type] ?? (type >= 128 ? 256 : 0));
    const length = (BODY_BYTES[type] ?? 0) + 8 * random.int(0, behind / 8);
    const channel = random.int(0, CHANNEL_MAX);
    const body = Uint8Array.from({ length }, () => random.bits());
    bytes.push(...new Uint8Array(Int32Array.of(frameHead(type, length), channel).buffer), ...body);
    told.push(`${type} ${channel} ${body}`);
  }
  return { bytes: Uint8Array.from(bytes), told };
}

function listener(): { reader: FrameReader; told: string[] } {
  const told: string[] = [];
  let data: number[] = [];
  let head = '';
  const reader = new FrameReader({
    control: (type, channel, words) => {
      told.push(`${type} ${channel} ${new Uint8Array(words.slice().buffer)}`);
    },
    dataBegins: (channel) => {
      head = `${DATA} ${channel}`;
      data = [];
    },
    data: (bytes, start, end) => void data.push(...bytes.subarray(start, end)),
    dataEnds: () => void told.push(`${head} ${data}`),
  });
  return { reader, told };
}

const FRAME_CASES = cases(3000, 200_000);
test(`frames are the same however the bytes are cut, ${FRAME_CASES} streams (SEED=${seed})`, () => {
  eachCase(0, FRAME_CASES, (random) => {
    const { bytes, told } = someFrames(random);
    const { reader, told: heard } = listener();
    for (let at = 0; at < bytes.length; ) {
      const end = Math.min(bytes.length, at + random.skewed(40) + 1);
      reader.feed(bytes.subarray(at, end));
      at = end;
    }
    assert.deepEqual(heard, told);
    assert.equal(reader.between, true);
  });
});

test('any two chunks: a stream cut once, at each of its bytes', () => {
  const { bytes, told } = someFrames(new Random(seed));
  for (let cut = 0; cut <= bytes.length; cut++) {
    const { reader, told: heard } = listener();
    reader.feed(bytes.subarray(0, cut));
    reader.feed(bytes.subarray(cut));
    assert.deepEqual(heard, told, `cut at ${cut}`);
  }
});

interface Side {
  readonly port: Port;
  sent: number;
  read: number;
  /** Highest number before each flush that has come true. */
  flushed: number;
}

function side(port: Port): Side {
  return { port, sent: 0, read: 0, flushed: 0 };
}

function text(random: Random): string {
  return 'x'.repeat(random.chance(0.05) ? random.int(0, 5000) : random.skewed(100));
}

/** One step of one side: sends, reads, or asks to be told. */
function act(random: Random, from: Side, to: Side): void {
  const what = random.int(0, 9);
  if (what < 4) {
    // Behind the end it would be dropped in silence.
    if (from.port.reason === undefined) from.port.postMessage([from.sent++, text(random)]);
  } else if (what < 5) {
    if (from.port.trySend([from.sent, text(random)])) from.sent++;
  } else if (what < 9) read(from, to);
  else {
    const upTo = from.sent;
    void from.port.flush().then(
      () => {
        assert.ok(to.read >= upTo, `flush() of ${upTo} came true when ${to.read} were read`);
        from.flushed = Math.max(from.flushed, upTo);
      },
      () => {},
    );
  }
}

function read(reader: Side, writer: Side): boolean {
  const value = reader.port.tryReceive();
  if (value === EMPTY || value === CLOSED) return false;
  assert.equal((value as [number])[0], reader.read);
  reader.read++;
  assert.ok(reader.read <= writer.sent);
  return true;
}

const PORT_CASES = cases(60, 5000);
test(`two ports over a wire that delivers late, ${PORT_CASES} cases (SEED=${seed})`, async () => {
  await eachCaseAsync(0, PORT_CASES, async (random) => {
    const pair = streamPair(
      { capacityBytes: WINDOW },
      { random, chunkMax: random.pick([1, 10, 500, 5000]), bufferBytes: random.pick([1, 300, 3000, 1e9]) },
    );
    const ends = pair.channels();
    const { a, b } = pair.portsOf(ends);
    const [left, right] = [side(a), side(b)];
    pair.wire.delayed = true;
    for (let step = 0; step < 300; step++) {
      if (random.chance(0.5)) act(random, left, right);
      else act(random, right, left);
      for (let i = random.skewed(20); i > 0 && pair.wire.step(); i--);
      if (random.chance(0.2)) await undefined;
    }
    // What lies unread is bounded by the credit, and the memory for it by twice that, however much has gone through.
    for (const { source } of ends) {
      assert.ok(source.came - source.taken <= WINDOW);
      assert.ok(source.came === 0 || source.views.bytes.length <= 2 * WINDOW);
    }
    const wanted = [left.sent, right.sent];
    const flushes = Promise.all([a.flush(), b.flush()]);
    await within(
      'everything',
      (async () => {
        while (left.read < wanted[1]! || right.read < wanted[0]!) {
          while (pair.wire.step());
          read(left, right);
          read(right, left);
          await undefined;
        }
      })(),
    );
    for (let done = false; !done; await undefined) {
      void flushes.then(() => {
        done = true;
      });
      while (pair.wire.step());
      await undefined;
    }
    assert.deepEqual([left.flushed <= right.read, right.flushed <= left.read], [true, true]);
    a.close();
    while (pair.wire.step());
    assert.equal(b.tryReceive(), CLOSED);
    assert.equal(a.stats().undelivered + b.stats().undelivered, 0);
    b.close();
    while (pair.wire.step());
    await undefined;
    assert.deepEqual([pair.connections[0].channels, pair.connections[1].channels], [0, 0]);
    assert.equal(pair.wire.held, 0);
  });
});

/** Something of everything on two channels; ends when the wire does, or with the last message. */
async function session(pair: StreamPair): Promise<readonly Side[]> {
  const one = pair.ports();
  const two = pair.ports();
  const sides = [one.a, one.b, two.a, two.b].map(side);
  const random = new Random(7);
  const peerOf = (i: number): Side => sides[i ^ 1] as Side;
  for (let step = 0; step < 60; step++) {
    const i = random.int(0, 3);
    try {
      act(random, sides[i] as Side, peerOf(i));
    } catch (error) {
      assert.ok(error instanceof MillraceError, String(error));
      assert.notEqual((sides[i] as Side).port.reason, undefined);
    }
  }
  const waits = sides.map(({ port }) => port.drained().catch(() => {}));
  for (const { port } of [sides[0]!, sides[3]!]) port.close();
  for (const [i, each] of sides.entries())
    if (each.port.reason === undefined || i % 3 !== 0) while (tryRead(each, peerOf(i)));
  for (const { port } of [sides[1]!, sides[2]!]) port.close();
  await within('whoever waited', Promise.all([...waits, ...sides.map(({ port }) => port.closed)]));
  return sides;
}

function tryRead(reader: Side, writer: Side): boolean {
  try {
    return read(reader, writer);
  } catch (error) {
    assert.ok(error instanceof MillraceError, String(error));
    return false;
  }
}

test('a wire that is cut at any byte: what came is a beginning of what was sent, and everybody hears of the end', async () => {
  const whole = streamPair({ capacityBytes: WINDOW }, { random: new Random(1), chunkMax: 64 });
  await session(whole);
  const total = whole.wire.carried;
  assert.ok(total > 2000, `${total} bytes`);
  const opened = (BODY_BYTES[OPEN] as number) + (BODY_BYTES[ACCEPT] as number);
  const greetings = 2 * (FRAME_HEADER_BYTES + (BODY_BYTES[HELLO] as number)) + 2 * (2 * FRAME_HEADER_BYTES + opened);
  for (let at = greetings; at < total; at += at < greetings + 200 ? 1 : 13) {
    const pair = streamPair({ capacityBytes: WINDOW }, { random: new Random(1), chunkMax: 64, cutAfter: at });
    const sides = await session(pair);
    for (const { port } of sides)
      assert.ok(['closed', 'terminated'].includes(port.reason as string), `${port.reason} at ${at}`);
    assert.deepEqual([pair.connections[0].channels, pair.connections[1].channels], [0, 0], `cut at ${at}`);
    assert.equal(pair.wire.held, 0);
  }
});

const HOSTILE_CASES = cases(300, 50_000);
test(`changed bytes: typed errors only, and everybody hears of the end, ${HOSTILE_CASES} cases (SEED=${seed})`, async () => {
  await eachCaseAsync(0, HOSTILE_CASES, async (random) => {
    let quiet = random.int(0, 40);
    const spoil = (bytes: Uint8Array): void => {
      if (quiet-- > 0) return;
      quiet = random.int(0, 20);
      for (let i = random.int(1, 4); i > 0; i--) bytes[random.int(0, bytes.length - 1)] = random.bits();
    };
    const pair = streamPair(
      { capacityBytes: WINDOW, maxMessageBytes: 4096 },
      { random, chunkMax: random.pick([3, 64, 4096]) },
    );
    const { a, b } = pair.ports();
    pair.wire.spoil = spoil;
    for (let step = 0; step < 60; step++) {
      const port = random.pick([a, b]);
      try {
        if (random.chance(0.6)) port.postMessage(randomValue(random, { budget: 10, large: 100, causes: false }));
        else port.tryReceive();
      } catch (error) {
        assert.ok(error instanceof MillraceError, String((error as Error)?.stack));
      }
      if (random.chance(0.1)) await undefined;
    }
    a.close();
    b.close();
    assert.notEqual(await within('the end', a.closed), undefined);
    assert.notEqual(await within('the end', b.closed), undefined);
  });
});
