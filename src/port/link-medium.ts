// By what else than its stream a connection's channels may go: what two processes have in common, or nothing.
import type { StreamChannel } from '../transport/stream/channel.ts';
import type { ConnectionOptions, StreamConnection } from '../transport/stream/connection.ts';
import type { Greeting } from '../transport/stream/greeting.ts';
import type { StreamOptions } from '../transport/stream/stream-transport.ts';
import type { ProcessTopicHandle, SharableTopic } from '../transport/topic-medium.ts';
import type { Transport, TransportEvents, Way } from '../transport/transport.ts';

/** Of one connection. */
export interface LinkMedium {
  /** What the connection is to be made with that has it. */
  offer(options: ConnectionOptions): ConnectionOptions;
  /** The connection is made. @param decided told once it is known by what its channels go */
  channels(connection: StreamConnection, decided: () => void): LinkChannels;
  /** Both sides have greeted. */
  greeted(peer: Greeting): void;
  /** The connection is over. */
  over(): void;
}

/** What one end of a channel is made with. */
export interface LinkChannelOptions {
  /** For the case that it goes over the stream. */
  readonly stream: StreamOptions;
  readonly spinUs: number;
}

export interface LinkChannels {
  /** Where it is a better one than the stream. */
  readonly way: Way | undefined;
  /** What to say of a channel that is opened or accepted; 0: it goes over the stream. */
  readonly flags: number;
  /** @param channel opened or accepted with `flags` */
  transport(channel: StreamChannel, options: LinkChannelOptions, events: TransportEvents): Transport;
  /** @see PortLink.shareTopic */
  share(name: string, topic: SharableTopic): Promise<void>;
  /** @see PortLink.topic */
  askForTopic(name: string): Promise<ProcessTopicHandle>;
}
