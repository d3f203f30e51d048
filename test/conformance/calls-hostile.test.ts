// What a peer that does not keep to the protocol, or a program with odd values, cannot do to calls: each of these was possible once.
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import process from 'node:process';
import { test } from 'node:test';
import { ofAgent } from '../../src/agent.ts';
import { attach, CodecError, channel, type Port } from '../../src/index.ts';
import { Connection, connectionOf } from '../../src/rpc/connection.ts';
import { type ConnectionOptions, expose, reference, release, within, wrap } from '../../src/rpc/index.ts';
import * as kinds from '../../src/rpc/messages.ts';
import { resolved } from '../../src/rpc/options.ts';
import { collect } from '../kit/collect.ts';
import { RawPeer } from '../kit/raw-calls.ts';
import { turn, until } from '../kit/watchdog.ts';

const { CALL, CALL_WITH, RESULT, RESULT_WITH, FAILED, ABORT, RELEASE, CREDIT, ITEMS, ITEM_WITH, END, CANCEL } = kinds;
const { LOST, CHECK, GONE, HEARD, HELLO, POOLED } = kinds;
type Wild = Record<string, (...values: unknown[]) => Promise<unknown>>;

function ports(): { a: Port; b: Port; [Symbol.dispose](): void } {
  const { port, remote } = channel();
  const b = attach(remote);
  const close = (): void => {
    port.close();
    b.close();
  };
  return { a: port, b, [Symbol.dispose]: close };
}
/** A victim that exposes `api`, and whoever says anything to it. */
function victim(api: object, options: ConnectionOptions = {}) {
  const { a, b } = ports();
  const told: Error[] = [];
  expose(api, b, { onError: (error) => told.push(error), ...options });
  const close = (): void => {
    a.close();
    b.close();
  };
  return { peer: new RawPeer(a), port: b, told, connection: connectionOf(b), [Symbol.dispose]: close };
}
/** A victim that calls, and whoever answers it anything. */
function caller(options: ConnectionOptions = {}) {
  const it = victim({ nothing: () => {} }, options);
  return { ...it, api: wrap<object>(it.port) as unknown as Wild, [Symbol.dispose]: it[Symbol.dispose] };
}
function both<Api extends object>(api: Api, options: ConnectionOptions = {}) {
  const { a, b, [Symbol.dispose]: close } = ports();
  expose(api, b, options);
  return { remote: wrap<Api>(a), a, b, near: connectionOf(a), far: connectionOf(b), [Symbol.dispose]: close };
}
async function code(promise: Promise<unknown>): Promise<unknown> {
  return await promise.then(
    () => 'it resolved',
    (error) => (error as { code?: unknown }).code ?? (error as Error).name,
  );
}
/** As a codec makes it: an own property, whatever its name. */
const nulls = (name: string): unknown => JSON.parse(`{${JSON.stringify(name)}:null}`);
const failedAs = (message: readonly unknown[]): unknown =>
  ((message[2] as unknown[])[3] as { code?: unknown } | undefined)?.code;

// ---- refs -------------------------------------------------------------------------------------------------------

test('a ref leads through no object that another ref has put there', async () => {
  const own = { safe: () => 'safe', secret: 'untouched' };
  using it = victim({ give: () => reference(own), take: () => 'taken' });
  it.peer.say([CALL, 1, 'give']);
  const [, , refs] = await it.peer.hears(RESULT_WITH, 1);
  const id = (refs as unknown[][])[0]?.[2];
  const mine = [[[0], kinds.REF_OWN, id]];
  it.peer.say([CALL_WITH, 2, { refs: [...mine, [[0, 'secret'], kinds.REF_FUNCTION, 7]] }, ['take'], null]);
  it.peer.say([CALL_WITH, 3, { refs: [...mine, [[0, 'safe'], kinds.REF_FUNCTION, 7]] }, ['take'], null]);
  assert.equal(failedAs(await it.peer.hears(FAILED, 2)), 'ERR_PROTOCOL');
  assert.equal(failedAs(await it.peer.hears(FAILED, 3)), 'ERR_PROTOCOL');
  assert.deepEqual([own.secret, own.safe()], ['untouched', 'safe']);
});

