import { attach, channel } from '../../src/index.ts';
import { type Forked, fork } from '../../src/process/index.ts';
import {
  type CallOf,
  type Received,
  type Reference,
  type Remote,
  reference,
  release,
  type Sent,
  type SyncRemote,
  start,
  transfer,
  within,
  wrap,
  wrapSync,
} from '../../src/rpc/index.ts';
import type { Assignable, Equal, Expect, Not } from './expect.ts';

interface User {
  readonly id: number;
  readonly name: { readonly first: string };
}
class Base {
  inherited(): string {
    return '';
  }
}
class Api extends Base {
  readonly limit: number = 5;
  readonly arrow = (text: string): number => text.length;
  readonly sub: Reference<{ deep(): boolean }> = reference({ deep: () => true });
  readonly maybe?: (n: number) => void;
  protected hidden(): void {}
  add(a: number, b: number): number {
    return a + b;
  }
  async later(name: string, times?: number, ...more: boolean[]): Promise<string | undefined> {
    return times === undefined && more.length === 0 ? undefined : name;
  }
  user(id: number): User {
    return { id, name: { first: '' } };
  }
  find(id: number): User | null {
    return id > 0 ? this.user(id) : null;
  }
  list(of: readonly number[]): readonly string[] {
    return of.map(String);
  }
  each<T>(list: readonly T[], change: (value: T, at: number) => number | Promise<number>): number {
    return list.length + change.length;
  }
  parse(value: string): string;
  parse(value: number, base: number): number;
  parse(value: string | number, base = 10): string | number {
    return typeof value === 'string' ? value : base;
  }
  bound(this: Api, n: number): number {
    return this.limit + n;
  }
  echo<T>(value: T): T {
    return value;
  }
  pick<T extends { readonly id: number }, K extends keyof T>(from: T, key: K): T[K] {
    return from[key];
  }
  async *count(to: number): AsyncGenerator<number> {
    yield to;
  }
  *letters(text: string): Generator<string, void, undefined> {
    yield text;
  }
  keys(): IterableIterator<string> {
    return this.letters('');
  }
  sum(values: AsyncIterable<number>): number {
    return [values].length;
  }
  body(): ReadableStream<Uint8Array> {
    return new ReadableStream();
  }
  counter(from: number): Reference<{ next(): number }> {
    return reference({ next: () => from });
  }
  watch(told: Remote<{ told(n: number): void }>, also: { done(): void; readonly every: number }): () => void {
    return () => [told, also];
  }
  job(): { readonly id: string; cancel(): boolean; readonly progress: AsyncIterable<number> } {
    return { id: '', cancel: () => true, progress: this.count(1) };
  }
  call(): void {}
  when(): Date {
    return new Date();
  }
}
declare const api: Remote<Api>;
type Of<K extends keyof Remote<Api>> = Remote<Api>[K];

// Arguments as they are, results by a promise, however they were returned.
export type _1 = Expect<Equal<ReturnType<Of<'add'>>, CallOf<number>>>;
export type _2 = Expect<Equal<Parameters<Of<'add'>>, [a: number, b: number]>>;
export type _3 = Expect<Equal<Awaited<ReturnType<Of<'add'>>>, number>>;
export type _4 = Expect<Equal<Awaited<ReturnType<Of<'later'>>>, string | undefined>>;
export type _5 = Expect<Equal<Parameters<Of<'later'>>, [name: string, times?: number | undefined, ...more: boolean[]]>>;
export type _6 = Expect<Equal<Awaited<ReturnType<Of<'list'>>>, readonly string[]>>;
export type _7 = Expect<Equal<Parameters<Of<'list'>>, [of: readonly number[]]>>;
export type _8 = Expect<Equal<Awaited<ReturnType<Of<'user'>>>, User>>;
export type _9 = Expect<Equal<Awaited<ReturnType<Of<'when'>>>, Date>>;
export type _10 = Expect<Equal<Parameters<Of<'bound'>>, [n: number]>>;
export type _11 = Expect<Equal<Awaited<ReturnType<Of<'echo'>>>, unknown>>;
// A type parameter of a method is what it extends; one of the class or interface is known.
export type _36 = Expect<Equal<Parameters<Of<'pick'>>[0], { readonly id: number }>>;
export type _37 = Expect<Equal<Awaited<ReturnType<Of<'pick'>>>, number>>;
interface Store<T> {
  get(id: string): T;
  put(id: string, value: T): Promise<T>;
}
export type _38 = Expect<Equal<Awaited<ReturnType<Remote<Store<User>>['get']>>, User>>;
export type _39 = Expect<Equal<Parameters<Remote<Store<User>>['put']>, [id: string, value: User]>>;
// Who knows better can say so: of one method, or of one among the others.
export const echo = api.echo as <T>(value: T) => CallOf<T>;
export const echoed: Promise<Date> = echo(new Date());
type Better = Remote<Omit<Api, 'echo'>> & { echo<T>(value: T): CallOf<T> };
export const better: Promise<string> = (wrap<Api>(channel().port) as Better).echo(5).then((five) => five.toFixed());
// @ts-expect-error: a number has no such method
export const worse: Promise<string> = (wrap<Api>(channel().port) as Better).echo(5).then((five) => five.trim());
export type _12 = Expect<Equal<Awaited<ReturnType<Of<'arrow'>>>, number>>;
export type _13 = Expect<Equal<Awaited<ReturnType<Of<'maybe'>>>, void>>;
export type _14 = Expect<Equal<Awaited<ReturnType<Of<'body'>>>, ReadableStream<Uint8Array>>>;

