// Messages that lie beside the ring, in memory of their sender's (lane/annex.ts): order, limits, the end and damage are as ever.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KIND_ELSEWHERE } from '../../src/frame/header.ts';
import { attach, CLOSED, channel, EMPTY, LayoutError, type Port } from '../../src/index.ts';
import { Annex, type AnnexSink } from '../../src/lane/annex.ts';
import { ANNEX_BYTES, ANNEX_MESSAGE_MIN } from '../../src/limits.ts';
import { openRegion, viewsOf } from '../../src/memory/region.ts';
import { Producer } from '../../src/ring/producer.ts';
import { Random, seed } from '../kit/prng.ts';
import { startThread } from '../kit/thread.ts';
import { within } from '../kit/watchdog.ts';

const LARGE = 2 * ANNEX_MESSAGE_MIN;

function bytes(length: number, salt: number): Uint8Array {
  const made = new Uint8Array(length);
  for (let i = 0; i < length; i += 61) made[i] = i + salt;
  if (length > 0) made[length - 1] = salt;
  return made;
}

function same(found: unknown, length: number, salt: number): void {
  assert.ok(found instanceof Uint8Array);
  assert.deepEqual([found.length, found.byteOffset, found.buffer.byteLength], [length, 0, length]);
  assert.ok(Buffer.from(found.buffer).equals(Buffer.from(bytes(length, salt).buffer as ArrayBuffer)), `salt ${salt}`);
}

function open(options?: Parameters<typeof channel>[0]): [Port, Port, { readonly memory: SharedArrayBuffer }] {
  const { port, remote } = channel(options);
  return [port, attach(remote), remote];
}

test('every length about the smallest, the middle and the longest arrives as it was, small ones between', () => {
  const [near, far] = open();
  let salt = 0;
  for (const middle of [ANNEX_MESSAGE_MIN, LARGE, ANNEX_BYTES / 2, ANNEX_BYTES]) {
    for (const length of [middle - 100, middle - 1, middle, middle + 1, 10, middle + 70]) {
      near.postMessage(bytes(length, ++salt));
      near.postMessage({ salt, text: 'λ'.repeat(length >>> 3) });
      let found: unknown;
      while ((found = far.tryReceive()) === EMPTY) assert.equal(near.tryReceive(), EMPTY);
      same(found, length, salt);
      while ((found = far.tryReceive()) === EMPTY) assert.equal(near.tryReceive(), EMPTY);
      assert.deepEqual(found, { salt, text: 'λ'.repeat(length >>> 3) });
    }
  }
  near.close();
  far.close();
});

test(`random lengths in random bursts, taken at random, arrive in order (SEED=${seed})`, () => {
  const random = new Random(seed, 30);
  const [near, far] = open({ outboxBytes: 256 * 1024 * 1024 });
  const under: number[] = [];
  let salt = 0;
  let taken = 0;
  const take = (): void => {
    const found = far.tryReceive();
    if (found === EMPTY) assert.equal(near.tryReceive(), EMPTY);
    else same(found, under[taken] as number, ++taken & 255);
  };
  for (let round = 0; round < 150; round++) {
    for (let left = random.int(0, 12); left > 0; left--) {
      const length = random.chance(0.3)
        ? random.int(0, 2000)
        : random.int(0, random.chance(0.05) ? 3_000_000 : 300_000);
      if (random.chance(0.5)) near.postMessage(bytes(length, ++salt & 255));
      else if (near.trySend(bytes(length, (salt + 1) & 255))) salt++;
      else continue;
      under.push(length);
    }
    for (let left = random.int(0, 14); left > 0 && taken < salt; left--) take();
  }
  while (taken < salt) take();
  near.close();
  far.close();
});

test('trySend() refuses when there is no more room; a quarter taken, there is', async () => {
  const [near, far] = open();
  let sent = 0;
  while (near.trySend(bytes(LARGE, sent & 255))) sent++;
  assert.ok(sent >= ANNEX_BYTES / LARGE / 2, `${sent} went in`);
  assert.equal(near.full, true);
  const room = near.drained();
  for (let taken = 0; taken < sent / 2; taken++) same(far.tryReceive(), LARGE, taken & 255);
  await within('room', room);
  assert.equal(near.trySend(bytes(LARGE, 1)), true);
  near.close();
  far.close();
});

test('what is sent inside cork() is seen before a quarter of the annex is passed by', () => {
  const [near, far] = open();
  near.postMessage(bytes(LARGE, 0));
  same(far.tryReceive(), LARGE, 0);
  near.cork(() => {
    for (let i = 0; i < ANNEX_BYTES / LARGE / 4 + 2; i++) near.postMessage(bytes(LARGE, i));
    same(far.tryReceive(), LARGE, 0);
  });
  near.close();
  far.close();
});