test('a ref stands in arrays and plain objects only, once, and at no name that an engine asks', async () => {
  let asked = 0;
  const trap = reference({ valueOf: () => asked++, toString: () => `${asked++}`, x: () => 1 });
  using it = victim({ give: () => trap, take: (value: unknown) => typeof value });
  it.peer.say([CALL, 1, 'give']);
  const id = ((await it.peer.hears(RESULT_WITH, 1))[2] as unknown[][])[0]?.[2];
  const places: [value: unknown, path: unknown[]][] = [
    [
      [1, 2],
      [0, 'length'],
    ],
    [new Uint8Array(4), [0, 0]],
    [new Map([['a', null]]), [0, 'size']],
    [/x/g, [0, 'lastIndex']],
    [nulls('then'), [0, 'then']],
    [nulls('toString'), [0, 'toString']],
    [nulls('constructor'), [0, 'constructor']],
    [nulls('__proto__'), [0, '__proto__']],
    [{}, [0, '__proto__']],
    ['text', [0, 0]],
    [{ a: 5 }, [0, 'a']],
    [{ a: null }, [0]],
    [null, [1]],
    [null, [-1]],
    [null, ['0']],
    [null, [0, 'x']],
    [null, []],
    [null, [Number.NaN]],
  ];
  let call = 10;
  for (const [value, path] of places) {
    it.peer.say([CALL_WITH, ++call, { refs: [[path, kinds.REF_OWN, id]] }, ['take'], value]);
    assert.equal(failedAs(await it.peer.hears(FAILED, call)), 'ERR_PROTOCOL', `${path.join('.')} of ${typeof value}`);
  }
  const twice = [
    [[0], kinds.REF_FUNCTION, 5],
    [[0], kinds.REF_FUNCTION, 6],
  ];
  it.peer.say([CALL_WITH, ++call, { refs: twice }, ['take'], null]);
  assert.equal(failedAs(await it.peer.hears(FAILED, call)), 'ERR_PROTOCOL');
  await it.peer.hears(RELEASE, 5);
  assert.equal(asked, 0);
  assert.ok(it.told.every((error) => error instanceof CodecError && error.code === 'ERR_PROTOCOL'));
});

test('what a refused call brings along is let go of', async () => {
  using it = victim({ ok: () => 1 }, { maxPending: 1 });
  const given = [
    [[0], kinds.REF_FUNCTION, 5],
    [[1], kinds.REF_ITERABLE, 6],
  ];
  it.peer.say([CALL_WITH, 1, { refs: [...given, [[7], kinds.REF_FUNCTION, 8]] }, ['ok'], null, null]);
  it.peer.say([CALL_WITH, 2, { refs: given, keep: 9 }, ['ok'], null, null]);
  it.peer.say([CALL_WITH, 3, { refs: given, target: -77 }, ['ok'], null, null]);
  for (const id of [1, 2, 3]) await it.peer.hears(FAILED, id);
  await until('all is let go of', () => it.peer.of(RELEASE).length === 4 && it.peer.of(CANCEL).length === 3);
});

test('an answer that nobody waits for is let go of, with what lies deep in it', async () => {
  using it = caller();
  const refs = [
    [[0, 'f'], kinds.REF_FUNCTION, 5],
    [[0, 's'], kinds.REF_READABLE, 6],
    [[0, 'i'], kinds.REF_ITERABLE, 7],
  ];
  it.peer.say([RESULT_WITH, 99, refs, { f: null, s: null, i: null }], [ITEM_WITH, 98, refs, { f: null }]);
  await until('all is let go of', () => it.peer.of(RELEASE).length === 2 && it.peer.of(CANCEL).length === 4);
  assert.deepEqual(it.told, []);
});

test('a stream that nobody reads is cancelled once it is collected', async () => {
  using it = victim({ ignore: () => 'ignored' });
  it.peer.say([CALL_WITH, 1, { refs: [[[0], kinds.REF_ITERABLE, 6]] }, ['ignore'], null]);
  it.peer.say([CALL_WITH, 2, { refs: [[[0], kinds.REF_READABLE, 7]] }, ['ignore'], null]);
  await it.peer.hears(RESULT, 2);
  await until('both are cancelled', () => {
    collect();
    return it.peer.of(CANCEL).length === 2;
  });
});

// ---- values and functions ---------------------------------------------------------------------------------------

test('a release that crosses a function on its way does not end it', async () => {
  using it = caller();
  const f = (): string => 'called';
  void it.api['take']?.(f).catch(() => {});
  const id = ((await it.peer.hears(CALL_WITH))[2] as { refs: unknown[][] }).refs[0]?.[2];
  void it.api['take']?.(f).catch(() => {});
  // Said before the second one was heard.
  it.peer.say([RELEASE, id, 1], [CALL, 9, id]);
  assert.equal((await it.peer.hears(RESULT, 9))[2], 'called');
  it.peer.say([RELEASE, id, 1], [CALL, 10, id]);
  assert.equal(failedAs(await it.peer.hears(FAILED, 10)), 'ERR_NO_METHOD');
});

test('a function that is held goes on when it comes again in an answer that nobody waits for', async () => {
  using it = caller();
  const call = it.api['x']?.() as Promise<() => Promise<unknown>>;
  const [, id] = await it.peer.hears(CALL);
  const refs = [[[0], kinds.REF_FUNCTION, 5]];
  it.peer.say(
    [RESULT_WITH, id, refs, null],
    [RESULT_WITH, 99, refs, null],
    [CALL_WITH, 1, { refs, target: -77 }, ['x'], null],
  );
  const held = await call;
  await until('what came in vain is let go of', () => it.peer.of(RELEASE).length === 2);
  release(held);
  await until('all is', () => it.peer.of(RELEASE).length === 3);
  assert.deepEqual(it.peer.of(RELEASE), Array(3).fill([RELEASE, 5, 1]));
});

