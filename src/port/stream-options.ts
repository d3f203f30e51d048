// What a program says of a connection over a byte stream, and of a channel in it, checked as the options of threads' channels are, and as
// what speaks the protocol wants it.
import { CODECS, codecOfName } from '../codec/choose.ts';
import { UnsupportedError } from '../errors.ts';
import * as limits from '../limits.ts';
import type { ChannelWish } from '../transport/stream/channel.ts';
import type { ConnectionOptions } from '../transport/stream/connection.ts';
import type { StreamOptions } from '../transport/stream/stream-transport.ts';
import { type ChannelOptions, checked, checkNames, type NumberRule, type Resolved, resolveOptions } from './options.ts';

/** What a peer may have of a side, over all channels of a connection. Who listens to strangers chooses less than the defaults. */
export interface LinkOptions {
  /** Bytes of the longest message, encoded, on any channel; default 256 MiB. What its own channel says may be less. */
  readonly maxMessageBytes?: number | undefined;
  /** Bytes of large strings that are remembered for a channel, on behalf of the peer; default 16 MiB. */
  readonly rememberedTextBytes?: number | undefined;
  /** Bytes that may be on their way in a channel which says nothing of its own; rounded up to a power of two; default 256 KiB, over a socket 4 MiB for the first eight of a thread. */
  readonly capacityBytes?: number | undefined;
  /** Channels that the peer may have open; default 65,536. */
  readonly maxChannels?: number | undefined;
  /** Of these, channels that nobody here has asked for yet; default 1024. */
  readonly maxWaitingChannels?: number | undefined;
}

/** What both say of the same. */
const WINDOW: NumberRule = {
  fallback: limits.STREAM_WINDOW_DEFAULT,
  min: limits.STREAM_WINDOW_MIN,
  max: limits.STREAM_WINDOW_MAX,
};
const RULES: { readonly [K in keyof LinkOptions]-?: NumberRule } = {
  maxMessageBytes: { fallback: limits.MESSAGE_BYTES_DEFAULT, min: 64, max: limits.MESSAGE_BYTES_MAX },
  rememberedTextBytes: { fallback: limits.KNOWN_TEXT_BYTES_DEFAULT, min: 0, max: limits.KNOWN_TEXT_BYTES_MAX },
  capacityBytes: WINDOW,
  maxChannels: { fallback: limits.STREAM_CHANNELS_MAX, min: 0, max: limits.STREAM_CHANNELS_MAX },
  maxWaitingChannels: { fallback: limits.STREAM_WAITING_MAX, min: 0, max: limits.STREAM_CHANNELS_MAX },
};
const SMALLER = ', over a byte stream: larger messages go in parts, and need no more';

/** @throws UsageError ERR_OPTION naming the option, the value and what it may be */
export function resolveLinkOptions(
  options: LinkOptions = {},
): Required<Pick<ConnectionOptions, 'maxMessageBytes' | 'textBytesMax' | 'channelsMax' | 'waitingMax'>> &
  Pick<ConnectionOptions, 'windowBytes'> {
  checkNames(options, Object.keys(RULES));
  const of = (name: keyof LinkOptions): number =>
    checked(name, options[name], RULES[name], name === 'capacityBytes' ? SMALLER : '') as number;
  return Object.freeze({
    maxMessageBytes: of('maxMessageBytes'),
    textBytesMax: of('rememberedTextBytes'),
    // Not said is not the default: such channels may have more.
    windowBytes: options.capacityBytes === undefined ? undefined : of('capacityBytes'),
    channelsMax: of('maxChannels'),
    waitingMax: of('maxWaitingChannels'),
  });
}

/** What one end of a channel says as it is opened or accepted, and what is made with its transport. */
export interface StreamEnd {
  readonly wish: ChannelWish;
  readonly transport: StreamOptions;
  /** Microseconds, where memory is looked at. */
  readonly spinUs: number;
}

/**
 * The same options as between threads.
 * @throws UsageError ERR_OPTION; UnsupportedError for overflow `latest`
 */
export function resolveStreamOptions(options: ChannelOptions = {}): StreamEnd {
  const resolved = resolveOptions(options);
  checked('capacityBytes', resolved.capacityBytes, { ...WINDOW, max: limits.STREAM_WINDOW_MAX }, SMALLER);
  const end = streamEnd(resolved);
  if (options.capacityBytes !== undefined) return end;
  const { window: _, ...wish } = end.wish;
  return { ...end, wish };
}

/**
 * The same for a channel that would rather go by memory, whose rings may be larger than any credit: what it says for the case that it cannot.
 * @throws UnsupportedError for overflow `latest`
 */
export function streamEnd(resolved: Resolved): StreamEnd {
  const { spinMicroseconds: spinUs } = resolved;
  return { wish: streamWish(resolved), transport: streamTransportOptions(resolved), spinUs };
}

export function streamWish({
  capacityBytes,
  maxMessageBytes,
  rememberedTexts,
  rememberedTextBytes,
}: Resolved): ChannelWish {
  return {
    window: Math.min(capacityBytes, limits.STREAM_WINDOW_MAX),
    messageMax: maxMessageBytes,
    texts: rememberedTexts,
    textBytes: rememberedTextBytes,
  };
}

/** @throws UnsupportedError for overflow `latest` */
export function streamTransportOptions({
  codec,
  arrayProperties,
  overflow,
  highWaterMarkBytes,
  outboxBytes,
}: Resolved): StreamOptions {
  if (overflow === 'latest') {
    throw new UnsupportedError(
      "Cannot keep the newest only: overflow 'latest' needs memory that both sides see; over this connection use 'drop-oldest'",
      { feature: 'latest' },
    );
  }
  return {
    codec: codecOfName(codec),
    codecs: CODECS,
    codecOptions: { exactArrays: arrayProperties === 'always' },
    overflow,
    highWaterMark: highWaterMarkBytes,
    outboxLimit: outboxBytes,
  };
}
