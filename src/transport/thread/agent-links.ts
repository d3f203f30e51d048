// The links of this thread, and what other threads may know of it. One for all copies of this library in the thread.
import { platform } from '#platform';
import { ofAgent } from '../../agent.ts';
import { AGENT_PAGE_BYTES, LINK_PAGE_BYTES } from '../../link/layout.ts';
import { type BellCard, type OwnAgent, ownAgent } from '../../link/own-agent.ts';
import { createNatives, type NativePair } from '../../memory/handshake.ts';
import { checkSharedMemory, isSharedMemory } from '../../memory/region.ts';
import { KeepAlive } from '../../platform/keep-alive.ts';
import { sharedParking } from '../../wait/parking.ts';
import type { Invitation } from './invitation.ts';
import { ThreadLink } from './thread-link.ts';

/** What a handle tells of the thread that made it, and a thread of itself when it attaches one. */
export interface AgentCard {
  readonly id: string;
  /** Where it sleeps when it waits for several channels: link/layout.ts. */
  readonly page: SharedArrayBuffer;
  /** What wakes it there, where a notify does not. */
  readonly bell?: BellCard | undefined;
}

/** A link that another thread knows by the same name, or is to know. */
export interface KnownLink {
  readonly id: string;
  readonly link: ThreadLink;
  /** The other thread has said that it knows it. */
  confirmed: boolean;
  /** Called once the other thread knows it too, or when it is over before that. */
  readonly waiting: Set<() => void>;
}

class AgentLinks {
  readonly card: AgentCard;
  readonly #agent: OwnAgent;
  readonly #byAgent = new Map<string, KnownLink>();
  readonly #byId = new Map<string, KnownLink>();
  /** Of handles that were never handed out: the channel's other end is here, too. By what copies of the handle share. */
  readonly unsent: WeakMap<object, Invitation> = new WeakMap();
  readonly #keepAlive = new KeepAlive();
  #held = 0;
  #self: { readonly near: KnownLink; readonly far: KnownLink } | undefined;

  constructor(agent: OwnAgent) {
    const { page, bell } = agent;
    this.#agent = agent;
    this.card = { id: randomName(), page, ...(bell && { bell }) };
  }

  /** What came as what a thread tells of itself; `undefined` if that makes no sense, or nobody here knows how to ring it. */
  cardIn(value: unknown): AgentCard | undefined {
    return isCard(value) && this.#agent.knows(value.bell) ? value : undefined;
  }
  /** What wakes that thread where it sleeps for all its links; `undefined` if that cannot be. */
  wakerOf({ page, bell }: AgentCard): (() => void) | undefined {
    return this.#agent.wakerOf(page, bell, sharedParking(platform.asyncPark));
  }

  /** The link with another thread, if there is one that it knows or is to know. */
  with(agent: string): KnownLink | undefined {
    return this.#byAgent.get(agent);
  }
  byId(id: unknown): KnownLink | undefined {
    return id === this.#self?.near.id ? this.#self?.near : this.#byId.get(id as string);
  }
  /** A link from here on, as far as this thread goes. Where there is one with that thread already, both are good. */
  know(agent: string, known: KnownLink): void {
    this.#byId.set(known.id, known);
    this.#agent.add(known.link);
    if (!this.#byAgent.has(agent)) this.#byAgent.set(agent, known);
    known.link.ended = () => this.forget(agent, known);
  }
  forget(agent: string, known: KnownLink): void {
    this.#byId.delete(known.id);
    this.#agent.remove(known.link);
    if (this.#byAgent.get(agent) === known) this.#byAgent.delete(agent);
    tellWaiting(known);
  }

  /** The link of this thread with itself. Its native ports are made when something is to go over them. */
  get self(): { readonly near: KnownLink; readonly far: KnownLink } {
    if (this.#self !== undefined) return this.#self;
    const page = new SharedArrayBuffer(LINK_PAGE_BYTES);
    const id = randomName();
    let pairs: { readonly near: NativePair; readonly far: NativePair } | undefined;
    const make = (which: 'near' | 'far') => (): NativePair => {
      pairs ??= createNatives();
      near.link.open(pairs.near);
      far.link.open(pairs.far);
      return pairs[which];
    };
    const near = { id, link: new ThreadLink(make('near')), confirmed: true, waiting: new Set<() => void>() };
    const far = { id, link: new ThreadLink(make('far')), confirmed: true, waiting: new Set<() => void>() };
    const parking = sharedParking(platform.asyncPark);
    const wake = this.wakerOf(this.card) ?? ((): void => {});
    near.link.share(page, 0, wake, parking);
    far.link.share(page, 1, wake, parking);
    this.#self = { near, far };
    this.#agent.add(near.link);
    this.#agent.add(far.link);
    return this.#self;
  }

  /** Keeps the process alive for one more channel, or one less. */
  hold(held: boolean): void {
    this.#held += held ? 1 : -1;
    this.#keepAlive.want(this.#held > 0);
  }
}

export type { AgentLinks };

/** Nobody can guess it. */
export function randomName(): string {
  return crypto.getRandomValues(new Uint32Array(4)).join('-');
}

export function tellWaiting(known: KnownLink): void {
  const waiting = [...known.waiting];
  known.waiting.clear();
  for (const each of waiting) each();
}

let own: AgentLinks | undefined;

/** @throws UnsupportedError where there is no shared memory */
export function agentLinks(): AgentLinks {
  checkSharedMemory('connect threads');
  own ??= ofAgent('links/2', () => new AgentLinks(ownAgent()));
  return own;
}

function isCard(value: unknown): value is AgentCard {
  const { id, page, bell } = (value ?? {}) as Partial<AgentCard>;
  if (bell !== undefined && typeof bell?.kind !== 'number') return false;
  return typeof id === 'string' && isSharedMemory(page, AGENT_PAGE_BYTES);
}

export function createLinkPage(): SharedArrayBuffer {
  return new SharedArrayBuffer(LINK_PAGE_BYTES);
}

export function isLinkPage(value: unknown): value is SharedArrayBuffer {
  return isSharedMemory(value, LINK_PAGE_BYTES);
}
