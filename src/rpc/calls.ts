// Calls that this side has made: each is answered, aborted, late, lost or over with its connection, and settles in every case.
import { type ClosedError, CodecError, TimeoutError, type UnsupportedError, UsageError } from '../errors.ts';
import { CALLS_CHAIN_MAX, CALLS_CHECKED_MAX, CALLS_CHECKS_MAX, CALLS_VALUES_MAX } from '../limits.ts';
import { notWhenAborted, whenAborted } from './aborts.ts';
import type { Connection } from './connection.ts';
import { Deadlines } from './deadlines.ts';
import { protocolError } from './failures.ts';
import { Interrupts } from './interrupts.ts';
import * as kinds from './messages.ts';
import { type Extra, following, isNumber, type Message } from './messages.ts';
import type { CallOptions } from './options.ts';
import { type Limits, nameOf, Pending, type Settler } from './pending.ts';
import { blamed } from './served.ts';
import { Slots } from './slots.ts';
import type { Packed } from './values.ts';

/** What is called: the root, or a function or object that the other side gave away, by its number; negative, what a call comes to. */
export type Target = number;

type Path = readonly (string | number)[];

/** Calls of this thread, over whichever connection, until which somebody's thread is blocked. */
const awaited: Set<Pending> = new Set();

/** These threads are blocked, too, until something is answered that waits for these calls. */
export function spread(threads: readonly number[]): void {
  for (const pending of awaited) pending.blame(threads);
}

export class Calls {
  readonly #connection: Connection;
  readonly #pending: Slots<Pending> = new Slots();
  #last: number;
  readonly #deadlines: Deadlines<Pending> = new Deadlines((late) => this.#late(late));
  readonly #interrupts: Interrupts;
  /** How often something was lost since the other side was asked; 0: it has answered. */
  #checking = 0;

  constructor(connection: Connection, last: number) {
    this.#connection = connection;
    this.#last = last;
    this.#interrupts = new Interrupts(connection.port);
  }

  get size(): number {
    return this.#pending.size;
  }

  say(...message: Message): void {
    this.#connection.out.say(...message);
  }
  packDeep(values: unknown[], scoped: boolean, still: boolean): Packed | undefined {
    return this.#connection.values.pack(values, true, scoped, still);
  }