test('the end of a call with callbacks for its time does not end what was given away for good', async () => {
  const held = new Set<() => Promise<number>>();
  using it = both({ keep: (f: () => number) => void held.add(f as unknown as () => Promise<number>) });
  const f = (): number => 5;
  await it.remote.keep(f);
  await within(it.remote, { callbacks: 'call' }).keep(f);
  const [first, second] = held;
  assert.equal(await first?.(), 5);
  await assert.rejects(second?.() as Promise<number>, { code: 'ERR_NO_METHOD' });
  await within(it.remote, { callbacks: 'call' }).keep({ deep: () => 1 } as never);
  assert.equal(it.near.values.held, 1);
});

test('a method of what was given away holds it, also with other options', async () => {
  let released = false;
  using it = both({ counter: () => reference({ next: () => 1, other: () => 2 }), add: (a: number) => a });
  const methods = await (async () => {
    const counter = await it.remote.counter();
    return [counter.next, within(counter, { timeoutMs: 60_000 }).other];
  })();
  for (let i = 0; i < 5; i++) {
    collect();
    await turn();
    await it.remote.add(i);
  }
  assert.deepEqual(await Promise.all(methods.map((method) => method())), [1, 2]);
  methods.length = 0;
  await until('nobody has any of it', () => {
    collect();
    released = it.far.values.held === 0;
    return released;
  });
});

test('what could not be sent is held by nobody', async () => {
  using it = both({ bad: () => ({ f: () => 1, bad: new WeakMap() }), ok: () => 1 });
  const iterable = (async function* () {})();
  const bad = { f: () => 1, bad: new WeakMap() };
  assert.equal(await code(it.remote.bad()), 'ERR_DATA_CLONE');
  assert.equal(await code((it.remote as unknown as Wild)['ok']?.(bad, iterable) as Promise<unknown>), 'ERR_DATA_CLONE');
  const locked = new ReadableStream();
  locked.getReader();
  assert.equal(await code((it.remote as unknown as Wild)['ok']?.(() => 1, locked) as Promise<unknown>), 'ERR_OPTION');
  assert.deepEqual([it.near.values.held, it.far.values.held], [0, 0]);
});

test('a call that is given up in the turn it was made is not made, nor what was called of it', async () => {
  const called: string[] = [];
  using it = both({ note: (what: string) => void called.push(what), user: () => ({ name: 'x' }) });
  const controller = new AbortController();
  const remote = within(it.remote, { signal: controller.signal });
  const calls = [remote.note('no'), remote.user(), (remote as unknown as Wild)['note']?.(() => 1)];
  const name = (calls[1] as unknown as { name: Promise<string> }).name.then(() => 'resolved');
  controller.abort(new RangeError('enough'));
  for (const call of [...calls, name]) await assert.rejects(call as Promise<unknown>, RangeError);
  await it.remote.note('yes');
  assert.deepEqual(called, ['yes']);
  assert.equal(it.near.values.held, 0);
});

// ---- what is called ---------------------------------------------------------------------------------------------

test("a class of the program's exposes its own methods, and none of what it derives from of Node's", async () => {
  class Emitter extends EventEmitter {
    static own(): string {
      return 'static';
    }
    own(): string {
      return 'own';
    }
  }
  class Derived extends Emitter {
    more(): string {
      return 'more';
    }
  }
  const api = new Derived();
  api.on('x', () => assert.fail('it was emitted'));
  using it = both(api);
  const wild = it.remote as unknown as Wild;
  assert.deepEqual([await wild['own']?.(), await wild['more']?.()], ['own', 'more']);
  for (const name of ['emit', 'on', 'removeAllListeners', 'listenerCount']) {
    assert.equal(await code(wild[name]?.('x') as Promise<unknown>), 'ERR_NO_METHOD', name);
  }
  class List extends Array {
    static own(): string {
      return 'static';
    }
  }
  for (const [made, names] of [
    [Derived, ['once', 'on', 'listenerCount']],
    [List, ['of', 'from', 'isArray']],
  ] as const) {
    using statics = both(made);
    const remote = statics.remote as unknown as Wild;
    assert.equal(await remote['own']?.(), 'static');
    for (const name of names) assert.equal(await code(remote[name]?.() as Promise<unknown>), 'ERR_NO_METHOD', name);
  }
});

