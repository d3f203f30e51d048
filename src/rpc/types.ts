// Types of what is called, from the type of what is exposed.
import type { Reference } from './reference.ts';

type Callable = (...values: never[]) => unknown;

/** What arrives where a `T` was sent: functions can be called, and answer by a promise; generators are read with `for await`. */
export type Received<T> =
  T extends Reference<infer O>
    ? Remote<O>
    : T extends Callable
      ? RemoteFunction<T>
      : T extends AsyncGenerator<infer V> | Generator<infer V>
        ? AsyncGenerator<Received<V>, void, void>
        : T extends AsyncIterable<infer V>
          ? T extends ReadableStream
            ? T
            : AsyncGenerator<Received<V>, void, void>
          : T extends readonly (infer V)[]
            ? Callable extends V
              ? { [K in keyof T]: Received<T[K]> }
              : T
            : T;

/** What is sent where a `T` is to arrive: a function that is called over there may answer at once or by a promise. */
export type Sent<T> =
  T extends Reference<infer O>
    ? Remote<O> | Reference<O>
    : T extends (...values: infer A) => infer R
      ? (...values: ReceivedAll<A>) => Awaited<R> | Promise<Awaited<R>>
      : T extends AsyncIterable<infer V>
        ? AsyncIterable<Sent<V>> | ReadableStream<Sent<V>>
        : T;

type ReceivedAll<A extends readonly unknown[]> = { [K in keyof A]: Received<A[K]> };
type SentAll<A extends readonly unknown[]> = { [K in keyof A]: Sent<A[K]> };

/** The promise of a call, and what can be read and called of its result in the same trip. */
export type CallOf<R> = Promise<Received<R>> & Pipelined<R>;

type Pipelined<R> =
  R extends Reference<infer O>
    ? Remote<O>
    : R extends Callable | readonly unknown[] | string | number | boolean | bigint | symbol | null | undefined
      ? unknown
      : R extends object
        ? {
            readonly [K in keyof R as K extends 'then' | 'catch' | 'finally' ? never : K]: R[K] extends Callable
              ? RemoteFunction<R[K]>
              : CallOf<R[K]>;
          }
        : unknown;

/** A function of the other side's. */
export type RemoteFunction<F> = F extends (...values: infer A) => infer R
  ? (...values: SentAll<A>) => CallOf<Awaited<R>>
  : never;

type Names<T> = {
  [K in keyof T]: K extends 'constructor' | 'then' | symbol ? never : T[K] extends Callable | Reference ? K : never;
}[keyof T];

/** What `wrap` returns for something exposed of type `T`. */
export type Remote<T> = {
  readonly [K in Names<T>]: T[K] extends Reference<infer O> ? Remote<O> : RemoteFunction<T[K]>;
} & Disposable;

/** The same where the thread blocks: results as they are, generators to be read with `for`. */
export type SyncReceived<T> =
  T extends Reference<infer O>
    ? SyncRemote<O>
    : T extends Callable
      ? SyncFunction<T>
      : T extends AsyncGenerator<infer V> | Generator<infer V>
        ? Generator<V, void, void>
        : T extends AsyncIterable<infer V>
          ? T extends ReadableStream
            ? T
            : Generator<V, void, void>
          : T;

/** A function of the other side's. A function among its arguments must answer at once: a thread that blocks waits for no promise. */
export type SyncFunction<F> = F extends (...values: infer A) => infer R
  ? (...values: SyncSentAll<A>) => SyncReceived<Awaited<R>>
  : never;
type SyncSent<T> = T extends (...values: infer A) => infer R ? (...values: A) => Awaited<R> : Sent<T>;
type SyncSentAll<A extends readonly unknown[]> = { [K in keyof A]: SyncSent<A[K]> };

/** What `wrapSync` returns. */
export type SyncRemote<T> = {
  readonly [K in Names<T>]: T[K] extends Reference<infer O> ? SyncRemote<O> : SyncFunction<T[K]>;
} & Disposable;
