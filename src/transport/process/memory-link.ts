// Two processes that have memory in common: a page where their channels rest, a bell of each, and a line for descriptors. Channels in their own
// memory are its members, by the number that their connection knows them by. As links of threads (transport/thread), it leads strongly to no port.
import { platform } from '#platform';
import { LayoutError } from '../../errors.ts';
import {
  DESCRIPTOR_LINE_AGAIN_MS,
  DESCRIPTOR_LINE_BUSY,
  DESCRIPTOR_LINE_TAKEN_MAX,
  MEMORY_LEFT_FRAMES_MAX,
} from '../../limits.ts';
import { LINK_PAGE_BYTES, SAID, SIDE_0, SIDE_1 } from '../../link/layout.ts';
import { type AgentLink, ownAgent } from '../../link/own-agent.ts';
import { Resting } from '../../link/resting.ts';
import type { Mapping, Primitives } from '../../native/primitives.ts';
import type { EndReason } from '../../outcome.ts';
import type { Behind } from '../ring/tie.ts';
import type { StreamConnection } from '../stream/connection.ts';
import type { ExitStatus, Way } from '../transport.ts';
import type { Bell, Ringer } from './bell.ts';
import { type Bells, ownBells } from './bells.ts';
import type { DescriptorLine, Said } from './descriptor-line.ts';
import { futexParking } from './futex.ts';
import { makeTether, PeerTether } from './tether.ts';

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
/** The memory of a topic: BYTES, SLEEPS, NUMBER, and a descriptor. */
export const TOPIC = 8;
/** Of no channel: a descriptor whose other end closes with the thread that says it. */
export const TETHER = 9;