test('a method that is replaced, hidden or taken away is what it is now', async () => {
  class Base {
    toString(): string {
      return 'mine';
    }
    name(): string {
      return 'base';
    }
  }
  class Middle extends Base {}
  const api = new Middle();
  using it = both(api);
  const wild = it.remote as unknown as Wild;
  const call = (name: string): Promise<unknown> => wild[name]?.() as Promise<unknown>;
  assert.equal(await call('name'), 'base');
  (Middle.prototype as unknown as Wild)['name'] = async () => 'middle';
  assert.equal(await call('name'), 'middle');
  Object.defineProperty(api, 'name', { get: () => () => 'accessor', configurable: true });
  assert.equal(await code(call('name')), 'ERR_NO_METHOD');
  Reflect.deleteProperty(api, 'name');
  Reflect.deleteProperty(Middle.prototype, 'name');
  assert.equal(await call('name'), 'base');
  Reflect.deleteProperty(Base.prototype, 'name');
  assert.equal(await code(call('name')), 'ERR_NO_METHOD');
});

test('a function of an object with a class is not called by way of a result', async () => {
  let called = 0;
  class Session {
    readonly id = 5;
    readonly query = (): number => ++called;
  }
  using it = victim({ open: () => new Session(), plain: () => ({ f: () => 'fine' }) });
  it.peer.say([CALL_WITH, 1, { keep: 2 }, ['open']], [CALL_WITH, 2, { target: -1 }, ['query']]);
  it.peer.say([CALL_WITH, 3, { target: -1, get: true }, ['id']]);
  assert.equal(failedAs(await it.peer.hears(FAILED, 2)), 'ERR_NO_METHOD');
  assert.equal((await it.peer.hears(RESULT, 3))[2], 5);
  it.peer.say([CALL_WITH, 4, { keep: 1 }, ['plain']], [CALL_WITH, 5, { target: -4 }, ['f']]);
  assert.equal((await it.peer.hears(RESULT, 5))[2], 'fine');
  assert.equal(called, 0);
});

test('what is called of a promise waits for it, the last of them too', async () => {
  using it = both({
    user: async (): Promise<{ name: string; age: number }> => {
      await turn();
      return { name: 'ann', age: 3 };
    },
  });
  const user = it.remote.user();
  assert.deepEqual(await Promise.all([user.name, user.age, user]), ['ann', 3, { name: 'ann', age: 3 }]);
});

test('what is called of a call goes with it, wherever the turn is cut into parts', async () => {
  using it = both({ user: (id: number) => ({ id, f: (by: number) => id * by }) });
  const remote = it.remote as unknown as { user(id: number): { id: Promise<number>; f(by: number): Promise<number> } };
  const all: Promise<number>[] = [];
  for (let i = 0; i < 100; i++) {
    const user = remote.user(i);
    for (let n = 0; n < i % 4; n++) all.push(user.id.then((id) => id));
    if (i % 3 === 0) all.push(user.f(1));
  }
  for (const answer of all) assert.equal(typeof (await answer), 'number');
  await it.remote.user(0);
  assert.equal(it.far.serving.keeps, 0);
});

test('a call that fails, and of which only a part is awaited, is no unhandled rejection', async () => {
  using it = both({
    user: (): { name: string } => {
      throw new RangeError('no');
    },
  });
  // The test's runner fails it for one that nobody has handled.
  await assert.rejects(() => Promise.resolve(it.remote.user().name), RangeError);
  await turn();
});

test('what a call comes to is kept only for so many as follow', async () => {
  using it = victim({ one: () => 1 }, { maxPending: 4 });
  for (let id = 1; id <= 6; id++) it.peer.say([CALL_WITH, id, { keep: 4 }, ['one']]);
  assert.equal(failedAs(await it.peer.hears(FAILED, 5)), 'ERR_LIMIT');
  it.peer.say([RELEASE, -1, 4], [CALL_WITH, 7, { keep: 1 }, ['one']]);
  assert.equal((await it.peer.hears(RESULT, 7))[2], 1);
  for (const keep of [0, -1, Number.NaN, 2 ** 31, 1e308, 'x', null, {}]) {
    it.peer.say([CALL_WITH, 20, { keep }, ['one']]);
    await until('it is told of', () => it.told.length > 0);
    it.told.length = 0;
  }
  using honest = both({ one: (_: unknown) => ({ two: (_more: unknown) => 2 }) });
  const one = (honest.remote as unknown as Record<string, (...values: unknown[]) => Record<string, Wild[string]>>)[
    'one'
  ]?.(1);
  assert.equal(await code(one?.['two']?.(Symbol('no')) as Promise<unknown>), 'ERR_DATA_CLONE');
  await honest.remote.one(2);
  const unasked = honest.remote.one(3) as unknown as Wild;
  const locked = new ReadableStream();
  locked.getReader();
  assert.equal(await code(unasked['two']?.(locked) as Promise<unknown>), 'ERR_OPTION');
  assert.equal(honest.far.serving.keeps, 0);
});

