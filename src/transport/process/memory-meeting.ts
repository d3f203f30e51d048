// How two processes that are connected come to memory in common. Who took the connection listens at a place of its own (line-path.ts), and says its name in its
// greeting, with a ticket; who connected goes there, and hands over a page and a bell with the ticket; it is given the other's bell. So both know that they
// stand on one machine, by the descriptors that have arrived, and whose process it is, by what the system says of the line. Each step is announced over the
// connection, behind it: nobody waits, and nobody has to watch the line. Whatever fails leaves the connection as it is.
//
//     initiator                                                          acceptor
//       HELLO, offers memory ------------------------------------------->
//       <------------------- HELLO, offers memory; field PLACE: ticket, name
//       connects to the name; PAGE: ticket, page and bell ===>
//       MEET came ------------------------------------------------------>
//                                                       <=== BELL: bell
//       <--------------------------------------------------- MEET shared
import { randomBytes } from 'node:crypto';
import { getuid } from 'node:process';
import { LayoutError, UnsupportedError } from '../../errors.ts';
import { DESCRIPTOR_LINE_TRIES_MAX, MEMORY_TICKET_BYTES } from '../../limits.ts';
import { LINK_PAGE_BYTES } from '../../link/layout.ts';
import { native } from '../../native/load.ts';
import type { Primitives } from '../../native/primitives.ts';
import type { EndReason } from '../../outcome.ts';
import type { ConnectionOptions, StreamConnection } from '../stream/connection.ts';
import type { Answer, Greeting, GreetingField } from '../stream/greeting.ts';
import { type Bell, makeBell, ringerOf } from './bell.ts';
import { DescriptorLine, type Said } from './descriptor-line.ts';
import { leaveLine, linePath } from './line-path.ts';
import { MemoryLink, type MemoryLinkParts } from './memory-link.ts';

/** The bit of FEATURES with which a side offers it, and that of FLAGS with which it offers it for a channel. */
export const MEMORY = 0x20000;
/** The field behind a greeting that says where. */
export const PLACE = 1;
/** The frame: one word of what follows, and 0. */
export const MEET = 64;
export const CAME = 1;
export const SHARED = 2;
export const FAILED = 3;
/** What is said on the line of descriptors, of no channel: the ticket, with the page and a bell; a bell. */
export const PAGE = 1;
export const BELL = 2;

export interface MemoryMeetingOptions {
  readonly initiator: boolean;
  /** What the end of the other process means that says nothing. */
  readonly silentEnd: EndReason;
  /** Why this connection does without, if it does. */
  readonly without?: string | undefined;
}

export class MemoryMeeting {
  /** What the two have, once they have. */
  link: MemoryLink | undefined;
  /** Why they have not, once they will not. */
  why: string | undefined;
  /** What comes for a channel that is no member of the link. */
  stray: MemoryLinkParts['stray'] = () => {};
  readonly initiator: boolean;
  readonly #native: Primitives | undefined;
  readonly #silentEnd: EndReason;
  #connection: StreamConnection | undefined;
  #decided: () => void = () => {};
  /** Of who took the connection, until the other one has come. */
  #listener: number | undefined;
  #path: string | undefined;
  #ticket: Int32Array | undefined;
  /** What there is before the link is. */
  #line: DescriptorLine | undefined;
  #bell: Bell | undefined;
  #shared: (Pick<MemoryLinkParts, 'page'> & Partial<MemoryLinkParts>) | undefined;

