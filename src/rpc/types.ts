/// <reference lib="esnext.disposable" preserve="true" />
// Types of what is called, from the type of what is exposed. A type is followed into arrays and type literals; an interface or a class stands for itself, since
// nobody can tell by it whether its functions go along (a Blob's members are functions, too).
import type { ReadableMembers } from '../platform/host-types.ts';
import type { Reference } from './reference.ts';

type Callable = (...values: never[]) => unknown;
/** A type literal: interfaces and classes have no index signature by themselves. */
type Literal = { readonly [name: string]: unknown };
type AnyStream = ReadableMembers<unknown>;

/** What is a remote, and of what: no property of it is there. */
declare const REMOTE: unique symbol;
interface RemoteOf<T> {
  readonly [REMOTE]?: T;
}
type IsRemote<T> = typeof REMOTE extends keyof T ? true : false;

// ---- what arrives, and what is sent -------------------------------------------------------------------------------

/** What arrives where a `T` was sent: functions can be called, and answer by a promise; generators are read with `for await`. */
export type Received<T> = Arrived<T, 'async'>;
/** What a blocking call returns: results as they are, generators to be read with `for`. What comes within it is as `Received` says. */
export type SyncReceived<T> = Arrived<T, 'sync'>;

/** Whether the thread blocks until it has what was asked for. */
type How = 'async' | 'sync';

type Arrived<T, H extends How> = T extends Callable
  ? Each<T, H>
  : T extends Reference<infer O>
    ? H extends 'sync'
      ? SyncRemote<O>
      : Remote<O>
    : IsRemote<T> extends true
      ? T
      : T extends AnyStream
        ? T
        : T extends AsyncIterable<infer V>
          ? Items<V, H>
          : T extends IterableIterator<infer V>
            ? Items<V, H>
            : T extends readonly unknown[]
              ? number extends T['length']
                ? T extends unknown[]
                  ? Received<T[number]>[]
                  : readonly Received<T[number]>[]
                : { [K in keyof T]: Received<T[K]> }
              : T extends Literal
                ? { [K in keyof T]: Received<T[K]> }
                : T;
type Items<V, H extends How> = H extends 'sync'
  ? Generator<Received<V>, void, void>
  : AsyncGenerator<Received<V>, void, void>;

/** What is sent where a `T` is to arrive: a function that is called over there may answer at once or by a promise. */
export type Sent<T> = T extends Callable
  ? SentFunction<T>
  : T extends Reference<infer O>
    ? Remote<O> | Reference<O>
    : IsRemote<T> extends true
      ? T extends RemoteOf<infer O>
        ? T | Reference<O & object>
        : T
      : T extends AnyStream
        ? T
        : T extends AsyncIterable<infer V>
          ? AsyncIterable<Sent<V>> | Generator<Sent<V>> | ReadableMembers<Sent<V>>
          : T extends readonly unknown[]
            ? number extends T['length']
              ? T extends unknown[]
                ? Sent<T[number]>[]
                : readonly Sent<T[number]>[]
              : { [K in keyof T]: Sent<T[K]> }
            : T extends Literal
              ? { [K in keyof T]: Sent<T[K]> }
              : T;

type SentFunction<F> = F extends (...values: infer A) => infer R
  ? (...values: ReceivedAll<A>) => Returned<Awaited<R>, Sent<Awaited<R>> | Promise<Sent<Awaited<R>>>>
  : never;
/** What is to return nothing may return anything, as in the language: `(n) => list.push(n)`. */
// biome-ignore lint/suspicious/noConfusingVoidType: that type is asked for
type Returned<R, S> = [void, R] extends [R, void] ? void : S;

type ReceivedAll<A extends readonly unknown[]> = { [K in keyof A]: Received<A[K]> };
type SentAll<A extends readonly unknown[]> = { [K in keyof A]: Sent<A[K]> };

// ---- calls --------------------------------------------------------------------------------------------------------

/** The promise of a call, and what can be read and called of its result in the same trip. */
export type CallOf<R> = Promise<Received<R>> & ([R] extends [never] ? unknown : Pipelined<R> & Streamed<Received<R>>);
/** A stream need not be awaited first: `for await (const n of api.count(5))`. */
type Streamed<V> =
  V extends AsyncIterable<infer I> ? { [Symbol.asyncIterator](): AsyncGenerator<I, void, void> } : unknown;

/** Values of which nothing can be asked on the way: only own properties that are data are. */
type Whole =
  | Callable
  | readonly unknown[]
  | string
  | number
  | boolean
  | bigint
  | symbol
  | null
  | undefined
  | Date
  | RegExp
  | Error
  | ArrayBuffer
  | ArrayBufferView
  | AnyStream
  | AsyncIterable<unknown>
  | Iterable<unknown>;