test('a greeting of anything is told of, and nothing in it is asked', async () => {
  const list: unknown[] = [];
  // As a text it is four thousand million commas.
  list.length = 4_000_000_000;
  for (const version of [list, { toString: 5 }, 10n]) {
    using it = victim({ add: () => 1 });
    it.peer.say([HELLO, version]);
    await until('the end', () => it.connection.ended !== undefined);
    assert.match(String(it.connection.ended?.message), /speaks version/);
  }
});

test('a peer says once that it is a pool: what waits for a place waits there still', async () => {
  let go: (value: string) => void = () => {};
  const first = new Promise<string>((resolve) => (go = resolve));
  using it = victim({ first: () => first, second: () => 'second' });
  it.peer.say([POOLED, 1], [CALL, 1, 'first'], [CALL, 2, 'second'], [POOLED, 1], [POOLED, 'x']);
  await until('both are told', () => it.told.length === 2);
  assert.ok(it.told.every((error) => error instanceof CodecError && error.code === 'ERR_PROTOCOL'));
  go('first');
  assert.deepEqual(
    [await it.peer.hears(RESULT, 1), await it.peer.hears(RESULT, 2)],
    [
      [RESULT, 1, 'first'],
      [RESULT, 2, 'second'],
    ],
  );
  assert.equal(it.connection.serving.size, 0);
});

// ---- errors -----------------------------------------------------------------------------------------------------

test('whatever is thrown, its call settles', async () => {
  class Throwing extends Error {
    override get message(): string {
      throw new Error('message');
    }
    override get name(): string {
      throw new Error('name');
    }
    override get stack(): string {
      throw new Error('stack');
    }
  }
  const handler = {
    getPrototypeOf(): never {
      throw new Error('trap');
    },
  };
  const aggregate = new AggregateError([], 'all');
  for (let i = 0; i < 1000; i++) aggregate.errors.push(aggregate);
  const many = new AggregateError(Array.from({ length: 1000 }, (_, i) => i));
  const own = Object.assign(new RangeError('own'), { code: 'E', deep: { f: () => 1 }, map: new WeakMap(), count: 3 });
  Object.defineProperty(own, 'bad', { enumerable: true, get: () => assert.fail('a field was read') });
  const long = new Error('long');
  long.stack = 'x'.repeat(2_000_000);
  const nothing = Object.create(null) as object;
  const named = (then: unknown, how = 'value'): object => Object.defineProperty({}, 'then', { [how]: then });
  const fails = (name: string) => (): never => {
    throw new RangeError(name);
  };
  const twice = named((resolve: (value: number) => void) => [resolve(1), resolve(2)]);
  const odd = [
    named(fails('then'), 'get'),
    twice,
    named(fails('odd')),
    new Proxy({}, handler),
    { [Symbol.asyncIterator]: fails('iterator') },
  ];
  const things: unknown[] = [new Throwing(), new Proxy({}, handler), aggregate, many, own, long, nothing, () => 1];
  using it = both({
    now: (i: number): never => {
      throw things[i];
    },
    later: async (i: number): Promise<never> => {
      await null;
      throw things[i];
    },
    give: (i: number): unknown => odd[i],
  });
  for (let i = 0; i < things.length; i++) {
    for (const call of [it.remote.now(i), it.remote.later(i)])
      await assert.rejects(call as Promise<unknown>, () => true);
  }
  const error = await (it.remote.now(4) as Promise<unknown>).catch((thrown) => thrown);
  assert.ok(error instanceof RangeError);
  assert.deepEqual({ ...error }, { code: 'E', count: 3 });
  assert.equal(
    ((await (it.remote.now(5) as Promise<unknown>).catch((thrown) => thrown)) as Error).stack?.slice(0, 3),
    'xxx',
  );
  assert.equal(await code(it.remote.give(0) as Promise<unknown>), 'RangeError');
  assert.equal(await it.remote.give(1), 1);
  assert.equal(await code(it.remote.give(2) as Promise<unknown>), 'RangeError');
  assert.notEqual(await code(it.remote.give(3) as Promise<unknown>), 'it resolved');
  assert.equal(await code(it.remote.give(4) as Promise<unknown>), 'RangeError');
});

test('a DOMException and an AggregateError arrive as such; a frozen error is as good', async () => {
  const frozen = Object.freeze(Object.assign(new TypeError('cold'), { degrees: -5 }));
  const causes = Object.assign(new DOMException('stop', 'AbortError'), { where: 'here' });
  const all = new AggregateError([new RangeError('one'), 'two', frozen], 'all', { cause: causes });
  using it = both({
    fail: (): never => {
      throw all;
    },
  });
  const error = (await (it.remote.fail() as Promise<unknown>).catch((thrown) => thrown)) as AggregateError & {
    cause: DOMException & { where: string };
  };
  assert.ok(error instanceof AggregateError && error.message === 'all');
  assert.ok(error.errors[0] instanceof RangeError && error.errors[1] === 'two' && error.errors[2] instanceof TypeError);
  assert.equal((error.errors[2] as unknown as { degrees: number }).degrees, -5);
  assert.ok(error.cause instanceof DOMException);
  assert.deepEqual([error.cause.name, error.cause.code, error.cause.where], ['AbortError', 20, 'here']);
});

