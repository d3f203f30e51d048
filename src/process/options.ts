// What a program says of a connection between processes.
import { checkYesNo, type LinkChoice, resolveLinkChoice } from '../port/link-choice.ts';
import type { ChannelOptions } from '../port/options.ts';
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

export interface ConnectionChoice extends LinkChoice, BlockingChoice {
  /** Whether values may go through memory that both processes map, where both can and one user has both; default true. */
  readonly memory?: boolean | undefined;
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
  const { connection: bounds, ...rest } = resolveLinkChoice(options, ['memory', 'blocking', ...more]);
  const memory = {
    silentEnd: 'lost' as const,
    without: withoutMemory(kind, checkYesNo('memory', options.memory, true)),
  };
  const blocking = checkYesNo('blocking', options.blocking, false);
  // Who connects by a unix socket or a pipe is the same user, and may know where files lie.
  const crashTold = kind === 'tcp' ? 'message' : 'stack';
  const connection = { ...bounds, crashTold, way: { name: kind } } as const;
  return { ...rest, connection, memory, blocking };
}

/** Why a connection goes without it, if it does. */
function withoutMemory(kind: Address['kind'] | 'pipe', memory: boolean): string | undefined {
  if (!memory) return 'option memory is false';
  // Anybody on the machine may be at the other end.
  return kind === 'tcp' ? 'processes that meet by TCP share none: use a unix socket' : undefined;
}
