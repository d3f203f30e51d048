// The links of this thread, and what other threads may know of it. One for all copies of this library in the thread.
import { platform } from '#platform';
import { ofAgent } from '../../agent.ts';
import { AGENT_PAGE_BYTES, LINK_PAGE_BYTES } from '../../link/layout.ts';
import { createNatives, type NativePair } from '../../memory/handshake.ts';
import { checkSharedMemory } from '../../memory/region.ts';
import { KeepAlive } from '../../platform/keep-alive.ts';
import { sharedParking } from '../../wait/parking.ts';
import type { Invitation } from './invitation.ts';
import { ThreadLink } from './thread-link.ts';

/** What a handle tells of the thread that made it, and a thread of itself when it attaches one. */
export interface AgentCard {
  readonly id: string;
  /** Where it sleeps when it waits for several channels: link/layout.ts. */
  readonly page: SharedArrayBuffer;
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
  readonly #byAgent = new Map<string, KnownLink>();
  readonly #byId = new Map<string, KnownLink>();
  /** Of handles that were never handed out: the channel's other end is here, too. By what copies of the handle share. */
  readonly unsent: WeakMap<object, Invitation> = new WeakMap();
  readonly #keepAlive = new KeepAlive();
  #held = 0;
  #links: readonly ThreadLink[] | undefined;
  #self: { readonly near: KnownLink; readonly far: KnownLink } | undefined;

  constructor() {
    this.card = { id: randomName(), page: new SharedArrayBuffer(AGENT_PAGE_BYTES) };
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
    this.#links = undefined;
    if (!this.#byAgent.has(agent)) this.#byAgent.set(agent, known);
    known.link.ended = () => this.forget(agent, known);
  }
  forget(agent: string, known: KnownLink): void {
    this.#byId.delete(known.id);
    this.#links = undefined;
    if (this.#byAgent.get(agent) === known) this.#byAgent.delete(agent);
    tellWaiting(known);
  }
  /** For `select`: where marks come. The same array as long as there is nothing new. */
  get links(): readonly ThreadLink[] {
    const self = this.#self === undefined ? [] : [this.#self.near, this.#self.far];
    this.#links ??= [...this.#byId.values(), ...self].map(({ link }) => link);
    return this.#links;
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
    near.link.share(page, 0, this.card.page, parking);
    far.link.share(page, 1, this.card.page, parking);
    this.#self = { near, far };
    this.#links = undefined;
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
  own ??= ofAgent('links/1', () => new AgentLinks());
  return own;
}

/** Whether this came as what a thread tells of itself. */
export function isCard(value: unknown): value is AgentCard {
  const { id, page } = (value ?? {}) as Partial<AgentCard>;
  return typeof id === 'string' && page instanceof SharedArrayBuffer && page.byteLength >= AGENT_PAGE_BYTES;
}

export function createLinkPage(): SharedArrayBuffer {
  return new SharedArrayBuffer(LINK_PAGE_BYTES);
}

export function isLinkPage(value: unknown): value is SharedArrayBuffer {
  return value instanceof SharedArrayBuffer && value.byteLength >= LINK_PAGE_BYTES;
}
