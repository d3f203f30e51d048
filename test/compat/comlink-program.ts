// A program that has Comlink, whichever: real Comlink and millrace/compat/comlink run the same cases, and what each comes to is compared
// (comlink-beside.test.ts). What is handed in as `C` is all that differs.
import type * as Ours from '../../src/compat/comlink.ts';

export type Comlink = typeof Ours;

type Names =
  | 'a'
  | 'add'
  | 'apply'
  | 'arrow'
  | 'bind'
  | 'call'
  | 'callLater'
  | 'celsius'
  | 'count'
  | 'counter'
  | 'deep'
  | 'describe'
  | 'double'
  | 'echo'
  | 'emit'
  | 'failing'
  | 'fail'
  | 'failLater'
  | 'failWith'
  | 'finalized'
  | 'first'
  | 'get'
  | 'getter'
  | 'given'
  | 'gives'
  | 'inc'
  | 'kept'
  | 'kinds'
  | 'later'
  | 'length'
  | 'list'
  | 'listLater'
  | 'listNow'
  | 'listener'
  | 'made'
  | 'map'
  | 'name'
  | 'nested'
  | 'none'
  | 'nothing'
  | 'push'
  | 'read'
  | 'reads'
  | 'register'
  | 'size'
  | 'slice'
  | 'source'
  | 'steps'
  | 'Tally'
  | 'tell'
  | 'text'
  | 'Throws'
  | 'twice'
  | 'unit'
  | 'value'
  | 'when';
/** A proxy of anything. */
export type Far = ((...values: unknown[]) => Promise<unknown>) &
  (new (
    ...values: unknown[]
  ) => Promise<Far>) & { [P in Names]: Far } & Ours.ProxyMarked & {
    [Ours.releaseProxy](): void;
    [Ours.createEndpoint](): Promise<MessagePort>;
  };

/** A value that only a handler of the program's carries. */
class Celsius {
  readonly degrees: number;
  constructor(degrees: number) {
    this.degrees = degrees;
  }
}
/** One that is not even sent. */
class Unwritable {}
/** One that gets a port of its own. */
class Source {
  read(): string {
    return 'read';
  }
}

export function setHandlers(C: Comlink): void {
  const { transferHandlers } = C;
  transferHandlers.set('CELSIUS', {
    canHandle: (value): value is Celsius => value instanceof Celsius,
    serialize: (value) => {
      const form = new Float64Array([(value as Celsius).degrees]);
      return [form, [form.buffer]];
    },
    deserialize: (form) => new Celsius((form as Float64Array)[0] as number),
  });
  transferHandlers.set('UNWRITABLE', {
    canHandle: (value): value is Unwritable => value instanceof Unwritable,
    serialize: () => {
      throw new RangeError('not written');
    },
    deserialize: (form) => form,
  });
  transferHandlers.set('SOURCE', {
    canHandle: (value): value is Source => value instanceof Source,
    serialize: (value) => {
      const { port1, port2 } = new MessageChannel();
      C.expose(value, port1 as never);
      return [port2, [port2]];
    },
    deserialize: (port) => {
      (port as MessagePort).start();
      return C.wrap(port as never);
    },
  });
  // Of a primitive, which is given to handlers as all else.
  transferHandlers.set('SECRET', {
    canHandle: (value): value is string => typeof value === 'string' && value.startsWith('secret:'),
    serialize: (value) => [(value as string).slice(7), []],
    deserialize: (form) => `told: ${String(form)}`,
  });
}

type Callback = (...values: unknown[]) => unknown;
export interface Api {
  readonly finalized: number;
}

