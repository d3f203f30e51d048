// How an end of a channel without memory hears that the other one's thread is gone, where no native port tells of it: in browsers. That thread holds a
// lock, and says its name over the native port; this one waits for the same lock (docs/decisions/0059).
//
//     text     the lock that its thread holds; empty: it can hold none
//     false    it holds none: it is a document, and says goodbye
//     true     hold one: asked by who outlives documents, and is told nothing where one crashes or is dropped from the back-forward cache
import { platform } from '#platform';
import { NATIVE_WATCHED_MS } from '../../limits.ts';
import type { AgentLocks } from '../../platform/contract.ts';
import type { LockSpace } from './lock-space.ts';
import type { ThreadLock } from './thread-lock.ts';

const nothing = (): void => {};

export class NativeWatch {
  readonly #locks: AgentLocks;
  readonly #space: LockSpace;
  readonly #own: ThreadLock;
  readonly #say: (word: string | boolean) => void;
  readonly #gone: () => void;
  /** The other end is in another thread. */
  #begun = false;
  #ended = false;
  /** What is still missing until each of both would hear of the other one's end. */
  readonly #missing = new Set<'ours' | 'theirs'>(['ours', 'theirs']);
  readonly #waiting = new Set<() => void>();
  #cancel = nothing;

  /**
   * @param say over the native port
   * @param gone the thread at the other end is; what it has said before may still be on its way
   */
  constructor(
    locks: AgentLocks,
    space: LockSpace,
    own: ThreadLock,
    say: (word: string | boolean) => void,
    gone: () => void,
  ) {
    this.#locks = locks;
    this.#space = space;
    this.#own = own;
    this.#say = say;
    this.#gone = gone;
  }

  begin(): void {
    if (this.#begun || this.#ended) return;
    this.#begun = true;
    if (this.#locks.outlives) this.#say(true);
    if (this.#locks.mortal) this.#own.want(this.#held);
    else this.#said(false);
  }
  readonly #held = (name: string): void => this.#said(name);
  #said(word: string | false): void {
    this.#say(word);
    this.#found('ours');
  }

  /** One of the words above has come. */
  heard(word: string | boolean): void {
    if (this.#ended) return;
    if (word === true) this.#own.want(this.#held);
    else if (typeof word === 'string') this.#look(word);
    // Who has asked for one waits for the answer.
    else if (!this.#locks.outlives) this.#found('theirs');
  }
  #look(name: string): void {
    this.#cancel();
    let over = false;
    this.#cancel = () => {
      over = true;
    };
    this.#space.includes(name, (included) => {
      if (over) return;
      if (included) this.#cancel = this.#locks.await(name, this.#gone);
      this.#found('theirs');
    });
  }

  /** Calls `then` once each side would hear of the other one's end; after a while in any case, for who is there may have blocked before it could say so. */
  whenWatched(then: () => void): void {
    if (!this.#begun || this.#ended || this.#missing.size === 0) then();
    else {
      this.#waiting.add(then);
      platform.later(() => this.#settle(), NATIVE_WATCHED_MS);
    }
  }
  #found(side: 'ours' | 'theirs'): void {
    this.#missing.delete(side);
    if (this.#missing.size === 0) this.#settle();
  }
  #settle(): void {
    for (const then of this.#waiting) then();
    this.#waiting.clear();
  }

  /** Both sides have ended. */
  end(): void {
    this.#ended = true;
    this.#own.drop(this.#held);
    this.#cancel();
    this.#settle();
  }
}
