// What calls do over every port, whatever is under it: run over a world of ports whose ends are on one event loop.
import assert from 'node:assert/strict';
import process from 'node:process';
import { test } from 'node:test';
import { CodecError, type Port, UsageError } from '../../src/index.ts';
import {
  currentCall,
  expose,
  type Reference,
  reference,
  registerError,
  release,
  transfer,
  within,
  wrap,
} from '../../src/rpc/index.ts';
import { rejection } from '../kit/rejection.ts';
import type { PortWorld } from './port.ts';
import { only } from './port.ts';

export class TooDeep extends RangeError {
  readonly depth: number = 7;
}
registerError(TooDeep, 'test.TooDeep');

/** With fields that cannot be cloned, of its own and of its cause. */
function odd(): TooDeep {
  const cause = Object.assign(new TypeError('because'), { cannot: () => 1 });
  return Object.assign(new TooDeep('too deep', { cause }), { code: 'E_ODD', socket: { write: () => 1 } });
}

class Base {
  inherited(): string {
    return 'inherited';
  }
}
/** What most tests call. */
export class Api extends Base {
  readonly own = (): string => 'own';
  readonly sub: Reference<{ deep(): string }> = reference({ deep: () => 'deep' });
  readonly plain = { hidden: (): string => 'hidden' };
  readonly events: string[] = [];
  readonly held: Set<unknown> = new Set();

  get accessor(): () => string {
    return () => 'accessor';
  }
  add(a: number, b: number): number {
    return a + b;
  }
  async later(value: number): Promise<number> {
    await null;
    return value * 2;
  }
  echo<T>(value: T): T {
    return value;
  }
  fail(): never {
    throw new TooDeep('too deep', { cause: new TypeError('because') });
  }
  async all(values: AsyncIterable<unknown>): Promise<unknown[]> {
    const all: unknown[] = [];
    for await (const value of values) all.push(value);
    return [...all, () => all.length];
  }
  odd(): unknown {
    return odd();
  }
  async failLater(what: unknown): Promise<never> {
    await null;
    throw what;
  }
  async each<T, R>(list: readonly T[], change: (value: T) => R | Promise<R>): Promise<R[]> {
    const all: R[] = [];
    for (const value of list) all.push(await change(value));
    return all;
  }
  keep(callback: (value: unknown) => unknown): void {
    this.held.add(callback);
  }
  async *count(to: number): AsyncGenerator<number> {
    try {
      for (let i = 0; i < to; i++) yield i;
      this.events.push('done');
    } finally {
      this.events.push('finally');
    }
  }
  *letters(text: string): Generator<string> {
    yield* text;
  }
  async sum(values: AsyncIterable<number>): Promise<number> {
    let all = 0;
    for await (const value of values) all += value;
    return all;
  }
  counter(from: number): Reference<{ next(): number }> {
    let at = from;
    return reference({ next: () => at++ });
  }
  user(id: number): { id: number; name: { first: string } } {
    return { id, name: { first: `u${id}` } };
  }
  uncloneable(): unknown {
    return { a: [1, { b: new WeakMap() }] };
  }
  forever(): Promise<never> {
    const { signal } = currentCall();
    return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  }
}

const AGAIN = { timeoutMs: 10_000 };

/** Turns of the event loop until something is so; a watchdog of the test's file ends one that never is. */
export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 1));
}

