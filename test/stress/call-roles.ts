// What the threads and processes of the fault tests of calls expose, whatever is under their ports.
import assert from 'node:assert/strict';
import process from 'node:process';
import { setImmediate } from 'node:timers';
import { attach, channel, type Remote as Handle, type Port, transferOf } from '../../src/index.ts';
import { connectionOf } from '../../src/rpc/connection.ts';
import {
  currentCall,
  expose,
  type Remote,
  registerError,
  type SyncRemote,
  transfer,
  wrap,
  wrapSync,
} from '../../src/rpc/index.ts';
import { blamed } from '../../src/rpc/served.ts';
import { Gates } from '../kit/gate.ts';

/** How a peer ends by itself. */
export type Way = 'return' | 'exit' | 'throw' | 'close';

// Gates that a test shares with it.
/** It does what it is to be doing. */
export const READY = 0;
/** It is to end. */
export const GO = 1;
/** The case is over: on Deno a thread that computes goes on after it was terminated. */
export const OVER = 2;
/** So many texts were given. */
export const SERVED = 3;

/** Of a connection that has ended nothing may be left. */
export function leftOf(port: Port): Record<string, number> {
  const { calls, serving, streams, values, out } = connectionOf(port);
  const all = {
    calls: calls.size,
    serving: serving.size,
    streams: streams.size,
    held: values.held,
    queued: out.waiting,
  };
  const left = Object.entries({ ...all, blamed: blamed()?.size ?? 0 }).filter(([, count]) => count > 0);
  return Object.fromEntries(left);
}

/** What a victim throws, and nobody catches. */
class Doom extends RangeError {
  readonly code = 'ERR_OWN';
  readonly left = { days: [1, 2] };
  /** Cannot be cloned. */
  readonly hold: object | undefined;
  constructor(hold?: object) {
    super('what it died of', { cause: new TypeError('why') });
    this.hold = hold;
  }
}
registerError(Doom, 'Doom');

/** The error of a crash is the one that was thrown, with its class, fields and cause. */
export function assertDoom(error: unknown, of = ''): void {
  assert.ok(error instanceof Doom, `${of}: ${String(error)}`);
  const { message, code, left, cause, stack } = error;
  assert.deepEqual([message, code, left], ['what it died of', 'ERR_OWN', { days: [1, 2] }], of);
  assert.ok(cause instanceof TypeError && cause.message === 'why', `${of}: ${String(cause)}`);
  assert.match(String(stack), /what it died of\n +at /);
}

/** What the test exposes to its peer. */
export interface Us {
  hold(): Promise<never>;
}

/** `name: reason` of what has settled with a ClosedError, and what else became of things. */
type Seen = string[];
const told = (error: unknown): string => {
  const { name, reason } = error as { name: string; reason?: unknown };
  return `${name} ${String(reason)}`;
};

/** Who ends in the midst of everything. */
export class Victim {
  readonly #port: Port;
  readonly #us: Remote<Us>;
  readonly #usSync: SyncRemote<Us>;
  readonly #gates: Gates;
  readonly seen: Seen = [];

  constructor(port: Port, gates: Gates) {
    this.#port = port;
    this.#us = wrap<Us>(port);
    this.#usSync = wrapSync<Us>(port);
    this.#gates = gates;
  }

