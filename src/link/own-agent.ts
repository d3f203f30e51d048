// This thread as an agent among others: its links, whatever leads to the other ends, and where it sleeps for all of them.
import { ofAgent } from '../agent.ts';
import type { EndReason } from '../outcome.ts';
import { type ParkPlace, SharedPlace } from '../wait/park-place.ts';
import type { Parking } from '../wait/parking.ts';
import { DATA, Waker } from '../wait/signal.ts';
import { AGENT_PAGE_BYTES, DEATHS, SLEEP } from './layout.ts';
import type { LinkEnd } from './link-end.ts';

/** A link of this agent's. */
export interface AgentLink {
  /** Where its channels are marked; none before the other agent knows it. */
  readonly end: LinkEnd | undefined;
  /** Rests on the event loop, for all its channels together. */
  rest(): void;
  /** Asks whether, and how, the other agent is gone, without the event loop; `undefined` when that cannot be known here. */
  peerGone(): EndReason | undefined;
  /** How this thread sleeps so that the other agent can wake it, where that cannot reach SLEEP; the same for all links that one wait is for. */
  readonly sleepsBy?: SleepsBy | undefined;
}

/** Sleeping for several links without the word that others of this process ring. */
export interface SleepsBy {
  /** Until one of these links has something to say, also for no reason; false if it was the time that ended it. */
  sleep(timeoutMs: number): boolean;
}

/**
 * What an agent tells of the bell that ends its sleep, where nobody's notify would: it waits for descriptors. Its SLEEP word then
 * announces DOORBELL. Each kind has members of its own.
 */
export interface BellCard {
  readonly kind: number;
}
/** Makes what rings a bell of one kind, once a link; `undefined` if the card makes no sense. */
export type Ringer = (bell: BellCard) => (() => void) | undefined;

const NO_RINGERS: ReadonlyMap<number, Ringer> = new Map();
const nobody = (): void => {};

export class OwnAgent {
  /** Known to every agent that it has a link with: layout.ts. */
  readonly page: SharedArrayBuffer;
  /** Where it sleeps for all its links. */
  readonly sleeps: ParkPlace;
  /** What others are to know of its bell, if it sleeps by one. */
  readonly bell: BellCard | undefined;
  readonly #ringers: ReadonlyMap<number, Ringer>;
  #links: readonly AgentLink[] = [];

  /**
   * @param placeOn the way it sleeps on its word
   * @param ringers of the kinds of bells that this agent can ring
   */
  constructor(
    placeOn: (words: Int32Array, index: number) => ParkPlace = (words, index) => new SharedPlace(words, index),
    bell?: BellCard,
    ringers: ReadonlyMap<number, Ringer> = NO_RINGERS,
  ) {
    this.page = new SharedArrayBuffer(AGENT_PAGE_BYTES);
    this.sleeps = placeOn(new Int32Array(this.page), SLEEP);
    this.bell = bell;
    this.#ringers = ringers;
  }

  /** Where marks come. The same array as long as there is nothing new. */
  get links(): readonly AgentLink[] {
    return this.#links;
  }
  add(link: AgentLink): void {
    if (!this.#links.includes(link)) this.#links = [...this.#links, link];
  }
  remove(link: AgentLink): void {
    if (this.#links.includes(link)) this.#links = this.#links.filter((each) => each !== link);
  }

  /** Whether this agent can wake one that sleeps by that bell: without that there is no link with it. */
  knows(bell: BellCard | undefined): boolean {
    return bell === undefined || this.#ringers.has(bell.kind);
  }
  /**
   * What wakes another agent where it sleeps for all its links; `undefined` if that cannot be.
   * @param page that agent's
   */
  wakerOf(page: SharedArrayBuffer, bell: BellCard | undefined, parking: Parking): (() => void) | undefined {
    const ring = bell === undefined ? nobody : this.#ringers.get(bell.kind)?.(bell);
    if (ring === undefined) return undefined;
    // No longer than it must be: who made it may have made it of any length.
    const waker = new Waker(parking.place(new Int32Array(page, 0, AGENT_PAGE_BYTES >> 2), SLEEP), DATA, ring);
    return () => waker.ring();
  }
}

/**
 * Tells an agent that may be blocked that some agent is gone; how is written down where it looks.
 * @param words of its own page
 * @param wake as OwnAgent.wakerOf
 */
export function tellOfDeath(words: Int32Array, wake: () => void): void {
  // SYNC deaths: what was written down comes before, and ringing who is asleep by then behind it; pairs with QuietPlace and AgentSelect.
  Atomics.add(words, DEATHS, 1);
  wake();
}

let own: OwnAgent | undefined;

export function ownAgent(): OwnAgent {
  own ??= ofAgent('agent/1', () => new OwnAgent());
  return own;
}
