// The links of this thread, and what other threads may know of it. One for all copies of this library in the thread.
import { platform, platformStart } from '#platform';
import { ofAgent } from '../../agent.ts';
import { AGENT_PAGE_BYTES, LINK_PAGE_BYTES } from '../../link/layout.ts';
import { loopBells } from '../../link/loop-bells.ts';
import { type BellCard, type OwnAgent, ownAgent } from '../../link/own-agent.ts';
import { createNatives, type NativePair } from '../../memory/native-pair.ts';
import { checkSharedMemory, isSharedMemory, MADE_ELSEWHERE } from '../../memory/region.ts';
import { KeepAlive } from '../../platform/keep-alive.ts';
import { sharedParking } from '../../wait/parking.ts';
import { AgentWatch } from './agent-watch.ts';
import type { Invitation } from './invitation.ts';
import { LeftHere } from './left-here.ts';
import { BELLS, HELD_SAID, LINK, ThreadLink } from './thread-link.ts';

/** What is said over a link about a channel that may join it: joining.ts. */
export const KNOWN = 24;
export const UNKNOWN = 25;

/** What a handle tells of the thread that made it, and a thread of itself when it attaches one. */
export interface AgentCard {
  readonly id: string;
  /** Where it sleeps when it waits for several channels: link/layout.ts. */
  readonly page: SharedArrayBuffer;
  /** What wakes it there, where a notify does not. */
  readonly bell?: BellCard | undefined;
  /** It can end in silence: it is going to hold a lock, or to say that it can hold none (agent-watch.ts). */
  readonly mortal?: boolean | undefined;
}

/** A link that another thread knows, or is to know. */
export interface KnownLink {
  /** Whose it is, as that one says. */
  readonly agent: string;
  readonly link: ThreadLink;
  /** The other thread has said that it knows it. */
  confirmed: boolean;
  /** Called once the other thread knows it too, or when it is over before that. */
  readonly waiting: Set<() => void>;
}

export function knownLink(agent: string, link: ThreadLink, confirmed: boolean): KnownLink {
  return { agent, link, confirmed, waiting: new Set() };
}

/** Who has said a token to somebody, and waits for what comes with it over a link. */
export interface Expecting {
  known(from: KnownLink, address: unknown, countersign: string): void;
  unknown(from: KnownLink): void;
}

export class AgentLinks {
  readonly card: AgentCard;
  readonly #agent: OwnAgent;
  readonly #byAgent = new Map<string, Set<KnownLink>>();
  /** By token; in boxes that are emptied: transport/thread/members.ts tells why. */
  readonly #expected = new Map<string, { who: Expecting | undefined }>();
  /** Of handles that were never handed out: the channel's other end is here, too. By what copies of the handle share. */
  readonly unsent: WeakMap<object, Invitation> = new WeakMap();
  /** Ends that have left this thread. */
  readonly left: LeftHere;
  /** Where no native port tells that a thread is gone. */
  readonly watch: AgentWatch | undefined;
  readonly #keepAlive = new KeepAlive();
  #held = 0;
  #self: { readonly near: KnownLink; readonly far: KnownLink } | undefined;

  constructor(agent: OwnAgent) {
    const { page, bell } = agent;
    this.#agent = agent;
    this.left = new LeftHere(agent);
    const { agentLocks } = platform;
    this.card = { id: randomName(), page, ...(bell && { bell }), ...(agentLocks?.mortal && { mortal: true }) };
    if (agentLocks === undefined) return;
    const say = ({ link }: KnownLink): void => void link.say([HELD_SAID, LINK]);
    this.watch = new AgentWatch(agentLocks, this.card.id, agent, say, (card) => this.wakerOf(card));
  }

  /** What came as what a thread tells of itself; `undefined` if that makes no sense, or nobody here knows how to ring it. */
  cardIn(value: unknown): AgentCard | undefined {
    return isCard(value) && this.#agent.knows(value.bell) ? value : undefined;
  }
  /** What wakes that thread where it sleeps for all its links; `undefined` if that cannot be. */
  wakerOf({ page, bell }: AgentCard): (() => void) | undefined {
    return this.#agent.wakerOf(page, bell, sharedParking(platform.asyncPark));
  }