export function callsConformance(world: PortWorld): void {
  const pair = async (): Promise<{ a: Port; b: Port; api: Api; remote: ReturnType<typeof wrap<Api>> }> => {
    const { a, b } = await world.pair();
    const api = new Api();
    expose(api, b);
    return { a, b, api, remote: wrap<Api>(a) };
  };
  const given = (name: string, body: (it: Awaited<ReturnType<typeof pair>>) => Promise<void>): unknown =>
    test(`${world.name}: ${name}`, async () => {
      const it = await pair();
      try {
        await body(it);
      } finally {
        it.a.close();
        it.b.close();
      }
    });

  given('a call returns a promise of what the function returns', async ({ remote }) => {
    assert.equal(await remote.add(1, 2), 3);
    assert.equal(await remote.later(4), 8);
    assert.equal(await remote.own(), 'own');
    assert.equal(await remote.inherited(), 'inherited');
    assert.equal(await remote.echo(undefined), undefined);
    assert.equal(await remote.echo(null), null);
    assert.deepEqual(await remote.echo({ list: [1, -0, new Map([[1, new Date(5)]])] }), {
      list: [1, -0, new Map([[1, new Date(5)]])],
    });
  });

  given('what was exposed is no function itself: to call it rejects, and hangs nobody', async ({ remote }) => {
    const error = await rejection((remote as unknown as () => Promise<unknown>)());
    assert.ok(error instanceof UsageError && error.code === 'ERR_NO_METHOD', String(error));
  });

  given('many calls of one turn are answered, each its own', async ({ remote }) => {
    const all = await Promise.all(Array.from({ length: 1000 }, (_, i) => remote.add(i, 1)));
    assert.deepEqual(
      all,
      Array.from({ length: 1000 }, (_, i) => i + 1),
    );
  });

  given('an error arrives as one of its class, with message, cause, fields and stack', async ({ remote }) => {
    const error = await rejection(remote.fail());
    assert.ok(error instanceof TooDeep && error instanceof RangeError);
    assert.equal(error.message, 'too deep');
    assert.equal(error['depth'], 7);
    assert.match(String(error.stack), /fail/);
    assert.ok(error.cause instanceof TypeError);
    assert.equal((error.cause as Error).message, 'because');
    for (const what of [undefined, null, 0, 'text', { code: 1 }]) {
      await assert.rejects(remote.failLater(what), (thrown) => {
        assert.deepEqual(thrown, what);
        return true;
      });
    }
  });

  given('nothing can be called but what is exposed', async ({ remote, api }) => {
    const wild = remote as unknown as Record<
      string,
      ((...values: unknown[]) => Promise<unknown>) & Record<string, () => Promise<unknown>>
    >;
    const names = [
      'accessor',
      '__defineGetter__',
      '__lookupGetter__',
      'isPrototypeOf',
      'nothing',
      '',
      'plain',
      'events',
    ];
    for (const name of names) {
      const error = await rejection(wild[name]!());
      assert.equal(error['code'], 'ERR_NO_METHOD', name);
      assert.ok(error instanceof UsageError);
    }
    assert.equal((await rejection(wild['plain']!['hidden']!()))['code'], 'ERR_NO_METHOD');
    assert.equal((await rejection(wild['events']!['push']!()))['code'], 'ERR_NO_METHOD');
    assert.deepEqual(api.events, []);
    assert.equal(wild['then'], undefined);
  });

  given('what is exposed as a reference is called in place', async ({ remote }) => {
    assert.equal(await remote.sub.deep(), 'deep');
    const counter = await remote.counter(5);
    assert.deepEqual([await counter.next(), await counter.next()], [5, 6]);
    release(counter);
    await assert.rejects(counter.next(), { code: 'ERR_NO_METHOD' });
  });

  given('functions among the arguments are called from there, also deep within', async ({ remote }) => {
    assert.deepEqual(await remote.each([1, 2], async (n) => Number(n) * 10), [10, 20]);
    const kept = await remote.echo({ a: [{ twice: (n: number) => n * 2 }] });
    assert.equal(await (kept as unknown as { a: [{ twice(n: number): Promise<number> }] }).a[0].twice(4), 8);
    const own = (): string => 'mine';
    assert.equal(await remote.echo(own), own);
  });

  given('fields of an Error that cannot be cloned stay behind, wherever it stands', async ({ remote }) => {
    const wild = remote as unknown as Record<string, (...values: unknown[]) => Promise<unknown>>;
    const looked = async (error: unknown): Promise<void> => {
      assert.ok(error instanceof TooDeep, String(error));
      const { message, depth, code, socket, cause } = error as TooDeep & Record<string, unknown>;
      assert.deepEqual([message, depth, code, socket], ['too deep', 7, 'E_ODD', undefined]);
      assert.ok(cause instanceof TypeError && cause.message === 'because', String(cause));
    };
    await looked(await wild['failLater']!(odd()).catch((error: unknown) => error));
    await looked(await wild['echo']!(odd()));
    // Beside a function, for which all is looked through.
    const [error, deep, call] = (await wild['echo']!([odd(), { deep: odd() }, () => 5])) as [
      unknown,
      { deep: unknown },
      () => unknown,
    ];
    await looked(error);
    await looked(deep.deep);
    assert.equal(await call(), 5);
    await looked(await wild['odd']!());
    async function* errors(): AsyncGenerator<unknown> {
      yield odd();
      yield { deep: odd(), beside: () => 1 };
    }
    const [first, second] = (await wild['all']!(errors())) as [unknown, { deep: unknown }];
    await looked(first);
    await looked(second.deep);
    // What else cannot be cloned is told of all the same.
    const symbol = await rejection(wild['echo']!(odd(), Symbol('no')));
    assert.deepEqual([symbol['name'], symbol['code']], ['DataCloneError', 'ERR_DATA_CLONE']);
    assert.match(String(symbol['message']), /argument 2 of echo/);
  });

  given('a callback for the time of its call cannot be called behind it', async ({ remote, api }) => {
    await within(remote, { callbacks: 'call' }).keep(() => 1);
    const [callback] = api.held as Set<() => Promise<unknown>>;
    await assert.rejects(callback!(), { code: 'ERR_NO_METHOD' });
  });

  given('what is read and called of a result goes along with its call', async ({ a, remote }) => {
    await remote.add(0, 0);
    const before = a.stats().sent;
    const wild = remote as unknown as {
      user(id: number): { name: { first: Promise<string> } };
      counter(n: number): { next(): Promise<number> };
    };
    const [first, next] = [wild.user(3).name.first, wild.counter(8).next()];
    assert.deepEqual(await Promise.all([first, next]), ['u3', 8]);
    assert.equal(a.stats().sent, before + 1);
    const call = wild.user(4);
    await call;
    assert.equal(await call.name.first, 'u4');
    await assert.rejects(
      Promise.resolve((wild.user(5) as unknown as { toString2: { x: Promise<unknown> } }).toString2.x),
      { code: 'ERR_NO_METHOD' },
    );
  });

  given('generators are read with for await, each way', async ({ remote, api }) => {
    const numbers: number[] = [];
    for await (const n of remote.count(500)) numbers.push(n);
    assert.deepEqual(
      numbers,
      Array.from({ length: 500 }, (_, i) => i),
    );
    assert.deepEqual(api.events, ['done', 'finally']);
    const letters: string[] = [];
    for await (const letter of await remote.letters('abc')) letters.push(letter);
    assert.deepEqual(letters, ['a', 'b', 'c']);
    async function* mine(): AsyncGenerator<number> {
      for (let i = 1; i <= 100; i++) yield i;
    }
    assert.equal(await remote.sum(mine()), 5050);
  });

  given('a reader that breaks ends the generator, a slow one holds it', async ({ remote, api }) => {
    let read = 0;
    for await (const _ of await remote.count(1_000_000)) if (++read === 3) break;
    await until(() => api.events.length > 0);
    assert.deepEqual(api.events, ['finally']);
  });

  given('a ReadableStream goes each way, and an error ends it once', async ({ remote }) => {
    const source = new ReadableStream<number>({
      start(controller) {
        for (let i = 0; i < 5; i++) controller.enqueue(i);
        controller.close();
      },
    });
    const back = (await remote.echo(source)) as unknown as ReadableStream<number>;
    assert.ok(back instanceof ReadableStream);
    const got: number[] = [];
    const reader = back.getReader();
    for (let step = await reader.read(); !step.done; step = await reader.read()) got.push(step.value);
    assert.deepEqual(got, [0, 1, 2, 3, 4]);
    async function* failing(): AsyncGenerator<number> {
      yield 1;
      throw new TooDeep('in the middle');
    }
    const error = await rejection(remote.sum(failing()));
    assert.ok(error instanceof TooDeep);
  });

  given('what is built upon a call that fails rejects, and whoever awaits that has heard of it', async ({ remote }) => {
    const unheard: unknown[] = [];
    const hear = (error: unknown): unknown => unheard.push(error);
    process.on('unhandledRejection', hear);
    const wild = remote as unknown as { fail(): { of(): Promise<unknown>; it: Promise<unknown> } };
    assert.ok((await rejection(wild.fail().of())) instanceof TooDeep);
    assert.ok((await rejection(Promise.resolve(wild.fail().it))) instanceof TooDeep);
    for (let i = 0; i < 3; i++) await new Promise((resolve) => setTimeout(resolve, 0));
    process.off('unhandledRejection', hear);
    assert.deepEqual(unheard, []);
  });

  given('a call that is late or aborted rejects, and is aborted there', async ({ remote }) => {
    const late = await rejection(within(remote, { timeoutMs: 20 }).forever());
    assert.equal(late['code'], 'ERR_TIMEOUT');
    const controller = new AbortController();
    const call = within(remote, { signal: controller.signal }).forever();
    controller.abort(new TooDeep('enough'));
    assert.ok((await rejection(call)) instanceof TooDeep);
    assert.equal(await within(remote, AGAIN).add(1, 1), 2);
  });

  given('a value that cannot be cloned hurts its call alone', async ({ remote }) => {
    const calls = [remote.add(1, 2), remote.echo(Symbol('no')), remote.add(3, 4), remote.echo({ a: [new WeakMap()] })];
    const [first, second, third, fourth] = await Promise.allSettled(calls);
    assert.deepEqual(
      [first, third].map((it) => (it as PromiseFulfilledResult<unknown>).value),
      [3, 7],
    );
    assert.deepEqual(
      [second, fourth].map((it) => (it as PromiseRejectedResult).reason.name),
      ['DataCloneError', 'DataCloneError'],
    );
  });

  given('the end of the port settles what is pending, and what comes later', async ({ a, remote, api }) => {
    const calls = [remote.forever(), remote.forever()];
    const stream = await remote.count(Number.POSITIVE_INFINITY);
    await stream.next();
    await remote.add(1, 1);
    a.close();
    for (const call of calls) {
      const error = await rejection(call);
      assert.deepEqual([error.name, error['reason']], ['ClosedError', 'closed']);
    }
    assert.equal((await rejection(remote.add(1, 2)))['code'], 'ERR_CLOSED');
    await assert.rejects(
      async () => {
        for await (const _ of stream);
      },
      { code: 'ERR_CLOSED' },
    );
    await until(() => api.events.length > 0);
    assert.deepEqual(api.events, ['finally']);
  });

  given('the same where the other side closes', async ({ b, remote }) => {
    const call = remote.forever();
    await remote.add(1, 1);
    b.close();
    assert.equal((await rejection(call))['reason'], 'closed');
  });

  given('messages that make no sense hurt nobody', async ({ a, remote }) => {
    const nonsense = [
      null,
      5,
      'x',
      [],
      [1],
      [-1, []],
      [7, [99]],
      [8, [1]],
      [9, [1, 9001]],
      [10, [2, 9001, null, 0]],
      [11, [8, 'x', -1]],
      [12, [9, 4]],
      { a: 1 },
    ];
    for (const it of nonsense) a.postMessage(it);
    assert.equal(await remote.add(1, 2), 3);
  });

  given('what cannot be cloned is named by its place among the arguments', async ({ remote }) => {
    const error = await rejection(remote.echo({ a: [1, { b: new WeakMap() }] }));
    assert.match(error.message, /argument 1 of echo, \$\.a\[1\]\.b/);
    assert.equal(error['path'], '$.a[1].b');
  });

  given('what cannot be cloned of a result is named by its place there', async ({ remote }) => {
    const error = await rejection(remote.uncloneable());
    assert.match(error.message, /^Cannot clone the result, \$\.a\[1\]\.b: it is a WeakMap/);
    assert.equal(error['path'], '$.a[1].b');
  });

  given('a remote is nothing surprising', async ({ remote, a }) => {
    const wild = remote as unknown as Record<PropertyKey, unknown>;
    assert.equal(await (remote as unknown), remote);
    assert.equal(JSON.stringify({ remote, call: 1 }), '{"call":1}');
    assert.equal(String(remote), '[Remote api]');
    assert.equal(wild[Symbol.iterator], undefined);
    assert.throws(() => (wild['x'] = 1), { code: 'ERR_OPTION' });
    const call = remote.add(1, 2);
    assert.equal(JSON.stringify({ call }), '{"call":{}}');
    assert.ok(call instanceof Promise);
    assert.equal(await call.finally(() => {}), 3);
    assert.equal(await Promise.race([remote.add(2, 2)]), 4);
    a.close();
    assert.equal(String(remote), '[Remote api (closed)]');
  });

  test(`${world.name}: both sides expose and call, before the other one does`, async () => {
    const { a, b } = await world.pair();
    const [fromA, fromB] = [wrap<Api>(a), wrap<Api>(b)];
    expose(new Api(), a);
    expose(new Api(), b);
    assert.throws(() => expose({ one: () => 1 }, a), { code: 'ERR_BUSY' });
    assert.deepEqual(await Promise.all([fromA.add(1, 2), fromB.add(3, 4)]), [3, 7]);
    a.close();
    b.close();
  });

  test(`${world.name}: a side that exposes nothing says so`, async () => {
    const { a, b } = await world.pair();
    wrap(b);
    const error = await rejection(wrap<Api>(a).add(1, 2));
    assert.equal(error['code'], 'ERR_NO_METHOD');
    a.close();
    b.close();
  });

  test(`${world.name}: a call that is given up before it is refused counts once`, async () => {
    const { a, b } = await world.pair();
    expose(new Api(), b);
    const remote = wrap<Api>(a, { maxPending: 1 });
    for (let i = 0; i < 3; i++) {
      const controller = new AbortController();
      const call = within(remote, { signal: controller.signal }).echo(new WeakMap());
      controller.abort(new TooDeep('enough'));
      assert.ok((await rejection(call)) instanceof TooDeep);
    }
    const calls = [remote.forever(), remote.forever()];
    assert.equal((await rejection(calls[1]!))['code'], 'ERR_LIMIT');
    a.close();
    await Promise.allSettled(calls);
    b.close();
  });

  test(`${world.name}: no more calls than the option says are pending`, async () => {
    const { a, b } = await world.pair();
    expose(new Api(), b);
    const remote = wrap<Api>(a, { maxPending: 2 });
    const calls = [remote.forever(), remote.forever(), remote.add(1, 2)];
    assert.equal((await rejection(calls[2]!))['code'], 'ERR_LIMIT');
    a.close();
    await Promise.allSettled(calls);
    b.close();
  });

  only(world.moves)(`${world.name}: what is transferred moves`, async () => {
    const { a, b } = await world.pair();
    expose({ length: (bytes: Uint8Array) => bytes.length, make: () => transferred() }, b);
    const remote = wrap<{ length(bytes: Uint8Array): number; make(): Uint8Array }>(a);
    const bytes = new Uint8Array(100);
    assert.equal(await remote.length(transfer(bytes, [bytes.buffer])), 100);
    assert.equal(bytes.length, 0);
    assert.equal((await remote.make()).length, 50);
    a.close();
    b.close();
  });
  function transferred(): Uint8Array {
    const bytes = new Uint8Array(50);
    return transfer(bytes, [bytes.buffer]);
  }

  test(`${world.name}: what was never a message of calls is told as such`, async () => {
    const { a, b } = await world.pair();
    const told: Error[] = [];
    wrap(b, { onError: (error) => told.push(error) });
    a.postMessage('hello');
    await until(() => told.length === 1);
    assert.ok(told[0] instanceof CodecError && told[0].code === 'ERR_PROTOCOL');
    a.close();
    b.close();
  });
}