// A call that never returns, or always throws, is a promise all the same.
export type _35 = Expect<Equal<CallOf<never>, Promise<never>>>;

// Only what may be called is there.
export type _15 = Expect<Not<Assignable<'limit' | 'hidden' | 'call', keyof Remote<Api>>>>;
export type _16 = Expect<Equal<Extract<keyof Remote<Api>, 'limit' | 'hidden' | 'call' | 'inherited'>, 'inherited'>>;

// Streams, functions and references, wherever a type literal or an array has them.
export type _17 = Expect<Equal<Awaited<ReturnType<Of<'count'>>>, AsyncGenerator<number, void, void>>>;
export type _18 = Expect<Equal<Awaited<ReturnType<Of<'letters'>>>, AsyncGenerator<string, void, void>>>;
export type _19 = Expect<Equal<Awaited<ReturnType<Of<'keys'>>>, AsyncGenerator<string, void, void>>>;
export type _20 = Expect<Equal<Awaited<ReturnType<Of<'counter'>>>, Remote<{ next(): number }>>>;
export type _21 = Expect<Equal<Received<(a: string) => number>, (a: string) => CallOf<number>>>;
export type _22 = Expect<Equal<Received<((a: string) => number)[]>, ((a: string) => CallOf<number>)[]>>;
export type _23 = Expect<Equal<Received<readonly [() => void, number]>, readonly [() => CallOf<void>, number]>>;
export type _24 = Expect<Equal<Received<Map<string, Blob>>, Map<string, Blob>>>;
export type _25 = Expect<Equal<Sent<{ a: (n: number) => string }>, { a: (n: number) => string | Promise<string> }>>;
export type _26 = Expect<Equal<Sent<string | number[] | undefined>, string | number[] | undefined>>;
type Json = null | boolean | string | Json[] | { [name: string]: Json };
export type _27 = Expect<Assignable<Json, Sent<Json>>>;
export type _28 = Expect<Assignable<Received<Json>, Json>>;
interface Tree {
  readonly kids: readonly Tree[];
}
export type _29 = Expect<Equal<Received<Tree>, Tree>>;
export type _30 = Expect<Equal<Received<unknown>, unknown>>;
// biome-ignore lint/suspicious/noExplicitAny: what it is asked about
export type _31 = Expect<Equal<0 extends 1 & Received<any> ? true : false, true>>;

