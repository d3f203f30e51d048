// What a caller holds. A remote is a function whose prototype answers for every name that it has not: once a name was asked for it is a property as any
// other, so that only the first `api.add` costs a proxy's trap. A call's promise has such a prototype, too: what is called of it goes along with the call.
import { refuseToClone } from '../codec/classify.ts';
import { UsageError } from '../errors.ts';
import { CALLS_EXPORTS_MAX, CALLS_NAMES_KEPT } from '../limits.ts';

import type { Connection } from './connection.ts';
import { memberOf } from './exposure.ts';
import { protocolError, thrownBy } from './failures.ts';
import * as kinds from './messages.ts';
import type { CallOptions } from './options.ts';
import { callOptions } from './options.ts';
import type { Pending, Settler } from './pending.ts';

export type Path = readonly (string | number)[];

/** How a remote calls: with an event loop, or with its thread blocked. */
export type Invoke<H extends Home = Connection> = (remote: Held<H>, path: Path, values: unknown[]) => unknown;

/** Where a remote's calls go: a connection, or a pool of them. */
export interface Home {
  readonly port: { readonly reason: string | undefined; close(): unknown };
  readonly ended: { readonly code: string } | undefined;
  readonly values?: Connection['values'];
}

/** What a remote is inside. */
export interface Held<H extends Home = Connection> {
  readonly connection: H;
  /** 0: what is exposed at the port; else the number of what was given away. */
  readonly target: number;
  readonly path: Path;
  readonly options: CallOptions | undefined;
  invoke(remote: Held<H>, path: Path, values: unknown[]): unknown;
  /** What was given away is held over there as long as anything here has this: its remote, a method of it, the same with other options. */
  readonly hold?: object | undefined;
}

const remotes: WeakMap<object, Held<Home>> = new WeakMap();

export function remoteOf(value: unknown): Held<Home> | undefined {
  return typeof value === 'function' ? remotes.get(value) : undefined;
}
export function isRemote(value: unknown): value is object {
  return remoteOf(value) !== undefined;
}

type Wild = ((...values: unknown[]) => unknown) & Record<PropertyKey, unknown>;

/** Names that stay what they are on every function: a program, a console or an engine asks for them. */
const LOCAL: ReadonlySet<string> = new Set([
  'call',
  'apply',
  'bind',
  'constructor',
  'toString',
  'valueOf',
  'hasOwnProperty',
]);
const SHOWN: readonly symbol[] = ['nodejs.util.inspect.custom', 'Deno.customInspect'].map((name) => Symbol.for(name));

export function makeRemote<H extends Home>(held: Held<H>): Wild {
  const remote = ((...values: unknown[]) => held.invoke(held, held.path, values)) as Wild;
  // Its own would stand in the way of methods called so.
  delete (remote as { name?: unknown }).name;
  delete (remote as { length?: unknown }).length;
  Object.setPrototypeOf(remote, new Proxy(Function.prototype, new Names(held)));
  markRemote(remote, held);
  return remote;
}
/** From now on this function stands for something of another side. */
export function markRemote(remote: object, held: Held<Home>): void {
  remotes.set(remote, held);
}

class Names implements ProxyHandler<object> {
  readonly #held: Held<Home>;
  #kept = 0;
  constructor(held: Held<Home>) {
    this.#held = held;
  }

  get(functions: object, name: string | symbol, remote: unknown): unknown {
    const held = this.#held;
    if (typeof name === 'symbol') {
      if (SHOWN.includes(name)) return () => shown(held);
      if (name === Symbol.dispose) return () => dispose(held);
      if (name === Symbol.asyncDispose) return async () => dispose(held);
      return name === Symbol.hasInstance ? Reflect.get(functions, name) : undefined;
    }
    // A promise is resolved with a remote, and JSON asks it: it is neither a promise nor has it a form of its own.
    if (name === 'then' || name === 'toJSON' || name === 'prototype') return undefined;
    if (name === 'toString') return () => shown(held);
    if (LOCAL.has(name)) return Reflect.get(functions, name);
    const child = makeRemote({ ...held, path: [...held.path, name] });
    if (this.#kept++ < CALLS_NAMES_KEPT && typeof remote === 'function') {
      Object.defineProperty(remote, name, { value: child, configurable: true });
    }
    return child;
  }
  set(_functions: object, name: string | symbol): never {
    throw new UsageError(
      'ERR_OPTION',
      `Cannot set ${String(name)} of a remote: only methods of what is exposed can be called`,
    );
  }
  has(functions: object, name: string | symbol): boolean {
    return typeof name === 'string' && name !== 'then' ? true : Reflect.has(functions, name);
  }
}