  /** The link with who made a channel that was attached here, if there is one that it knows or is to know. */
  withMaker(agent: string): KnownLink | undefined {
    return agent === this.card.id ? this.self.far : this.#firstOf(agent);
  }
  /** The link with who has attached a channel that was made here. */
  withAttacher(agent: string): KnownLink | undefined {
    return agent === this.card.id ? this.self.near : this.#firstOf(agent);
  }
  #firstOf(agent: string): KnownLink | undefined {
    return this.#byAgent.get(agent)?.values().next().value;
  }
  /** A link from here on, as far as this thread goes. Where there is one with that thread already, both are good. */
  know(known: KnownLink): void {
    const { agent, link } = known;
    const links = this.#byAgent.get(agent) ?? new Set();
    this.#byAgent.set(agent, links.add(known));
    this.#agent.add(link);
    link.ended = () => this.#forget(known);
    link.told = (message) => this.#told(known, message);
    if (known.confirmed) loopBells().add(link);
  }
  /** The other thread has said that it knows it, too. */
  confirm(known: KnownLink): void {
    known.confirmed = true;
    if (this.#isLink(known)) loopBells().add(known.link);
  }
  #forget(known: KnownLink): void {
    const links = this.#byAgent.get(known.agent);
    links?.delete(known);
    if (links?.size === 0) this.#byAgent.delete(known.agent);
    this.#agent.remove(known.link);
    this.watch?.end(known);
    loopBells().remove(known.link);
    tellWaiting(known);
  }

  // ---- who is who ---------------------------------------------------------------------------------------------

  /** Returns a token that nobody can guess, for what is to come back over a link. */
  expect(who: Expecting): string {
    const token = randomName();
    this.#expected.set(token, { who });
    return token;
  }
  expectNoMore(token: string): void {
    const box = this.#expected.get(token);
    if (box === undefined) return;
    box.who = undefined;
    this.#expected.delete(token);
  }
  /** Says something over a link to whoever expects it. */
  tell(known: KnownLink, kind: number, ...rest: readonly unknown[]): void {
    const message = [kind, LINK, ...rest];
    // A thread need not post to itself, and native ports of that link are for values.
    if (known === this.#self?.near) this.#told(this.#self.far, message);
    else if (known === this.#self?.far) this.#told(this.#self.near, message);
    else known.link.say(message);
  }
  unknown(known: KnownLink, countersign: string): void {
    this.tell(known, UNKNOWN, countersign);
  }
  #told(known: KnownLink, [kind, , token, address, countersign]: readonly unknown[]): void {
    const who = this.#expected.get(token as string)?.who;
    if (kind === HELD_SAID) this.watch?.look(known);
    else if (kind === BELLS) loopBells().hear(known.link, token, address);
    else if (kind === UNKNOWN) who?.unknown(known);
    else if (kind !== KNOWN || typeof countersign !== 'string') return;
    // Nor over a link that was forgotten: its founder has left before that was agreed to, and will close it.
    else if (who === undefined || !this.#isLink(known)) this.unknown(known, countersign);
    else who.known(known, address, countersign);
  }
  #isLink(known: KnownLink): boolean {
    return (
      known === this.#self?.near || known === this.#self?.far || this.#byAgent.get(known.agent)?.has(known) === true
    );
  }

  /** The link of this thread with itself. Its native ports are made when something is to go over them. */
  get self(): { readonly near: KnownLink; readonly far: KnownLink } {
    if (this.#self !== undefined) return this.#self;
    const page = new SharedArrayBuffer(LINK_PAGE_BYTES);
    let pairs: { readonly near: NativePair; readonly far: NativePair } | undefined;
    const make = (which: 'near' | 'far') => (): NativePair => {
      pairs ??= createNatives();
      near.link.open(pairs.near);
      far.link.open(pairs.far);
      return pairs[which];
    };
    const near = knownLink(this.card.id, new ThreadLink(make('near')), true);
    const far = knownLink(this.card.id, new ThreadLink(make('far')), true);
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
    const count = this.#held + (held ? 1 : -1);
    this.#keepAlive.want(count > 0);
    // Not before: where the stack has ended on the way there, it is to be said again.
    this.#held = count;
  }
}

/** Nobody can guess it. */
function randomName(): string {
  return platformStart.randomWords(4).join('-');
}

export function tellWaiting(known: KnownLink): void {
  const waiting = [...known.waiting];
  known.waiting.clear();
  for (const each of waiting) each();
}

let own: AgentLinks | undefined;

/** @throws UnsupportedError where there is no shared memory */
export function agentLinks(): AgentLinks {
  checkSharedMemory('connect threads', MADE_ELSEWHERE);
  own ??= ofAgent('links/7', () => new AgentLinks(ownAgent()));
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
