// Requests over a driver that is its own server: what is left of each once it is settled.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rejection } from '../../test/kit/rejection.ts';
import { AddressError, ClosedError, TimeoutError } from '../errors.ts';
import type { Driver, Heard } from './driver.ts';
import { Names } from './names.ts';
import { Requests } from './requests.ts';

const nothing = (): void => {};

/** Each subject has one who hears it. */
function pair(): { requests: Requests; heard: Map<string, Heard>; driver: Driver; lose(): void } {
  let lose = nothing;
  const heard = new Map<string, Heard>();
  const say = (subject: string, bytes: Uint8Array): boolean => {
    heard.get(subject)?.(bytes, subject);
    return heard.has(subject);
  };
  const hears = async (subject: string, told: Heard): Promise<{ close(): void; drain(): Promise<void> }> => {
    heard.set(subject, told);
    return { close: () => void heard.delete(subject), async drain() {} };
  };
  const driver = {
    closed: false,
    up: true,
    isReady: true,
    where: 'here',
    maxBytes: 4096,
    async ready() {},
    async flush() {},
    onDown: (told: () => void) => {
      lose = told;
      return nothing;
    },
    publish: say,
    tellOne: async (subject: string, bytes: Uint8Array, given?: () => boolean) =>
      given?.() === true || say(subject, bytes),
    subscribe: hears,
    share: hears,
  } as Partial<Driver> as Driver;
  return { requests: new Requests(driver, new Names('test')), heard, driver, lose: () => lose() };
}
test('no timer and no listener is left of a request, however it ends', async () => {
  const { requests } = pair();
  await requests.serve('double', (n) => (n as number) * 2, {}, nothing);
  await requests.serve('never', () => new Promise(() => {}), {}, nothing);
  const timers = new Set<unknown>();
  const { setTimeout: set, clearTimeout: clear } = globalThis;
  globalThis.setTimeout = ((told: () => void, ms: number) => {
    const timer = set(told, ms);
    timers.add(timer);
    return timer;
  }) as typeof set;
  globalThis.clearTimeout = (timer) => {
    timers.delete(timer);
    clear(timer as never);
  };
  const { signal, abort } = ((own) => ({ signal: own.signal, abort: () => own.abort() }))(new AbortController());
  let listeners = 0;
  const counted = {
    get aborted() {
      return signal.aborted;
    },
    get reason() {
      return signal.reason;
    },
    throwIfAborted: () => signal.throwIfAborted(),
    addEventListener: (name: 'abort', told: () => void) => {
      listeners++;
      signal.addEventListener(name, told);
    },
    removeEventListener: (name: 'abort', told: () => void) => {
      listeners--;
      signal.removeEventListener(name, told);
    },
  };
  try {
    assert.equal(await requests.request('double', 2, { signal: counted }), 4);
    await assert.rejects(requests.request('nobody', 2, { signal: counted }), AddressError);
    await assert.rejects(requests.request('never', 2, { signal: counted, timeoutMs: 1 }), TimeoutError);
    const given = requests.request('never', 2, { signal: counted });
    assert.equal(listeners, 1);
    abort();
    await assert.rejects(given, { name: 'AbortError' });
    assert.deepEqual([listeners, timers.size], [0, 0]);
  } finally {
    Object.assign(globalThis, { setTimeout: set, clearTimeout: clear });
  }
});

test('who is asked too much says so, and goes on', async () => {
  const { requests } = pair();
  const free: ((value: number) => void)[] = [];
  const answer = (): Promise<number> => new Promise((resolve) => free.push(resolve));
  const served = await requests.serve('slow', answer, { concurrency: 1 }, nothing);
  const first = requests.request('slow', 1);
  await assert.rejects(requests.request('slow', 2), { code: 'ERR_REFUSED' });
  assert.equal(served.pending, 1);
  free[0]?.(7);
  assert.equal(await first, 7);
  const next = requests.request('slow', 3);
  await Promise.resolve();
  free[1]?.(8);
  assert.equal(await next, 8);
});

test('an answer that is none, or of another request, settles nothing; the right one does', async () => {
  const { requests, heard } = pair();
  await requests.serve('double', (n) => (n as number) * 2, {}, nothing);
  await requests.request('double', 1);
  const reply = [...heard].find(([subject]) => !subject.includes('double')) as [string, Heard];
  const asked = requests.request('double', 3);
  reply[1](new Uint8Array(), reply[0]);
  const other = new Uint8Array(40);
  other.set([1, 0, 0, 0, 99, 0, 0, 0, 1]);
  reply[1](other, reply[0]);
  assert.equal(await asked, 6);
});

test('those that wait are told that the server was lost, and others are answered when it is back', async () => {
  const { requests, lose } = pair();
  await requests.serve('never', () => new Promise(() => {}), {}, nothing);
  await requests.serve('double', (n) => (n as number) * 2, {}, nothing);
  const asked = [requests.request('never', 1), requests.request('never', 2)];
  await Promise.resolve();
  lose();
  for (const each of asked)
    await assert.rejects(each, (error: ClosedError) => error instanceof ClosedError && error.reason === 'lost');
  assert.equal(await requests.request('double', 2), 4);
});

test('where answers could not be listened for, the next request listens for them', async () => {
  const { requests, driver } = pair();
  await requests.serve('double', (n) => (n as number) * 2, {}, nothing);
  const { subscribe } = driver;
  driver.subscribe = () => Promise.reject(new AddressError('ERR_LISTEN', 'not allowed'));
  await assert.rejects(requests.request('double', 1), { code: 'ERR_LISTEN' });
  driver.subscribe = subscribe;
  assert.equal(await requests.request('double', 2), 4);
});

test('in JSON, too, an answer is nothing, an error, or that this side is busy', async () => {
  const { requests } = pair();
  const codec = 'json';
  await requests.serve('nothing', () => undefined, {}, nothing);
  assert.equal(await requests.request('nothing', 1, { codec }), null);
  assert.equal(await requests.request('nothing', 1), undefined);
  await requests.serve('throws', () => Promise.reject(new RangeError('too much')), {}, nothing);
  await assert.rejects(requests.request('throws', 1, { codec }), { message: 'too much' });
  await requests.serve('slow', () => new Promise(() => {}), { concurrency: 1 }, nothing);
  void requests.request('slow', 1, { timeoutMs: 1000 }).catch(nothing);
  await assert.rejects(requests.request('slow', 2, { codec }), { code: 'ERR_REFUSED' });
});

test('a request that a getter of its value gives up does not go', async () => {
  const { requests } = pair();
  let asked = 0;
  await requests.serve('count', () => ++asked, {}, nothing);
  for (const codec of ['packed', 'json'] as const) {
    const given = new AbortController();
    const value = {
      get gives() {
        given.abort('given up');
        return 1;
      },
    };
    assert.equal(await rejection(requests.request('count', value, { signal: given.signal, codec })), 'given up');
  }
  assert.equal(asked, 0);
});

test('an answer of which a part is lost is lost at once, whichever part it was', async () => {
  for (let lost = 0; lost < 2; lost++) {
    const { requests, driver } = pair();
    await requests.serve('large', () => 'x'.repeat(10_000), {}, nothing);
    const { publish } = driver;
    let parts = 0;
    driver.publish = (subject, bytes) => parts++ === lost || publish(subject, bytes);
    await assert.rejects(requests.request('large', 1, { timeoutMs: 1000 }), { name: 'ClosedError', reason: 'lost' });
    assert.equal(parts, 3);
  }
});