function shown({ connection, target, path }: Held<Home>): string {
  const what = [target === 0 ? 'api' : 'function', ...path].join('.');
  const reason = connection.port.reason ?? connection.ended?.code;
  const state = reason === undefined ? '' : ` (${reason})`;
  return `[Remote ${what}${state}]`;
}

function dispose({ connection, target, path }: Held<Home>): void {
  if (path.length > 0) return;
  if (target === 0) connection.port.close();
  else connection.values?.remotes.drop(target);
}

// ---- calls ------------------------------------------------------------------------------------------------------

/** The promise of a call. What is read or called of it before it has gone out goes along: `api.user(1).name` is one trip. */
export class Call<T = unknown> extends Promise<T> {
  #connection: Connection | undefined;
  #pending: Pending | undefined;
  /** It waits in a pool for a connection, and what is read or called of it waits with it. */
  #waits = false;
  #waiting: (() => void)[] | undefined;
  // `await` takes it as it is, and what `then` returns is an ordinary promise.
  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }
  static of(
    connection: Connection,
    target: number,
    path: Path,
    values: unknown[],
    get: boolean,
    options: CallOptions | undefined,
  ): Call {
    const call = new Call(take);
    const settler = new Promised(connection, target > 0, call, taken!, refused!);
    call.#connection = connection;
    call.#pending = connection.calls.start(target, path, values, get, options, settler);
    return call;
  }
  /** One that has no connection yet: it is told of it by `begin`, and settled by whoever has taken it. */
  static waiting(
    taker: (call: Call, resolve: (value: unknown) => void, reject: (error: unknown) => void) => void,
  ): Call {
    const call = new Call(take);
    call.#waits = true;
    taker(call, taken!, refused!);
    return call;
  }
  /** @param pending none: it has come to something, or may be taken back; what is built upon it is asked here of what it comes to */
  static begin(call: Call, connection: Connection | undefined, pending: Pending | undefined): void {
    call.#connection = connection;
    call.#pending = pending;
    call.#waits = false;
    const waiting = call.#waiting;
    if (waiting === undefined) return;
    call.#waiting = undefined;
    for (const go of waiting) go();
  }
  /** Its connection was taken back before anything had come of it. */
  static again(call: Call): void {
    call.#connection = undefined;
    call.#pending = undefined;
    call.#waits = true;
  }

  /** What is read or called of what a call will come to. */
  static member(call: Call, path: Path, values: unknown[], get: boolean): Promise<unknown> {
    if (call.#waits) {
      return Call.waiting((member, resolve) => {
        call.#waiting ??= [];
        call.#waiting.push(() => {
          const begun = Call.member(call, path, values, get);
          resolve(begun);
          if (begun instanceof Call) Call.begin(member, begun.#connection, begun.#pending);
          else Call.begin(member, undefined, undefined);
        });
      });
    }
    const connection = call.#connection;
    const pending = call.#pending;
    if (pending?.queued === true && connection !== undefined && connection.ended === undefined) {
      // Who asks for a part of it hears by that part that it has failed.
      call.catch(() => {});
      // Before it is sent: with it the one that it builds upon may go out.
      pending.keep(1);
      const next = Call.of(connection, -pending.id, path, values, get, undefined);
      if (next.#pending !== undefined) (pending.followers ??= []).push(next.#pending);
      else if (pending.queued) pending.keep(-1);
      else connection.out.say(kinds.RELEASE, -pending.id, 1);
      return next;
    }
    // It has gone out: what it comes to is here soon, and may be asked itself.
    return call.then((value) => {
      const at = (get ? path : path.slice(0, -1)).reduce(memberHere, value);
      if (get) return at;
      return Reflect.apply(memberHere(at, path.at(-1) as string) as () => unknown, at, values);
    });
  }
}
let taken: ((value: unknown) => void) | undefined;
let refused: ((error: unknown) => void) | undefined;
/** One function for all calls: of two closures a call the engine makes enough itself. */
const take = (resolve: (value: unknown) => void, reject: (error: unknown) => void): void => {
  taken = resolve;
  refused = reject;
};

function memberHere(at: unknown, name: string | number): unknown {
  return isRemote(at) ? (at as Wild)[name] : memberOf(at, name);
}

