// What stands behind the channels of one connection, as a program sees it.
import type { CloseReason } from '../outcome.ts';
import type { ProcessTopicHandle, SharableTopic } from '../transport/topic-medium.ts';
import type { ExitStatus, Leaving, Way } from '../transport/transport.ts';
import type { ListenerOptions, PortListener } from './events.ts';
import type { ChannelOptions } from './options.ts';
import type { Port } from './port.ts';

/** A port that is a channel of a connection. */
export type LinkedPort<In = unknown, Out = unknown> = Port<In, Out> & { readonly link: PortLink };

/** A channel that the other side has opened and that nobody here has asked for. What is sent on it waits over there. */
export interface Offer {
  /** As the other side has named it. */
  readonly name: string;
  /** Takes part in it. One that the other side has taken back meanwhile gives a port that has ended. @throws UsageError ERR_OPTION */
  accept<In = unknown, Out = unknown>(options?: ChannelOptions): LinkedPort<In, Out>;
  /** Its opener's port ends as `closed`, with a RefusedError that has this text as `port.error`; 256 bytes of it at the most. */
  refuse(text?: string): void;
}

export type LinkStatus = 'open' | 'reconnecting' | 'over';

export interface LinkCloseOptions {
  /** Milliseconds for what is under way, 0 to 2^31 - 1; without it none. */
  readonly drainMs?: number | undefined;
  /** Why, for people over there; 256 bytes of it at the most. */
  readonly text?: string | undefined;
}

/** A connection to another process. It ends with its last channel, on either side. */
export interface PortLink {
  /** Where the two have met. */
  readonly address: string;
  /**
   * Another channel over the same connection. Two sides that ask for the same name have the two ends of one, whoever asks first; each asks once.
   * `port.ready` tells when the other side takes part.
   * @throws UsageError ERR_OPTION; UnsupportedError when the connection has ended or is leaving
   */
  channel<In = unknown, Out = unknown>(name: string, options?: ChannelOptions): LinkedPort<In, Out>;
  /**
   * Lets one reader of the other process have a topic that was made with `createTopic({ memory: processMemory() })`: the one that asks for it by this name,
   * now or later. For another reader over the same connection it is shared once more. It ends with the connection, or when either side closes.
   * @returns a promise, pending until the other side has asked; it keeps the process alive meanwhile
   * @throws (rejects) UnsupportedError where the two have no memory in common, or the topic lies in memory of threads; RefusedError where the other side has
   *   opened a channel of that name, shares it, too (`topic`: asks for it), or leaves; ClosedError when the connection or the topic ends first; UsageError ERR_OPTION
   */
  shareTopic(name: string, topic: SharableTopic): Promise<void>;
  /**
   * Asks for a topic that the other process shares by this name, now or later: `subscribe(await link.topic(name))` of millrace/topic.
   * @returns a promise, pending until the other side shares it; it keeps the process alive meanwhile
   * @throws (rejects) as shareTopic
   */
  topic(name: string): Promise<ProcessTopicHandle>;
  /**
   * Channels that the other side opens, as they come: `for await (const offer of link.channels)`. It ends with the connection. Until they are taken
   * they wait, in the number that `maxWaitingChannels` allows; more are refused.
   */
  readonly channels: AsyncIterable<Offer>;
  /** A promise of why it ended. Never rejects. */
  readonly closed: Promise<CloseReason>;
  /** Why it ended, and what of, where that is known; `undefined` while it is open. */
  readonly reason: CloseReason | undefined;
  readonly error: unknown;
  /** How the other process ended, if that is what ended it, and known. */
  readonly exit: ExitStatus | undefined;
  /**
   * Whether it is there: `reconnecting` while a connection of millrace/net has no line, and looks for one, or waits for one; what is posted meanwhile waits. Others
   * are `open` until they are `over`.
   */
  readonly status: LinkStatus;
  /** Who has connected, as the listener's `authorize` has said (millrace/net); `undefined` of others, and over there. */
  readonly identity: string | undefined;
  /** `status` events, each with the new status as `data`. */
  addEventListener(type: 'status', listener: PortListener<LinkStatus>, options?: ListenerOptions): void;
  removeEventListener(type: 'status', listener: PortListener<LinkStatus>): void;
  /** By what it goes, and why by nothing better. */
  readonly way: Way | undefined;
  /** What the other side has said as it began to leave: it opens and accepts no channel any more. */
  readonly peerLeaving: Leaving | undefined;
  /** A promise of that, for who is to close as soon as it has its answers. Never rejects, and stays pending where the other side just ends. */
  readonly leaving: Promise<Leaving>;
  /**
   * Ends it, and its channels as `closed`. What they had accepted still goes out, as far as the other side has room for it; with `drainMs` it ends
   * with its last channel, or after so many milliseconds at the latest, and neither side opens another one meanwhile.
   * @returns when it is over, and the other side has the last words of it, or did not take them in two seconds
   * @throws UsageError ERR_OPTION
   */
  close(options?: LinkCloseOptions): Promise<void>;
}
