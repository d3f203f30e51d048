// What a program says of any connection over a byte stream, beside the channel that it comes with.
import { UsageError } from '../errors.ts';
import { GREETING_MS_DEFAULT, TIMEOUT_MS_MAX } from '../limits.ts';
import type { AbortSignalLike } from './events.ts';
import { CHANNEL_OPTIONS, type ChannelOptions, checked, checkNames, show } from './options.ts';
import { type LinkOptions, resolveLinkOptions, resolveStreamOptions } from './stream-options.ts';

/** Those of a channel are for the port that the connection comes with; others have their own. */
export interface LinkChoice extends ChannelOptions {
  /** What the peer may have of this side, over all channels of the connection. */
  readonly link?: LinkOptions | undefined;
  /** Milliseconds in which the connection is there and the peer has greeted; default 10,000. */
  readonly timeoutMs?: number | undefined;
}

export interface ResolvedLinkChoice {
  readonly channel: ChannelOptions;
  readonly connection: ReturnType<typeof resolveLinkOptions>;
  readonly timeoutMs: number;
}

/**
 * @param more options that the caller looks at itself
 * @throws UsageError ERR_OPTION naming the option, the value and what it may be; UnsupportedError for overflow `latest`
 */
export function resolveLinkChoice(options: LinkChoice, more: readonly string[]): ResolvedLinkChoice {
  checkNames(options, ['link', 'timeoutMs', ...more, ...CHANNEL_OPTIONS]);
  const channel: ChannelOptions = Object.fromEntries(
    Object.entries(options).filter(([name]) => CHANNEL_OPTIONS.includes(name)),
  );
  resolveStreamOptions(channel);
  const timeoutMs = checked('timeoutMs', options.timeoutMs, {
    fallback: GREETING_MS_DEFAULT,
    min: 1,
    max: TIMEOUT_MS_MAX,
  }) as number;
  return { channel, connection: resolveLinkOptions(options.link), timeoutMs };
}

/** @throws UsageError ERR_OPTION */
export function checkYesNo(option: string, value: unknown, fallback: boolean): boolean {
  if (value === undefined) return fallback;
  if (typeof value === 'boolean') return value;
  throw new UsageError('ERR_OPTION', `Option ${option} cannot be ${show(value)}: it takes true or false`, {
    option,
    value,
  });
}

/** @throws UsageError ERR_OPTION */
export function checkSignal(signal: AbortSignalLike | undefined): AbortSignalLike | undefined {
  if (signal === undefined || typeof signal?.addEventListener === 'function') return signal;
  throw new UsageError('ERR_OPTION', `Option signal cannot be ${show(signal)}: it takes an AbortSignal`, {
    option: 'signal',
    value: signal,
  });
}
