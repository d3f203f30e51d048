// How threads hear of each other's end where no native port tells of it: in browsers. A thread that has channels with others holds a
// lock (Platform.agentLocks) as long as it has any; the others wait for the same lock, and have it when that one is gone.
//
//   its own end    HELD of its page (link/layout.ts) is the number of the lock that it holds, 0 while it holds none; the number is
//                  part of the lock's name; negative where there are no locks. Said over each link when it is set.
//   another's      whoever is given that lock and finds the number on the page still: it did not give the lock back. It writes that down and
//                  tells every thread that it has a link with: those that are blocked hear of nothing else.
//
// No lock where there is no channel: some browsers do not keep a page whose threads hold one in their back-forward cache.
import { platform } from '#platform';
import { LINK_PATIENCE_MS } from '../../limits.ts';
import { AGENT_PAGE_BYTES, HELD } from '../../link/layout.ts';
import { type OwnAgent, tellOfDeath } from '../../link/own-agent.ts';
import { tellEnded } from '../../memory/life-page.ts';
import type { AgentLocks } from '../../platform/contract.ts';
import type { AgentCard, KnownLink } from './agent-links.ts';
import type { ThreadLink } from './thread-link.ts';

const nothing = (): void => {};
/** In HELD. */
const NO_LOCKS = -1;

interface Watched {
  readonly card: AgentCard;
  /** Of its page. No longer than it must be: who made it may have made it of any length. */
  readonly words: Int32Array;
  /** Rings it where it blocks. */
  readonly wake: () => void;
  /** Of the lock that is waited for; 0 none, negative if there never will be one. */
  number: number;
  /** Waits until it is. */
  readonly waiting: Set<() => void>;
  cancel: () => void;
}

export class AgentWatch {
  readonly #locks: AgentLocks;
  readonly #id: string;
  readonly #words: Int32Array;
  /** Says that this thread's lock is held. */
  readonly #say: (to: KnownLink) => void;
  readonly #wakerOf: (card: AgentCard) => (() => void) | undefined;
  readonly #links = new Map<KnownLink, Watched>();
  /** Waits until the lock is held. */
  readonly #waiting = new Set<() => void>();
  #number = 0;
  /** Gives back the lock, or the request for it. */
  #release: (() => void) | undefined;
  #held = false;
  /** There are no locks in this thread. */
  #denied = false;

  /** @param wakerOf what wakes a thread where it blocks; `undefined` if nothing does */
  constructor(
    locks: AgentLocks,
    id: string,
    { page }: Pick<OwnAgent, 'page'>,
    say: (to: KnownLink) => void,
    wakerOf: (card: AgentCard) => (() => void) | undefined,
  ) {
    this.#locks = locks;
    this.#id = id;
    this.#words = new Int32Array(page);
    this.#say = say;
    this.#wakerOf = wakerOf;
  }

