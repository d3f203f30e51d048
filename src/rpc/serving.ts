// Calls that the other side has made: each is looked up in what is exposed, run, and answered.
import { DataCloneError, UnsupportedError, UsageError } from '../errors.ts';
import { CALLS_DEFERRED_MAX, CALLS_DEPTH_MAX, CALLS_NESTED_MAX } from '../limits.ts';
import type { HostAbortSignal } from '../platform/host-types.ts';
import { lostError } from './calls.ts';
import type { Connection, Outgoing } from './connection.ts';
import { Exposure, exposureOf, memberOf, noMethod } from './exposure.ts';
import { failureOf, protocolError } from './failures.ts';
import { Answering } from './manners.ts';
import * as kinds from './messages.ts';
import { type Extra, isNumber, type Message, type Ref } from './messages.ts';
import { Reference } from './reference.ts';

/** What a function that is called learns of its call: `currentCall()`. */
export interface CallContext {
  /** Aborted when nobody waits for this call any more: given up, late, or over with the other side. */
  readonly signal: HostAbortSignal;
  /** The same for code that computes: true though no event loop has run. One atomic load. */
  readonly interrupted: boolean;
}

type Path = readonly (string | number)[];
const NO_EXTRA: Extra = {};
const NO_PATH: Path = [];

/** The call that runs, and within which others run while this thread is blocked. */
let current: Served | undefined;
let nested = 0;
/** Calls that are not answered yet, and somebody's thread is blocked until they are. */
const blocking: Set<Served> = new Set();

/** The threads that are blocked until something is answered that this one is at work on. */
export function blamed(): readonly number[] | undefined {
  return blocking.size === 0 ? undefined : [...new Set([...blocking].flatMap(({ chain }) => chain ?? []))];
}

/**
 * What a function that is called learns of its call: whether anybody still waits for it. To be asked for before the first `await`, and kept: behind that, other calls
 * run. Costs one object a call that asks, and nothing one that does not.
 *
 * A function that awaits listens to `signal`; one that computes looks at `interrupted`, which is true although no event loop runs (over a medium without interrupts,
 * a socket, only once it has).
 * ```ts
 * import { attach, channel } from 'millrace';
 * import { currentCall, expose, within, wrap } from 'millrace/rpc';
 * const { port, remote } = channel();
 * const server = {
 *   wait(): Promise<never> {
 *     const { signal } = currentCall();
 *     return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
 *   },
 *   async count(to: number): Promise<number> {
 *     const call = currentCall();
 *     let n = 0;
 *     for (; n < to && !call.interrupted; n++) if (n % 1000 === 0) await null;
 *     return n;
 *   },
 * };
 * expose(server, attach(remote));                            // in another thread
 * const api = wrap<typeof server>(port);
 * await within(api, { timeoutMs: 20 }).wait().catch((error) => console.log(error.code));   // ERR_TIMEOUT, and `signal` is aborted over there
 * console.log(await api.count(5000));                        // 5000
 * port.close();
 * ```
 * @throws UsageError ERR_OPTION where no call runs
 */
export function currentCall(): CallContext {
  if (current !== undefined) return current;
  throw new UsageError(
    'ERR_OPTION',
    'No call runs here: ask for currentCall() at the beginning of an exposed function, before its first await',
  );
}

class Served implements CallContext {
  readonly id: number;
  readonly extra: Extra;
  readonly outer: Served | undefined;
  readonly #connection: Connection;
  #aborted = false;
  #reason: unknown;
  #controller: AbortController | undefined;

  constructor(connection: Connection, id: number, extra: Extra, outer: Served | undefined) {
    this.#connection = connection;
    this.id = id;
    this.extra = extra;
    this.outer = outer;
  }
  get chain(): readonly number[] | undefined {
    return this.extra.chain;
  }
  get signal(): HostAbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.interrupted) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }
  get interrupted(): boolean {
    return this.#aborted || this.#connection.port.interrupted === this.id;
  }
  get aborted(): boolean {
    return this.#aborted;
  }
  isOf(connection: Connection): boolean {
    return connection === this.#connection;
  }
  abort(reason?: unknown): void {
    if (this.#aborted) return;
    this.#aborted = true;
    this.#reason = reason;
    this.#controller?.abort(reason);
  }
}

