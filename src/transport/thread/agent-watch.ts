// How threads hear of each other's end where no native port tells of it: in browsers. A thread that has channels with others holds a
// lock (Platform.agentLocks) as long as it has any; the others wait for the same lock, and have it when that one is gone.
//
//   its own end    HELD of its page (link/layout.ts) is the number of the lock that it holds, 0 while it holds none; the number is
//                  part of the lock's name. Said over each link when it is set.
//   another's      whoever is given that lock and finds the number on the page still: it did not give the lock back. It writes that down and
//                  tells every thread that it has a link with: those that are blocked hear of nothing else.
//
// No lock where there is no channel: some browsers do not keep a page whose threads hold one in their back-forward cache.
import { AGENT_PAGE_BYTES, HELD } from '../../link/layout.ts';
import { type OwnAgent, tellOfDeath } from '../../link/own-agent.ts';
import { tellEnded } from '../../memory/life-page.ts';
import type { AgentLocks } from '../../platform/contract.ts';
import type { AgentCard, KnownLink } from './agent-links.ts';

const nothing = (): void => {};

interface Watched {
  readonly card: AgentCard;
  /** Of its page. No longer than it must be: who made it may have made it of any length. */
  readonly words: Int32Array;
  /** Rings it where it blocks. */
  readonly wake: () => void;
  /** Of the lock that is waited for. */
  number: number;
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
    this.#links.set(known, { card, words, wake: this.#wakerOf(card) ?? nothing, number: 0, cancel: nothing });
    known.link.peopled = () => this.#changed(known);
    if (this.#held) this.#say(known);
    this.#changed(known);
  }
  end(known: KnownLink): void {
    this.#links.get(known)?.cancel();
    this.#links.delete(known);
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

  /** Calls `then` as soon as others would hear of this thread's end, whatever it does from then on; at once where nobody will. */
  whenHeld(then: () => void): void {
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
      for (const known of this.#links.keys()) this.#say(known);
      this.#settle();
    };
    const denied = (): void => {
      this.#denied = true;
      this.#settle();
    };
    this.#release = this.#locks.hold(nameOf(this.#id, number), granted, denied);
  }
  #settle(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const each of waiting) each();
    this.#freeUnused();
  }
  #freeUnused(): void {
    if (this.#waiting.size > 0 || [...this.#links.keys()].some(({ link }) => link.living > 0)) return;
    const release = this.#release;
    this.#release = undefined;
    this.#held = false;
    // SYNC agent-held: before the lock is given back, so that nobody takes that for our end; pairs with AgentWatch.look.
    Atomics.store(this.#words, HELD, 0);
    release?.();
  }
}

function nameOf(id: string, number: number): string {
  return `millrace/${id}/${number}`;
}
