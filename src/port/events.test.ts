import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Listeners, PortEvent } from './events.ts';

const event = new PortEvent('message', 'the port', 'data', []);
const unexpected = (error: unknown): never => {
  throw error;
};

test('web listeners are given the event with the port as this, raw ones the bare value, in the order they came', () => {
  const listeners = new Listeners();
  const calls: unknown[] = [];
  listeners.add(function (this: unknown, it) {
    calls.push(['web', this, it.data]);
  }, false);
  listeners.addRaw((value) => calls.push(['raw', value]), false);
  listeners.add({ handleEvent: (it) => calls.push(['object', it.type]) }, false);
  listeners.emit(event, 'raw value', unexpected);
  assert.deepEqual(calls, [
    ['web', 'the port', 'data'],
    ['raw', 'raw value'],
    ['object', 'message'],
  ]);
});

test('the same web listener counts once, the same raw one each time; removal takes the latter one by one', () => {
  const listeners = new Listeners();
  let calls = 0;
  const listener = (): void => void calls++;
  listeners.add(listener, false);
  listeners.add(listener, false);
  listeners.addRaw(listener, false);
  listeners.addRaw(listener, false);
  assert.equal(listeners.count, 3);
  listeners.remove(listener, true);
  listeners.emit(event, 0, unexpected);
  assert.equal(calls, 2);
  listeners.remove(listener, false);
  listeners.remove(listener, true);
  listeners.remove(listener, true);
  assert.equal(listeners.count, 0);
});

test('a once listener is gone before it is called', () => {
  const listeners = new Listeners();
  let calls = 0;
  listeners.addRaw(() => {
    if (++calls < 5) listeners.emit(event, 0, unexpected);
  }, true);
  listeners.emit(event, 0, unexpected);
  assert.equal(calls, 1);
});

test('each listener that throws is told of, and the others are called all the same', () => {
  const listeners = new Listeners();
  const errors: unknown[] = [];
  let calls = 0;
  listeners.add(() => {
    throw new Error('first');
  }, false);
  listeners.addRaw(() => calls++, false);
  listeners.addRaw(() => {
    throw new Error('third');
  }, false);
  listeners.emit(event, 0, (error) => errors.push((error as Error).message));
  assert.deepEqual([errors, calls], [['first', 'third'], 1]);
});

test('who is added while an event goes round hears the next one', () => {
  const listeners = new Listeners();
  let calls = 0;
  listeners.addRaw(() => listeners.addRaw(() => calls++, false), true);
  listeners.emit(event, 0, unexpected);
  assert.equal(calls, 0);
  listeners.emit(event, 0, unexpected);
  assert.equal(calls, 1);
});

test('a listener that an earlier one has taken away is not called any more; a once listener that is called is', () => {
  const listeners = new Listeners();
  const calls: string[] = [];
  const second = (): void => void calls.push('second');
  const third = (): void => void calls.push('third');
  listeners.addRaw(() => {
    calls.push('first');
    listeners.remove(second, false);
    listeners.remove(third, true);
  }, true);
  listeners.add(second, true);
  listeners.addRaw(third, false);
  listeners.addRaw(() => calls.push('fourth'), true);
  listeners.emit(event, 0, unexpected);
  assert.deepEqual(calls, ['first', 'fourth']);
  assert.equal(listeners.count, 0);
  listeners.addRaw(() => listeners.clear(), false);
  listeners.addRaw(() => calls.push('cleared'), false);
  listeners.emit(event, 0, unexpected);
  assert.deepEqual(calls, ['first', 'fourth']);
});

test('an aborted signal takes away what came with it, and nothing that came later', () => {
  let changes = 0;
  const listeners = new Listeners(() => changes++);
  let calls = 0;
  const listener = (): void => void calls++;
  const spent = new AbortController();
  listeners.add(listener, true, spent.signal);
  listeners.emit(event, 0, unexpected);
  listeners.add(listener, false);
  const before = changes;
  spent.abort();
  assert.deepEqual([listeners.count, changes], [1, before], 'the one of the spent listener');
  listeners.remove(listener, false);
  const removed = new AbortController();
  listeners.add(listener, false, removed.signal);
  listeners.remove(listener, false);
  listeners.add(listener, false);
  removed.abort();
  assert.equal(listeners.count, 1, 'the one of a removed listener');
  const own = new AbortController();
  listeners.add({ handleEvent: () => own.abort() }, false, own.signal);
  listeners.add({ handleEvent: listener }, false, own.signal);
  listeners.emit(event, 0, unexpected);
  assert.deepEqual([listeners.count, calls], [1, 2], 'aborted while the event goes round');
});

test('a listener with what is no signal is not added, nor one whose signal speaks while it is listened to', () => {
  const listeners = new Listeners();
  assert.throws(() => listeners.add(() => {}, false, new AbortController() as never), TypeError);
  assert.equal(listeners.count, 0);
  const signal = {
    aborted: false,
    throwIfAborted() {},
    addEventListener: (_: 'abort', told: () => void) => told(),
    removeEventListener() {},
  };
  listeners.add(() => {}, false, signal);
  assert.equal(listeners.count, 0);
});

test('a signal that outlives its listeners keeps none of them', () => {
  const listeners = new Listeners();
  let held = 0;
  const signal = {
    aborted: false,
    throwIfAborted(): void {},
    addEventListener: () => void held++,
    removeEventListener: () => void held--,
  };
  const each = [() => {}, () => {}, () => {}];
  for (const [i, listener] of each.entries()) listeners.add(listener, i === 0, signal);
  assert.equal(held, 3);
  listeners.emit(event, 0, unexpected);
  listeners.remove(each[1], false);
  listeners.clear();
  assert.equal(held, 0);
});
