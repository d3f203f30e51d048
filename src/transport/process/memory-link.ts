// Two processes that have memory in common: a page where their channels rest, a bell of each, and a line for descriptors. Channels in their own
// memory are its members, by the number that their connection knows them by. As links of threads (transport/thread), it leads strongly to no port.
import { LayoutError } from '../../errors.ts';
import { LINK_PAGE_BYTES, SAID, SIDE_0, SIDE_1 } from '../../link/layout.ts';
import { type AgentLink, ownAgent } from '../../link/own-agent.ts';
import { Resting } from '../../link/resting.ts';
import type { Mapping, Primitives } from '../../native/primitives.ts';
import type { EndReason } from '../../outcome.ts';
import type { Behind } from '../ring/tie.ts';
import type { StreamConnection } from '../stream/connection.ts';
import type { ExitStatus, Way } from '../transport.ts';
import type { Bell } from './bell.ts';
import type { DescriptorLine, Said } from './descriptor-line.ts';
import { futexParking } from './futex.ts';

// What is said on the line of descriptors, of a channel. docs/protocol/memory-of-processes.md tells what each is for.
/** Its memory: BYTES, and a descriptor. */
export const REGION = 3;
/** There is none for it: ERRNO. */
export const NO_REGION = 4;
/** What did not go out before its sender ended: BYTES, FRAMES, and a descriptor of memory that has them. */
export const LEFT = 5;
/** Memory for its larger messages: BYTES, NUMBER, SLOT, and a descriptor. */
export const LENT = 6;
/** Its side says nothing more of it. */
export const DONE = 7;

/** An end of a channel. */
export interface MemoryMember {
  /** Something came for it; the descriptors are its own. @throws LayoutError */
  said(said: Said): void;
  /** Something came, and the event loop is to look. */
  arrived(): void;
  gone(how: EndReason): void;
}

export interface MemoryLinkParts {
  readonly native: Primitives;
  /** The side that made the page has the first block of it. */
  readonly side: 0 | 1;
  readonly page: Mapping;
  readonly line: DescriptorLine;
  readonly bell: Bell;
  readonly ringOther: () => void;
  /** Lets go of what rings it. */
  readonly closeRinger: () => void;
  readonly connection: StreamConnection;
  /** What the end of the other process means that says nothing. */
  readonly silentEnd: EndReason;
  /** Something came for a channel that is no member (yet). @throws LayoutError */
  readonly stray: (said: Said) => void;
}

export class MemoryLink implements AgentLink, Behind {
  readonly native: Primitives;
  readonly link: StreamConnection;
  readonly way: Way = { name: 'memory' };
  readonly side: 0 | 1;
  readonly resting: Resting;
  readonly #parts: MemoryLinkParts;
  readonly #members = new Map<number, MemoryMember>();
  readonly #words: Int32Array;
  /** Word indexes of what each side has said over the line. */
  readonly #said: number;
  readonly #saidThere: number;
  #taken = 0;
  #closed = false;
  #gone: EndReason | undefined;

  constructor(parts: MemoryLinkParts) {
    const { native, side, page, connection, ringOther } = parts;
    this.native = native;
    this.link = connection;
    this.side = side;
    this.#parts = parts;
    const ring = (): void => {
      if (!this.#closed) ringOther();
    };
    const words = new Int32Array(page.buffer, 0, LINK_PAGE_BYTES >> 2);
    this.#words = words;
    this.#said = (side === 0 ? SIDE_0 : SIDE_1) + SAID;
    this.#saidThere = (side === 0 ? SIDE_1 : SIDE_0) + SAID;
    parts.line.sent = () => {
      // SYNC said: it can be taken by then; pairs with MemoryLink.rung.
      Atomics.add(words, this.#said, 1);
      ring();
    };
    this.resting = new Resting(words, side, futexParking(native, page), { doorbell: ring, agent: ring });
    ownAgent().add(this);
  }

  get end(): Resting['end'] {
    return this.resting.end;
  }
  get exit(): ExitStatus | undefined {
    return this.link.exit;
  }
  get silent(): boolean {
    return this.#gone !== undefined || this.#closed || this.link.ended !== undefined;
  }
  /** What it died of, as far as it could say so. */
  get peerError(): unknown {
    return this.link.error;
  }
  /** Whether something may still come over the line. */
  get open(): boolean {
    return !this.#parts.line.over;
  }
  rest(): void {
    this.resting.rest();
  }

  enter(number: number, member: MemoryMember): void {
    this.#members.set(number, member);
  }
  leave(number: number): void {
    this.#members.delete(number);
  }

  /** @param descriptors the link's from now on */
  say(kind: number, number: number, words: readonly number[], descriptors: readonly number[] = []): void {
    this.#parts.line.say(kind, number, words, descriptors);
  }

  /** The bell was rung. */
  rung(): void {
    if (this.#closed) return;
    // SYNC said: what was said before it rang is there; pairs with MemoryLink's `sent`.
    if (Atomics.load(this.#words, this.#saidThere) !== this.#taken) this.pull();
    this.resting.rung();
  }
  /** Takes what has come over the line, with the event loop or without. */
  pull(): void {
    const { line, connection } = this.#parts;
    let told: Set<MemoryMember> | undefined;
    for (let said = line.take(); said !== undefined; said = line.take()) {
      this.#taken = (this.#taken + 1) | 0;
      try {
        const member = this.#members.get(said.number);
        if (member === undefined) this.#parts.stray(said);
        else {
          member.said(said);
          told ??= new Set();
          told.add(member);
        }
      } catch (error) {
        if (!(error instanceof LayoutError)) throw error;
        this.#damage(error);
        return;
      }
    }
    if (line.error !== undefined && connection.ended === undefined) this.#damage(line.error);
    if (told === undefined) return;
    queueMicrotask(() => {
      for (const member of told) member.arrived();
    });
  }
  /** What came makes no sense, or could not be taken: nobody knows what is missing from here on. */
  #damage(error: Error): void {
    queueMicrotask(() => this.link.closed('lost', error));
    this.over('lost');
  }

  /** Asked by a thread that is blocked. */
  peerGone(): EndReason | undefined {
    if (this.#gone !== undefined || this.#closed) return this.#gone;
    this.pull();
    if (this.#parts.line.over) this.over(this.#parts.silentEnd);
    return this.#gone;
  }
  /** The other side is gone, and all channels with it. */
  over(how: EndReason): void {
    this.#gone ??= how;
    for (const member of [...this.#members.values()]) member.gone(this.#gone);
  }

  /** The connection is over. What has come before stays to be read. */
  close(): void {
    if (this.#closed) return;
    this.pull();
    this.#closed = true;
    ownAgent().remove(this);
    this.#parts.line.close();
    this.#parts.bell.close();
    this.#parts.closeRinger();
  }
}