/** What is exposed. */
export function makeApi(C: Comlink): Api {
  class Tally {
    static readonly unit: string = 'pieces';
    static made: number = 0;
    count: number;
    constructor(count: number) {
      this.count = count;
    }
    get double(): number {
      return this.count * 2;
    }
    set double(value: number) {
      this.count = value / 2;
    }
    add(more: number): number {
      this.count += more;
      return this.count;
    }
    describe(value: unknown): string {
      return String((value as object).constructor.name);
    }
  }
  class Failing extends RangeError {
    readonly code: string = 'E_FAILING';
  }
  class Base {
    counter: number = 0;
    get getter(): string {
      return `got ${this.counter}`;
    }
    inc(): number {
      return ++this.counter;
    }
  }
  class Whole extends Base {
    finalized: number = 0;
    readonly text: string = 'text';
    readonly nothing: null = null;
    readonly none: undefined = undefined;
    readonly when: Date = new Date(5);
    readonly list: unknown[] = [1, 2, 3];
    readonly map: Map<string, number> = new Map([['a', 1]]);
    readonly nested: object = {
      deep: {
        value: 1,
        name(): string {
          return `deep ${this.value}`;
        },
      },
    };
    readonly kept: Callback[] = [];
    listener: Callback | undefined;
    readonly Tally: typeof Tally = Tally;
    readonly Throws: unknown = class Throws {
      constructor() {
        throw new TypeError('not made');
      }
    };
    readonly arrow: Callback = () => this.counter;
    readonly given: Tally = C.proxy(new Tally(7));

    static {
      Object.defineProperty(Whole.prototype, C.finalizer, {
        value(this: Whole): void {
          this.finalized++;
        },
      });
    }
    echo(...values: unknown[]): unknown {
      return values.length < 2 ? values[0] : values;
    }
    kinds(...values: unknown[]): string[] {
      return values.map((value) => (Array.isArray(value) ? 'array' : typeof value));
    }
    async later(value: unknown): Promise<unknown> {
      await null;
      return value;
    }
    listNow(): unknown[] {
      return this.list;
    }
    listLater(): Promise<unknown[]> {
      return Promise.resolve(this.list);
    }
    push(value: unknown): number {
      return this.list.push(value);
    }
    async call(callback: Callback, ...values: unknown[]): Promise<unknown> {
      return await callback(...values);
    }
    async twice(callback: Callback): Promise<unknown[]> {
      return [await callback(1), await callback(2)];
    }
    callLater(callback: Callback): void {
      setTimeout(() => void callback('later'));
    }
    tell(value: unknown): unknown {
      return this.listener?.(value);
    }
    register(callback: Callback): number {
      return this.kept.push(callback);
    }
    async emit(value: unknown): Promise<unknown[]> {
      return await Promise.all(this.kept.map((callback) => callback(value)));
    }
    async gives(callback: Callback): Promise<unknown> {
      return await callback(C.proxy((value: number) => value * 10));
    }
    async read(what: { value: unknown; name(): unknown }): Promise<unknown[]> {
      return [await what.value, await what.name()];
    }
    fail(): never {
      throw new Failing('failed', { cause: 5 });
    }
    async failLater(): Promise<never> {
      await null;
      return this.fail();
    }
    failWith(value: unknown): never {
      throw value;
    }
    failing(): unknown {
      return { at: Symbol('nowhere') };
    }
    made(count: number): Tally {
      return C.proxy(new Tally(count));
    }
    first(bytes: Uint8Array): unknown {
      return bytes[0];
    }
    slice(length: number): Uint8Array {
      const bytes = new Uint8Array(length).fill(7);
      return C.transfer(bytes, [bytes.buffer]);
    }
    celsius(degrees: number): Celsius {
      return new Celsius(degrees);
    }
    source(): Source {
      return new Source();
    }
    async reads(source: { read(): unknown }): Promise<unknown> {
      return await source.read();
    }
    describe(value: unknown): string {
      return value instanceof Celsius ? `${value.degrees} degrees` : String(value);
    }
    *steps(): Generator<number> {
      yield 1;
    }
  }
  return new Whole();
}

export interface Stage {
  readonly C: Comlink;
  readonly endpoint: Ours.Endpoint;
  readonly remote: Far;
  /** What is exposed, where it is in this thread. */
  readonly api: Api | undefined;
}
export function stage(C: Comlink, endpoint: Ours.Endpoint, api: Api | undefined): Stage {
  return { C, endpoint, remote: wrapped(C, endpoint), api };
}
export interface Case {
  readonly name: string;
  run(stage: Stage): unknown;
}
export const cases: Case[] = [];
function given(name: string, run: (stage: Stage) => unknown): void {
  cases.push({ name, run });
}

/** What came of it, as a value. */
async function of(asked: unknown): Promise<unknown> {
  try {
    return await asked;
  } catch (thrown) {
    return { thrown };
  }
}
async function call(body: () => unknown): Promise<unknown> {
  try {
    return await of(body());
  } catch (thrown) {
    return { 'thrown at once': thrown };
  }
}
const all = (...asked: unknown[]): Promise<unknown[]> => Promise.all(asked.map(of));

