// Where a thread that blocks for one channel sleeps once it is quiet there, as far as nobody but others can tell it that the agent at the other
// end is gone: in browsers. While messages come it sleeps on the park word of the channel, which is quickest. After a while without
// any it sleeps above, on its agent's page, which every agent that it has a link with can ring (own-agent.ts, `tellOfDeath`).
//
// Invariants:
// U1. Nobody sleeps through a message: PARK says ABOVE, then REST and SLEEP are announced, and PARK and REST are looked at again.
//     Whoever takes PARK back before that is seen there; whoever does it later finds the other two announced, and rings. REST, too, because who
//     was on the way to ring for an earlier message may have taken it back, and found nobody asleep on SLEEP yet: the next one would not ring.
// U2. Nor through a death: it is written down, then counted in DEATHS, then SLEEP is rung. DEATHS is looked at behind the announcement.
// U3. Nor above while the other end is on its way to an agent that has no link with this one: who leaves says so in memory and rings then,
//     and that is looked at behind the announcement, too.
import { QUIET_MS } from '../limits.ts';
import type { ParkPlace } from '../wait/park-place.ts';
import { ABOVE, announce, DATA, withdraw } from '../wait/signal.ts';
import { DEATHS, SLEEPS } from './layout.ts';
import type { LinkEnd } from './link-end.ts';

/** The link of a channel. */
export interface QuietLink {
  readonly end: LinkEnd | undefined;
  /** Rests on the event loop, for all its channels. */
  rest(): void;
}

export class QuietPlace implements ParkPlace {
  readonly words: Int32Array;
  readonly index: number;
  readonly #channel: ParkPlace;
  readonly #agent: ParkPlace;
  readonly #link: () => QuietLink | undefined;
  asks = false;
  /** Nothing has come for a while. */
  #quiet = false;
  /** Of DEATHS: those that this channel's peer has been asked for. */
  #deaths = 0;
  #restDue = false;

  /**
   * @param channel where the thread sleeps for this channel alone
   * @param agent where it sleeps for all its links
   * @param link by which the peer rings who sleeps above; `undefined` while it would not
   */
  constructor(channel: ParkPlace, agent: ParkPlace, link: () => QuietLink | undefined) {
    this.words = channel.words;
    this.index = channel.index;
    this.#channel = channel;
    this.#agent = agent;
    this.#link = link;
  }

  get sliceMsMax(): number {
    return this.#quiet ? this.#channel.sliceMsMax : QUIET_MS;
  }
  get blocks(): number {
    return this.#quiet && this.#link()?.end !== undefined ? ABOVE : this.#channel.blocks;
  }
  sleep(seen: number, timeoutMs: number): boolean {
    this.asks = false;
    if ((seen & ABOVE) !== 0) return this.#sleepAbove(seen, timeoutMs);
    const woken = this.#channel.sleep(seen, timeoutMs);
    this.#quiet = !woken && (this.#quiet || timeoutMs >= QUIET_MS);
    return woken;
  }
  wake(): void {
    this.#channel.wake();
  }

  /** If it was a death that ended it, or a move, whoever sleeps looks after its peer. */
  #sleepAbove(seen: number, timeoutMs: number): boolean {
    const link = this.#link();
    const end = link?.end;
    this.asks = true;
    if (link === undefined || end === undefined) return true;
    const agent = this.#agent;
    let woken = true;
    try {
      end.restAbove();
      const state = announce(agent, agent.blocks, DATA);
      if (this.#isAsleep(seen) && end.restsAbove && this.#deathsTold === this.#deaths && this.#link() === link) {
        agent.words[SLEEPS] = (agent.words[SLEEPS] as number) + 1;
        woken = agent.sleep(state, timeoutMs);
      }
      this.#deaths = this.#deathsTold;
    } finally {
      withdraw(agent);
      end.wake();
      this.#restLater(link);
    }
    this.#quiet = this.#isAsleep(seen);
    this.asks = woken && this.#quiet;
    return woken;
  }
  /** Whether nobody has rung for the channel. */
  #isAsleep(seen: number): boolean {
    // SYNC awake: a plain look behind the announcement of SLEEP (U1); pairs with Waker.
    return Atomics.load(this.words, this.index) === seen;
  }
  get #deathsTold(): number {
    // SYNC deaths: behind the announcement of SLEEP (U2), what was written down is there; pairs with tellOfDeath.
    return Atomics.load(this.#agent.words, DEATHS);
  }
  /** The event loop waits for other channels of that link. Not now: a thread that goes on blocking would be rung for it. */
  #restLater(link: QuietLink): void {
    if (this.#restDue) return;
    queueMicrotask(() => {
      this.#restDue = false;
      link.rest();
    });
    // Not before: where the stack has ended no link would rest with the event loop any more.
    this.#restDue = true;
  }
}
