// What a program says of a connection beside the channel that it comes with.
import { UsageError } from '../errors.ts';
import { GREETING_MS_DEFAULT, TIMEOUT_MS_MAX } from '../limits.ts';
import type { AbortSignalLike } from '../port/events.ts';
import { CHANNEL_OPTIONS, type ChannelOptions, checked, checkNames } from '../port/options.ts';
import { type LinkOptions, resolveLinkOptions, resolveStreamOptions } from '../port/stream-options.ts';
import type { Address } from '../transport/process/address.ts';
import type { MemoryMeetingOptions } from '../transport/process/memory-meeting.ts';
import type { ConnectionOptions } from '../transport/stream/connection.ts';

/** Those of a channel are for the port that the connection comes with; others have their own. */
export interface ConnectionChoice extends ChannelOptions {
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
  checkNames(options, ['link', 'memory', 'timeoutMs', ...more, ...CHANNEL_OPTIONS]);
  const channel: ChannelOptions = Object.fromEntries(
    Object.entries(options).filter(([name]) => CHANNEL_OPTIONS.includes(name)),
  );
  resolveStreamOptions(channel);
  const timeoutMs = checked('timeoutMs', options.timeoutMs, {
    fallback: GREETING_MS_DEFAULT,
    min: 1,
    max: TIMEOUT_MS_MAX,
  }) as number;
  const memory = { silentEnd: 'lost' as const, without: withoutMemory(kind, options.memory) };
  // Who connects by a unix socket or a pipe is the same user, and may know where files lie.
  const crashTold = kind === 'tcp' ? 'message' : 'stack';
  const connection = { ...resolveLinkOptions(options.link), crashTold, way: { name: kind } } as const;
  return { channel, connection, memory, timeoutMs };
}

/** Why a connection goes without it, if it does. @throws UsageError ERR_OPTION */
function withoutMemory(kind: Address['kind'] | 'pipe', memory: unknown = true): string | undefined {
  if (typeof memory !== 'boolean') {
    throw new UsageError('ERR_OPTION', `Option memory cannot be ${String(memory)}: it takes true or false`, {
      option: 'memory',
      value: memory,
    });
  }
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