class Promised implements Settler {
  readonly #connection: Connection;
  readonly #given: boolean;
  readonly #call: Call;
  readonly #reject: (error: unknown) => void;
  readonly resolve: (value: unknown) => void;
  /** @param given it is a function of the other side's that is called */
  constructor(
    connection: Connection,
    given: boolean,
    call: Call,
    resolve: (value: unknown) => void,
    reject: (error: unknown) => void,
  ) {
    this.#connection = connection;
    this.#given = given;
    this.#call = call;
    this.resolve = resolve;
    this.#reject = reject;
  }
  reject(error: unknown, failure?: unknown): void {
    // A function that was given away may throw what its owner likes: that must not end the process of who has called it and waits for nothing. And of a
    // call that nobody waits for the end of its connection is no news.
    const over = error !== undefined && error === this.#connection.ended;
    if (this.#given || over) this.#call.catch(() => {});
    if (failure !== undefined) {
      this.resolve(rejected(failure));
      return;
    }
    this.#reject(error);
  }
}

class Results implements ProxyHandler<object> {
  get(promises: object, name: string | symbol, call: unknown): unknown {
    if (typeof name === 'symbol' || name === 'toJSON') return Reflect.get(promises, name);
    return makeResult(call as Call, [name]);
  }
  getPrototypeOf(): object {
    return Promise.prototype;
  }
}
for (const name of ['then', 'catch', 'finally'] as const) {
  Object.defineProperty(Call.prototype, name, { value: Promise.prototype[name], configurable: true, writable: true });
}
for (const name of [
  'toString',
  'valueOf',
  'hasOwnProperty',
  'toLocaleString',
  'isPrototypeOf',
  'propertyIsEnumerable',
] as const) {
  Object.defineProperty(Call.prototype, name, { value: Object.prototype[name], configurable: true, writable: true });
}
for (const name of SHOWN) {
  Object.defineProperty(Call.prototype, name, { value: () => '[Promise of a call]', configurable: true });
}
Object.defineProperty(Call.prototype, Symbol.asyncIterator, {
  value(this: Call): AsyncGenerator<unknown> {
    return itemsOf(this);
  },
  configurable: true,
});
// As of any promise: nothing of it can be told in JSON.
Object.defineProperty(Call.prototype, 'toJSON', { value: () => ({}), configurable: true, writable: true });
Object.defineProperty(Call.prototype, 'constructor', { value: Promise, configurable: true, writable: true });
Object.defineProperty(Call.prototype, Symbol.toStringTag, { value: 'Promise', configurable: true });
Object.setPrototypeOf(Call.prototype, new Proxy(Promise.prototype, new Results()));

refuseToClone(Call.prototype, 'await it first');

/** Calls with an event loop. */
export const invokeAsync: Invoke = ({ connection, target, options }, path, values) =>
  Call.of(connection, target, path, values, false, options);

/**
 * The error is made within an async function that the call's promise waits for: engines then know who waits for that, and its stack says who has called, which costs
 * nothing where nothing fails.
 */
export async function rejected(failure: unknown): Promise<never> {
  await undefined;
  await undefined;
  const here = new Error('').stack;
  throw thrownBy(
    failure,
    here
      ?.split('\n')
      .slice(1)
      .filter((line) => !line.includes('rejected'))
      .join('\n') || undefined,
  );
}

/** What a promise comes to, one by one: `for await` needs no `await` in front. */
async function* itemsOf(promise: Promise<unknown>): AsyncGenerator<unknown> {
  yield* (await promise) as AsyncIterable<unknown>;
}

/** A member of what a call will come to: to be called, awaited, or asked for members of its own. */
function makeResult(call: Call, path: Path): Wild {
  const invoke = (values: unknown[], get: boolean): Promise<unknown> => Call.member(call, path, values, get);
  const result = ((...values: unknown[]) => invoke(values, false)) as Wild;
  delete (result as { name?: unknown }).name;
  delete (result as { length?: unknown }).length;
  let value: Promise<unknown> | undefined;
  const promise = (): Promise<unknown> => (value ??= invoke([], true));
  const names: ProxyHandler<object> = {
    get(functions, name) {
      if (name === 'then') return (...how: [() => unknown, () => unknown]) => promise().then(...how);
      if (name === 'catch') return (how: () => unknown) => promise().catch(how);
      if (name === 'finally') return (how: () => void) => promise().finally(how);
      if (name === Symbol.asyncIterator) return () => itemsOf(promise());
      if (typeof name === 'symbol') return SHOWN.includes(name) ? () => `[Remote result.${path.join('.')}]` : undefined;
      if (name === 'toJSON' || name === 'prototype') return undefined;
      return LOCAL.has(name) ? Reflect.get(functions, name) : makeResult(call, [...path, name]);
    },
  };
  Object.setPrototypeOf(result, new Proxy(Function.prototype, names));
  return result;
}

// ---- what the other side has given away ---------------------------------------------------------------------------

interface Stub {
  remote: WeakRef<Wild>;
  readonly hold: WeakRef<object>;
  count: number;
}

/** Functions and references of the other side's that somebody here holds; what nobody holds any more is let go of over there. */
export class Remotes {
  readonly #connection: Connection;
  readonly #stubs: Map<number, Stub> = new Map();
  readonly #collected: FinalizationRegistry<number>;

