// The types of proxies, by Comlink's names.
import type { createEndpoint, proxyMarker, releaseProxy } from './symbols.ts';

/** Marked by `proxy`, or by a class that has it. */
export interface ProxyMarked {
  [proxyMarker]: true;
}

type AnyFunction = (...values: never[]) => unknown;
type AnyClass = abstract new (...values: never[]) => unknown;
type Proxied = AnyFunction | AnyClass | ProxyMarked;

type Promised<T> = [T] extends [never] ? Promise<never> : T extends Promise<unknown> ? T : Promise<T>;
type Settled<T> = T extends Promise<infer V> ? V : T;

/** The browser's or Node's, whichever the program's declarations have. */
type NativePort = typeof globalThis extends { MessagePort: { prototype: infer P } } ? P : never;

/** What arrives for a `T`: a proxy of what is marked, a copy of all else. */
export type ProxyOrClone<T> = T extends ProxyMarked ? Remote<T> : T;
/** What is to be sent for a `ProxyOrClone`. */
export type UnproxyOrClone<T> = T extends RemoteObject<ProxyMarked> ? Local<T> : T;

type RemoteProperty<T> = T extends Proxied ? Remote<T> : Promised<T>;
type LocalProperty<T> = T extends Proxied ? Local<T> : Settled<T>;
/** The properties of a proxy of a `T`. */
export type RemoteObject<T> = { [P in keyof T]: RemoteProperty<T[P]> };
/** The other way round. */
export type LocalObject<T> = { [P in keyof T]: LocalProperty<T[P]> };

/** What every proxy has. */
export interface ProxyMethods {
  [createEndpoint]: () => Promise<NativePort>;
  [releaseProxy]: () => void;
}

/** A proxy of a `T`: what `wrap` returns, and what arrives for what is marked. */
export type Remote<T> = RemoteObject<T> &
  (T extends (...values: infer A) => infer R
    ? (...values: { [I in keyof A]: UnproxyOrClone<A[I]> }) => Promised<ProxyOrClone<Settled<R>>>
    : unknown) &
  (T extends { new (...values: infer A): infer O }
    ? { new (...values: { [I in keyof A]: UnproxyOrClone<A[I]> }): Promised<Remote<O>> }
    : unknown) &
  ProxyMethods;

type Maybe<T> = Promise<T> | T;
/** What a `Remote` is a proxy of, as its own thread has to supply it. */
export type Local<T> = Omit<LocalObject<T>, keyof ProxyMethods> &
  (T extends (...values: infer A) => infer R
    ? (...values: { [I in keyof A]: ProxyOrClone<A[I]> }) => Maybe<UnproxyOrClone<Settled<R>>>
    : unknown) &
  (T extends { new (...values: infer A): infer O }
    ? { new (...values: { [I in keyof A]: ProxyOrClone<A[I]> }): Maybe<Local<Settled<O>>> }
    : unknown);
