// The lock by which others hear of this thread's end over channels without memory: one for all of them, and for all copies of this library, held while
// anybody wants it. Some browsers keep no page in their back-forward cache whose threads hold one.
import { ofAgent } from '../../agent.ts';
import type { AgentLocks } from '../../platform/contract.ts';
import { type LockSpace, lockSpace } from './lock-space.ts';

type Held = (name: string) => void;

export class ThreadLock {
  readonly #locks: AgentLocks;
  readonly #space: LockSpace;
  readonly #wanted = new Set<Held>();
  /** Each has a name of its own: who still waits for the last one holds up no other. */
  #number = 0;
  /** Of the one that is held; empty if there are none here. */
  #name: string | undefined;
  #release: (() => void) | undefined;

  constructor(locks: AgentLocks, space: LockSpace) {
    this.#locks = locks;
    this.#space = space;
  }

  /** Calls `held` with the lock's name once this thread has it, with an empty one if it cannot; it has it until `drop(held)`. */
  want(held: Held): void {
    this.#wanted.add(held);
    if (this.#name !== undefined) held(this.#name);
    else this.#release ??= this.#ask();
  }
  #ask(): () => void {
    let over = false;
    let free: (() => void) | undefined;
    this.#space.names((names) => {
      if (over) return;
      const name = `${names}${++this.#number}`;
      free = this.#locks.hold(
        name,
        () => this.#told(name),
        () => this.#told(''),
      );
    });
    return () => {
      over = true;
      free?.();
    };
  }
  #told(name: string): void {
    this.#name = name;
    for (const held of [...this.#wanted]) held(name);
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

export function threadLock(locks: AgentLocks): ThreadLock {
  return ofAgent('native-lock/2', () => new ThreadLock(locks, lockSpace(locks)));
}
