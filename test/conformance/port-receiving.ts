// Reading a port: by value, blocking, with promises, in batches and in loops.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CLOSED, ClosedError, EMPTY, UsageError } from '../../src/index.ts';
import { STEP_MS, turn, until, within } from '../kit/watchdog.ts';
import { arrivals } from './arrivals.ts';
import { only, type PortWorld } from './port.ts';

/** Messages that must not be taken for "nothing there". */
const NOTHINGS: readonly unknown[] = [null, undefined, 0, -0, false, Number.NaN, '', 0n];

export function portReceiving(world: PortWorld): void {
  const { name, pair, far, threads, blocks } = world;
  const { next, sees, quiet } = arrivals(world);
  const inThreads = only(threads);
  test(`${name}: tryReceive() answers EMPTY, then messages in order, then EMPTY again`, async () => {
    const { a, b } = await pair();
    assert.equal(b.tryReceive(), EMPTY);
    for (let i = 0; i < 100; i++) a.postMessage(i);
    for (let i = 0; i < 100; i++) assert.equal(await next(b), i);
    assert.equal(b.tryReceive(), EMPTY);
    a.close();
    b.close();
  });

  test(`${name}: null, undefined, 0, -0, false, NaN, '' and 0n are messages`, async () => {
    const { a, b } = await pair();
    for (const value of NOTHINGS) a.postMessage(value);
    for (const value of NOTHINGS) assert.ok(Object.is(await next(b), value), String(value));
    for (const value of NOTHINGS) a.postMessage(value);
    for (const value of NOTHINGS) assert.ok(Object.is(await b.receiveAsync(), value), String(value));
    for (const value of NOTHINGS) a.postMessage(value);
    await quiet();
    const many = b.receiveMany(100);
    assert.equal(many.length, NOTHINGS.length);
    for (let i = 0; i < many.length; i++) assert.ok(Object.is(many[i], NOTHINGS[i]));
    a.close();
    b.close();
  });

  only(blocks)(`${name}: receive() returns what is there without waiting, and EMPTY at its time limit`, async () => {
    const { a, b } = await pair();
    a.postMessage('x');
    assert.equal(b.receive(), 'x');
    assert.equal(b.receive({ timeoutMs: 0 }), EMPTY);
    const start = performance.now();
    assert.equal(b.receive({ timeoutMs: 20 }), EMPTY);
    assert.ok(performance.now() - start >= 19, 'it waited for its limit');
    a.close();
    b.close();
  });

  inThreads(`${name}: receive() blocks until a message comes from another thread, on both sides`, async () => {
    const { port, thread } = far((stage) => {
      const port = stage.port();
      for (let value = port.receive(); value !== 'stop'; value = port.receive()) port.send(value);
    });
    for (let i = 0; i < 300; i++) {
      port.postMessage({ i });
      assert.deepEqual(port.receive({ timeoutMs: STEP_MS }), { i });
    }
    port.postMessage('stop');
    await thread.done();
    port.close();
  });

  inThreads(`${name}: a blocked receive() that has gone to sleep is woken by each message`, async () => {
    const { port, thread } = far(
      (stage) => {
        const port = stage.port();
        const values: unknown[] = [];
        let parks = 0;
        let slept = 0;
        for (const value of port.blocking()) {
          values.push(value);
          // A ring may also meet one that has announced its sleep and finds the message when it looks again: that is no sleep.
          if (port.stats().parks > parks) slept++;
          parks = port.stats().parks;
          if (slept >= 5) port.close();
        }
        return values;
      },
      { spinMicroseconds: 0 },
    );
    let sent = 0;
    await until('five messages have found it asleep, and it has closed', () => {
      if (port.reason === undefined) port.postMessage(sent++);
      return port.reason !== undefined;
    });
    const values = (await thread.done()) as unknown[];
    assert.ok(values.length >= 5);
    assert.deepEqual(values, [...Array(values.length).keys()]);
    // Not five: one that comes when a slice of the sleep has just ended finds it awake.
    assert.ok(port.stats().wakes >= 1);
    port.close();
  });

  test(`${name}: receiveAsync() serves those who wait in the order in which they came`, async () => {
    const { a, b } = await pair();
    const waiting = [b.receiveAsync(), b.receiveAsync(), b.receiveAsync()];
    for (const value of ['one', 'two', 'three']) a.postMessage(value);
    assert.deepEqual(await within('three messages', Promise.all(waiting)), ['one', 'two', 'three']);
    a.close();
    b.close();
  });

  test(`${name}: receiveAsync() serves readers before listeners`, async () => {
    const { a, b } = await pair();
    const heard: unknown[] = [];
    b.on('message', (value) => heard.push(value));
    const read = b.receiveAsync();
    a.postMessage('for the reader');
    a.postMessage('for the listener');
    assert.equal(await within('the reader', read), 'for the reader');
    while (heard.length === 0) await turn();
    assert.deepEqual(heard, ['for the listener']);
    a.close();
    b.close();
  });

  test(`${name}: receiveAsync({ timeoutMs }) resolves with EMPTY, and loses no message for the next reader`, async () => {
    const { a, b } = await pair();
    assert.equal(await b.receiveAsync({ timeoutMs: 0 }), EMPTY);
    assert.equal(await within('the time limit', b.receiveAsync({ timeoutMs: 5 })), EMPTY);
    a.postMessage('later');
    assert.equal(await within('a message', b.receiveAsync()), 'later');
    a.close();
    b.close();
  });

  test(`${name}: receiveAsync({ signal }) rejects with the signal's reason and leaves the line`, async () => {
    const { a, b } = await pair();
    const controller = new AbortController();
    const first = b.receiveAsync({ signal: controller.signal });
    const second = b.receiveAsync();
    controller.abort(new Error('enough'));
    await assert.rejects(first, /enough/);
    a.postMessage('for the second');
    assert.equal(await within('the second reader', second), 'for the second');
    await assert.rejects(b.receiveAsync({ signal: AbortSignal.abort(new Error('before')) }), /before/);
    a.close();
    b.close();
  });

  test(`${name}: calls that block take no signal, with or without a time limit, and lose no message by refusing`, async () => {
    const { a, b } = await pair();
    const refused = { code: 'ERR_OPTION', message: /signal is for receiveAsync/ };
    a.postMessage('kept');
    await quiet();
    for (const options of [{ signal: new AbortController().signal }, { signal: AbortSignal.abort(), timeoutMs: 5 }]) {
      assert.throws(() => b.receive(options as never), refused);
      assert.throws(() => b.receiveMany(1, options as never), refused);
    }
    assert.throws(() => b.receive({ timeoutMs: 5, timeout: 5 } as never), { code: 'ERR_OPTION' });
    assert.equal(b.receive({ timeoutMs: 5, signal: undefined } as never), 'kept');
    a.close();
    b.close();
  });

  test(`${name}: receiveMany(max) returns at most max, in order, and [] when nothing comes in time`, async () => {
    const { a, b } = await pair();
    assert.deepEqual(b.receiveMany(10), []);
    for (let i = 0; i < 25; i++) a.postMessage(i);
    await quiet();
    assert.deepEqual(b.receiveMany(10), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    assert.equal(b.receiveMany(100).length, 15);
    for (const max of [0, -1, 1.5, Number.NaN]) {
      assert.throws(
        () => b.receiveMany(max),
        (error) => error instanceof UsageError && error.code === 'ERR_OPTION',
      );
    }
    a.close();
    b.close();
  });

  test(`${name}: for await reads until the peer is gone and everything was read`, async () => {
    const { a, b } = await pair();
    const read: unknown[] = [];
    const loop = (async () => {
      for await (const value of b) read.push(value);
    })();
    for (let i = 0; i < 50; i++) a.postMessage(i);
    await turn();
    for (let i = 50; i < 100; i++) a.postMessage(i);
    a.close();
    await within('the loop to end', loop);
    assert.deepEqual(read, [...Array(100).keys()]);
    b.close();
  });

  test(`${name}: after the peer's close a reader gets what it had sent, then CLOSED for ever`, async () => {
    const { a, b } = await pair();
    a.postMessage(1);
    a.postMessage(2);
    a.close();
    await sees('the end', () => b.reason !== undefined);
    assert.equal(b.receive({ timeoutMs: STEP_MS }), 1);
    assert.equal(b.tryReceive(), 2);
    assert.equal(b.tryReceive(), CLOSED);
    assert.equal(b.receive(), CLOSED);
    assert.equal(await b.receiveAsync(), CLOSED);
    assert.deepEqual(b.receiveMany(5), []);
    assert.equal(await within('closed', b.closed), 'closed');
    b.close();
  });

  test(`${name}: reading after this end's own close() is refused with ClosedError`, async () => {
    const { a, b } = await pair();
    a.postMessage(1);
    b.close();
    const refused = (error: unknown): boolean => error instanceof ClosedError && error.code === 'ERR_CLOSED';
    assert.throws(() => b.tryReceive(), refused);
    assert.throws(() => b.receive(), refused);
    assert.throws(() => b.receiveMany(1), refused);
    await assert.rejects(b.receiveAsync(), refused);
    a.close();
  });

  test(`${name}: own close() settles readers that wait with CLOSED`, async () => {
    const { a, b } = await pair();
    const waiting = [b.receiveAsync(), b.receiveAsync({ timeoutMs: STEP_MS })];
    await turn();
    b.close();
    assert.deepEqual(await within('the readers', Promise.all(waiting)), [CLOSED, CLOSED]);
    a.close();
  });

  test(`${name}: negative, NaN and other wrong time limits are refused with ERR_OPTION`, async () => {
    const { a, b } = await pair();
    const refused = (error: unknown): boolean => error instanceof UsageError && error.code === 'ERR_OPTION';
    for (const timeoutMs of [-1, Number.NaN, Number.NEGATIVE_INFINITY, '5' as never, null as never]) {
      assert.throws(() => b.receive({ timeoutMs }), refused, `receive ${timeoutMs}`);
      await assert.rejects(b.receiveAsync({ timeoutMs }), refused, `receiveAsync ${timeoutMs}`);
      assert.throws(() => b.send(1, { timeoutMs }), refused, `send ${timeoutMs}`);
    }
    // The wrong limit is told also when there was a message to return.
    a.postMessage('kept');
    await quiet();
    assert.throws(() => b.receive({ timeoutMs: -1 }), refused);
    assert.equal(b.receive(), 'kept');
    a.close();
    b.close();
  });
}