  #ready(): void {
    this.#gates.open(READY);
  }
  #never(what: string): Promise<never> {
    const { signal } = currentCall();
    signal.addEventListener('abort', () => this.seen.push(`${what} aborted: ${told(signal.reason)}`));
    return new Promise(() => {});
  }
  #expects(what: string, promise: Promise<unknown>): void {
    promise.then(
      () => this.seen.push(`${what} resolved`),
      (error) => this.seen.push(`${what}: ${told(error)}`),
    );
  }

  add(a: number, b: number): number {
    return a + b;
  }
  end(how: Way): void {
    this.#end(how);
  }
  #end(how: Way): void {
    if (how === 'exit') process.exit(3);
    if (how === 'close') this.#port.close();
    if (how === 'return') this.#port.unref();
    if (how === 'throw') {
      setTimeout(() => {
        throw new Doom();
      }, 0);
    }
  }
  /** Dies of what cannot be cloned whole. */
  dieOddly(): Promise<never> {
    setTimeout(() => {
      throw new Doom({ call: () => {} });
    }, 0);
    return new Promise(() => {});
  }
  forever(): Promise<never> {
    this.#ready();
    return this.#never('forever');
  }
  /** Ends behind the computation: only `exit` and `close` strike within it. */
  compute(how: Way | undefined): Promise<never> {
    const never = this.#never('compute');
    this.#ready();
    while (this.#gates.get(GO) === 0) if (this.#gates.get(OVER) !== 0) process.exit(0);
    if (how !== undefined) this.#end(how);
    return never;
  }
  /** Counted, so that a test knows how far it has come. */
  text(length: number): string {
    this.#gates.add(SERVED);
    // Each another one: a text that is known over there goes as a number.
    return String(this.#gates.get(SERVED)).padEnd(length, 'x');
  }
  /** Its event loop does not run any more. */
  computeSoon(): void {
    setTimeout(() => {
      for (;;);
    }, 0);
  }
  async *stalled(): AsyncGenerator<number> {
    try {
      yield 1;
      this.#ready();
      await new Promise(() => {});
    } finally {
      this.seen.push('stalled returned');
    }
  }
  async *flood(): AsyncGenerator<number> {
    try {
      for (let i = 0; ; i++) yield i;
    } finally {
      this.seen.push('flood returned');
    }
  }
  async read(values: AsyncIterable<number>): Promise<number> {
    let last = -1;
    try {
      for await (const value of values) {
        if (value !== last + 1) throw new Error(`${value} after ${last}`);
        last = value;
        if (value === 100) this.#ready();
      }
      this.seen.push('read to the end');
    } catch (error) {
      this.seen.push(`read: ${told(error)}`);
      throw error;
    }
    return last;
  }
  async callBack(callback: () => Promise<unknown>): Promise<never> {
    this.#expects('callback', callback());
    this.#expects('a call of its own', this.#us.hold());
    return this.#never('callBack');
  }
  /** Blocked in a call to us; what comes meanwhile is served. */
  blockBack(): string {
    try {
      this.#usSync.hold();
    } catch (error) {
      this.seen.push(`blocked: ${told(error)}`);
    }
    return 'unblocked';
  }
  /** For whoever is blocked until it is answered. */
  blockedEnd(how: Way | undefined, callback: (() => unknown) | undefined): Promise<never> {
    if (callback !== undefined) this.#expects('callback', callback() as Promise<unknown>);
    if (how !== undefined) this.#end(how);
    return this.#never('blockedEnd');
  }
  *letters(text: string): Generator<string> {
    try {
      yield* text;
    } finally {
      this.seen.push('letters returned');
    }
  }
  whatIsSeen(): Seen {
    return this.seen;
  }
  async asks(callback: (n: number) => Promise<number>, n: number): Promise<number> {
    return (await callback(n)) + 1;
  }
  sumOf(values: Iterable<number>): Promise<number> {
    return this.#sum(values as unknown as AsyncIterable<number>);
  }
  async #sum(values: AsyncIterable<number>): Promise<number> {
    let all = 0;
    for await (const value of values) all += value;
    return all;
  }
}

// ---- rings ------------------------------------------------------------------------------------------------------

/** Where a call goes on to, and how; `later`: what is called there returns a promise. */
export type Hop = { readonly to: string; readonly blocks: boolean } | 'later';

/** A thread that calls on along a path, blocked or not. */
export class Node {
  readonly #name: string;
  readonly #peers: Map<string, { readonly port: Port; readonly sync: SyncRemote<Node>; readonly far: Remote<Node> }> =
    new Map();

  constructor(name: string) {
    this.#name = name;
  }
  #meet(name: string, port: Port): void {
    expose(this, port);
    this.#peers.set(name, { port, sync: wrapSync<Node>(port), far: wrap<Node>(port) });
  }
  open(name: string): Handle {
    const { port, remote } = channel();
    this.#meet(name, port);
    return transfer(remote, transferOf(remote));
  }
  join(name: string, handle: Handle): void {
    this.#meet(name, attach(handle));
  }
  /** Who was there, or the code of the error that ended it. */
  visit(path: readonly Hop[]): readonly string[] | Promise<readonly string[]> {
    const [hop, ...rest] = path;
    if (hop === undefined) return [this.#name];
    if (hop === 'later') return Promise.resolve([this.#name]);
    const peer = this.#peers.get(hop.to);
    if (peer === undefined) throw new Error(`${this.#name} does not know ${hop.to}`);
    if (hop.blocks) return [this.#name, ...peer.sync.visit(rest)];
    return peer.far.visit(rest).then((names) => [this.#name, ...names]);
  }
  /** Goes when as many as are to are there. */
  async together(count: number, memory: SharedArrayBuffer, path: readonly Hop[]): Promise<readonly string[]> {
    const gates = new Gates(memory);
    gates.add(0);
    // With its event loop: another one may not be there yet because it is blocked in a call to us, of paths that have ended in an error.
    while (gates.get(0) < count) await new Promise((resolve) => setImmediate(resolve));
    return this.visit(path);
  }
  leftOver(): Record<string, number> {
    const all = [...this.#peers].map(([name, { port }]) => [name, Object.values(leftOf(port)).length] as const);
    return Object.fromEntries(all);
  }
}
