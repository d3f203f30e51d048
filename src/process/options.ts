// What a program says of a connection beside the channel that it comes with.
import { UsageError } from '../errors.ts';
import { GREETING_MS_DEFAULT, TIMEOUT_MS_MAX } from '../limits.ts';
import type { AbortSignalLike } from '../port/events.ts';
import { CHANNEL_OPTIONS, type ChannelOptions, checked, checkNames } from '../port/options.ts';
import { type LinkOptions, resolveLinkOptions, resolveStreamOptions } from '../port/stream-options.ts';
import type { Address } from '../transport/process/address.ts';
import type { MemoryMeetingOptions } from '../transport/process/memory-meeting.ts';
import type { ConnectionOptions } from '../transport/stream/connection.ts';

/** Of a connection, whoever makes it. */
export interface BlockingChoice {
  /**
   * Whether ports of this connection can be read and written with the thread blocked: `receive`, `send`, `blocking()`, and `interrupted` while it computes. A
   * thread of the library's has the socket then, one for all such connections of this thread; a message takes longer by way of it. Default false.
   */
  readonly blocking?: boolean | undefined;
}

/** Those of a channel are for the port that the connection comes with; others have their own. */
export interface ConnectionChoice extends ChannelOptions, BlockingChoice {
  /** What the peer may have of this side, over all channels of the connection. */
  readonly link?: LinkOptions | undefined;
  /** Whether values may go through memory that both processes map, where both can and one user has both; default true. */
  readonly memory?: boolean | undefined;
  /** Milliseconds in which the connection is there and the peer has greeted; default 10,000. */
  readonly timeoutMs?: number | undefined;
}

export interface ResolvedChoice {
  readonly channel: ChannelOptions;
  readonly connection: Omit<ConnectionOptions, 'initiator'>;
  readonly memory: Omit<MemoryMeetingOptions, 'initiator'>;
  readonly timeoutMs: number;
  readonly blocking: boolean;
}

/**
 * @param more options that the caller looks at itself
 * @throws UsageError ERR_OPTION naming the option, the value and what it may be; UnsupportedError for overflow `latest`
 */
export function resolveChoice(
  { kind }: { readonly kind: Address['kind'] | 'pipe' },
  options: ConnectionChoice,
  more: readonly string[],
): ResolvedChoice {
  checkNames(options, ['link', 'memory', 'timeoutMs', 'blocking', ...more, ...CHANNEL_OPTIONS]);
  const channel: ChannelOptions = Object.fromEntries(
    Object.entries(options).filter(([name]) => CHANNEL_OPTIONS.includes(name)),
  );
  resolveStreamOptions(channel);
  const timeoutMs = checked('timeoutMs', options.timeoutMs, {
    fallback: GREETING_MS_DEFAULT,
    min: 1,
    max: TIMEOUT_MS_MAX,
  }) as number;
  const memory = {
    silentEnd: 'lost' as const,
    without: withoutMemory(kind, checkYesNo('memory', options.memory, true)),
  };
  const blocking = checkYesNo('blocking', options.blocking, false);
  // Who connects by a unix socket or a pipe is the same user, and may know where files lie.
  const crashTold = kind === 'tcp' ? 'message' : 'stack';
  const connection = { ...resolveLinkOptions(options.link), crashTold, way: { name: kind } } as const;
  return { channel, connection, memory, timeoutMs, blocking };
}

/** @throws UsageError ERR_OPTION */
function checkYesNo(option: string, value: unknown, fallback: boolean): boolean {
  if (value === undefined) return fallback;
  if (typeof value === 'boolean') return value;
  throw new UsageError('ERR_OPTION', `Option ${option} cannot be ${String(value)}: it takes true or false`, {
    option,
    value,
  });
}

/** Why a connection goes without it, if it does. */
function withoutMemory(kind: Address['kind'] | 'pipe', memory: boolean): string | undefined {
  if (!memory) return 'option memory is false';
  // Anybody on the machine may be at the other end.
  return kind === 'tcp' ? 'processes that meet by TCP share none: use a unix socket' : undefined;
}

/** @throws UsageError ERR_OPTION */
export function checkSignal(signal: AbortSignalLike | undefined): AbortSignalLike | undefined {
  if (signal === undefined || typeof signal?.addEventListener === 'function') return signal;
  throw new UsageError('ERR_OPTION', `Option signal cannot be ${String(signal)}: it takes an AbortSignal`, {
    option: 'signal',
    value: signal,
  });
}
