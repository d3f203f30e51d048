// Calls that the other side has made: each is looked up in what is exposed, run, and answered.
import { CodecError, UnsupportedError, UsageError } from '../errors.ts';
import { CALLS_CHAIN_MAX, CALLS_DEFERRED_MAX, CALLS_NESTED_MAX, CALLS_VALUES_MAX } from '../limits.ts';
import { Answer } from './answer.ts';
import { answerOf } from './asked.ts';
import { lostError, spread } from './calls.ts';
import type { Connection } from './connection.ts';
import type { Exposure } from './exposure.ts';
import { failureOf, protocolError } from './failures.ts';
import type { Answering } from './manners.ts';
import * as kinds from './messages.ts';
import { type Extra, isChain, isExtra, isNumber, isPath, type Message, type Path, type Ref } from './messages.ts';
import { Places } from './places.ts';
import { type Kept, Served } from './served.ts';
import { Packed } from './values.ts';

const NO_EXTRA: Extra = {};
const NO_PATH: Path = [];

export class Serving {
  readonly #connection: Connection;
  #root: Exposure | Answering | undefined;
  readonly #running: Map<number, Served> = new Map();
  readonly #kept: Map<number, Kept> = new Map();
  /** The same of calls that wait for a place: what builds upon them waits for none, and comes before they begin. */
  readonly #early: Map<number, Kept> = new Map();
  #deferred: (() => void)[] = [];
  /** The other side is a pool. */
  #places: Places | undefined;
  #placing = false;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Calls that are not answered, and results that others build upon. */
  get size(): number {
    return this.#running.size + this.#kept.size + this.#deferred.length + (this.#places?.waiting ?? 0);
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
    const [, id] = message;
    if (!isNumber(id)) throw protocolError('a call');
    const places = this.#places;
    if (places === undefined || !Places.takes(message)) this.#open(message, id, undefined);
    else if (places.isFree) {
      if (places.mayBegin(id)) this.#open(message, id, places);
    } else this.#wait(message, id, places);
  }
  #wait(message: Message, id: number, places: Places): void {
    const { maxPending } = this.#connection.options;
    const keep = message[0] === kinds.CALL_WITH ? (message[2] as Extra | null)?.keep : undefined;
    try {
      if (places.waiting >= maxPending) throw tooMuch(maxPending);
      if (isNumber(keep)) this.#early.set(id, this.#keep(id, keep));
      places.wait(message);
    } catch (limit) {
      this.#discard(message);
      this.#fail(new Served(this.#connection, id, NO_EXTRA), limit);
    }
  }
  /** @throws UsageError ERR_LIMIT */
  #keep(id: number, left: number): Kept {
    const { maxPending } = this.#connection.options;
    if (left > maxPending || this.#kept.size >= maxPending) throw tooMuch(maxPending);
    const kept: Kept = { left, outcome: undefined, waiting: [] };
    this.#kept.set(id, kept);
    return kept;
  }
  /** @throws CodecError ERR_PROTOCOL */
  pooled(places: unknown, memory: unknown): void {
    // What waits for those of before would wait for ever.
    if (this.#places !== undefined) throw protocolError('places of a pool, once more');
    this.#places = new Places(places, memory);
  }
  /** What has waited for a place. */
  #place(places: Places): void {
    if (this.#placing) return;
    this.#placing = true;
    for (let message = places.next(); message !== undefined; message = places.next()) {
      try {
        this.#open(message, message[1] as number, places);
      } catch (error) {
        this.#connection.faulty(error);
      }
    }
    this.#placing = false;
  }
  /** A call that is not begun: nobody wants what came with it. */
  #discard([kind, , extra]: Message): void {
    if (kind === kinds.CALL_WITH) this.#connection.values.discard((extra as Extra | null)?.refs);
  }

  #open(message: Message, id: number, places: Places | undefined): void {
    const [kind] = message;
    const before = this.#find(id);
    // One that was given up may go on for as long as numbers take to come round.
    if (before !== undefined && !before.aborted) throw protocolError('a second call of the same number');
    const served = new Served(this.#connection, id, NO_EXTRA);
    const start = kind === kinds.CALL ? 3 : 4;
    try {
      if (message.length > CALLS_VALUES_MAX + start) throw protocolError('a call with so many values');
      if (kind === kinds.CALL) {
        const name = message[2];
        if (typeof name !== 'string' && !isNumber(name)) throw protocolError('a call');
        if (typeof name === 'number') served.extra = { target: name };
        this.#begin(served, typeof name === 'string' ? [name] : NO_PATH, message.slice(start), places);
      } else {
        const [, , extra, path] = message;
        if (!isExtra(extra) || !isPath(path)) throw protocolError('a call');
        served.extra = extra;
        this.#begin(served, path, message.slice(start), places);
      }
    } catch (error) {
      this.#fail(served, error);
      if (error instanceof CodecError) throw error;
    }
  }

  /** @throws CodecError ERR_PROTOCOL; UsageError ERR_LIMIT, ERR_NO_METHOD */
  #begin(served: Served, path: Path, values: unknown[], places: Places | undefined): void {
    const connection = this.#connection;
    const { maxPending } = connection.options;
    const { keep, refs, chain } = served.extra;
    try {
      if (keep !== undefined) {
        served.kept = this.#early.get(served.id) ?? this.#keep(served.id, keep);
        this.#early.delete(served.id);
      }
      if (this.#running.size >= maxPending) throw tooMuch(maxPending);
    } catch (error) {
      connection.values.discard(refs);
      throw error;
    }
    if (refs !== undefined) connection.values.unpack(values, refs);
    if (places !== undefined) {
      served.placed = true;
      places.take();
    }
    if (connection.blocking.depth > 0 || !connection.blocking.ofThread || chain !== undefined) {
      if (places === undefined) this.#run(served, path, values);
      else this.#runTimed(places, served, path, values);
      return;
    }
    // This thread is blocked in a call over another connection, and nobody is blocked until this one is answered: else two threads or more might stand still
    // until the other ones have answered.
    if (this.#deferred.length >= CALLS_DEFERRED_MAX) {
      for (const value of values) connection.values.letGo(value);
      throw new UsageError('ERR_LIMIT', 'The other side is blocked, and this many calls wait for it already');
    }
    this.#running.set(served.id, served);
    this.#deferred.push(() => this.#run(served, path, values));
  }

  /** So many calls less follow of what this one has come to. @throws CodecError ERR_PROTOCOL */
  release(id: number, count: unknown): void {
    if (!isNumber(id) || !isNumber(count)) throw protocolError('a release');
    const kept = this.#kept.get(id);
    if (kept !== undefined && (kept.left -= count) <= 0) this.#kept.delete(id);
  }
  /** What was to follow may have been lost: it is not waited for, nor kept for it what it was called of. */
  lost(): void {
    this.#kept.clear();
  }

  /** This thread is not blocked any more: what waited for that has its turn before anything that comes later. */
  resume(): void {
    if (this.#deferred.length === 0 || this.#connection.blocking.ofThread) return;
    const deferred = this.#deferred;
    this.#deferred = [];
    queueMicrotask(() => {
      for (const run of deferred) run();
    });
  }

  /** Answers gather until all that came together has run; in front of what may take long they are sent. */
  #runTimed(places: Places, served: Served, path: Path, values: unknown[]): void {
    const name = path[0];
    if (!places.isQuick(name)) this.#connection.out.flush();
    const begun = performance.now();
    this.#run(served, path, values);
    places.took(name, performance.now() - begun);
  }

  #run(served: Served, path: Path, values: unknown[]): void {
    const { target } = served.extra;
    if (target === undefined || target >= 0) {
      this.#invoke(served, undefined, path, values);
      return;
    }
    const kept = this.#kept.get(-target);
    if (kept === undefined) {
      for (const value of values) this.#connection.values.letGo(value);
      this.#fail(served, lostError());
      return;
    }
    if (--kept.left <= 0) this.#kept.delete(-target);
    const go = (outcome: { readonly value?: unknown; readonly error?: unknown }): void => {
      if ('error' in outcome) {
        for (const value of values) this.#connection.values.letGo(value);
        this.#fail(served, outcome.error);
      } else this.#invoke(served, outcome, path, values);
    };
    if (kept.outcome !== undefined) {
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
    if (Served.nested >= CALLS_NESTED_MAX) {
      this.#fail(
        served,
        new UsageError(
          'ERR_DEADLOCK',
          `Cannot call: ${CALLS_NESTED_MAX} calls are served within each other by a thread that is blocked in them`,
        ),
      );
      return;
    }
    let value: unknown;
    let promise: Promise<unknown> | undefined;
    served.enter();
    try {
      const asked = kept === undefined ? this.#target(served.extra.target) : kept.value;
      value = answerOf(asked, served.extra, path, values);
      if (typeof value === 'object' && value !== null && typeof (value as PromiseLike<unknown>).then === 'function')
        promise = Promise.resolve(value);
    } catch (error) {
      this.#fail(served, error);
      return;
    } finally {
      served.leave();
    }
    if (promise === undefined) {
      this.#answer(served, value);
      return;
    }
    served.waits = true;
    this.#running.set(served.id, served);
    if (connection.blocking.ofThread) this.#held(served);
    promise.then(
      (result) => this.#answer(served, result),
      (error) => this.#fail(served, error),
    );
  }

  /** Whether this thread is blocked until this call, too, is answered. */
  #isStill({ chain }: Served): boolean {
    const { blocking, token } = this.#connection;
    return blocking.ofThread && chain?.includes(token) === true;
  }
  /** This thread is blocked: a promise that it waits for itself would never settle, and whom others wait for they are told. */
  #held(served: Served): void {
    if (served.waits && this.#isStill(served)) {
      this.#fail(
        served,
        new UnsupportedError(
          'Cannot wait for a promise here: the thread that returned it is blocked in a call to us; return a value, or call it without blocking',
          { feature: 'calls' },
        ),
      );
    } else if (served.chain !== undefined) spread(served.chain);
  }

  /** More threads are blocked until a call is answered. */
  blame([, id, ...threads]: Message): void {
    if (!isChain(threads)) throw protocolError('a list of threads');
    const served = this.#find(id);
    if (served === undefined || served.answered || served.aborted) return;
    const chain = [...new Set([...(served.chain ?? []), ...threads])];
    if (chain.length > CALLS_CHAIN_MAX) return;
    served.blame(chain);
    this.#held(served);
  }

  #answer(served: Served, value: unknown): void {
    const connection = this.#connection;
    if (served.answered) {
      connection.values.letGo(value);
      return;
    }
    this.#settleKept(served.kept, { value });
    const still = this.#isStill(served);
    this.#over(served);
    if (served.aborted || connection.ended !== undefined) {
      connection.values.letGo(value);
      return;
    }
    if (typeof value !== 'object' && typeof value !== 'function' && connection.manners === undefined) {
      connection.out.reply(new Answer(connection, [kinds.RESULT, served.id, value], undefined));
      return;
    }
    const values = [value];
    try {
      const packed = connection.values.pack(values, false, false, still);
      const refs = packed?.refs;
      const message: Message =
        refs === undefined ? [kinds.RESULT, served.id, values[0]] : [kinds.RESULT_WITH, served.id, refs, values[0]];
      this.#said(new Answer(connection, message, packed, { still }), values[0]);
    } catch (error) {
      this.#refuse(served, error);
    }
  }

  #fail(served: Served, error: unknown): void {
    if (served.answered) return;
    this.#settleKept(served.kept, { error });
    this.#over(served);
    if (!served.aborted) this.#refuse(served, error);
  }
  #refuse(served: Served, error: unknown): void {
    const connection = this.#connection;
    const handled = connection.manners?.carryThrown(error);
    if (handled !== undefined) {
      const packed = new Packed(connection.values);
      packed.transfer = [...handled.list];
      const refs: readonly Ref[] = [[[0], kinds.REF_HANDLED, handled.name]];
      this.#said(new Answer(connection, [kinds.RESULT_WITH, served.id, refs, handled.value], packed), handled.value);
      return;
    }
    const failure = failureOf(error, false, connection.options.stacks);
    this.#said(new Answer(connection, [kinds.FAILED, served.id, failure], undefined, { thrown: error }), error);
  }
  #said(answer: Answer, value: unknown): void {
    const { out } = this.#connection;
    out.reply(answer);
    out.copied(answer, [value]);
  }

  #over(served: Served): void {
    served.answered = true;
    if (this.#running.size > 0 && this.#running.get(served.id) === served) this.#running.delete(served.id);
    served.over();
    const connection = this.#connection;
    const { port } = connection;
    if (port.interrupted === served.id) port.clearInterrupt(served.id);
    const places = this.#places;
    if (!served.placed || places === undefined) return;
    served.placed = false;
    places.leave();
    if (connection.ended !== undefined) return;
    if (served.aborted) connection.out.reply({ message: [kinds.OVER, served.id], transfer: undefined });
    if (places.waiting > 0) this.#place(places);
  }

  #settleKept(kept: Kept | undefined, outcome: { readonly value?: unknown; readonly error?: unknown }): void {
    if (kept === undefined) return;
    kept.outcome = outcome as NonNullable<Kept['outcome']>;
    for (const go of kept.waiting.splice(0)) go(outcome);
  }

  /** Calls of which what they come to is kept, for those that follow. */
  get keeps(): number {
    return this.#kept.size;
  }
  /** Whether a call of this number was heard, and is not answered. */
  knows(id: unknown): boolean {
    return this.#find(id) !== undefined || this.#places?.waits(id) === true;
  }
  #find(id: unknown): Served | undefined {
    const running = this.#running.get(id as number);
    if (running !== undefined) return running;
    return Served.running(this.#connection, id);
  }

  abort(id: unknown): void {
    if (!isNumber(id)) throw protocolError('an abort');
    const waiting = this.#places?.forget(id);
    if (waiting !== undefined) {
      this.#discard(waiting);
      this.#settleKept(this.#early.get(id), { error: givenUp() });
      this.#early.delete(id);
      this.#connection.out.reply({ message: [kinds.OVER, id], transfer: undefined });
      return;
    }
    const served = this.#find(id);
    if (served === undefined) return;
    // Nobody is blocked until it is answered any more.
    served.over();
    served.abort(givenUp());
  }

  end(error: Error): void {
    this.#kept.clear();
    this.#early.clear();
    this.#deferred = [];
    this.#places?.end();
    for (const served of [...this.#running.values()]) {
      served.abort(error);
      this.#over(served);
    }
    Served.abortRunning(this.#connection, error);
  }
}

function givenUp(): DOMException {
  return new DOMException('The caller has given this call up', 'AbortError');
}

function tooMuch(limit: number): UsageError {
  return new UsageError('ERR_LIMIT', `The other side is at work on ${limit} calls: await some`, { limit });
}
