// The lock by which others hear of this thread's end over channels without memory: one for all of them, and for all copies of this library, held while
// anybody wants it. Some browsers keep no page in their back-forward cache whose threads hold one.
import { platformStart } from '#platform';
import { ofAgent } from '../../agent.ts';
import type { AgentLocks } from '../../platform/contract.ts';

type Held = (name: string) => void;

export class ThreadLock {
  /** What the names of this thread's locks begin with. */
  readonly names: string;
  readonly #locks: AgentLocks;
  readonly #wanted = new Set<Held>();
  /** Each has a name of its own: who still waits for the last one holds up no other. */
  #number = 0;
  /** Of the one that is held; empty if there are none here. */
  #name: string | undefined;
  #release: (() => void) | undefined;

  constructor(locks: AgentLocks, id: string) {
    this.#locks = locks;
    this.names = `${namesOf(locks)}${id}/`;
  }

  /** Calls `held` with the lock's name once this thread has it, with an empty one if it cannot; it has it until `drop(held)`. */
  want(held: Held): void {
    this.#wanted.add(held);
    if (this.#name !== undefined) held(this.#name);
    else this.#release ??= this.#ask();
  }
  /** At once: this thread may block before its event loop has another turn. */
  #ask(): () => void {
    const name = `${this.names}${++this.#number}`;
    const told = (name: string): void => {
      this.#name = name;
      for (const held of [...this.#wanted]) held(name);
    };
    return this.#locks.hold(
      name,
      () => told(name),
      () => told(''),
    );
  }
  drop(held: Held): void {
    // Not now: the next channel may be opened as soon as this call has returned.
    if (this.#wanted.delete(held)) queueMicrotask(() => this.#freeUnused());
  }
  #freeUnused(): void {
    if (this.#wanted.size > 0) return;
    this.#release?.();
    this.#release = undefined;
    this.#name = undefined;
  }
}

/** What all names begin with that this thread can wait for: locks of another origin are others. */
export function namesOf({ scope }: AgentLocks): string {
  return `millrace/native/${scope}/`;
}

export function threadLock(locks: AgentLocks): ThreadLock {
  return ofAgent('native-lock/1', () => new ThreadLock(locks, platformStart.randomWords(4).join('-')));
}
