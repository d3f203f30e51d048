// How a thread that somebody else's `new Worker` started is given its start data: in the first message from its parent.
// Everything else that the two say to each other passes untouched.

import { START_WINDOW_MS } from '../limits.ts';
import type { HostEventTarget } from './host-types.ts';

/** Under this key the message carries the start data. */
const KEY = 'millrace:start';

export function startMessage(data: unknown): unknown {
  return { [KEY]: data };
}

function startDataOf(message: unknown): unknown {
  return typeof message === 'object' && message !== null ? (message as Record<string, unknown>)[KEY] : undefined;
}

export interface StartInbox {
  /** Whether `take` sees start data as soon as the parent has posted it; else it must have arrived by the event loop. */
  readonly canTake: boolean;
  /** The start data, if it has come. Never waits. */
  take(): unknown;
  /** Keeps the thread alive and calls `arrived` when something may be taken, until the returned function is called. */
  await(arrived: () => void): () => void;
}

/** The few members of Node's parentPort that are needed. */
interface TakenPort<P> {
  readonly port: P;
  take(port: P): { readonly message: unknown } | undefined;
  /** Hands a message to whoever listens to the port. */
  redeliver(port: P, message: unknown): void;
}

/**
 * Where messages wait until somebody listens, and can be taken at will. What is found before the start data was posted by
 * the function that made the Worker: it goes on to the listeners in the next microtask.
 */
export class TakingInbox<P> implements StartInbox {
  readonly canTake = true;
  readonly #native: TakenPort<P>;
  #data: unknown;

  constructor(native: TakenPort<P>) {
    this.#native = native;
  }

  take(): unknown {
    const { port, take, redeliver } = this.#native;
    while (this.#data === undefined) {
      const taken = take(port);
      if (taken === undefined) return undefined;
      this.#data = startDataOf(taken.message);
      if (this.#data === undefined) queueMicrotask(() => redeliver(port, taken.message));
    }
    return this.#data;
  }

  /** Looks for it, for a listener would set off messages that the user's own listeners are not there for yet. */
  await(arrived: () => void): () => void {
    const timer = setInterval(arrived, 1);
    return () => clearInterval(timer);
  }
}

/**
 * Where messages are lost that come before anybody listens: listens from the moment it is made, which is when the library
 * is loaded. A listener keeps some threads alive, so unless somebody asks it stops after a while.
 */
export class ListeningInbox implements StartInbox {
  readonly canTake = false;
  readonly #target: HostEventTarget;
  #data: unknown;
  /** One for each copy of this library that asks. */
  readonly #waiting = new Set<() => void>();

  readonly #heard = (event: Event): void => {
    const data = startDataOf((event as MessageEvent).data);
    if (data === undefined) return;
    event.stopImmediatePropagation();
    this.#data = data;
    this.#stop();
    for (const arrived of this.#waiting) arrived();
  };

  constructor(target: HostEventTarget) {
    this.#target = target;
    target.addEventListener('message', this.#heard);
    const timer = setTimeout(() => {
      if (this.#waiting.size === 0) this.#stop();
    }, START_WINDOW_MS);
    (timer as { unref?(): void }).unref?.();
  }

  take(): unknown {
    return this.#data;
  }

  await(arrived: () => void): () => void {
    this.#waiting.add(arrived);
    if (this.#data === undefined) this.#target.addEventListener('message', this.#heard);
    return () => {
      this.#waiting.delete(arrived);
      if (this.#waiting.size === 0) this.#stop();
    };
  }

  #stop(): void {
    this.#target.removeEventListener('message', this.#heard);
  }
}
