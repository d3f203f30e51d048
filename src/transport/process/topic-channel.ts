// A topic that goes to the process at the other end of a connection: a channel over which nothing is said but its end, and the topic's memory on the
// line of descriptors. Who shares says TOPIC as soon as both take part and have met; who asks maps what comes. Both: topic-ends.ts.
import { ClosedError, LayoutError, RefusedError, UnsupportedError } from '../../errors.ts';
import type { EndReason } from '../../outcome.ts';
import type { ChannelOwner, StreamChannel } from '../stream/channel.ts';
import type { StreamConnection } from '../stream/connection.ts';
import type { Said } from './descriptor-line.ts';
import type { MemoryLink, MemoryMember } from './memory-link.ts';
import { MEMORY, type MemoryMeeting } from './memory-meeting.ts';

/** The bit of FLAGS that says that a channel is for a topic. */
export const FOR_TOPIC = 0x40000;
const AGREED = MEMORY | FOR_TOPIC;
/** What a side wants of it. Agreed on is what both want: who shares meets who asks, and neither stands then. */
export const SHARES = 0x80000;
export const ASKS = 0x100000;

export interface TopicParts {
  readonly connection: StreamConnection;
  readonly meeting: MemoryMeeting;
  readonly channel: StreamChannel;
  /** Told once it is known what becomes of it. */
  readonly settled: (channel: TopicChannel) => void;
}

/** Whose end it is. */
export interface TopicUser {
  /** Both take part, and have memory in common. */
  linked(link: MemoryLink): void;
  /** The memory of the topic came; its descriptors are closed behind this. @throws LayoutError, and what the system says */
  take(link: MemoryLink, said: Said): void;
  /** It was never there, and never will be. */
  failed(error: unknown): void;
  /** The other side has ended it, or is gone. */
  over(how: EndReason): void;
}

export class TopicChannel implements ChannelOwner, MemoryMember {
  /** Whose it is; before anything else is called. */
  user: TopicUser | undefined;
  readonly #parts: TopicParts;
  #settled = false;
  #closed = false;

  constructor(parts: TopicParts) {
    this.#parts = parts;
    parts.channel.owner = this;
    // Somebody waits for what becomes of it.
    parts.connection.hold(true);
  }

  get number(): number {
    return this.#parts.channel.number;
  }
  get joinedAs(): number | undefined {
    return this.#parts.channel.attached ? this.number : undefined;
  }
  get link(): MemoryLink {
    return this.#parts.meeting.link as MemoryLink;
  }
  hold(held: boolean): void {
    this.#parts.connection.hold(held);
  }

  /** Looks whether it is known by now what becomes of it. */
  decide(): void {
    const { channel, meeting } = this.#parts;
    if (this.#settled) return;
    if (meeting.why !== undefined) this.fail(noMemory(channel.name, meeting.why));
    else if (channel.ended !== undefined) this.turned();
    else if (!channel.attached || meeting.link === undefined) return;
    else if ((channel.flags & AGREED) !== AGREED)
      this.fail(refused(`The other side has taken ${JSON.stringify(channel.name)} as a channel, not as a topic`));
    else if ((channel.flags & SHARES) !== 0)
      this.fail(refused(`Both sides share topic ${JSON.stringify(channel.name)}: one is to ask for it`));
    else if ((channel.flags & ASKS) !== 0)
      this.fail(refused(`Both sides ask for topic ${JSON.stringify(channel.name)}: one is to share it`));
    else this.#trying(() => this.user?.linked(this.link));
  }
  /** It is there: from now on its end is what is told of it. */
  settle(): void {
    this.#done();
    this.link.enter(this.number, this);
  }
  /** Nothing more is wanted of it at this end. */
  close(reason: EndReason = 'closed'): void {
    if (this.#closed) return;
    this.#closed = true;
    const { channel, meeting } = this.#parts;
    meeting.link?.leave(this.number);
    channel.end(reason);
  }

  #done(): void {
    this.#settled = true;
    this.#parts.settled(this);
    this.hold(false);
  }
  /** It is not there, and never will be; unless that is known already. */
  fail(error: unknown): void {
    if (this.#settled) return;
    this.#done();
    this.close();
    this.user?.failed(error);
  }
  #trying(body: () => void): void {
    try {
      body();
    } catch (error) {
      this.fail(error);
    }
  }

  // ---- what comes ------------------------------------------------------------------------------------------------

  /** The memory of the topic, before it is there. */
  came(said: Said): void {
    const { link } = this;
    this.#trying(() => {
      try {
        this.user?.take(link, said);
      } catch (cause) {
        const text = `Cannot take topic ${JSON.stringify(this.#parts.channel.name)}: ${(cause as Error).message}`;
        throw new LayoutError(text, { cause });
      } finally {
        for (const each of said.descriptors) link.native.close(each);
      }
    });
  }
  /** Nothing is, once it is there. @throws LayoutError */
  said({ kind, descriptors }: Said): void {
    for (const each of descriptors) this.link.native.close(each);
    throw new LayoutError(`Cannot take what was said of a topic: kind ${kind}`, { kind });
  }
  arrived(): void {}
  gone(how: EndReason): void {
    this.user?.over(how);
  }
  joined(): void {
    this.decide();
  }
  changed(): void {}
  drain(): void {}
  turned(): void {
    const { channel, connection, meeting } = this.#parts;
    // What was said before its end.
    meeting.link?.pull();
    const reason = channel.ended as EndReason;
    if (this.#settled) this.user?.over(reason);
    else this.fail(channel.error ?? connection.error ?? noMore(channel.name, reason));
  }
}

function noMemory(name: string, why: string): UnsupportedError {
  return new UnsupportedError(
    `Cannot have topic ${JSON.stringify(name)} in common with this process: ${why}; a topic between processes takes memory that both map: connect by a unix socket, a pipe or fork on one Linux machine, with the addon on Node; or send the messages over a port`,
    { feature: 'memory' },
  );
}
function refused(text: string): RefusedError {
  return new RefusedError('ERR_REFUSED', text, { refusal: 0, text: '' });
}
function noMore(name: string, reason: EndReason): ClosedError {
  return new ClosedError(`The connection, or the other side's end of topic ${JSON.stringify(name)}, is over`, reason);
}
