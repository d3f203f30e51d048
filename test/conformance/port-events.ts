// A port as a source of events, in the web's manner and in Node's.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type PortEvent, UsageError } from '../../src/index.ts';
import { turn, until, within } from '../kit/watchdog.ts';
import type { PortWorld } from './port.ts';

export function portEvents({ name, pair }: PortWorld): void {
  test(`${name}: onmessage is given an event with the members that code reads from a MessageEvent`, async () => {
    const { a, b } = pair();
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
    assert.equal(event.source, null);
    assert.deepEqual(event.ports, []);
    a.close();
    b.close();
  });

  test(`${name}: messages that came before the listener wait for it, and none is dispatched inside start()`, async () => {
    const { a, b } = pair();
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
    const { a, b } = pair();
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
    assert.equal(always.length, 3);
    assert.equal(b.tryReceive(), 'unheard');
    a.close();
    b.close();
  });

  test(`${name}: addEventListener() knows once, signal, handleEvent and doubles; removeEventListener() ends it`, async () => {
    const { a, b } = pair();
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

  test(`${name}: other events pass as on any EventTarget; on() refuses names that no port has`, () => {
    const { a, b } = pair();
    const seen: string[] = [];
    const listener = (event: unknown): void => void seen.push((event as Event).type);
    a.addEventListener('custom', listener);
    a.dispatchEvent(new Event('custom'));
    a.removeEventListener('custom', listener);
    a.dispatchEvent(new Event('custom'));
    assert.deepEqual(seen, ['custom']);
    assert.throws(
      () => a.on('mesage' as never, () => {}),
      (error) => error instanceof UsageError && error.code === 'ERR_OPTION',
    );
    a.close();
    b.close();
  });

  test(`${name}: microtasks of one message run before the next: m1 micro1 m2 micro2`, async () => {
    const { a, b } = pair();
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

  test(`${name}: close comes once, with its reason, after the last message, in both manners`, async () => {
    const { a, b } = pair();
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
    const { a, b } = pair();
    let told = 0;
    a.onclose = () => void told++;
    a.close();
    assert.equal(told, 0);
    await until('close was heard', () => told > 0);
    assert.equal(await within('closed', a.closed), 'closed');
    b.close();
  });
}
