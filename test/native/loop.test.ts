// Bells and watches in one process: what is told, what is refused, and what stays of it.
// runtimes: node
// needs: native
import assert from 'node:assert/strict';
import { closeSync, openSync, writeSync } from 'node:fs';
import process from 'node:process';
import { test } from 'node:test';
import { BELL, EDGE, OVER, READABLE, WRITABLE } from '../../src/native/primitives.ts';
import { codeOf, descriptors, native } from '../kit/native.ts';
import { turn, until } from '../kit/watchdog.ts';

const pair = (): [number, number] => {
  const ends = new Int32Array(2);
  native.socketPair(ends);
  return [ends[0]!, ends[1]!];
};

test('a bell is drained of all its rings at once', () => {
  const bell = native.createBell();
  assert.equal(native.drain(bell), false);
  for (let i = 0; i < 3; i++) native.ring(bell);
  assert.equal(native.drain(bell), true);
  assert.equal(native.drain(bell), false);
  native.close(bell);
  assert.equal(
    codeOf(() => native.ring(bell)),
    'EBADF',
  );
  assert.equal(
    codeOf(() => native.drain(bell)),
    'EBADF',
  );
});

test('a bell can be told from what is none', () => {
  const bell = native.createBell();
  const [one, other] = pair();
  const file = openSync('/dev/null', 'r+');
  const region = native.createMemory(4096);
  assert.equal(native.isBell(bell), true);
  for (const fd of [one, other, file, region, 1 << 30]) assert.equal(native.isBell(fd), false);
  for (const fd of [bell, one, other, file, region]) native.close(fd);
});

test('a watch calls once for what was rung before it looks, and again later', async () => {
  const bell = native.createBell();
  let calls = 0;
  native.ring(bell);
  const watch = native.watch(bell, READABLE | BELL, () => calls++);
  native.ring(bell);
  await until('it is called', () => calls === 1);
  await turn();
  assert.equal(calls, 1);
  native.ring(bell);
  await until('it is called again', () => calls === 2);
  assert.equal(native.unwatch(watch), true);
  native.ring(bell);
  await turn();
  await turn();
  assert.equal(calls, 2);
  assert.equal(native.unwatch(watch), false);
  assert.equal(
    codeOf(() => native.rewatch(watch, READABLE)),
    'ERR_WATCH_CLOSED',
  );
  assert.equal(
    codeOf(() => native.holdLoop(watch, true)),
    'ERR_WATCH_CLOSED',
  );
  native.close(bell);
});

test('of a bell each ring is told once by edges, and none is read but the first', async () => {
  const bell = native.createBell();
  let calls = 0;
  const watch = native.watch(bell, READABLE | BELL | EDGE, () => calls++);
  const told = async (count: number): Promise<void> => {
    await until(`it is told of ring ${count}`, () => calls >= count);
    for (let i = 0; i < 3; i++) await turn();
    assert.equal(calls, count);
  };
  for (let ring = 1; ring <= 3; ring++) {
    native.ring(bell);
    await told(ring);
  }
  assert.equal(native.drain(bell), true);
  native.rewatch(watch, 0);
  native.ring(bell);
  await told(3);
  native.rewatch(watch, READABLE | BELL | EDGE);
  await told(4);
  assert.equal(native.drain(bell), false);
  native.ring(bell);
  await told(5);
  assert.equal(native.drain(bell), true);
  native.unwatch(watch);
  assert.equal(
    codeOf(() => native.watch(bell, READABLE | EDGE, () => {})),
    'ERR_ARGUMENT',
  );
  native.close(bell);
});

test('a bell that is told of by edges may have been rung before, be silenced by others, and be full', async () => {
  const bell = native.createBell();
  native.ring(bell);
  native.ring(bell);
  let calls = 0;
  const watch = native.watch(bell, READABLE | BELL | EDGE, () => calls++);
  const told = async (count: number): Promise<void> => {
    await until(`it is told ${count} times`, () => calls >= count);
    for (let i = 0; i < 3; i++) await turn();
    assert.equal(calls, count);
  };
  await told(1);
  assert.equal(native.drain(bell), false);
  native.ring(bell);
  assert.equal(native.drain(bell), true);
  await told(1);
  native.ring(bell);
  await told(2);
  // What it was told of stays for who waits without the event loop, for once.
  const table = Int32Array.of(bell, READABLE, 0);
  assert.equal(native.poll(table, 1, 0), 1);
  assert.equal(native.drain(bell), true);
  assert.equal(native.poll(table, 1, 0), 0);
  native.ring(bell);
  assert.equal(native.poll(table, 1, 0), 1);
  await told(3);
  // As much as there may be of it: who fills it rings no more, and is not held up.
  assert.equal(native.drain(bell), true);
  writeSync(bell, new Uint8Array(BigUint64Array.of(2n ** 64n - 2n).buffer));
  await told(4);
  native.ring(bell);
  await told(4);
  assert.equal(native.drain(bell), true);
  native.ring(bell);
  await told(5);
  native.unwatch(watch);
  native.close(bell);
});