export async function calls(stream: ReadableStream<number>, handle: () => void): Promise<void> {
  // @ts-expect-error: it takes two numbers
  await api.add(1);
  // @ts-expect-error: and no text
  await api.add(1, '2');
  // @ts-expect-error: it answers by a promise
  (api.add(1, 2) satisfies Promise<unknown>).toFixed();
  // @ts-expect-error: a number is a value, and nothing that can be called
  await api.limit();
  // @ts-expect-error: protected
  await api.hidden();
  // @ts-expect-error: there is no such method
  await api.remove(1);
  // @ts-expect-error: a remote has no properties to be set
  api.add = async () => 3;
  // @ts-expect-error: it is no promise itself
  api.then;
  (await api.parse('x')) satisfies string;
  (await api.parse(5, 16)) satisfies number;
  // @ts-expect-error: neither of the overloads
  await api.parse(5);
  (await api.sub.deep()) satisfies boolean;
  (await api.later('a', undefined, true, false)) satisfies string | undefined;

  // A function among the arguments may answer at once or later, and is told what was sent there.
  (await api.each(['a'], (_value, at) => at)) satisfies number;
  await api.each([1], async () => 1);
  // @ts-expect-error: it is to answer with a number
  await api.each([1], () => 'one');

  // What is read and called of a result goes along.
  (await api.user(1).name.first) satisfies string;
  (await api.counter(1).next()) satisfies number;
  (await api.job().cancel()) satisfies boolean;
  // @ts-expect-error: a user has no such member
  api.user(1).nothing;
  // @ts-expect-error: there may be none: await it first
  api.find(1).name;
  // @ts-expect-error: what a Date has of its own are no properties
  api.when().getTime();
  // @ts-expect-error: a result is no remote that could be disposed of
  api.counter(1)[Symbol.dispose];

  const job = await api.job();
  (await job.cancel()) satisfies boolean;
  for await (const done of job.progress) done satisfies number;
  for await (const letter of await api.letters('abc')) letter satisfies string;
  for await (const letter of api.letters('abc')) letter satisfies string;
  // @ts-expect-error: no stream comes of it
  for await (const _ of api.add(1, 2));
  (await api.sum(stream)) satisfies number;
  (await api.sum((async function* () {})())) satisfies number;
  const numbers = function* () {
    yield 5;
  };
  (await api.sum(numbers())) satisfies number;
  // @ts-expect-error: of numbers
  await api.sum(new ReadableStream<string>());

  // A callback that is to return nothing may return anything, as in the language.
  const told: number[] = [];
  await api.watch(reference({ told: (n: number) => told.push(n) }), { done: () => told.length, every: 5 });
  const made = await start<Api, Forked>(() => fork(new URL('./child.js', import.meta.url)));
  made.child.kill();
  (await made.api.add(1, 2)) satisfies number;
  // An object that stays here goes as a reference, where a remote is to arrive.
  const stop = await api.watch(reference({ told: (n: number) => void n }), { done: handle, every: 5 });
  await stop();
  // @ts-expect-error: an object as it is would be copied, and functions of a Remote's type are not there then
  await api.watch({ told: (n: number) => void n }, { done: handle, every: 5 });
  // @ts-expect-error: told is called with a number
  await api.watch(reference({ told: (n: string) => void n }), { done: handle, every: 5 });
  const again = await api.counter(5);
  release(again);

  (await within(api, { timeoutMs: 5, signal: AbortSignal.timeout(5) }).add(1, 2)) satisfies number;
  // @ts-expect-error: no such option
  within(api, { timeout: 5 });
  const bytes = new Uint8Array(5);
  (await wrap<{ length(of: Uint8Array): number }>(channel().port).length(
    transfer(bytes, [bytes.buffer]),
  )) satisfies number;
}

// A thread that blocks has the results themselves.
declare const sync: SyncRemote<Api>;
export function blocks(): void {
  sync.add(1, 2) satisfies number;
  sync.later('a') satisfies string | undefined;
  for (const n of sync.count(5)) n satisfies number;
  for (const letter of sync.letters('abc')) letter satisfies string;
  const counter = sync.counter(5);
  counter.next() satisfies number;
  sync.sub.deep() satisfies boolean;
  sync.user(1).name.first satisfies string;
  sync.parse('x') satisfies string;
  sync.each([1], (_value, at) => at) satisfies number;
  // @ts-expect-error: a thread that stands still waits for no promise of its own
  sync.each([1], async () => 1);
  const lengths: number[] = [];
  wrapSync<{ tell(f: (n: number) => void): void }>(channel().port).tell((n) => lengths.push(n));
  sync.sum(
    (function* () {
      yield 1;
    })(),
  ) satisfies number;
  // @ts-expect-error: nor for the next value of a stream
  sync.sum((async function* () {})());
  // @ts-expect-error: nor of this one
  sync.sum(new ReadableStream<number>());
  // @ts-expect-error: it takes two numbers
  sync.add(1);
  // @ts-expect-error: no promise
  sync.add(1, 2).then;
  const stop = sync.watch(reference({ told: (_n: number) => {} }), { done: () => {}, every: 1 });
  stop();
  const { remote } = channel();
  wrapSync<Api>(attach(remote), { timeoutMs: 100 }).add(1, 2) satisfies number;
}

export type _32 = Expect<Assignable<Remote<Api>, Disposable>>;
export type _33 = Expect<Assignable<SyncRemote<Api>, Disposable>>;
// One of an API that has more is one of an API that has less.
export type _34 = Expect<Assignable<Remote<Api>, { add(a: number, b: number): Promise<number> }>>;
// @ts-expect-error: what is not said to be anything has no methods
export const nothing: unknown = wrap(channel().port).add;