given('reads values', ({ remote }) => all(remote.counter, remote.text, remote.nothing, remote.none, remote.when));
given('reads what is inherited, and accessors', ({ remote }) => all(remote.getter));
given('reads into objects and arrays', ({ remote }) =>
  all(remote.nested.deep.value, remote.list, remote.list.length, remote.map, remote.map.size),
);
given('reads what holds functions', ({ remote }) => of(remote.nested).then(kindOf));
given('reads what is not there, and into it', ({ remote }) =>
  all((remote.nested as Far).a, of((remote.nested as Far).a.a).then(kindOf)),
);
given('reads a function', ({ remote }) => of(remote.inc).then(kindOf));
given('reads what is marked', async ({ remote }) => {
  const it = (await remote.given) as Far;
  return all(it.count, it.add(1), it.count, typeof it);
});
given('sets', async ({ remote }) => {
  remote.counter = 5 as never;
  remote.nested.deep.value = 6 as never;
  return all(remote.counter, remote.inc(), remote.nested.deep.name(), remote.getter);
});
given('sets by an accessor, an object and what was not there', async ({ remote }) => {
  const tally = await new remote.Tally(1);
  tally.double = 10 as never;
  (remote as Far).a = { a: [1] } as never;
  (remote as Far).a.a = 2 as never;
  return all(tally.count, remote.a);
});
given('sets a callback', async ({ C, remote }) => {
  remote.listener = C.proxy((value: unknown) => `heard ${String(value)}`) as never;
  return all(remote.tell('x'), of(remote.listener).then(kindOf));
});
given('calls', ({ remote }) =>
  all(remote.inc(), remote.echo(1, 'a', null, undefined), remote.echo(), remote.later([1]), remote.arrow()),
);
given('calls with what is missing at the end', ({ remote }) => all(remote.kinds(undefined, 1, undefined)));
given('calls what is no function, or not there', ({ remote }) =>
  all(of((remote.counter as Far)()).then(nameOf), of((remote.a as Far)()).then(nameOf)),
);
given('calls at once, in order', async ({ remote }) => {
  const told: unknown[] = [];
  await Promise.all([1, 2, 3].map(async () => told.push(await remote.inc())));
  return told;
});
given('calls methods of the runtime', ({ remote }) =>
  all(remote.list.push(4), remote.list.slice(1), remote.map.get('a'), remote.text.slice(1)),
);
given('calls by call, apply and bind', ({ remote }) =>
  all(
    remote.echo.call(null, 1),
    remote.echo.apply(null, [2]),
    (remote.echo.bind(remote) as unknown as Far)(3),
    of((remote.inc.bind(null) as unknown as Far)()),
  ),
);
given('copies arguments when it is called', async ({ remote }) => {
  const list = [1];
  const cold = remote.echo(list);
  list.push(2);
  await cold;
  const warm = remote.echo(list);
  list.push(3);
  const set = [1];
  remote.counter = set as never;
  set.push(2);
  return all(cold, warm, remote.counter);
});
given('copies results before the next call', ({ remote }) =>
  all(remote.listNow(), remote.push(4), remote.list, remote.listNow(), remote.push(5), remote.listNow()),
);
given('calls of one turn, and what an async function does behind its first await', ({ remote }) =>
  all(remote.listLater(), remote.push(4)),
);
given('copies what a callback gets, and answers, when it is called', async ({ C, remote }) => {
  const heard: unknown[] = [];
  const answer = [1];
  const list = [1];
  const done = remote.twice(
    C.proxy((n: unknown) => {
      answer.push(n as number);
      return answer;
    }),
  );
  const called = remote.call(
    C.proxy((...values: unknown[]) => void heard.push(values)),
    list,
  );
  list.push(2);
  return [await done, await called, heard];
});
given('copies all that structured clone does', ({ remote }) =>
  all(
    remote.echo([new Map([[1, new Set([2])]]), new Date(7), /x/g, 7n, -0, Number.NaN, new Uint8Array([1, 2])]),
    remote.echo(new Error('plain')),
    remote.echo(Object.assign(Object.create({ inherited: 1 }), { own: 1 })),
  ),
);
given('copies what is within each other', async ({ remote }) => {
  const ring: unknown[] = [];
  ring.push(ring);
  const back = (await remote.echo(ring)) as unknown[];
  return back[0] === back;
});
given('refuses what cannot be cloned, as an argument', ({ remote }) =>
  all(
    call(() => remote.echo({ at: Symbol('nowhere') })).then(nameOf),
    call(() => remote.echo(Symbol('nowhere'))).then(nameOf),
  ),
);
given('refuses what cannot be cloned, as a result', ({ remote }) => of(remote.failing()).then(nameOf));
given('functions without proxy', ({ remote }) => all(of(remote.kinds(() => 1)).then(nameOf)));
given('functions without proxy within an argument', ({ remote }) =>
  all(of(remote.kinds({ on: () => 1 })).then(nameOf)),
);
given('generators', ({ remote }) => of(remote.steps()).then((it) => nameOf(it) ?? typeof it));