/** What a call has come to that others build upon. */
interface Kept {
  left: number;
  outcome: { readonly value: unknown } | { readonly error: unknown } | undefined;
  readonly waiting: ((outcome: { readonly value?: unknown; readonly error?: unknown }) => void)[];
}

/** A result or an error on its way. */
class Answer implements Outgoing {
  message: Message;
  transfer: readonly unknown[] | undefined;
  readonly #connection: Connection;
  #tries = 0;

  constructor(connection: Connection, message: Message, transfer: readonly unknown[] | undefined) {
    this.#connection = connection;
    this.message = message;
    this.transfer = transfer;
  }

  refused(error: unknown): boolean {
    const [kind, id] = this.message as [number, number];
    const { values, options } = this.#connection;
    if (this.#tries++ > 2) return false;
    if ((kind === kinds.RESULT || kind === kinds.RESULT_WITH) && error instanceof DataCloneError && this.#tries === 1) {
      const before = kind === kinds.RESULT_WITH ? (this.message[2] as readonly Ref[]) : [];
      const value = [this.message.at(-1)];
      const deep = values.pack(value, true);
      if (deep?.refs !== undefined) {
        this.message = [kinds.RESULT_WITH, id, [...deep.refs, ...before], value[0]];
        return true;
      }
    }
    this.transfer = undefined;
    this.message = [kinds.FAILED, id, failureOf(error, true, options.stacks)];
    return true;
  }
}

export class Serving {
  readonly #connection: Connection;
  #root: Exposure | Answering | undefined;
  readonly #running: Map<number, Served> = new Map();
  readonly #kept: Map<number, Kept> = new Map();
  #deferred: (() => void)[] = [];

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  get exposes(): boolean {
    return this.#root !== undefined;
  }
  /** @throws UsageError ERR_BUSY if something is */
  expose(root: Exposure | Answering): void {
    if (this.#root !== undefined)
      throw new UsageError(
        'ERR_BUSY',
        'Cannot expose a second object at this port: put it into the first one, as a reference',
      );
    this.#root = root;
    this.#connection.rehold();
  }

  /**
   * What names a call and is no call otherwise is answered with what is wrong: whoever has made it does not wait for ever.
   * @throws CodecError ERR_PROTOCOL
   */
  call(message: Message): void {
    const [kind, id] = message;
    if (!isNumber(id)) throw protocolError('a call');
    if (this.knows(id)) throw protocolError('a second call of the same number');
    const short = kind === kinds.CALL;
    const name = message[2];
    if (short && typeof name === 'string') {
      // Most calls: there is nothing to be looked through.
      this.#begin(new Served(this.#connection, id, NO_EXTRA, current), [name], message.slice(3));
      return;
    }
    const extra: unknown = short ? (typeof name === 'number' ? { target: name } : NO_EXTRA) : name;
    const path: unknown = short ? (typeof name === 'number' ? NO_PATH : [name]) : message[3];
    if (!isPath(path) || !isExtra(extra)) {
      const error = protocolError('a call');
      this.#fail(new Served(this.#connection, id, NO_EXTRA, current), error);
      throw error;
    }
    this.#begin(new Served(this.#connection, id, extra, current), path, message.slice(short ? 3 : 4));
  }

  #begin(served: Served, path: Path, values: unknown[]): void {
    const connection = this.#connection;
    const { id, extra } = served;
    if (extra.keep !== undefined) {
      const limit = connection.options.maxPending;
      if (extra.keep > limit || this.#kept.size >= limit) {
        const what = `Cannot keep what this call comes to for ${extra.keep} others: the other side takes ${limit} calls at a time`;
        this.#fail(served, new UsageError('ERR_LIMIT', what, { limit }));
        return;
      }
      this.#kept.set(id, { left: extra.keep, outcome: undefined, waiting: [] });
    }
    if (this.#running.size + this.#deferred.length >= connection.options.maxPending) {
      this.#fail(
        served,
        new UsageError('ERR_LIMIT', `The other side is at work on ${connection.options.maxPending} calls: await some`),
      );
      return;
    }
    try {
      if (extra.refs !== undefined) connection.values.unpack(values, extra.refs);
    } catch (error) {
      this.#fail(served, error);
      throw error;
    }
    if (connection.blocked > 0 || !connection.threadBlocked || extra.chain?.includes(connection.token)) {
      this.#run(served, path, values);
      return;
    }
    // This thread is blocked in a call over another connection, and this one is none of its business.
    this.#running.set(id, served);
    if (this.#deferred.length >= CALLS_DEFERRED_MAX) {
      this.#fail(
        served,
        new UsageError('ERR_LIMIT', 'The other side is blocked, and this many calls wait for it already'),
      );
      return;
    }
    this.#deferred.push(() => this.#run(served, path, values));
  }

  /** This thread is not blocked any more: what waited for that has its turn before anything that comes later. */
  resume(): void {
    if (this.#deferred.length === 0 || this.#connection.threadBlocked) return;
    const deferred = this.#deferred;
    this.#deferred = [];
    queueMicrotask(() => {
      for (const run of deferred) run();
    });
  }

  #run(served: Served, path: Path, values: unknown[]): void {
    const { target } = served.extra;
    if (target === undefined || target >= 0) {
      this.#invoke(served, undefined, path, values);
      return;
    }
    const kept = this.#kept.get(-target);
    if (kept === undefined) {
      this.#fail(served, lostError());
      return;
    }
    kept.left--;
    const go = (outcome: { readonly value?: unknown; readonly error?: unknown }): void => {
      if ('error' in outcome) this.#fail(served, outcome.error);
      else this.#invoke(served, outcome, path, values);
    };
    if (kept.outcome !== undefined) {
      if (kept.left <= 0) this.#kept.delete(-target);
      go(kept.outcome);
      return;
    }
    this.#running.set(served.id, served);
    kept.waiting.push(go);
  }

  /** @throws UsageError ERR_NO_METHOD */
  #target(target: number | undefined): unknown {
    if (target !== undefined && target !== 0) return this.#connection.values.exported(target);
    if (this.#root !== undefined) return this.#root;
    throw new UsageError('ERR_NO_METHOD', 'Cannot call: the other side has exposed nothing at this port');
  }

  /** @param kept what a call has come to that this one is made of */
  #invoke(served: Served, kept: { readonly value?: unknown } | undefined, path: Path, values: unknown[]): void {
    if (served.aborted) {
      // Nobody waits for it, but calls upon it may.
      this.#fail(served, served.signal.reason);
      return;
    }
    const connection = this.#connection;
    const { chain } = served.extra;
    if (nested >= CALLS_NESTED_MAX) {
      this.#fail(
        served,
        new UsageError(
          'ERR_DEADLOCK',
          `Cannot call: ${nested} calls are served within each other by a thread that is blocked in them`,
        ),
      );
      return;
    }
    const before = current;
    let value: unknown;
    current = served;
    nested++;
    if (chain !== undefined) blocking.add(served);
    try {
      const asked = kept === undefined ? this.#target(served.extra.target) : kept.value;
      value = answerOf(asked, served.extra, path, values);
    } catch (error) {
      this.#fail(served, error);
      return;
    } finally {
      current = before;
      nested--;
    }
    if (typeof value !== 'object' || value === null || typeof (value as PromiseLike<unknown>).then !== 'function') {
      this.#answer(served, value);
      return;
    }
    if (connection.threadBlocked && chain?.includes(connection.token)) {
      (value as PromiseLike<unknown>).then(undefined, () => {});
      this.#fail(
        served,
        new UnsupportedError(
          'Cannot wait for a promise here: the thread that returned it is blocked in a call to us; return a value, or call it without blocking',
          { feature: 'calls' },
        ),
      );
      return;
    }
    this.#running.set(served.id, served);
    (value as PromiseLike<unknown>).then(
      (result) => this.#answer(served, result),
      (error) => this.#fail(served, error),
    );
  }

  #answer(served: Served, value: unknown): void {
    const connection = this.#connection;
    this.#settleKept(served.id, { value });
    this.#over(served);
    if (served.aborted || connection.ended !== undefined) {
      connection.values.letGo(value);
      return;
    }
    if (typeof value !== 'object' && typeof value !== 'function' && connection.manners === undefined) {
      connection.send(new Answer(connection, [kinds.RESULT, served.id, value], undefined));
      return;
    }
    const values = [value];
    try {
      const packed = connection.values.pack(values, false);
      const { refs, transfer } = packed ?? {};
      const message: Message =
        refs === undefined ? [kinds.RESULT, served.id, values[0]] : [kinds.RESULT_WITH, served.id, refs, values[0]];
      connection.send(new Answer(connection, message, transfer));
    } catch (error) {
      this.#fail(served, error);
    }
  }

  #fail(served: Served, error: unknown): void {
    this.#settleKept(served.id, { error });
    this.#over(served);
    if (served.aborted) return;
    const connection = this.#connection;
    const handled = connection.manners?.carryThrown(error);
    const message: Message =
      handled === undefined
        ? [kinds.FAILED, served.id, failureOf(error, false, connection.options.stacks)]
        : [kinds.RESULT_WITH, served.id, [[[0], kinds.REF_HANDLED, handled.name]], handled.value];
    connection.send(new Answer(connection, message, handled?.list));
  }

  #over(served: Served): void {
    if (this.#running.size > 0) this.#running.delete(served.id);
    if (served.chain !== undefined) blocking.delete(served);
    const { port } = this.#connection;
    if (port.interrupted === served.id) port.clearInterrupt(served.id);
  }

  #settleKept(id: number, outcome: { readonly value?: unknown; readonly error?: unknown }): void {
    const kept = this.#kept.get(id);
    if (kept === undefined) return;
    kept.outcome = outcome as NonNullable<Kept['outcome']>;
    if (kept.left <= 0) this.#kept.delete(id);
    for (const go of kept.waiting.splice(0)) go(outcome);
  }

  /** Whether a call of this number was heard, and is not answered. */
  knows(id: unknown): boolean {
    return this.#find(id) !== undefined;
  }
  #find(id: unknown): Served | undefined {
    const running = this.#running.get(id as number);
    if (running !== undefined) return running;
    for (let at = current; at !== undefined; at = at.outer) if (at.id === id && at.isOf(this.#connection)) return at;
    return undefined;
  }

  abort(id: unknown): void {
    if (!isNumber(id)) throw protocolError('an abort');
    this.#find(id)?.abort(new DOMException('The caller has given this call up', 'AbortError'));
    this.#connection.say(kinds.HEARD, id);
  }

  end(error: Error): void {
    this.#kept.clear();
    this.#deferred = [];
    for (const served of [...this.#running.values()]) {
      served.abort(error);
      this.#over(served);
    }
    for (let at = current; at !== undefined; at = at.outer) if (at.isOf(this.#connection)) at.abort(error);
  }
}

/** @throws UsageError ERR_NO_METHOD; what the function throws */
function answerOf(asked: unknown, { ask, get }: Extra, path: Path, values: unknown[]): unknown {
  if (asked instanceof Answering) return asked.answer(String(ask ?? (get === true ? 'get' : 'call')), path, values);
  if (ask !== undefined) throw noMethod(path.length > 0 ? path.join('.') : 'a value that is called and read only');
  let at = asked;
  const last = get === true ? path.length : path.length - 1;
  for (let i = 0; i < last; i++) at = memberOf(at, path[i] as string);
  return get === true ? at : callMember(at, path.length === 0 ? undefined : path[last], values);
}

/** @throws UsageError ERR_NO_METHOD; what the function throws */
function callMember(at: unknown, name: string | number | undefined, values: unknown[]): unknown {
  if (name === undefined) {
    if (typeof at !== 'function') throw noMethod('a value that is no function');
    return Reflect.apply(at, undefined, values);
  }
  const exposure = at instanceof Reference ? exposureOf(at) : at;
  if (exposure instanceof Exposure) return Reflect.apply(exposure.method(String(name)), exposure.target, values);
  const method = memberOf(at, name);
  if (typeof method !== 'function') throw noMethod(String(name));
  return Reflect.apply(method, at, values);
}

/** What of it is used before anything is called. */
function isExtra(extra: unknown): extra is Extra {
  if (typeof extra !== 'object' || extra === null) return false;
  const { target, keep, chain } = extra as Record<keyof Extra, unknown>;
  return (
    (target === undefined || typeof target === 'number') &&
    (keep === undefined || isNumber(keep)) &&
    (chain === undefined || (Array.isArray(chain) && chain.length <= CALLS_NESTED_MAX))
  );
}
function isPath(path: unknown): path is Path {
  return (
    Array.isArray(path) &&
    path.length <= CALLS_DEPTH_MAX &&
    path.every((name) => typeof name === 'string' || typeof name === 'number')
  );
}