  constructor(connection: Connection) {
    this.#connection = connection;
    this.#collected = new FinalizationRegistry((id) => this.#sweep(id));
  }

  #sweep(id: number): void {
    if (this.#stubs.get(id)?.hold.deref() === undefined) this.drop(id);
  }

  /** @throws CodecError ERR_PROTOCOL for more than anybody may give away */
  of(id: number): Wild {
    const known = this.#stubs.get(id);
    const held = known?.hold.deref();
    if (known !== undefined && held !== undefined) {
      known.count++;
      const there = known.remote.deref();
      if (there !== undefined) return there;
      const again = this.#make(id, held);
      known.remote = new WeakRef(again);
      return again;
    }
    if (known === undefined && this.#stubs.size >= CALLS_EXPORTS_MAX) {
      for (const other of [...this.#stubs.keys()]) this.#sweep(other);
      if (this.#stubs.size >= CALLS_EXPORTS_MAX) throw protocolError('more functions than may be given away');
    }
    const hold = {};
    const remote = this.#make(id, hold);
    this.#stubs.set(id, { remote: new WeakRef(remote), hold: new WeakRef(hold), count: (known?.count ?? 0) + 1 });
    this.#collected.register(hold, id);
    return remote;
  }
  #make(target: number, hold: object): Wild {
    const connection = this.#connection;
    const held: Held = { connection, target, path: [], options: undefined, invoke: connection.invoke, hold };
    return (connection.manners?.remote(held) ?? makeRemote(held)) as Wild;
  }
  get size(): number {
    return this.#stubs.size;
  }
  /** It came once more, and nobody wants it: who has it from before goes on having it. */
  unused(remote: object): void {
    const { target } = remotes.get(remote) as Held<Home>;
    const stub = this.#stubs.get(target);
    if (stub === undefined) return;
    if (--stub.count === 0) this.#stubs.delete(target);
    this.#connection.out.letGo(target, 1);
  }
  drop(id: number): void {
    const stub = this.#stubs.get(id);
    if (stub === undefined) return;
    this.#stubs.delete(id);
    this.#connection.out.letGo(id, stub.count);
  }
}

/**
 * The same remote, whose calls have these options, beside those that it has already. Costs a few objects: keep what it returns for more than one call.
 * ```ts
 * import { attach, channel } from 'millrace';
 * import { expose, within, wrap } from 'millrace/rpc';
 * const { port, remote } = channel();
 * const server = { add: (a: number, b: number) => a + b, never: () => new Promise<void>(() => {}) };
 * expose(server, attach(remote));                            // in another thread
 * const api = wrap<typeof server>(port);
 * await within(api, { timeoutMs: 20 }).never().catch((error) => console.log(error.code));                       // ERR_TIMEOUT
 * await within(api, { signal: AbortSignal.abort('enough') }).never().catch((reason) => console.log(reason));    // enough
 * console.log(await api.add(1, 2));                          // 3
 * port.close();
 * ```
 * @throws UsageError ERR_OPTION for what is no remote, and for an unknown or wrong option
 */
export function within<R>(remote: R, options: CallOptions): R {
  const held = remoteOf(remote);
  if (held === undefined)
    throw new UsageError(
      'ERR_OPTION',
      `Cannot call ${String(remote)} with options: expected what wrap returns, or a part of it`,
    );
  return makeRemote({ ...held, options: { ...held.options, ...callOptions(options) } }) as R;
}

/**
 * Lets go of a function or reference that the other side gave away: it is not kept over there any more, and cannot be called. Without that, the garbage
 * collector does so at some time. Of what `wrap` returned it closes the port. The same as `remote[Symbol.dispose]()`, so `using` does it at the end of a block.
 * ```ts
 * import { attach, channel } from 'millrace';
 * import { expose, reference, release, wrap } from 'millrace/rpc';
 * const { port, remote } = channel();
 * const server = { counter: () => reference({ n: 0, next() { return ++this.n; } }) };
 * expose(server, attach(remote));                            // in another thread
 * const api = wrap<typeof server>(port);
 * const counter = await api.counter();
 * console.log(await counter.next());                         // 1
 * release(counter);
 * await counter.next().catch((error) => console.log(error.code));   // ERR_NO_METHOD
 * release(api);                                              // closes the port
 * ```
 * @throws UsageError ERR_OPTION for what is no remote
 */
export function release(remote: unknown): void {
  const held = remoteOf(remote);
  if (held === undefined) throw new UsageError('ERR_OPTION', `Cannot release ${String(remote)}: expected a remote`);
  dispose(held);
}