given('constructs', async ({ remote }) => {
  const tally = await new remote.Tally(3);
  return all(tally.count, tally.add(1), tally.double, remote.Tally.unit, typeof tally);
});
given('constructs with what is copied, and what a handler makes', async ({ remote }) => {
  const list = [1];
  const asked = new remote.Tally(list);
  list.push(2);
  return all((await asked).count, (await new remote.Tally('secret:x')).count);
});
given('constructs what is no class, and what throws', ({ remote }) =>
  all(of(new remote.list(1)).then(nameOf), of(new remote.Throws())),
);
given('constructs and releases, and constructs again', async ({ C, remote }) => {
  const one = await new remote.Tally(1);
  const two = await new remote.Tally(2);
  one[C.releaseProxy]();
  return all(two.add(1), of(call(() => one.add(1)).then(kindOf)));
});

given('calls back', ({ C, remote }) =>
  all(
    remote.call(
      C.proxy((a: unknown) => `${String(a)}!`),
      'x',
    ),
    remote.twice(C.proxy(async (a: unknown) => [a])),
    remote.call(
      C.proxy((...values: unknown[]) => values),
      1,
      [2],
      undefined,
    ),
  ),
);
given(
  'calls back after the call was answered',
  ({ C, remote }) => new Promise((resolve) => void remote.callLater(C.proxy(resolve))),
);
given('keeps callbacks, the same one twice', async ({ C, remote }) => {
  const told: unknown[] = [];
  const callback = C.proxy((value: unknown) => told.push(value));
  await remote.register(callback);
  await remote.register(callback);
  const results = (await remote.emit('x')) as number[];
  return [told, results.sort()];
});
given('a callback throws', ({ C, remote }) =>
  all(
    remote.call(
      C.proxy(() => {
        throw new RangeError('here');
      }),
    ),
    remote.call(C.proxy(() => Promise.reject('a text'))),
  ),
);
given('a callback gets a callback', ({ C, remote }) =>
  all(remote.gives(C.proxy(async (f: Far) => [await f(1), await f(2)]))),
);
given('an object by proxy is read, and called', ({ C, remote }) =>
  all(remote.read(C.proxy({ value: 1, name: () => 'one' })), remote.kinds(C.proxy({ value: 1 }), C.proxy([1]))),
);
given('a proxy of the other side goes back', async ({ remote }) => {
  const tally = (await remote.made(1)) as Far;
  const back = (await remote.echo(tally)) as Far;
  return all(
    of(back.add(5)).then((it) => nameOf(it) ?? it),
    tally.count,
    back.count,
  );
});
given('what was marked here comes back', async ({ C, remote }) => {
  const own = C.proxy({ value: 1 });
  const back = await remote.echo(own);
  return [back === own, await (back as Far).value];
});
given('what is marked within an argument', ({ C, remote }) =>
  all(of(remote.echo({ it: C.proxy({ value: 1 }), list: [C.proxy({ value: 2 })] })).then(deeply)),
);

given('moves arguments', async ({ C, remote }) => {
  const bytes = new Uint8Array([5, 6]);
  const asked = remote.first(C.transfer(bytes, [bytes.buffer]));
  const left = bytes.length;
  return [left, await asked, bytes.length];
});
given('moves results, and what is set', async ({ C, remote }) => {
  const { buffer } = new Uint8Array(10);
  (remote as Far).a = C.transfer(buffer, [buffer]) as never;
  return [buffer.byteLength, await remote.slice(2), await (remote as Far).a];
});
given('moves a part', async ({ C, remote }) => {
  const list = [new Uint8Array([1]), new Uint8Array([2])] as const;
  const value = { list };
  const back = await remote.echo(C.transfer(value, [list[0].buffer]));
  return [back, list[0].length, list[1].length];
});
given('moves ports', async ({ C, remote }) => {
  const { port1, port2 } = new MessageChannel();
  const kinds = await remote.kinds(C.transfer(port2, [port2]));
  port1.close();
  return kinds;
});