  /** Both threads know the link, or this one has proposed it: what is said over it comes behind that. */
  begin(known: KnownLink, card: AgentCard): void {
    const words = new Int32Array(card.page, 0, AGENT_PAGE_BYTES >> 2);
    this.#links.set(known, {
      card,
      words,
      wake: this.#wakerOf(card) ?? nothing,
      number: 0,
      waiting: new Set(),
      cancel: nothing,
    });
    known.link.peopled = () => this.#changed(known);
    if (this.#held || this.#denied) this.#say(known);
    this.#changed(known);
  }
  end(known: KnownLink): void {
    const watched = this.#links.get(known);
    this.#links.delete(known);
    watched?.cancel();
    if (watched !== undefined) settle(watched);
    queueMicrotask(() => this.#freeUnused());
  }
  /** The other thread says that it holds a lock, or there are channels on the link again. */
  look(known: KnownLink): void {
    const watched = this.#links.get(known);
    if (watched === undefined || known.link.living === 0) return;
    const { card, words } = watched;
    // SYNC agent-held: a plain look; it is said when it is set; pairs with AgentWatch.#hold.
    const number = Atomics.load(words, HELD);
    if (number === 0 || number === watched.number) return;
    watched.cancel();
    watched.number = number;
    settle(watched);
    if (number === NO_LOCKS) return;
    watched.cancel = this.#locks.await(nameOf(card.id, number), () => {
      // It has given the lock back, and lives.
      if (Atomics.load(words, HELD) === number) this.#gone(known);
      else if (watched.number === number) watched.number = 0;
    });
  }
  #gone({ link }: KnownLink): void {
    const life = link.peerLife;
    // For whoever looks there while blocked. If it had said how it ends, that stands.
    if (life !== null) tellEnded(life, 'terminated');
    this.tellBlocked();
    link.tellGone('terminated', undefined);
  }

  /** The end of some thread was written down: who is blocked is to look. Who has links with that one is not known here, so all are told. */
  tellBlocked(): void {
    for (const { words, wake } of this.#links.values()) tellOfDeath(words, wake);
  }

  /**
   * Calls `then` as soon as each of the two threads of that link would hear of the other one's end, whatever it does from then on; at once where nobody will, and
   * after a while in any case: the other one may have blocked before it could say so.
   * @param link if there is one
   */
  whenWatched(link: ThreadLink | undefined, then: () => void): void {
    const look = (): void => {
      const [, watched] = [...this.#links].find(([known]) => known.link === link) ?? [];
      if (watched?.card.mortal !== true || watched.number !== 0) then();
      else {
        watched.waiting.add(then);
        platform.later(() => watched.waiting.delete(then) && then(), LINK_PATIENCE_MS);
      }
    };
    // Not now: who joins a link begins to watch it after that.
    this.#whenHeld(() => queueMicrotask(look));
  }
  #whenHeld(then: () => void): void {
    if (!this.#locks.mortal || this.#held || this.#denied) then();
    else {
      this.#waiting.add(then);
      this.#hold();
    }
  }

  #changed(known: KnownLink): void {
    if (known.link.living > 0) {
      this.#hold();
      this.look(known);
      return;
    }
    const watched = this.#links.get(known);
    if (watched !== undefined) {
      watched.cancel();
      watched.cancel = nothing;
      watched.number = 0;
    }
    // Not now: the next channel may be opened as soon as this call has returned.
    queueMicrotask(() => this.#freeUnused());
  }
  /** At once: this thread may block before its event loop has another turn. */
  #hold(): void {
    if (!this.#locks.mortal || this.#release !== undefined || this.#denied) return;
    const number = ++this.#number;
    const granted = (): void => {
      this.#held = true;
      // SYNC agent-held: it is held before; whoever is given it later and finds this outlives us; pairs with AgentWatch.look.
      Atomics.store(this.#words, HELD, number);
      this.#tell();
    };
    const denied = (): void => {
      this.#denied = true;
      // SYNC agent-held: nobody is given a lock for this; pairs with AgentWatch.look.
      Atomics.store(this.#words, HELD, NO_LOCKS);
      this.#tell();
    };
    this.#release = this.#locks.hold(nameOf(this.#id, number), granted, denied);
  }
  #tell(): void {
    for (const known of this.#links.keys()) this.#say(known);
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const each of waiting) each();
    this.#freeUnused();
  }
  #freeUnused(): void {
    if (this.#denied || this.#waiting.size > 0 || [...this.#links.keys()].some(({ link }) => link.living > 0)) return;
    const release = this.#release;
    this.#release = undefined;
    this.#held = false;
    // SYNC agent-held: before the lock is given back, so that nobody takes that for our end; pairs with AgentWatch.look.
    Atomics.store(this.#words, HELD, 0);
    release?.();
  }
}

function settle({ waiting }: Watched): void {
  for (const then of waiting) then();
  waiting.clear();
}

function nameOf(id: string, number: number): string {
  return `millrace/${id}/${number}`;
}