test('promises of a call are settled behind it, not a turn later', async () => {
  const bell = native.createBell();
  const order: string[] = [];
  const watch = native.watch(bell, READABLE | BELL, () => {
    setImmediate(() => order.push('immediate'));
    Promise.resolve().then(() => order.push('promise'));
    process.nextTick(() => order.push('tick'));
  });
  native.ring(bell);
  await until('all are called', () => order.length === 3);
  assert.deepEqual(order, ['tick', 'promise', 'immediate']);
  native.unwatch(watch);
  native.close(bell);
});

test('a descriptor that is closed meanwhile, and its number given away, does no harm', async () => {
  let calls = 0;
  const watches: number[] = [];
  for (let i = 0; i < 50; i++) {
    const bell = native.createBell();
    watches.push(native.watch(bell, READABLE | BELL, () => calls++));
    // Before libuv has looked at it for the first time, and after that.
    if (i % 2 === 0) await turn();
    native.close(bell);
    const other = openSync('/dev/null', 'r');
    await turn();
    closeSync(other);
  }
  assert.equal(calls, 0);
  for (const watch of watches) native.unwatch(watch);
  await turn();
});

test('a watch may close itself, and another one, in its call', async () => {
  const bell = native.createBell();
  const calls: string[] = [];
  const watches = ['a', 'b', 'c'].map((name) =>
    native.watch(bell, READABLE, () => {
      calls.push(name);
      for (const watch of watches) native.unwatch(watch);
      native.drain(bell);
    }),
  );
  native.ring(bell);
  await until('one is called', () => calls.length > 0);
  await turn();
  await turn();
  assert.equal(calls.length, 1);
  native.close(bell);
});

test('what is readable and writable is told apart, and a pause is one', async () => {
  const [one, other] = pair();
  const told: number[] = [];
  const watch = native.watch(one, READABLE, (events) => {
    told.push(events);
    native.rewatch(watch, 0);
  });
  await turn();
  assert.deepEqual(told, []);
  native.send(other, Uint8Array.of(1));
  await until('it is readable', () => told.length === 1);
  native.rewatch(watch, WRITABLE);
  await until('it is writable', () => told.length === 2);
  native.rewatch(watch, READABLE | WRITABLE);
  await until('it is both', () => told.length === 3);
  await turn();
  assert.deepEqual(told, [READABLE, WRITABLE, READABLE | WRITABLE]);
  native.unwatch(watch);
  for (const fd of [one, other]) native.close(fd);
});

test('the end of the other side is told as readable', async () => {
  const [one, other] = pair();
  const told: number[] = [];
  const watch = native.watch(one, READABLE, (events) => {
    told.push(events);
    if (native.receive(one, new Uint8Array(10)) === 0) native.unwatch(watch);
  });
  native.close(other);
  await until('it is told', () => told.length > 0);
  await turn();
  assert.deepEqual(told, [READABLE]);
  native.close(one);
});

test('a watch of what turns out broken says so once', async () => {
  // A socket that was reset has an error pending: bytes that the other side never read were lost with it.
  const [one, other] = pair();
  native.send(one, new Uint8Array(10));
  const told: number[] = [];
  const watch = native.watch(one, READABLE, (events) => {
    told.push(events);
    if ((events & OVER) === 0 && codeOf(() => native.receive(one, new Uint8Array(1))) === 'ECONNRESET') return;
    native.unwatch(watch);
  });
  native.close(other);
  await until('it is told', () => told.length > 0);
  await turn();
  assert.ok(told.length <= 2, String(told));
  native.unwatch(watch);
  native.close(one);
});

test('what can not be watched is refused', () => {
  const before = descriptors().length;
  const file = openSync('/proc/self/status', 'r');
  const folder = openSync('/tmp', 'r');
  assert.equal(
    codeOf(() => native.watch(folder, READABLE, () => {})),
    'EPERM',
  );
  for (const fd of [file, folder]) closeSync(fd);
  assert.equal(
    codeOf(() => native.watch(1 << 30, READABLE, () => {})),
    'EBADF',
  );
  const bell = native.createBell();
  const wrong = [
    () => native.watch(bell, 8, () => {}),
    () => native.watch(bell, BELL, () => {}),
    () => native.watch(bell, BELL | WRITABLE, () => {}),
    () => native.watch(bell, READABLE, undefined as unknown as () => void),
  ];
  for (const call of wrong) assert.throws(call, { name: 'TypeError', code: 'ERR_ARGUMENT' });
  for (const none of [-1, 7, 2 ** 31 - 1]) assert.equal(native.unwatch(none), false);
  native.close(bell);
  assert.equal(descriptors().length, before);
});

test('many watches come and go, and leave no descriptor', async () => {
  const before = descriptors().length;
  const bell = native.createBell();
  for (let i = 0; i < 20; i++) {
    const watches = Array.from({ length: 50 }, () => native.watch(bell, READABLE | BELL, () => {}));
    if (i % 2 === 0) await turn();
    for (const watch of watches) assert.equal(native.unwatch(watch), true);
    await turn();
  }
  native.close(bell);
  await until('all are closed', () => descriptors().length <= before);
});