given('handlers', ({ remote }) =>
  all(
    remote.describe(new Celsius(20)),
    remote.celsius(21),
    remote.echo([new Celsius(22)]),
    remote.describe('secret:x'),
    remote.echo('secret:y'),
  ),
);
given('handlers, of what is set and read', async ({ remote }) => {
  (remote as Far).value = new Celsius(5) as never;
  return all(remote.value, remote.describe(await remote.value));
});
given('handlers that throw', ({ remote }) => all(call(() => remote.echo(new Unwritable())).then(nameOf), remote.inc()));
given('a handler that makes ports', async ({ remote }) => {
  const source = (await remote.source()) as Far;
  const sent = await remote.reads(new Source());
  const back = (await remote.echo(new Source())) as Far;
  return all(source.read(), sent, back.read());
});

given('errors', ({ remote }) => all(remote.fail(), remote.failLater(), remote.failWith(new SyntaxError('syntax'))));
given('errors have a stack', async ({ remote }) => {
  const { thrown } = (await of(remote.fail())) as { thrown: Error };
  return [thrown instanceof Error, thrown.name, thrown.message, /fail/.test(String(thrown.stack))];
});
given('errors: their class, code and cause', async ({ remote }) => {
  const { thrown } = (await of(remote.fail())) as { thrown: Error & { code?: unknown } };
  return [thrown instanceof RangeError, thrown.code, thrown.cause];
});
given('what is thrown and no error', ({ remote }) =>
  all(
    remote.failWith('text'),
    remote.failWith(5),
    remote.failWith(null),
    remote.failWith(undefined),
    remote.failWith({ code: 5, list: [1] }),
  ),
);

given('a proxy as a value', async ({ remote }) => [
  typeof remote,
  typeof remote.inc,
  typeof remote.counter,
  (await remote) === remote,
  'then' in Object(remote),
]);
given('createEndpoint', async ({ C, remote }) => {
  const port = await remote[C.createEndpoint]();
  const second = wrapped(C, port);
  const counted = [await remote.inc(), await second.inc(), await remote.counter];
  second[C.releaseProxy]();
  return [counted, await remote.inc()];
});
given('createEndpoint of what is given, and of a part', async ({ C, remote }) => {
  const tally = (await remote.made(1)) as Far;
  const second = wrapped(C, await tally[C.createEndpoint]());
  const whole = wrapped(C, await remote.nested.deep[C.createEndpoint]());
  return [await second.add(1), await tally.count, await whole.counter];
});
given('several wraps of one endpoint', async ({ C, endpoint, remote }) => {
  const second = wrapped(C, endpoint);
  return [await remote.inc(), await second.inc(), await remote.counter];
});
given('exposes a function, and a class', async ({ C }) => {
  const ports = [new MessageChannel(), new MessageChannel()] as const;
  C.expose((a: number) => a + 1, ports[0].port1 as never);
  C.expose(
    class {
      name: string = 'made';
    },
    ports[1].port1 as never,
  );
  const f = wrapped(C, ports[0].port2);
  const made = await new (wrapped(C, ports[1].port2))();
  return all(f(1), made.name);
});
for (const [what, allowed] of [
  ['no origin', []],
  ['all', ['*']],
  ['another one', ['https://other.example']],
  ['this one', ['https://other.example', 'https://here.example']],
  ['a pattern', [/here\.example$/]],
  ['another pattern', [/other/]],
] as const) {
  given(`allowedOrigins: ${what}`, async ({ C }) => {
    const [near, far] = originPair('https://here.example');
    const { warn } = console;
    const warned: unknown[] = [];
    console.warn = (...what: unknown[]) => warned.push(what);
    try {
      C.expose({ f: (a: number) => a }, far, [...allowed]);
      const remote = C.wrap<{ f(a: number): number }>(near);
      const asked = Promise.all([remote.f(1), remote.f(2)]);
      asked.catch(() => {});
      const refused = new Promise((resolve) => {
        const look = (): unknown => (warned.length > 0 ? resolve('refused, with a warning') : setTimeout(look, 1));
        look();
      });
      const came = await Promise.race([asked, refused]);
      // Who is refused asks on.
      remote[C.releaseProxy]();
      return came;
    } finally {
      warned.push('over');
      console.warn = warn;
    }
  });
}
given('windowEndpoint', async ({ C }) => {
  const page = new EventTarget();
  const frame = new EventTarget();
  const targetOrigins = new Set<string>();
  const windowOf = (target: EventTarget): object => ({
    postMessage(message: unknown, targetOrigin: string, moved: Transferable[] = []): void {
      targetOrigins.add(targetOrigin);
      const data: unknown = structuredClone(message, { transfer: moved as never });
      setTimeout(() =>
        target.dispatchEvent(Object.assign(new Event('message'), { data, origin: 'https://a.example' })),
      );
    },
  });
  C.expose({ f: (a: number) => a + 1 }, C.windowEndpoint(windowOf(page) as never, frame as never, 'https://p.example'));
  const remote = C.wrap<{ f(a: number): number }>(C.windowEndpoint(windowOf(frame) as never, page as never));
  return [await remote.f(1), [...targetOrigins].sort()];
});