const STILL = new Int32Array(new SharedArrayBuffer(4));

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
  /** Rings the other side's. */
  readonly ringer: Ringer;
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
  /** Rings the other side's bell. */
  readonly ring: () => void;
  /** Told whenever this side's was rung, whatever for. */
  readonly bells: Set<() => void> = new Set();
  readonly sleepsBy: Bells;
  readonly #parts: MemoryLinkParts;
  readonly #members = new Map<number, MemoryMember>();
  readonly #words: Int32Array;
  /** Word indexes of what each side has said over the line. */
  readonly #said: number;
  readonly #saidThere: number;
  #taken = 0;
  /** Frames that the other side has left over, of channels that are not over here. */
  #leftFrames = 0;
  #pullsLater = false;
  #rungLater = false;
  #closed = false;
  #gone: EndReason | undefined;
  /** Lets go of this thread's own. */
  readonly #letGoTether: (() => void) | undefined;
  #peerTether: PeerTether | undefined;

  constructor(parts: MemoryLinkParts) {
    const { native, side, page, connection, ringer } = parts;
    this.native = native;
    this.link = connection;
    this.side = side;
    this.#parts = parts;
    const ring = (): void => {
      if (!this.#closed) ringer.ring();
    };
    this.ring = ring;
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
    this.sleepsBy = ownBells(native);
    this.sleepsBy.add(parts.bell, this);
    ownAgent().add(this);
    const tether = makeTether(native);
    this.#letGoTether = tether?.close;
    if (tether !== undefined) this.say(TETHER, 0, [], [tether.theirs]);
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
  /** A descriptor that rings the other side's bell, which is the caller's. @throws what the system says */
  bell(): number {
    return this.native.duplicate(this.#parts.ringer.descriptor);
  }
  rest(): void {
    this.resting.rest();
  }

  /** Channels that have memory. */
  get count(): number {
    return this.#members.size;
  }
  enter(number: number, member: MemoryMember): void {
    this.#members.set(number, member);
  }
  leave(number: number): void {
    this.#members.delete(number);
  }

  /** @see DescriptorLine.say */
  say(kind: number, number: number, words: readonly number[], descriptors?: readonly number[], out?: () => void): void {
    this.#parts.line.say(kind, number, words, descriptors, out);
    this.#look();
  }
  /** Waits with the thread, which ends, until what was said can be taken over there: so many milliseconds at the most. */
  flushSync(timeoutMs: number): boolean {
    const { line } = this.#parts;
    const untilMs = performance.now() + timeoutMs;
    while (!this.#closed && !line.flush()) {
      if (performance.now() >= untilMs) return false;
      Atomics.wait(STILL, 0, 0, DESCRIPTOR_LINE_AGAIN_MS);
    }
    return true;
  }
  /** Whether so much waits to be said that nothing is to be added which can do without. */
  get busy(): boolean {
    return this.#parts.line.unsent >= DESCRIPTOR_LINE_BUSY;
  }

  /** A channel has so many frames left over, or (less than 0) is over. @throws LayoutError and they are not counted */
  countLeft(frames: number): void {
    const all = this.#leftFrames + frames;
    if (frames > 0 && all > MEMORY_LEFT_FRAMES_MAX) {
      const text = `Cannot take in ${all} messages that were left over: ${MEMORY_LEFT_FRAMES_MAX} at the most`;
      throw new LayoutError(text, { length: all, limit: MEMORY_LEFT_FRAMES_MAX });
    }
    this.#leftFrames = all;
  }

  /** The bell was rung. */
  rung(): void {
    if (this.#closed) return;
    this.#pullSaid();
    this.resting.rung();
    for (const each of this.bells) each();
  }
  /** As Rung: what was said is taken now, the rest is the event loop's. */
  rungBlocked(): void {
    if (this.#closed) return;
    this.#pullSaid();
    if (this.#rungLater) return;
    queueMicrotask(() => {
      this.#rungLater = false;
      this.rung();
    });
    // Not before: where the stack has ended on the way there, it is to be told at the next ring.
    this.#rungLater = true;
  }
  #pullSaid(): void {
    // SYNC said: what was said before it rang is there; pairs with MemoryLink's `sent`.
    if (Atomics.load(this.#words, this.#saidThere) !== this.#taken) this.pull();
  }
  /** Takes what has come over the line, with the event loop or without. */
  pull(): void {
    const { line } = this.#parts;
    let told: Set<MemoryMember> | undefined;
    for (let count = 0; ; count++) {
      if (count === DESCRIPTOR_LINE_TAKEN_MAX) {
        // More than the line can have held: whoever fills it as fast as this thread reads is not to have it for itself.
        this.#pullLater();
        break;
      }
      const said = line.take();
      if (said === undefined) break;
      this.#taken = (this.#taken + 1) | 0;
      try {
        const member = this.#members.get(said.number);
        if (said.kind === TETHER) this.#tethered(said);
        else if (member === undefined) this.#parts.stray(said);
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
    // Given up for what was taken, and closed again by now.
    line.refill();
    if (line.short !== undefined) this.#pullLater(DESCRIPTOR_LINE_AGAIN_MS);
    this.#look();
    if (told === undefined) return;
    queueMicrotask(() => {
      for (const member of told) member.arrived();
    });
  }
  /** Once, however often it is rung meanwhile. */
  #pullLater(ms: number = 0): void {
    if (this.#pullsLater || this.#closed) return;
    this.#pullsLater = true;
    const pull = (): void => {
      this.#pullsLater = false;
      this.pull();
    };
    if (ms === 0) platform.turn(pull);
    else platform.later(pull, ms);
  }
  /** Whether the line has broken. */
  #look(): void {
    const { error } = this.#parts.line;
    if (error !== undefined && this.link.ended === undefined && !this.#closed) this.#damage(error);
  }
  /** What came makes no sense, or could not be taken: nobody knows what is missing from here on. */
  #damage(error: Error): void {
    const text = `Cannot go on with the line of descriptors: ${error.message}`;
    const damage = error instanceof LayoutError ? error : new LayoutError(text, { cause: error });
    queueMicrotask(() => this.link.damaged(damage));
    this.over('lost');
  }

  /** Asked by a thread that is blocked. */
  peerGone(): EndReason | undefined {
    if (this.#gone !== undefined || this.#closed) return this.#gone;
    // Asked first: what was said before that is there by then.
    const gone = this.#peerTether?.gone === true;
    this.pull();
    if (gone || this.#parts.line.over) this.over(this.#parts.silentEnd);
    return this.#gone;
  }
  /** Memory that goes to the other side, or is closed: where no descriptor is left, in the place of the one in reserve. @throws what the system says */
  createMemory(bytes: number): number {
    return this.#parts.line.withReserve(() => this.native.createMemory(bytes));
  }
  /** @throws LayoutError */
  #tethered({ number, descriptors }: Said): void {
    const { native } = this;
    const [descriptor] = descriptors;
    if (number === 0 && descriptor !== undefined && descriptors.length === 1 && this.#peerTether === undefined) {
      // What comes later goes before it: who blocks hears then of that thread's end when its process ends.
      if (this.#parts.line.refill()) this.#peerTether = new PeerTether(native, descriptor);
      else native.close(descriptor);
      return;
    }
    for (const each of descriptors) native.close(each);
    throw new LayoutError('Cannot take a tether: it is not one descriptor, or not the first');
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
    this.sleepsBy.remove(this.#parts.bell);
    this.#parts.line.close();
    this.#parts.bell.close();
    this.#parts.ringer.close();
    this.#letGoTether?.();
    this.#peerTether?.close();
  }
}
