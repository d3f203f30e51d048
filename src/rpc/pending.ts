// A call that this side has made and that is not settled: its message while that waits, and who is told.
import { DataCloneError } from '../errors.ts';
import { CALLS_CHAIN_MAX } from '../limits.ts';
import type { Calls } from './calls.ts';
import type { Outgoing } from './envelopes.ts';
import type { Extra, Message } from './messages.ts';
import * as kinds from './messages.ts';
import type { CallOptions } from './options.ts';
import type { Packed } from './values.ts';

type Path = readonly (string | number)[];

/** Who is told what a call has come to. */
export interface Settler {
  resolve(value: unknown): void;
  reject(error: unknown, failure?: unknown): void;
}

export class Pending implements Outgoing {
  readonly id: number;
  readonly #path: Path;
  readonly settler: Settler;
  message: Message;
  transfer: readonly unknown[] | undefined;
  /** It has not gone out: what builds upon it may still go with it. */
  queued = true;
  /** What it has of a time limit and a signal; most have none. */
  limits: Limits | undefined;
  /** The threads that are blocked until it is answered. */
  chain: Set<number> | undefined;
  /** This thread is one of them. */
  still = false;
  packed: Packed | undefined;
  /** What was called of what this comes to, in the same trip. */
  followers: Pending[] | undefined;
  readonly #calls: Calls;
  #tried = false;

  constructor(calls: Calls, id: number, path: Path, message: Message, settler: Settler) {
    this.#calls = calls;
    this.id = id;
    this.#path = path;
    this.message = message;
    this.settler = settler;
  }

  get name(): string {
    return nameOf(this.#path);
  }

  /** By when it is late, by `performance.now`. */
  get deadline(): number {
    return this.limits?.deadline ?? Number.POSITIVE_INFINITY;
  }

  onSent(): void {
    this.queued = false;
    this.message = kinds.NOTHING;
  }

  /** A function or a stream may lie deep among the values: they are looked through only now, for most have none. Or it is a field of an error. */
  refused(error: unknown): boolean {
    const values = this.message.slice(this.message[0] === kinds.CALL ? 3 : 4);
    const look = error instanceof DataCloneError && !this.#tried;
    this.#tried = true;
    let deep: Packed | undefined;
    let why = error;
    try {
      if (look) deep = this.#calls.packDeep(values, this.limits?.options.callbacks === 'call', this.still);
    } catch (limit) {
      why = limit;
    }
    if (deep?.refs === undefined) {
      if (why === error && error instanceof DataCloneError && this.packed?.simplify() === true) return true;
      this.#calls.unsent(this, ofArgument(why, this.message[0] === kinds.CALL ? 3 : 4, this.name));
      return false;
    }
    const extra = this.extra();
    this.message = [
      kinds.CALL_WITH,
      this.id,
      // What lies deep is put in first: what a handler made is taken whole.
      { ...extra, refs: [...deep.refs, ...(extra.refs ?? [])] },
      this.message[3],
      ...values,
    ];
    this.packed = deep.with(this.packed);
    this.transfer = this.packed.transfer;
    return true;
  }

  /** What it says beside path and values, as one that says such things. */
  extra(): Extra {
    if (this.message[0] === kinds.CALL) {
      const [, , name, ...values] = this.message;
      const own = typeof name === 'number' ? { target: name } : {};
      this.message = [kinds.CALL_WITH, this.id, own, typeof name === 'number' ? [] : [name], ...values];
    }
    return this.message[2] as Extra;
  }
  /** Says it to the other side where that is news: so it ends, however the calls go round. */
  blame(threads: readonly number[]): void {
    const { chain } = this;
    const news = threads.filter((thread) => chain?.has(thread) === false);
    if (chain === undefined || news.length === 0 || chain.size + news.length > CALLS_CHAIN_MAX) return;
    for (const thread of news) chain.add(thread);
    this.#calls.say(kinds.BLAME, this.id, ...news);
  }
  /** So many more messages, or less, are about what this call comes to. */
  keep(more: number): void {
    const { keep = 0, ...extra } = this.extra();
    this.message[2] = keep + more > 0 ? { ...extra, keep: keep + more } : extra;
  }
}

export interface Limits {
  readonly options: CallOptions;
  /** When it is late, by `performance.now`. */
  deadline: number;
  onAbort: (() => void) | undefined;
}

/** What is called, for errors. */
export function nameOf(path: Path): string {
  return path.length > 0 ? path.join('.') : 'a function';
}

const PLACE = /\$\[1\]\[(\d+)\]/;

/** What cannot be cloned of a result is told by its place in that. */
export function ofResult(error: unknown): unknown {
  const place = error instanceof DataCloneError ? PLACE.exec(error.path) : null;
  return place === null ? error : toldAs('the result', error as DataCloneError, place[0]);
}

/** What cannot be cloned is told by its place among the arguments, not in the message that they would have been. */
function ofArgument(error: unknown, first: number, name: string): unknown {
  const place = error instanceof DataCloneError ? PLACE.exec(error.path) : null;
  if (place === null) return error;
  return toldAs(`argument ${Number(place[1]) - first + 1} of ${name}`, error as DataCloneError, place[0]);
}

function toldAs(what: string, { message, path, cause }: DataCloneError, place: string): DataCloneError {
  const rest = path.slice(place.length);
  return new DataCloneError(
    message.replace(path, () => `${what}${rest === '' ? '' : `, $${rest}`}`),
    `$${rest}`,
    cause,
  );
}