given('releases: it cannot be used any more', async ({ C, remote }) => {
  await remote.inc();
  remote[C.releaseProxy]();
  return nameOf(await call(() => remote.inc()));
});
given('releases: what is pending', async ({ C, remote }) => {
  await remote.inc();
  const never = remote.call(C.proxy(() => new Promise(() => {})));
  remote[C.releaseProxy]();
  return nameOf(await of(never));
});
given('releases twice', async ({ C, remote }) => {
  await remote.inc();
  remote[C.releaseProxy]();
  return nameOf(await call(() => remote[C.releaseProxy]()));
});
given('releases: the finalizer', async ({ C, remote, api }) => {
  await remote.inc();
  remote[C.releaseProxy]();
  // In another thread nobody can ask any more.
  if (api !== undefined) while (api.finalized === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  return api?.finalized;
});
given('releases: the finalizer, of several wraps', async ({ C, endpoint, remote, api }) => {
  const second = wrapped(C, endpoint);
  await remote.inc();
  await second.inc();
  remote[C.releaseProxy]();
  second[C.releaseProxy]();
  if (api !== undefined) while (api.finalized === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  return api?.finalized;
});
given('releases: what was given outlives it', async ({ C, remote }) => {
  const tally = (await remote.made(1)) as Far;
  remote[C.releaseProxy]();
  return nameOf(await call(() => tally.add(1)));
});

function wrapped(C: Comlink, endpoint: unknown): Far {
  return C.wrap(endpoint as Ours.Endpoint) as unknown as Far;
}

/** Two endpoints whose messages have an origin. */
function originPair(origin: string): [Ours.Endpoint, Ours.Endpoint] {
  const ends = [new EventTarget(), new EventTarget()] as const;
  const at = (own: 0 | 1): Ours.Endpoint => ({
    postMessage(message, moved) {
      const data: unknown = structuredClone(message, { transfer: moved ?? [] });
      queueMicrotask(() => ends[1 - own]!.dispatchEvent(Object.assign(new Event('message'), { data, origin })));
    },
    addEventListener: (type, listener) => ends[own].addEventListener(type, listener as never),
    removeEventListener: (type, listener) => ends[own].removeEventListener(type, listener as never),
  });
  return [at(0), at(1)];
}

/** Whether it is an error, a proxy or a copy. */
function kindOf(value: unknown): string {
  return nameOf(value) ?? typeof value;
}
/** The name of the error that was thrown; `undefined`: none was. */
function nameOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const at = Object.keys(value)[0];
  if (at !== 'thrown' && at !== 'thrown at once') return undefined;
  const error = (value as Record<string, unknown>)[at];
  return `${at}: ${error instanceof Error || error instanceof DOMException ? error.name : String(error)}`;
}
async function deeply(value: unknown): Promise<unknown> {
  if (typeof value === 'function') return 'a proxy';
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return Promise.all(value.map(deeply));
  return Object.fromEntries(
    await Promise.all(Object.entries(value).map(async ([key, part]) => [key, await deeply(part)] as const)),
  );
}
