// A call that this side serves, and which of them run: what a function that is called asks for, and whom others are blocked for.
import { UsageError } from '../errors.ts';
import type { HostAbortSignal } from '../platform/host-types.ts';
import type { Connection } from './connection.ts';
import type { Extra } from './messages.ts';

/** What a function that is called learns of its call: `currentCall()`. */
export interface CallContext {
  /** Aborted when nobody waits for this call any more: given up, late, or over with the other side. */
  readonly signal: HostAbortSignal;
  /** The same for code that computes: true though no event loop has run. One atomic load. */
  readonly interrupted: boolean;
}

/** The call that runs, and within which others run while this thread is blocked. */
let current: Served | undefined;
/** How many run within each other. */
let nested = 0;
/** Calls that are not answered yet, and somebody's thread is blocked until they are. */
const blockers: Set<Served> = new Set();

/** The threads that are blocked until something is answered that this one is at work on. */
export function blamed(): Set<number> | undefined {
  return blockers.size === 0 ? undefined : new Set([...blockers].flatMap(({ chain }) => chain ?? []));
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

export class Served implements CallContext {
  readonly id: number;
  extra: Extra;
  readonly #connection: Connection;
  /** The call in the midst of which it came: its thread is blocked. */
  readonly #outer: Served | undefined = current;
  #before: Served | undefined;
  /** It was answered, or its answer is on its way: a promise of the program's own make may say so twice. */
  answered = false;
  /** It has one of the places of a pool's calls. */
  placed = false;
  /** It has returned a promise, which is waited for. */
  waits = false;
  /** What it comes to, for those that were called of that. */
  kept: Kept | undefined;
  /** Its chain, where that has grown. */
  #threads: readonly number[] | undefined;
  #aborted = false;
  #reason: unknown;
  #controller: AbortController | undefined;

  constructor(connection: Connection, id: number, extra: Extra) {
    this.#connection = connection;
    this.id = id;
    this.extra = extra;
  }
  /** One of this number that runs, or in the midst of which another one does. */
  static running(connection: Connection, id: unknown): Served | undefined {
    for (let at = current; at !== undefined; at = at.#outer) {
      if (at.id === id && at.#connection === connection) return at;
    }
    return undefined;
  }
  /** All of these. */
  static abortRunning(connection: Connection, reason: unknown): void {
    for (let at = current; at !== undefined; at = at.#outer) if (at.#connection === connection) at.abort(reason);
  }
  /** How many run within each other. */
  static get nested(): number {
    return nested;
  }

  /** It runs from here to `leave`. */
  enter(): void {
    this.#before = current;
    current = this;
    nested++;
    if (this.chain !== undefined) blockers.add(this);
  }
  leave(): void {
    current = this.#before;
    nested--;
  }
  /** It is answered, or given up: nobody is blocked for it any more. */
  over(): void {
    if (this.chain !== undefined) blockers.delete(this);
  }
  /** More threads are blocked until it is answered. */
  blame(chain: readonly number[]): void {
    this.#threads = chain;
    blockers.add(this);
  }
  /** The threads that are blocked until it is answered. */
  get chain(): readonly number[] | undefined {
    return this.#threads ?? this.extra.chain;
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
  abort(reason?: unknown): void {
    if (this.#aborted) return;
    this.#aborted = true;
    this.#reason = reason;
    this.#controller?.abort(reason);
  }
}

/** What a call has come to that others build upon. */
export interface Kept {
  left: number;
  outcome: { readonly value: unknown } | { readonly error: unknown } | undefined;
  readonly waiting: ((outcome: { readonly value?: unknown; readonly error?: unknown }) => void)[];
}