type Pipelined<R> =
  R extends Reference<infer O>
    ? Methods<O>
    : R extends Whole
      ? unknown
      : R extends object
        ? {
            readonly [K in keyof R as K extends 'then' | 'catch' | 'finally' | symbol
              ? never
              : K]-?: R[K] extends Callable ? RemoteFunction<R[K]> : CallOf<R[K]>;
          }
        : unknown;

/**
 * A function of the other side's. Of one with overloads the last four. A type parameter of its own is what it extends, `unknown` mostly: no mapped type can keep
 * it, for to look at the arguments of a function is to decide them. Who knows better says so, `api.echo as <T>(value: T) => CallOf<T>`.
 */
export type RemoteFunction<F> = Each<F, 'async'>;
/** A function of the other side's. A function among its arguments must answer at once: a thread that blocks waits for no promise. */
export type SyncFunction<F> = Each<F, 'sync'>;

type One<A extends readonly unknown[], R, H extends How> = H extends 'sync'
  ? (...values: SyncSentAll<A>) => SyncReceived<Awaited<R>>
  : (...values: SentAll<A>) => CallOf<Awaited<R>>;
/** What the compiler infers for an overload that is not there. */
type None<A, R> = [unknown[], unknown] extends [A, R] ? true : false;

type Each<F, H extends How> = F extends {
  (...values: infer A1): infer R1;
  (...values: infer A2): infer R2;
  (...values: infer A3): infer R3;
  (...values: infer A4): infer R4;
}
  ? None<A1, R1> extends true
    ? Three<F, H>
    : One<A1, R1, H> & One<A2, R2, H> & One<A3, R3, H> & One<A4, R4, H>
  : Three<F, H>;
type Three<F, H extends How> = F extends {
  (...values: infer A1): infer R1;
  (...values: infer A2): infer R2;
  (...values: infer A3): infer R3;
}
  ? None<A1, R1> extends true
    ? Two<F, H>
    : One<A1, R1, H> & One<A2, R2, H> & One<A3, R3, H>
  : Two<F, H>;
type Two<F, H extends How> = F extends { (...values: infer A1): infer R1; (...values: infer A2): infer R2 }
  ? None<A1, R1> extends true
    ? Last<F, H>
    : One<A1, R1, H> & One<A2, R2, H>
  : Last<F, H>;
type Last<F, H extends How> = F extends (...values: infer A) => infer R ? One<A, R, H> : never;

// ---- remotes ------------------------------------------------------------------------------------------------------

/** Names that a remote has itself: a program, a console or an engine asks for them. */
type Local =
  | 'then'
  | 'toJSON'
  | 'prototype'
  | 'call'
  | 'apply'
  | 'bind'
  | 'constructor'
  | 'toString'
  | 'valueOf'
  | 'hasOwnProperty';

type Methods<T> = {
  readonly [K in keyof T as K extends Local | symbol
    ? never
    : NonNullable<T[K]> extends Callable | Reference
      ? K
      : never]-?: NonNullable<T[K]> extends Reference<infer O> ? Remote<O> : RemoteFunction<NonNullable<T[K]>>;
};
/** What `wrap` returns for something exposed of type `T`. */
export type Remote<T> = Methods<T> & RemoteOf<T> & Disposable;

// ---- the same where the thread blocks -----------------------------------------------------------------------------

/** Functions answer at once, and streams have their next value at once: a thread that stands still waits for no promise of its own. */
type SyncSent<T> = T extends Callable
  ? T extends (...values: infer A) => infer R
    ? (...values: ReceivedAll<A>) => Returned<Awaited<R>, SyncSent<Awaited<R>>>
    : never
  : IsRemote<T> extends true
    ? Sent<T>
    : T extends AnyStream
      ? never
      : T extends AsyncIterable<infer V>
        ? Generator<Sent<V>>
        : Sent<T>;
type SyncSentAll<A extends readonly unknown[]> = { [K in keyof A]: SyncSent<A[K]> };

/** What `wrapSync` returns. */
export type SyncRemote<T> = {
  readonly [K in keyof T as K extends Local | symbol
    ? never
    : NonNullable<T[K]> extends Callable | Reference
      ? K
      : never]-?: NonNullable<T[K]> extends Reference<infer O> ? SyncRemote<O> : SyncFunction<NonNullable<T[K]>>;
} & RemoteOf<T> &
  Disposable;
