// What goes over a port that carries calls: docs/protocol/calls.md, which says what each number and place means. A port's message is
// an envelope, `[number, message, ...]`; a message is an array whose first item is one of these.
import { CALLS_CHAIN_MAX, CALLS_DEPTH_MAX } from '../limits.ts';

/** The version of the page that this is. */
export const VERSION = 1;

/** `[HELLO, version, agent]`: the first message of a side. */
export const HELLO = 0;
/** `[CALL, id, name, ...values]`: a method of what is exposed; a number in the name's place is a function that was given away. */
export const CALL = 1;
/** `[CALL_WITH, id, Extra, path, ...values]`. */
export const CALL_WITH = 2;
/** `[RESULT, id, value]`. */
export const RESULT = 3;
/** `[RESULT_WITH, id, refs, value]`. */
export const RESULT_WITH = 4;
/** `[FAILED, id, failure]`. */
export const FAILED = 5;
/** `[ABORT, id]`: nobody waits for this call any more. */
export const ABORT = 6;
/** `[RELEASE, id, count]`: this many times less is a function or reference held over here; negative: fewer calls follow of what that call comes to. */
export const RELEASE = 7;
/** `[CREDIT, stream, count]`: so many more values may come. */
export const CREDIT = 8;
/** `[ITEMS, stream, ...values]`. */
export const ITEMS = 9;
/** `[ITEM_WITH, stream, refs, value]`. */
export const ITEM_WITH = 10;
/** `[END, stream]`, or `[END, stream, failure]`. */
export const END = 11;
/** `[CANCEL, stream]`: nobody reads this any more. */
export const CANCEL = 12;
/** `[LOST]`: something of yours did not arrive. */
export const LOST = 13;
/** `[CHECK, ...ids]`: are these calls known? */
export const CHECK = 14;
/** `[GONE, ...ids]`: these are not. */
export const GONE = 15;

/** `[HEARD, id]`: of an abort. */
export const HEARD = 16;
/** `[BLAME, id, ...threads]`: these, too, are blocked until this call is answered. */
export const BLAME = 17;
/** `[POOLED, places, memory?]`: so many of my calls run there at once, others wait; which of them may begin stands in the memory. */
export const POOLED = 18;
/** `[OVER, id]`: a call of a pool's that was aborted runs no more. */
export const OVER = 19;
/** `[CRASHED, failure]`: of this I die, and nobody has caught it. */
export const CRASHED = 20;

export type Message = [kind: number, ...rest: unknown[]];

/** In the place of one that has gone out, or does not go out any more. */
export const NOTHING: Message = [-1];

/** Whom a call asks, from what it names: names and indices. */
export type Path = readonly (string | number)[];

/** What a call may say beside its path and values; what it does not say is not there. */
export interface Extra {
  /** A function or reference that was given away, by its number; or, negative, what a call of the same side has come to. */
  readonly target?: number;
  /** The path leads to a property, which is read and not called. */
  readonly get?: true;
  /** Something else than to call or read it, in a word of the door that both sides have (manners.ts). */
  readonly ask?: string;
  /** What stands at these places of the values. */
  readonly refs?: readonly Ref[];
  /** How many messages that follow are about what this call comes to. */
  readonly keep?: number;
  /** The threads that are blocked until this call is answered. */
  readonly chain?: readonly number[];
}

/** `[path, kind, number]`: at this place among the values stands something that is kept by its owner. */
export type Ref = readonly [path: readonly (string | number)[], kind: number, what: unknown];
/** A function of the sender's; its number. */
export const REF_FUNCTION = 0;
/** An object of the sender's, whose methods may be called; its number. */
export const REF_OBJECT = 1;
/** Something of the receiver's that comes back to it; its number. */
export const REF_OWN = 2;
/** An async iterable; the number of the stream. */
export const REF_ITERABLE = 3;
/** A ReadableStream; the number of the stream. */
export const REF_READABLE = 4;
/** An Error, as a failure. */
export const REF_ERROR = 5;
/** What stands there was made by a handler, and is taken by the one of this name. */
export const REF_HANDLED = 6;

/** The next number of an envelope, or of a call: from 1, as far as the interrupt word takes them, and round again. */
export function following(number: number): number {
  return number >= 0x7fffffff ? 1 : number + 1;
}

export function isNumber(it: unknown): it is number {
  return Number.isInteger(it) && (it as number) >= 1 && (it as number) <= 0x7fffffff;
}

export function isPath(path: unknown): path is Path {
  if (!Array.isArray(path) || path.length > CALLS_DEPTH_MAX) return false;
  for (let i = 0; i < path.length; i++) {
    if (typeof path[i] !== 'string' && typeof path[i] !== 'number') return false;
  }
  return true;
}

/** All but `refs`, which are looked at where they are put in. */
export function isExtra(it: unknown): it is Extra {
  if (typeof it !== 'object' || it === null) return false;
  const { target, get, ask, keep, chain } = it as Record<string, unknown>;
  if (ask !== undefined && typeof ask !== 'string') return false;
  if (target !== undefined && !(typeof target === 'number' && isNumber(Math.abs(target)))) return false;
  if ((get !== undefined && get !== true) || (keep !== undefined && !isNumber(keep))) return false;
  return chain === undefined || isChain(chain);
}

export function isChain(chain: unknown): chain is readonly number[] {
  if (!Array.isArray(chain) || chain.length > CALLS_CHAIN_MAX) return false;
  for (let i = 0; i < chain.length; i++) if (!isNumber(chain[i])) return false;
  return true;
}