test('a failure that makes no sense is an error, at once', async () => {
  using it = caller();
  let bomb: unknown[] = [['Error'], 'm', 's', {}];
  for (let i = 0; i < 8; i++)
    bomb = [['AggregateError'], 'm', 's', {}, undefined, Array.from({ length: 60 }, () => bomb)];
  let deep: unknown = [['Error'], 'm', 's', {}];
  for (let i = 0; i < 100; i++) deep = [['Error'], 'm', 's', {}, deep];
  const sparse: unknown[] = [];
  sparse.length = 4_000_000_000;
  const failures = [
    bomb,
    deep,
    [sparse, 'm', 's', {}],
    [['Error'], 'm', 's', {}, undefined, sparse],
    5,
    null,
    [],
    [1],
    [['Error']],
  ];
  for (const failure of failures) {
    const before = it.peer.of(CALL).length;
    const call = it.api['x']?.() as Promise<unknown>;
    await until('it is called', () => it.peer.of(CALL).length > before);
    it.peer.say([FAILED, it.peer.of(CALL).at(-1)?.[1], failure]);
    assert.equal(await code(call), 'ERR_PROTOCOL');
  }
  const fields = JSON.parse('{"__proto__":{"x":1},"constructor":5,"toString":5,"stack":5,"name":{},"then":5,"ok":1}');
  const call = it.api['x']?.() as Promise<unknown>;
  const before = it.peer.of(CALL).length;
  await until('it is called', () => it.peer.of(CALL).length > before);
  it.peer.say([FAILED, it.peer.of(CALL).at(-1)?.[1], [['__proto__', 'constructor', 'RangeError'], 'm', 's', fields]]);
  const error = await call.catch((thrown) => thrown as Error);
  assert.ok(error instanceof RangeError);
  assert.deepEqual(Object.keys(error).sort(), ['ok', 'then']);
  assert.equal(`${error}`, 'RangeError: m');
});

// ---- streams ----------------------------------------------------------------------------------------------------

test('a stream whose end or value makes no sense ends with that', async () => {
  for (const message of [
    [END, 6, 'nonsense'],
    [ITEM_WITH, 6, 'nonsense', 1],
    [ITEM_WITH, 6, [[[5], 0, 1]], 1],
    [ITEMS, 6, ...Array(100).fill(1)],
  ]) {
    using it = caller();
    const call = it.api['stream']?.() as Promise<AsyncGenerator<unknown>>;
    const [, id] = await it.peer.hears(CALL);
    it.peer.say([RESULT_WITH, id, [[[0], kinds.REF_ITERABLE, 6]], null]);
    const next = (await call).next();
    await it.peer.hears(CREDIT, 6);
    it.peer.say(message);
    assert.equal(await code(next), 'ERR_PROTOCOL');
    assert.equal(it.told.length, 1);
  }
});

test('an error of a stream that is too long to be sent ends it all the same', async () => {
  const { port, remote } = channel({ maxMessageBytes: 65_536 });
  const far = attach(remote);
  const api = {
    async *fails(): AsyncGenerator<number> {
      yield 1;
      throw new Error('x'.repeat(200_000));
    },
    fails2: (): never => {
      throw new Error('x'.repeat(200_000));
    },
  };
  expose(api, far);
  const near = wrap<typeof api>(port);
  const stream = await near.fails();
  await stream.next();
  assert.equal(await code(stream.next()), 'ERR_TOO_LARGE');
  assert.equal(await code(near.fails2()), 'ERR_TOO_LARGE');
  port.close();
  far.close();
});

test('credit without end brings no more than the port takes', async () => {
  let made = 0;
  const { port, remote } = channel({ capacityBytes: 4096 });
  const far = attach(remote);
  function* endless(): Generator<string> {
    for (;;) {
      made++;
      yield 'x'.repeat(100);
    }
  }
  expose({ endless }, far);
  port.postMessage([1, [CALL, 1, 'endless']]);
  const [, [, , , refs]] = (await port.receiveAsync()) as [number, [number, unknown, unknown, unknown[][]]];
  void refs;
  for (let i = 2; i < 200; i++) port.postMessage([i, [CREDIT, 1, 65_536]]);
  await until('the port is full', () => far.full);
  const before = made;
  for (let i = 0; i < 20; i++) await turn();
  assert.ok(made <= before + 300 && made < 200_000, `${made} values were made, and none was read`);
  port.close();
  await until('it is over', () => far.reason !== undefined);
  far.close();
});

