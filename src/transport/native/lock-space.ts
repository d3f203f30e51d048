// Which threads have the same locks as this one. Locks of the web are those of an origin and of the storage that it has in a page: below a page of another
// site it is another. What does not show where it is looked for is gone, or held in another storage; whoever waits for a lock must know which (decision 0059).
//
// Names of locks say it. Each carries the number of a space, and whoever sees one, held or waited for, has the same locks as everybody who uses that number.
// Who is first, and sees none, makes one up; so a storage can have several.
//
//     millrace/native/<space>/<thread>/<number>     held by a thread as long as it has channels that lead to others (thread-lock.ts)
//     millrace/space/<space>/<thread>               held for a while by who has made a channel, for the threads that its ends go to
import { platform, platformStart } from '#platform';
import { ofAgent } from '../../agent.ts';
import { NATIVE_SHOWN_MS } from '../../limits.ts';
import type { AgentLocks } from '../../platform/contract.ts';

const nothing = (): void => {};

export class LockSpace {
  readonly thread: string;
  readonly #locks: AgentLocks;
  readonly #known = new Set<string>();
  /** What this thread's own names carry. */
  #own: string | undefined;
  /** How often it was to be shown, while it is. */
  #shows = 0;

  /** @param thread what this thread is called in names of locks; nobody else is */
  constructor(locks: AgentLocks, thread: string) {
    this.#locks = locks;
    this.thread = thread;
  }

  /** Calls `then` with what names of this thread's locks begin with. */
  names(then: (names: string) => void): void {
    const named = (): void => {
      then(`millrace/native/${this.#use()}/${this.thread}/`);
    };
    if (this.#own !== undefined) named();
    else this.#learn(named);
  }
  #use(): string {
    const [seen] = this.#known;
    this.#own ??= seen ?? this.thread;
    this.#known.add(this.#own);
    return this.#own;
  }
  #learn(then: () => void): void {
    this.#locks.names((names) => {
      for (const name of names) {
        const space = spaceOf(name);
        if (space !== undefined) this.#known.add(space);
      }
      then();
    });
  }

  /**
   * Two ends are about to leave for threads of which one may be gone before the other one looks for it: what they see now they have in common. At once, for they
   * look before this thread's event loop has another turn.
   */
  show(): void {
    if (this.#shows++ > 0) return;
    const hide = this.#locks.hold(`millrace/space/${this.#use()}/${this.thread}`, nothing, nothing);
    this.#learn(nothing);
    this.#hideLater(hide);
  }
  #hideLater(hide: () => void): void {
    const shows = this.#shows;
    platform.later(() => {
      if (shows !== this.#shows) return this.#hideLater(hide);
      this.#shows = 0;
      hide();
    }, NATIVE_SHOWN_MS);
  }

  /** Calls `then` with whether this thread would be given that lock if it was free. */
  includes(name: string, then: (included: boolean) => void): void {
    const space = spaceOf(name);
    const [, , , thread] = name.split('/');
    // What this thread holds itself tells it nothing.
    if (space === undefined || thread === this.thread) then(false);
    else if (this.#known.has(space)) then(true);
    else this.#learn(() => then(this.#known.has(space)));
  }
}

function spaceOf(name: string): string | undefined {
  const [library, kind, space] = name.split('/');
  return library === 'millrace' && (kind === 'native' || kind === 'space') ? space : undefined;
}

export function lockSpace(locks: AgentLocks): LockSpace {
  return ofAgent('lock-space/1', () => new LockSpace(locks, platformStart.randomWords(4).join('-')));
}