test('what was sent before the end is read behind it', () => {
  const [near, far] = open();
  for (let i = 0; i < 100; i++) near.postMessage(bytes(LARGE, i));
  near.close();
  for (let i = 0; i < 100; i++) same(far.receive(), LARGE, i);
  assert.equal(far.receive(), CLOSED);
});

test('a getter that asks the port whether it is full, and one that throws, leave the message before as it was', () => {
  const [near, far] = open();
  for (let i = 0; i < 5; i++) near.postMessage(bytes(LARGE, i));
  const asks = {
    first: bytes(LARGE, 5),
    get second() {
      same(far.tryReceive(), LARGE, 0);
      return near.full;
    },
    third: bytes(LARGE, 6),
  };
  near.postMessage(asks);
  const throws = {
    first: bytes(LARGE, 7),
    get second() {
      throw new RangeError('mine');
    },
  };
  assert.throws(() => near.postMessage(throws), { message: 'mine' });
  for (let i = 1; i < 5; i++) same(far.tryReceive(), LARGE, i);
  const { first, second, third } = far.tryReceive() as { first: unknown; second: unknown; third: unknown };
  same(first, LARGE, 5);
  assert.equal(second, false);
  same(third, LARGE, 6);
  near.close();
  far.close();
});

test('between threads that block, both ways at once', async () => {
  const count = 400;
  const { port, remote } = channel();
  const far = startThread(
    (stage) => {
      const back = stage.port();
      for (let i = 0; i < stage.data.count; i++) back.send(back.receive());
    },
    { remote, data: { count } },
  );
  let received = 0;
  for (let i = 0; i < count; i++) {
    const length = 1000 + ((i * 7919) % 250_000);
    port.send(bytes(length, i & 255));
    for (let value = port.tryReceive(); value !== EMPTY; value = port.tryReceive()) {
      assert.equal((value as Uint8Array).length, 1000 + ((received * 7919) % 250_000));
      assert.equal((value as Uint8Array).at(-1), received++ & 255);
    }
  }
  while (received < count) assert.equal((port.receive() as Uint8Array).at(-1), received++ & 255);
  await far.done();
  port.close();
  await far.kill();
});

for (const [what, words] of [
  ['a length below zero', [-8, 4, 0, 0]],
  ['a length past the memory', [ANNEX_BYTES + 8, 4, 0, 0]],
  ['a place before the memory', [64, 4, 0, -64]],
  ['a place past the memory', [64, 4, 0, ANNEX_BYTES]],
  ['a memory that was never handed over', [64, 4, 1, 0]],
  ['a record that is too short', [64, 4]],
] as const) {
  test(`damage: ${what}`, () => {
    const [near, far, { memory }] = open();
    // More than the ring holds.
    for (let i = 0; i < 6; i++) near.postMessage(bytes(LARGE, i));
    for (let i = 0; i < 6; i++) same(far.tryReceive(), LARGE, i);
    const lane = openRegion(memory).lanes[0];
    const hostile = new Producer(lane, undefined, true);
    const write = (record: readonly number[]): void => {
      lane.words.set(record, hostile.tryClaim(record.length * 4) >>> 2);
      hostile.commit(record.length * 4, KIND_ELSEWHERE);
    };
    // What lies in the memory is looked at, and is no message.
    write([64, 4, 0, 0]);
    assert.throws(() => far.tryReceive(), { code: 'ERR_DECODE' });
    write(words);
    assert.throws(() => far.tryReceive(), LayoutError);
    assert.equal(far.tryReceive(), CLOSED);
    near.close();
    far.close();
  });
}

test('a small ring has none, and where there is no memory for one messages go in parts', () => {
  const [near, far] = open({ capacityBytes: 64 * 1024 });
  near.postMessage(bytes(100_000, 1));
  assert.ok(near.stats().outboxBytes > 0, 'a part of it waits');
  let found: unknown;
  while ((found = far.tryReceive()) === EMPTY) assert.equal(near.tryReceive(), EMPTY);
  same(found, 100_000, 1);
  near.close();
  far.close();
  let asked = 0;
  const refused = new Annex({} as AnnexSink, {
    held: true,
    lend() {
      asked++;
      return undefined;
    },
  });
  assert.equal(refused.takes(LARGE), false);
  assert.equal(refused.takes(LARGE), false);
  assert.equal(asked, 1, 'memory is asked for once');
});

test('no message lies in memory that the reader has not said it holds', () => {
  const lending = { lend: () => viewsOf(new SharedArrayBuffer(1024)), held: false };
  const annex = new Annex({} as AnnexSink, lending);
  assert.equal(annex.takes(100_000), false);
  lending.held = true;
  assert.equal(annex.takes(100_000), true);
});