  /** Calls; what became of it, `settler` is told, perhaps at once. */
  start(
    target: Target,
    path: Path,
    values: unknown[],
    get: boolean,
    options: CallOptions | undefined,
    settler: Settler,
    blocks = false,
    ask?: string,
  ): Pending | undefined {
    const connection = this.#connection;
    try {
      if (connection.ended !== undefined) throw connection.ended;
      options?.signal?.throwIfAborted();
      if (this.#pending.size >= connection.options.maxPending) {
        const limit = connection.options.maxPending;
        throw new UsageError(
          'ERR_LIMIT',
          `Cannot call ${nameOf(path)}: ${limit} calls are not answered yet; await some, or raise maxPending`,
          { limit },
        );
      }
      if (values.length > CALLS_VALUES_MAX) {
        throw new UsageError(
          'ERR_LIMIT',
          `Cannot call ${nameOf(path)} with ${values.length} values: a call takes ${CALLS_VALUES_MAX}; put them into an array`,
          { limit: CALLS_VALUES_MAX },
        );
      }
      const packed = connection.values.pack(values, false, options?.callbacks === 'call', blocks);
      const chain = this.#chain(blocks, path);
      const id = this.#next();
      let message: Message;
      if (
        packed?.refs === undefined &&
        chain === undefined &&
        !get &&
        ask === undefined &&
        target >= 0 &&
        path.length < 2 &&
        (target > 0 || path.length > 0)
      ) {
        message = [kinds.CALL, id, target > 0 && path.length === 0 ? target : path[0], ...values];
        if (target > 0 && path.length === 1) message = [kinds.CALL_WITH, id, { target }, path, ...values];
      } else {
        const extra: { -readonly [K in keyof Extra]: Extra[K] } = {};
        if (target !== 0) extra.target = target;
        if (get) extra.get = true;
        if (ask !== undefined) extra.ask = ask;
        if (packed?.refs !== undefined) extra.refs = packed.refs;
        if (chain !== undefined) extra.chain = [...chain];
        message = [kinds.CALL_WITH, id, extra, path, ...values];
      }
      const pending = new Pending(this, id, path, message, settler);
      pending.transfer = packed?.transfer;
      pending.packed = packed;
      if (chain !== undefined) {
        pending.chain = chain;
        pending.still = blocks;
        awaited.add(pending);
      }
      this.#pending.add(pending);
      if (options !== undefined) this.#limit(pending, options);
      connection.out.send(pending);
      connection.out.copied(pending, values);
      // Behind what is sent: to hold the process can wait, and the other side need not wait for it.
      if (this.#pending.size === 1) connection.reholdSoon();
      return pending;
    } catch (error) {
      settler.reject(error);
      return undefined;
    }
  }

  /** @throws UsageError ERR_LIMIT */
  #chain(blocks: boolean, path: Path): Set<number> | undefined {
    const blames = blamed();
    const chain = blocks ? (blames ?? new Set()).add(this.#connection.token) : blames;
    if (chain === undefined || chain.size <= CALLS_CHAIN_MAX) return chain;
    throw new UsageError(
      'ERR_LIMIT',
      `Cannot call ${nameOf(path)}: ${CALLS_CHAIN_MAX} threads are blocked until this one has answered; let fewer call it without an event loop`,
      { limit: CALLS_CHAIN_MAX },
    );
  }

  #next(): number {
    do this.#last = following(this.#last);
    while (!this.#pending.free(this.#last));
    return this.#last;
  }

  #limit(pending: Pending, options: CallOptions): void {
    const limits: Limits = { options, deadline: Number.POSITIVE_INFINITY, onAbort: undefined };
    pending.limits = limits;
    const { timeoutMs, signal } = options;
    if (timeoutMs !== undefined && timeoutMs < Number.POSITIVE_INFINITY) {
      limits.deadline = performance.now() + timeoutMs;
      this.#deadlines.add(pending, limits.deadline);
    }
    if (signal !== undefined) {
      limits.onAbort = () => this.giveUp(pending, signal.reason);
      whenAborted(signal, limits.onAbort);
    }
  }
  #late(pending: Pending): void {
    this.giveUp(pending, lateError(pending.name, pending.limits?.options.timeoutMs ?? 0, this.#connection.met));
  }

  /** Nobody waits for it any more: it settles now, and the other side is told. */
  giveUp(pending: Pending, error: unknown): void {
    if (this.#pending.get(pending.id) !== pending) return;
    if (pending.queued) {
      this.unsent(pending, error);
      return;
    }
    this.#connection.out.say(kinds.ABORT, pending.id);
    this.#interrupts.raise(pending.id);
    this.#connection.out.flush();
    this.settle(pending, undefined, error);
  }
  /** It does not go out, nor what was called of what it would have come to. */
  unsent(pending: Pending, error: unknown, alone = true): void {
    if (this.#pending.get(pending.id) !== pending) return;
    const base = pending.message[0] === kinds.CALL_WITH ? ((pending.message[2] as Extra).target ?? 0) : 0;
    // What it was called of is kept for it over there.
    if (base < 0 && alone) this.#connection.out.say(kinds.RELEASE, base, 1);
    this.#connection.out.withdraw(pending);
    this.settle(pending, undefined, error);
    for (const follower of pending.followers ?? []) this.unsent(follower, error, false);
  }

  settle(pending: Pending, value: unknown, error?: unknown, failure?: unknown): void {
    this.#pending.delete(pending.id);
    if (pending.chain !== undefined) awaited.delete(pending);
    const { limits } = pending;
    if (limits !== undefined) {
      this.#deadlines.delete(pending);
      const { options, onAbort } = limits;
      if (onAbort !== undefined && options.signal !== undefined) notWhenAborted(options.signal, onAbort);
    }
    if (pending.packed !== undefined) {
      if (error !== undefined && pending.queued) pending.packed.undo();
      else pending.packed.done();
    }
    if (error !== undefined || failure !== undefined) pending.settler.reject(error, failure);
    else pending.settler.resolve(value);
    // Behind that: whoever awaits it may be about to make the next call.
    if (this.#pending.size === 0) this.#connection.reholdSoon();
  }

  // ---- what the other side says -------------------------------------------------------------------------------

  #take(id: unknown): Pending | undefined {
    if (!isNumber(id)) throw protocolError('an answer');
    this.#interrupts.settled(id);
    const pending = this.#pending.get(id);
    if (pending?.queued === true) throw protocolError('an answer to what was not asked yet');
    if (pending === undefined) this.#connection.pool?.over(id);
    return pending;
  }
  result(id: unknown, value: unknown): void {
    const pending = this.#take(id);
    if (pending !== undefined) this.settle(pending, value);
  }
  resultWith(id: unknown, refs: unknown, value: unknown): void {
    const values = [value];
    const pending = this.#take(id);
    const { values: here } = this.#connection;
    if (pending === undefined) {
      here.discard(refs);
      return;
    }
    try {
      here.unpack(values, refs);
    } catch (error) {
      this.settle(pending, undefined, error);
      if (error instanceof CodecError) throw error;
      return;
    }
    this.settle(pending, values[0]);
  }
  failed(id: unknown, failure: unknown): void {
    const pending = this.#take(id);
    if (pending === undefined) return;
    if (!Array.isArray(failure)) {
      const error = protocolError('an error');
      this.settle(pending, undefined, error);
      throw error;
    }
    this.settle(pending, undefined, undefined, failure);
  }

  /** Something was lost: the other side is asked which calls it knows. Whoever is asked again and again, and does not answer, hears nothing any more. */
  check(): void {
    if (this.#checking > 0 && ++this.#checking <= CALLS_CHECKS_MAX) return;
    const sent = this.#pending.all().filter(({ queued }) => !queued);
    const asks = this.#checking === 0 && sent.length > 0;
    this.#checking = asks ? 1 : 0;
    for (let i = 0; asks && i < sent.length; i += CALLS_CHECKED_MAX) {
      this.#connection.out.say(kinds.CHECK, ...sent.slice(i, i + CALLS_CHECKED_MAX).map(({ id }) => id));
    }
    if (!asks) for (const pending of sent) this.settle(pending, undefined, lostError());
  }
  gone(ids: readonly unknown[]): void {
    const again = this.#checking > 1;
    this.#checking = 0;
    for (const id of ids) {
      const pending = isNumber(id) ? this.#pending.get(id) : undefined;
      if (pending?.queued === false) this.settle(pending, undefined, lostError());
    }
    if (again) this.check();
  }
  heard(id: unknown): void {
    if (!isNumber(id)) throw protocolError('an answer');
    this.#interrupts.settled(id);
  }
  over(id: unknown): void {
    if (this.#take(id) !== undefined) throw protocolError('the end of a call that was not aborted');
  }

  /** What is not answered, oldest first. */
  pending(): Pending[] {
    return this.#pending.all();
  }
  /** It was taken back before it has begun: nobody is told, and no answer comes. */
  withdraw(pending: Pending): void {
    this.#pending.delete(pending.id);
    if (pending.chain !== undefined) awaited.delete(pending);
    if (pending.queued) this.#connection.out.withdraw(pending);
    if (this.#pending.size === 0) this.#connection.reholdSoon();
  }

  end(error: ClosedError | UnsupportedError): void {
    this.#interrupts.end();
    for (const pending of this.#pending.all()) this.settle(pending, undefined, error);
  }
}

/** @param met the other side has said something: who has not is often one that forgot to expose */
export function lateError(name: string, timeoutMs: number, met = true): TimeoutError {
  const hint = met ? '' : '; the other side has said nothing at this port yet: does it `expose` something there?';
  return new TimeoutError(`${name} was not answered within ${timeoutMs} ms, and is aborted${hint}`, {
    method: name,
    timeoutMs,
  });
}

export function lostError(): CodecError {
  return new CodecError(
    'ERR_LOST',
    'A call, its answer or a part of a stream was lost: a message could not be sent, or not be decoded',
  );
}
