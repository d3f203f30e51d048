// How this thread waits for many channels at once: on the page that all its links know, with what no mark tells asked for
// between slices.
import { platform } from '#platform';
import {
  LIVENESS_SLICE_DEAF_MS,
  SELECT_LOOK_MS,
  SELECT_LOOKS_PER_CLOCK,
  SELECT_PROBES_MAX,
  SELECT_SLICE_MS,
  SPIN_US_DEFAULT,
} from '../limits.ts';
import { DEATHS, SLEEPS } from '../link/layout.ts';
import type { LinkEnd } from '../link/link-end.ts';
import { type OwnAgent, ownAgent, type SleepsBy } from '../link/own-agent.ts';
import { type Lookout, type Selectable, Selector, type Watch } from '../link/selector.ts';
import { BlockingWait } from '../wait/block.ts';
import type { ParkPlace } from '../wait/park-place.ts';
import { Spin } from '../wait/spin.ts';
import type { SelectPlace } from './transport.ts';

/** One end of a channel. */
interface Probed extends Selectable {
  /** Asks whether the other agent lives. */
  probe(): void;
  /** As AgentLink's. */
  readonly sleepsBy?: SleepsBy | undefined;
}

/**
 * Where this thread sleeps: on its page, as long as it knows threads only. Where all that it waits for are other processes, as they can wake it. Where
 * it waits for both, or for processes in several ways, on its page in slices.
 */
class AgentPlace implements ParkPlace {
  readonly #agent: OwnAgent;
  /** Of the call that runs. */
  asked: readonly Watch[] = [];

  constructor(agent: OwnAgent) {
    this.#agent = agent;
  }
  get words(): Int32Array {
    return this.#agent.sleeps.words;
  }
  get index(): number {
    return this.#agent.sleeps.index;
  }
  get sliceMsMax(): number {
    return this.#agent.sleeps.sliceMsMax;
  }
  get blocks(): number {
    return this.#agent.sleeps.blocks;
  }
  sleep(seen: number, timeoutMs: number): boolean {
    const by = this.#sleepsBy;
    return by === undefined ? this.#agent.sleeps.sleep(seen, timeoutMs) : by.sleep(timeoutMs);
  }
  wake(): void {
    this.#agent.sleeps.wake();
  }
  get #sleepsBy(): SleepsBy | undefined {
    const { links } = this.#agent;
    // Of threads alone nobody has to ask the ports, of which there may be thousands.
    if (links.every((link) => link.sleepsBy === undefined)) return undefined;
    const by = (this.asked[0]?.end as Probed | undefined)?.sleepsBy;
    return this.asked.every(({ end }) => (end as Probed).sleepsBy === by) ? by : undefined;
  }
}

/** Asks for the other agents' lives: once a link, however many channels it has. */
class Lives implements Lookout {
  readonly #agent: OwnAgent;
  #looks = 0;
  #askedAt = 0;
  #lookedAt = 0;
  /** Of DEATHS of this agent's page: those that all were asked for. */
  #deaths = 0;
  /** Where to go on among those that are not linked yet: each has to be asked by itself. */
  #from = 0;

  constructor(agent: OwnAgent) {
    this.#agent = agent;
  }

  get overdue(): boolean {
    if (++this.#looks % SELECT_LOOKS_PER_CLOCK !== 0) return false;
    return performance.now() - this.#askedAt > SELECT_SLICE_MS;
  }

  get told(): boolean {
    return this.#deathsTold !== this.#deaths;
  }
  get #deathsTold(): number {
    // SYNC deaths: what was written down is there; behind the announcement of SLEEP nobody sleeps through it; pairs with tellOfDeath.
    return Atomics.load(this.#agent.sleeps.words, DEATHS);
  }

  ask(unlinked: readonly Watch[]): boolean {
    this.#deaths = this.#deathsTold;
    const now = performance.now();
    this.#askedAt = now;
    let gone = false;
    for (const link of this.#agent.links) if (link.peerGone() !== undefined) gone = true;
    for (let i = Math.min(unlinked.length, SELECT_PROBES_MAX); i > 0; i--) {
      this.#from = (this.#from + 1) % unlinked.length;
      ((unlinked[this.#from] as Watch).end as Probed).probe();
    }
    if (!gone && now - this.#lookedAt < SELECT_LOOK_MS) return false;
    this.#lookedAt = now;
    return true;
  }
}

export class AgentSelect implements SelectPlace {
  kept: object | undefined;
  readonly #agent: OwnAgent;
  readonly #place: AgentPlace;
  readonly #selector: Selector;
  #restDue = false;

  constructor(agent: OwnAgent) {
    this.#agent = agent;
    const ends = {
      [Symbol.iterator]: (): Iterator<LinkEnd> => this.#ends[Symbol.iterator](),
    };
    const spin = new Spin(SPIN_US_DEFAULT);
    this.#place = new AgentPlace(agent);
    this.#selector = new Selector(
      ends,
      (slice) => new BlockingWait(this.#place, SLEEPS, spin, () => this.#sliceMs, slice),
      new Lives(agent),
    );
  }

  /** Who takes nothing in while it is blocked is told of all that concerns links. */
  get #sliceMs(): number {
    return platform.canTake || this.#selector.awaitsUnlinked ? SELECT_SLICE_MS : LIVENESS_SLICE_DEAF_MS;
  }

  watch(end: Selectable): Watch {
    return this.#selector.watch(end);
  }

  select(ends: readonly Watch[], timeoutMs: number, again: boolean): Watch | undefined {
    this.#place.asked = ends;
    try {
      return this.#selector.select(ends, timeoutMs, again);
    } finally {
      this.#place.asked = [];
      if (!this.#restDue) {
        queueMicrotask(() => this.#rest());
        // Not before: where the stack has ended no link would rest with the event loop any more.
        this.#restDue = true;
      }
    }
  }

  /**
   * The event loop has its turn: all links rest with it again, for the channels that it waits for. Not at the end of each
   * call: a thread that only blocks would be rung for its event loop, which never hears it.
   */
  #rest(): void {
    this.#restDue = false;
    this.kept = undefined;
    this.#selector.forget();
    for (const link of this.#agent.links) link.rest();
  }

  #endsOf: readonly unknown[] | undefined;
  #endsFound: readonly LinkEnd[] = [];
  get #ends(): readonly LinkEnd[] {
    const { links } = this.#agent;
    if (links !== this.#endsOf) {
      this.#endsOf = links;
      this.#endsFound = links.flatMap(({ end }) => (end === undefined ? [] : [end]));
    }
    return this.#endsFound;
  }
}

let own: AgentSelect | undefined;

export function agentSelect(): SelectPlace {
  own ??= new AgentSelect(ownAgent());
  return own;
}