// ---- envelopes, numbers, floods ---------------------------------------------------------------------------------

test('huge arrays that hold nothing cost nothing', async () => {
  using it = victim({ ok: (...values: unknown[]) => values.length, echo: (value: unknown) => value });
  const huge = (...first: unknown[]): unknown[] => {
    first.length = 4_000_000_000;
    return first;
  };
  const said = [
    huge(CALL, 1, 'ok'),
    huge(CHECK, 1),
    huge(GONE, 1),
    huge(ITEMS, 1),
    huge(FAILED, 1),
    [CALL_WITH, 2, { refs: huge() }, ['ok']],
    [CALL_WITH, 3, { chain: huge() }, ['ok']],
    [CALL_WITH, 4, {}, huge()],
    [RESULT_WITH, 5, huge(), 1],
  ];
  const started = performance.now();
  it.peer.say(...said);
  it.peer.port.postMessage(huge(2));
  it.peer.port.postMessage([3, [CALL, 9, 'ok']]);
  await it.peer.hears(RESULT, 9);
  // What cannot be cloned is looked through, and copied where it holds a function.
  it.peer.port.postMessage([
    4,
    [CALL_WITH, 10, { refs: [[[0, 'f'], kinds.REF_FUNCTION, 5]] }, ['echo'], { f: null, list: huge(1) }],
  ]);
  await it.peer.hears(RESULT_WITH, 10);
  for (const id of [1, 2, 3, 4]) assert.equal(failedAs(await it.peer.hears(FAILED, id)), 'ERR_PROTOCOL');
  assert.ok(performance.now() - started < 10_000);
});

test('who asks and asks, and reads no answer, is not heard any more; it learns so when it reads', async () => {
  const { port, remote } = channel({ capacityBytes: 4096 });
  const far = attach(remote);
  let called = 0;
  const text = (): string => {
    called++;
    return 'x'.repeat(1000);
  };
  expose({ text }, far, { maxPending: 10 });
  for (let i = 1; i <= 3000; i++) {
    port.postMessage([i, [CALL, i, 'text'], [ABORT, 5], [CHECK, 1, 2, 3]]);
    if (i % 100 === 0) await turn();
  }
  await until('all was taken', () => !port.full);
  await turn();
  assert.ok(called < 1500, `${called} answers lie here`);
  const heard: unknown[][] = [];
  port.on('message', (envelope) => heard.push(...((envelope as unknown[]).slice(1) as unknown[][])));
  await until('it is told', () => heard.some(([kind]) => kind === LOST));
  port.postMessage([3001, [CALL, 5000, 'text']]);
  await until('it is served again', () => heard.some(([kind, id]) => kind === RESULT && id === 5000));
  port.close();
  far.close();
});

test('LOST without end is asked once, and answered never', async () => {
  using it = caller();
  const call = it.api['x']?.() as Promise<unknown>;
  const [, id] = await it.peer.hears(CALL);
  for (let i = 0; i < 50; i++) it.peer.say([LOST], [LOST]);
  assert.equal(await code(call), 'ERR_LOST');
  it.peer.say([RESULT, id, 1], [HEARD, id], [RESULT, id, 2]);
  await it.peer.hears(CHECK);
  assert.ok(it.peer.of(CHECK).length < 4 && it.peer.of(LOST).length === 0);
  assert.deepEqual(it.told, []);
});

test('an answer to what was not asked yet is refused', async () => {
  using it = caller();
  it.peer.say([RESULT, 1, 'early'], [RESULT, 2, 'early']);
  await until('it is there', () => it.port.stats().received > 0);
  const call = it.api['x']?.() as Promise<unknown>;
  connectionOf(it.port).accept([2, [RESULT, 1, 'guessed']]);
  await it.peer.hears(CALL);
  assert.equal(it.told.length, 1);
  connectionOf(it.port).accept([3, [RESULT, 1, 'true']]);
  assert.equal(await call, 'true');
});

test('another version ends it for both, and nothing is served any more', async () => {
  let called = 0;
  using it = victim({ x: () => ++called });
  it.peer.say([HELLO, 2, 5], [CALL, 1, 'x']);
  it.peer.say([CALL, 2, 'x']);
  assert.equal((await it.peer.hears(HELLO))[1], 1);
  await turn();
  assert.equal(called, 0);
  const api = wrap<{ x(): number }>(it.port);
  assert.equal(await code(api.x()), 'ERR_UNSUPPORTED');
});