  constructor({ initiator, silentEnd, without }: MemoryMeetingOptions) {
    this.initiator = initiator;
    this.#silentEnd = silentEnd;
    const found = native();
    this.#native = without === undefined ? found.primitives : undefined;
    if (this.#native === undefined) this.why = without ?? (found as { why: string }).why;
  }

  /** Whether this side offers it, for the connection and its channels. */
  get offered(): boolean {
    return this.#native !== undefined;
  }
  /** What a connection is to be made with that is told of this: `begin`, `greeted` and `over` follow. */
  offer(options: ConnectionOptions): ConnectionOptions {
    if (this.#native === undefined) return options;
    const came = ([step]: Int32Array): void => this.#came(step as number);
    const { answer } = options;
    const waits = this.initiator || answer !== undefined;
    return {
      ...options,
      features: MEMORY,
      flushBeside: (timeoutMs) => this.link?.flushSync(timeoutMs) ?? true,
      featureFrames: [{ type: MEET, feature: MEMORY, bytesMin: 8, bytesMax: 8, came }],
      ...(waits ? {} : { fields: this.#place() }),
      ...(answer && { answer: (peer: Greeting): Answer => this.#answer(peer) }),
    };
  }
  /** @param decided told when it is known whether there is a link */
  begin(connection: StreamConnection, decided: () => void): void {
    this.#connection = connection;
    this.#decided = decided;
  }

  // ---- who took the connection -----------------------------------------------------------------------------------

  /** What it says of itself to this peer. */
  #answer(peer: Greeting): Answer {
    return (peer.features & MEMORY) === 0 ? undefined : { fields: this.#place() };
  }
  /** Listens, and says where. */
  #place(): readonly GreetingField[] {
    if (this.#native === undefined) return [];
    const secret = randomBytes(2 * MEMORY_TICKET_BYTES);
    const ticket = secret.subarray(0, MEMORY_TICKET_BYTES);
    const name = `millrace-${secret.toString('hex', MEMORY_TICKET_BYTES)}`;
    try {
      const path = linePath(name);
      this.#listener = this.#native.listen(path);
      this.#path = path;
      this.#native.keep(this.#listener);
    } catch (error) {
      this.#fail(error);
      return [];
    }
    this.#ticket = new Int32Array(Uint8Array.from(ticket).buffer);
    return [{ kind: PLACE, bytes: Uint8Array.from([...ticket, ...new TextEncoder().encode(name)]) }];
  }

  #otherCame(native: Primitives): void {
    const { line, said } = this.#whoHasTicket(native);
    this.#line = line;
    this.#stopListening();
    const [page, bell] = said.descriptors as readonly [number, number];
    try {
      line.reserve(1);
      const ringer = ringerOf(native, bell);
      this.#bell = this.#makeBell(native);
      sayNow(line, BELL, [], [native.duplicate(this.#bell.theirs)]);
      this.#share(native, { page: native.map(page, LINK_PAGE_BYTES), ringer });
    } catch (error) {
      native.close(bell);
      throw error;
    } finally {
      native.close(page);
    }
    this.#connection?.say(MEET, [SHARED, 0]);
  }
  /** Anybody on the machine may have come, and knows no ticket. */
  #whoHasTicket(native: Primitives): { readonly line: DescriptorLine; readonly said: Said } {
    for (let tries = 0; tries < DESCRIPTOR_LINE_TRIES_MAX && this.#listener !== undefined; tries++) {
      const descriptor = native.accept(this.#listener);
      if (descriptor < 0) break;
      const line = new DescriptorLine(native, descriptor);
      const said = isOurs(native, descriptor) ? line.take() : undefined;
      if (line.short !== undefined) {
        line.close();
        throw line.short;
      }
      if (said?.kind === PAGE && said.descriptors.length === 2 && this.#isTicket(said.words)) return { line, said };
      for (const each of said?.descriptors ?? []) native.close(each);
      line.close();
    }
    throw new UnsupportedError('the other side did not come to share memory, or is of another user');
  }
  #isTicket(words: readonly number[]): boolean {
    return this.#ticket?.every((word, i) => word === words[i]) === true;
  }
  #stopListening(): void {
    if (this.#listener !== undefined) this.#native?.close(this.#listener);
    if (this.#path !== undefined) leaveLine(this.#path);
    this.#listener = undefined;
    this.#path = undefined;
  }

  // ---- who connected ---------------------------------------------------------------------------------------------

  /** Both have greeted. */
  greeted(peer: Greeting): void {
    const native = this.#native;
    if (native === undefined || this.why !== undefined) this.#decide();
    else if ((peer.features & MEMORY) === 0) this.#fail(new UnsupportedError('the other side does not offer it'));
    else if (this.initiator) this.#trying(() => this.#come(native, peer));
  }
  #come(native: Primitives, { fields }: Greeting): void {
    const place = fields.find(({ kind }) => kind === PLACE)?.bytes;
    if (place === undefined || place.length <= MEMORY_TICKET_BYTES)
      throw new UnsupportedError('the other side cannot listen for descriptors');
    const ticket = new Int32Array(place.slice(0, MEMORY_TICKET_BYTES).buffer);
    const name = new TextDecoder().decode(place.subarray(MEMORY_TICKET_BYTES));
    const descriptor = native.connect(linePath(name));
    const line = new DescriptorLine(native, descriptor);
    this.#line = line;
    if (!isOurs(native, descriptor)) throw new UnsupportedError('the other side is of another user');
    // One for the bell that is to come, when it is too late to do without.
    line.reserve(2);
    const memory = native.createMemory(LINK_PAGE_BYTES);
    let bell: number;
    try {
      this.#shared = { page: native.map(memory, LINK_PAGE_BYTES) };
      this.#bell = this.#makeBell(native);
      bell = native.duplicate(this.#bell.theirs);
    } catch (error) {
      native.close(memory);
      throw error;
    }
    sayNow(line, PAGE, [...ticket], [memory, bell]);
    this.#connection?.say(MEET, [CAME, 0]);
  }
  #otherShares(native: Primitives): void {
    const said = this.#line?.take();
    const descriptors = said?.descriptors ?? [];
    try {
      const [bell] = descriptors;
      if (said === undefined && this.#line?.short !== undefined) throw this.#line.short;
      if (said?.kind !== BELL || bell === undefined || descriptors.length > 1 || this.#shared === undefined)
        throw new LayoutError('Cannot share memory: the other side has sent no bell');
      this.#line?.reserve(1);
      this.#share(native, { ...this.#shared, ringer: ringerOf(native, bell) });
    } catch (error) {
      for (const each of descriptors) native.close(each);
      throw error;
    }
  }

  // ---- both ------------------------------------------------------------------------------------------------------

  #came(step: number): void {
    const native = this.#native;
    if (native === undefined || this.why !== undefined) return;
    if (step === FAILED && this.link === undefined) this.#fail(new UnsupportedError('the other side could not'), false);
    else if (step === CAME && !this.initiator && this.link === undefined) this.#trying(() => this.#otherCame(native));
    else if (step === SHARED && this.initiator && this.link === undefined)
      this.#trying(() => this.#otherShares(native));
    else throw new LayoutError(`Cannot share memory: step ${step} does not belong here`, { value: step });
  }
  #trying(body: () => void): void {
    try {
      body();
    } catch (error) {
      this.#fail(error);
    }
  }
  #makeBell(native: Primitives): Bell {
    return makeBell(native, () => this.link?.rung());
  }
  #share(native: Primitives, { page, ringer }: Pick<MemoryLinkParts, 'page' | 'ringer'>): void {
    this.link = new MemoryLink({
      native,
      side: this.initiator ? 0 : 1,
      page,
      line: this.#line as DescriptorLine,
      bell: this.#bell as Bell,
      ringer,
      connection: this.#connection as StreamConnection,
      silentEnd: this.#silentEnd,
      stray: (said) => this.stray(said),
    });
    this.#decide();
  }
  /** There will be none. @param tell the other side does not know yet */
  #fail(error: unknown, tell = true): void {
    this.why ??= error instanceof Error ? error.message : String(error);
    const agreed = this.#connection?.features ?? 0;
    if (tell && (agreed & MEMORY) !== 0) this.#connection?.say(MEET, [FAILED, 0]);
    this.#letGo();
    this.link = undefined;
    this.#decide();
  }
  #decide(): void {
    const connection = this.#connection;
    if (this.link === undefined && connection?.way !== undefined) connection.way = { ...connection.way, why: this.why };
    this.#decided();
  }
  /** The connection is over. What has come over the line is taken off it. */
  over(): void {
    this.why ??= 'the connection has ended';
    this.#letGo();
  }
  #letGo(): void {
    this.#stopListening();
    if (this.link !== undefined) this.link.close();
    else {
      this.#line?.close();
      this.#bell?.close();
    }
    this.#line = undefined;
    this.#bell = undefined;
  }
}

/** A step is told of behind it: what the system does not take at once would come too late. @throws UnsupportedError */
function sayNow(line: DescriptorLine, kind: number, words: readonly number[], descriptors: readonly number[]): void {
  line.say(kind, 0, words, descriptors);
  if (!line.flush()) throw new UnsupportedError('the system has no room for descriptors on their way');
}
/** Whether the process at the other end is of this user. */
function isOurs(native: Primitives, descriptor: number): boolean {
  return native.peerCredentials(descriptor).uid === getuid?.();
}
