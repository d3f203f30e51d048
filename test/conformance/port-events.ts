// A port as a source of events, in the web's manner and in Node's.
import assert from 'node:assert/strict';
import { on, once } from 'node:events';
import { test } from 'node:test';
import { EMPTY, type PortEvent } from '../../src/index.ts';
import { turn, until, within } from '../kit/watchdog.ts';
import { arrivals } from './arrivals.ts';
import type { PortWorld } from './port.ts';

export function portEvents(world: PortWorld): void {
  const { name, pair } = world;
  const { next, quiet } = arrivals(world);
  test(`${name}: onmessage is given an event with the members that code reads from a MessageEvent`, async () => {
    const { a, b } = await pair();
    const event = await within(
      'a message event',
      new Promise<PortEvent>((resolve) => {
        b.onmessage = resolve;
        a.postMessage({ n: 1 });
      }),
    );
    assert.equal(event.type, 'message');
    assert.deepEqual(event.data, { n: 1 });
    assert.equal(event.target, b);
    assert.equal(event.currentTarget, b);
    assert.equal(event.origin, '');
    assert.equal(event.lastEventId, '');
    assert.equal(event.preventDefault(), undefined);
    assert.equal(event.stopPropagation(), undefined);
    assert.deepEqual([event.cancelable, event.defaultPrevented, event.bubbles, event.composed], Array(4).fill(false));
    assert.deepEqual([event.composedPath()[0] === b, event.srcElement === b, event.eventPhase], [true, true, 2]);
    assert.equal(event.source, null);
    assert.deepEqual(event.ports, []);
    a.close();
    b.close();
  });

  test(`${name}: who begins to listen inside onmessage is handed what comes next, and not the same message again`, async () => {
    const { a, b } = await pair();
    const heard: unknown[] = [];
    const third = new Promise<void>((resolve) => {
      b.onmessage = ({ data }) => {
        heard.push(['first', data]);
        b.onmessage = null;
        b.addEventListener('message', (event) => heard.push(['then', event.data]));
        b.on('message', (value) => {
          heard.push(['raw', value]);
          if (value === 3) resolve();
        });
      };
    });
    for (const value of [1, 2, 3]) a.postMessage(value);
    await within('the third', third);
    assert.deepEqual(heard, [
      ['first', 1],
      ['then', 2],
      ['raw', 2],
      ['then', 3],
      ['raw', 3],
    ]);
    a.close();
    b.close();
  });

  test(`${name}: messages that came before the listener wait for it, and none is dispatched inside start()`, async () => {
    const { a, b } = await pair();
    a.postMessage(1);
    a.postMessage(2);
    const heard: unknown[] = [];
    b.start();
    await turn();
    b.addEventListener('message', (event) => heard.push(event.data));
    b.start();
    assert.deepEqual(heard, [], 'nothing is dispatched synchronously');
    await until('both were heard', () => heard.length === 2);
    assert.deepEqual(heard, [1, 2]);
    a.close();
    b.close();
  });

  test(`${name}: on() is given bare values, once() one of them, off() ends it`, async () => {
    const { a, b } = await pair();
    const always: unknown[] = [];
    const once: unknown[] = [];
    const listener = (value: unknown): void => void always.push(value);
    b.on('message', listener).once('message', (value) => once.push(value));
    for (let i = 0; i < 3; i++) a.postMessage(i);
    await until('three were heard', () => always.length === 3);
    assert.deepEqual([always, once], [[0, 1, 2], [0]]);
    b.off('message', listener);
    a.postMessage('unheard');
    for (let i = 0; i < 3; i++) await turn();
    await quiet();
    assert.equal(always.length, 3);
    assert.equal(await next(b), 'unheard');
    a.close();
    b.close();
  });

  test(`${name}: addEventListener() knows once, signal, handleEvent and doubles; removeEventListener() ends it`, async () => {
    const { a, b } = await pair();
    const calls: string[] = [];
    const twice = (): void => void calls.push('twice');
    const controller = new AbortController();
    const object = { handleEvent: () => calls.push('object') };
    b.addEventListener('message', twice);
    b.addEventListener('message', twice);
    b.addEventListener('message', () => calls.push('once'), { once: true });
    b.addEventListener('message', () => calls.push('signal'), { signal: controller.signal });
    b.addEventListener('message', object);
    b.addEventListener('message', null);
    a.postMessage(1);
    await until('the first was heard', () => calls.length >= 4);
    assert.deepEqual(calls.splice(0), ['twice', 'once', 'signal', 'object']);
    controller.abort();
    b.removeEventListener('message', object);
    a.postMessage(2);
    await until('the second was heard', () => calls.length >= 1);
    await turn();
    assert.deepEqual(calls, ['twice']);
    a.close();
    b.close();
  });

  test(`${name}: other events pass as on any EventTarget, in both manners`, async () => {
    const { a, b } = await pair();
    const seen: unknown[] = [];
    const listener = (event: unknown): void => void seen.push((event as Event).type, (event as Event).target);
    a.addEventListener('custom', listener);
    a.on('custom' as never, listener);
    assert.equal(a.dispatchEvent(new Event('custom', { cancelable: true })), true);
    assert.deepEqual(seen.splice(0), ['custom', a, 'custom', a]);
    a.removeEventListener('custom', listener);
    a.off('custom' as never, listener);
    a.addEventListener('custom', (event) => (event as Event).preventDefault(), { once: true });
    assert.equal(a.dispatchEvent(new Event('custom', { cancelable: true })), false);
    assert.equal(a.dispatchEvent(new Event('custom', { cancelable: true })), true, 'once');
    assert.deepEqual(seen, []);
    assert.throws(() => a.dispatchEvent({ type: 'custom' }), { code: 'ERR_OPTION' });
    for (const wrong of [7, 'text']) {
      assert.throws(() => a.addEventListener('custom', wrong as never), { code: 'ERR_OPTION' });
      assert.throws(() => a.on('custom' as never, wrong as never), { code: 'ERR_OPTION' });
    }
    a.close();
    b.close();
  });

  test(`${name}: dispatchEvent() reaches who listens to message, messageerror and close, and sends nothing`, async () => {
    const { a, b } = await pair();
    for (const type of ['message', 'messageerror', 'close'] as const) {
      const seen: unknown[] = [];
      const event = Object.assign(new Event(type), { data: `data of ${type}`, reason: `reason of ${type}` });
      a[`on${type}`] = (it) => seen.push(it === (event as unknown) && it.target === a);
      a.addEventListener(type, (it) => seen.push(it === (event as unknown)), { once: true });
      a.on(type, (value) => seen.push(value));
      a.dispatchEvent(event);
      assert.deepEqual(seen, [true, true, type === 'close' ? 'reason of close' : `data of ${type}`]);
    }
    await quiet();
    assert.equal(b.tryReceive(), EMPTY);
    assert.equal(a.reason, undefined);
    a.removeAllListeners();
    a.close();
    b.close();
  });

  test(`${name}: once() and on() of node:events wait for messages, close and their signal`, async () => {
    const { a, b } = await pair();
    const first = once(b, 'message');
    a.postMessage('first');
    assert.deepEqual(await within('the first', first), ['first']);
    assert.deepEqual(b.eventNames(), [], 'nothing is left behind');
    const controller = new AbortController();
    const read: unknown[] = [];
    for (const value of ['one', 'two', 'three']) a.postMessage(value);
    const loop = (async () => {
      for await (const [value] of on(b, 'message', { signal: controller.signal })) {
        read.push(value);
        if (read.length === 3) controller.abort();
      }
    })();
    await assert.rejects(within('the loop', loop), { name: 'AbortError' });
    assert.deepEqual(read, ['one', 'two', 'three']);
    assert.deepEqual(b.eventNames(), [], 'nothing is left behind');
    assert.equal(b.hasRef(), false);
    const end = once(b, 'close');
    a.close();
    assert.deepEqual(await within('the end', end), ['closed']);
    b.close();
  });

  test(`${name}: the methods of an EventEmitter that Node's MessagePort has`, async () => {
    const { a, b } = await pair();
    const heard: unknown[] = [];
    const listener = (value: unknown): void => void heard.push(value);
    assert.deepEqual([b.eventNames(), b.listenerCount('message')], [[], 0]);
    assert.equal(b.addListener('message', listener), b);
    b.once('message', listener);
    b.onmessage = ({ data }) => heard.push(`onmessage ${data}`);
    b.addEventListener('close', listener);
    b.on('error' as never, listener);
    assert.deepEqual(b.eventNames().sort(), ['close', 'error', 'message']);
    assert.deepEqual([b.listenerCount('message'), b.listenerCount('close')], [3, 1]);
    a.postMessage('x');
    await until('it was heard', () => heard.length === 3);
    assert.deepEqual(heard.splice(0), ['onmessage x', 'x', 'x']);
    assert.equal(b.listenerCount('message'), 2);
    assert.equal(b.removeListener('message', listener), b);
    assert.equal(b.listenerCount('message'), 1);
    assert.equal(b.hasRef(), true);
    assert.equal(b.removeAllListeners('message'), b);
    assert.deepEqual([b.onmessage, b.listenerCount('message'), b.hasRef()], [null, 0, false]);
    assert.deepEqual(b.eventNames().sort(), ['close', 'error']);
    b.removeAllListeners();
    assert.deepEqual(b.eventNames(), []);
    for (const type of ['message', 'nobody'] as const) b.off(type as 'message', listener);
    a.postMessage('unheard');
    for (let i = 0; i < 3; i++) await turn();
    await quiet();
    assert.deepEqual(heard, []);
    assert.equal(await next(b), 'unheard');
    a.close();
    b.close();
  });

  test(`${name}: a listener taken away by an earlier one does not run; the signal of a spent one takes no later one away`, async () => {
    const { a, b } = await pair();
    const heard: unknown[] = [];
    const late = (value: unknown): void => void heard.push(['late', value]);
    const first = (): void => void b.off('message', late);
    b.on('message', first).on('message', late);
    const controller = new AbortController();
    const listener = ({ data }: PortEvent): void => void heard.push(data);
    b.addEventListener('message', listener, { once: true, signal: controller.signal });
    a.postMessage(1);
    await until('the first was heard', () => heard.length > 0);
    b.off('message', first);
    b.addEventListener('message', listener);
    controller.abort();
    assert.equal(b.hasRef(), true);
    a.postMessage(2);
    await until('the second was heard', () => heard.length > 1);
    assert.deepEqual(heard, [1, 2]);
    b.removeEventListener('message', listener);
    const last = new AbortController();
    b.addEventListener('message', listener, { signal: last.signal });
    assert.equal(b.hasRef(), true);
    last.abort();
    assert.equal(b.hasRef(), false, 'an aborted signal lets the process go');
    a.close();
    b.close();
  });

  test(`${name}: microtasks of one message run before the next: m1 micro1 m2 micro2`, async () => {
    const { a, b } = await pair();
    const order: string[] = [];
    b.on('message', (value) => {
      order.push(`m${value}`);
      queueMicrotask(() => order.push(`micro${value}`));
    });
    for (let i = 1; i <= 3; i++) a.postMessage(i);
    await until('all were heard', () => order.length === 6);
    assert.deepEqual(order, ['m1', 'micro1', 'm2', 'micro2', 'm3', 'micro3']);
    a.close();
    b.close();
  });

  test(`${name}: an event that a listener stops comes to nobody after it, and the next one does`, async () => {
    const { a, b } = await pair();
    const heard: unknown[] = [];
    b.addEventListener('message', (event) => {
      heard.push(`first ${event.data}`);
      if (event.data === 1) event.stopImmediatePropagation();
    });
    b.addEventListener('message', ({ data }) => heard.push(`second ${data}`));
    b.on('message', (data) => heard.push(`third ${data}`));
    b.onmessage = (event) => {
      if (event.data === 0) event.stopImmediatePropagation();
    };
    for (let i = 0; i < 3; i++) a.postMessage(i);
    await until('all were heard', () => heard.length >= 4);
    assert.deepEqual(heard, ['first 1', 'first 2', 'second 2', 'third 2']);
    a.close();
    b.close();
  });

  test(`${name}: close comes once, with its reason, after the last message, in both manners`, async () => {
    const { a, b } = await pair();
    const order: unknown[] = [];
    b.on('message', (value) => order.push(value));
    b.on('close', (reason) => order.push(`on ${reason}`));
    b.onclose = (event) => order.push(`onclose ${event.reason}`);
    b.addEventListener('close', (event) => order.push(`listener ${(event as never as PortEvent).reason}`));
    for (let i = 0; i < 3; i++) a.postMessage(i);
    a.close();
    await until('close was heard', () => order.length >= 6);
    for (let i = 0; i < 3; i++) await turn();
    assert.deepEqual(order, [0, 1, 2, 'onclose closed', 'on closed', 'listener closed']);
    assert.equal(await within('closed', b.closed), 'closed');
    b.close();
    await turn();
    assert.equal(order.length, 6, 'closing this end as well tells nothing anew');
  });

  test(`${name}: own close() also tells close, later`, async () => {
    const { a, b } = await pair();
    let told = 0;
    a.onclose = () => void told++;
    a.close();
    assert.equal(told, 0);
    await until('close was heard', () => told > 0);
    assert.equal(await within('closed', a.closed), 'closed');
    b.close();
  });
}