// Bun's test runner hears of uncaught errors before anybody else, and fails the test.
const unlessBun = process.versions['bun'] === undefined ? test : ((() => {}) as unknown as typeof test);
unlessBun('who is told of errors and throws does not hurt the rest of a message', async () => {
  const uncaught: unknown[] = [];
  const listener = (error: unknown): void => void uncaught.push(error);
  const others = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException');
  process.on('uncaughtException', listener);
  try {
    using it = victim(
      { ok: () => 1 },
      {
        onError: () => {
          throw new RangeError('mine');
        },
      },
    );
    it.peer.say([99], [CALL, 5, 'ok']);
    await it.peer.hears(RESULT, 5);
    await until('the runtime hears of it', () => uncaught.length > 0);
    assert.ok(uncaught[0] instanceof RangeError);
  } finally {
    process.off('uncaughtException', listener);
    for (const other of others) process.on('uncaughtException', other);
  }
});

test('numbers of calls, functions, streams and envelopes come round', async () => {
  const { a, b, [Symbol.dispose]: close } = ports();
  const { connections } = ofAgent<{ connections: WeakMap<object, Connection> }>('calls/1', () => assert.fail('none'));
  const last = 0x7fffffff - 5;
  for (const port of [a, b]) connections.set(port, new Connection(port, resolved({}), undefined, last));
  const hold = new Map<number, (value: number) => void>();
  const api = {
    add: (x: number, f: (n: number) => number | Promise<number>) => f(x),
    wait: (x: number) => new Promise<number>((resolve) => hold.set(x, resolve)),
    count: function* (to: number) {
      for (let i = 0; i < to; i++) yield i;
    },
  };
  expose(api, b);
  const remote = wrap<typeof api>(a);
  // The first envelope is taken for one behind a gap.
  await remote.add(0, (x) => x);
  const waits = remote.wait(1);
  const given: ((x: number) => number)[] = [];
  for (let i = 0; i < 20; i++) {
    const f = (x: number): number => x + i;
    given.push(f);
    assert.equal(await remote.add(1, f), 1 + i);
    const all: number[] = [];
    for await (const n of await remote.count(3)) all.push(n);
    assert.deepEqual(all, [0, 1, 2]);
  }
  hold.get(1)?.(11);
  assert.equal(await waits, 11);
  close();
});

test('a call that was given up and goes on does not stand in the way of a later one of its number', async () => {
  let go: (() => void) | undefined;
  const slow = (): Promise<string> =>
    new Promise((resolve) => {
      go = () => resolve('the first');
    });
  using it = victim({ slow, quick: async () => 'the second' });
  it.peer.say([CALL, 7, 'slow'], [ABORT, 7], [CALL, 7, 'quick']);
  assert.equal((await it.peer.hears(RESULT, 7))[2], 'the second');
  go?.();
  await turn();
  assert.equal(it.peer.of(RESULT).length, 1);
  it.peer.say([CALL, 8, 'slow'], [CALL, 8, 'quick']);
  await until('it is told', () => it.told.length === 1);
});

test('fields of a call that make no sense are refused, and its caller is told', async () => {
  using it = victim({ ok: () => 1 });
  const wrong: unknown[] = [
    { target: 'x' },
    { target: 1.5 },
    { target: Number.NaN },
    { get: 1 },
    { chain: 5 },
    { chain: ['x'] },
    { chain: [{ deep: 'object' }] },
    { refs: 5 },
    { refs: [5] },
    5,
    null,
    'x',
  ];
  let id = 0;
  for (const extra of wrong) {
    it.peer.say([CALL_WITH, ++id, extra, ['ok']]);
    assert.equal(failedAs(await it.peer.hears(FAILED, id)), 'ERR_PROTOCOL');
  }
  for (const path of [5, 'ok', [null], [{}], Array(65).fill('x')]) {
    it.peer.say([CALL_WITH, ++id, {}, path]);
    assert.equal(failedAs(await it.peer.hears(FAILED, id)), 'ERR_PROTOCOL');
  }
  for (const name of [null, {}, -1, 0, 1.5, Number.NaN, 2 ** 31]) {
    it.peer.say([CALL, ++id, name]);
    assert.equal(failedAs(await it.peer.hears(FAILED, id)), 'ERR_PROTOCOL');
  }
  assert.equal(it.told.length, id);
});

test('the runtime hears of nothing that a result says it is', async () => {
  using it = caller();
  const call = it.api['x']?.() as Promise<unknown>;
  const [, id] = await it.peer.hears(CALL);
  it.peer.say([RESULT_WITH, id, [[[0, 'then'], kinds.REF_FUNCTION, 5]], nulls('then')]);
  assert.equal(await code(call), 'ERR_PROTOCOL');
  const second = it.api['x']?.() as Promise<unknown>;
  await until('it is called', () => it.peer.of(CALL).length === 2);
  it.peer.say([RESULT_WITH, it.peer.of(CALL)[1]?.[1], [[[0], kinds.REF_OWN, 12345]], null]);
  assert.equal(await code(second), 'ERR_NO_METHOD');
});
