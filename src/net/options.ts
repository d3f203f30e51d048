// What a program says of a connection to another machine.
import { UsageError } from '../errors.ts';
import * as limits from '../limits.ts';
import { checkYesNo, type LinkChoice, resolveLinkChoice } from '../port/link-choice.ts';
import { type ChannelOptions, checked, type NumberRule, show } from '../port/options.ts';
import { kindOf } from '../transport/kind-of.ts';

import type { ConnectionOptions } from '../transport/stream/connection.ts';
import type { GreetingField } from '../transport/stream/greeting.ts';

/** Those of a channel are for the port that the connection comes with; others have their own. */
export interface NetChoice extends LinkChoice {
  /** Whether the connection outlives its lines, where both sides say so: nothing is lost or doubled when one breaks. Default true. */
  readonly resume?: boolean | undefined;
  /** Milliseconds without a line after which the connection is over, as `lost`; default 60,000. */
  readonly resumeMs?: number | undefined;
  /** Milliseconds of silence after which the other side is asked for a sign, which also keeps what lies between from forgetting the line; default 15,000. */
  readonly pingMs?: number | undefined;
}

/** Of a connection, whoever makes it. */
export interface BlockingChoice {
  /**
   * Whether ports of this connection can be read and written with the thread blocked: `receive`, `send`, `blocking()`, and `interrupted` while it computes. A
   * thread of the library's has its lines then, one for all such connections of this thread, and finds others in their place while this one is blocked; a
   * message takes longer by way of it. Default false; not in browsers.
   */
  readonly blocking?: boolean | undefined;
}

export interface ResolvedNetChoice {
  readonly channel: ChannelOptions;
  readonly connection: Omit<ConnectionOptions, 'initiator'>;
  readonly timeoutMs: number;
  readonly resume: boolean;
  readonly resumeMs: number;
  readonly pingMs: number;
}

const RULES: Readonly<Record<'resumeMs' | 'pingMs', NumberRule>> = {
  resumeMs: { fallback: limits.RESUME_MS_DEFAULT, min: 1, max: limits.TIMEOUT_MS_MAX },
  pingMs: { fallback: limits.PING_MS, min: 100, max: limits.TIMEOUT_MS_MAX },
};

/**
 * @param more options that the caller looks at itself
 * @throws UsageError ERR_OPTION naming the option, the value and what it may be; UnsupportedError for overflow `latest`
 */
export function resolveNetChoice(options: NetChoice, more: readonly string[]): ResolvedNetChoice {
  const { channel, connection, timeoutMs } = resolveLinkChoice(options, ['resume', ...Object.keys(RULES), ...more]);
  return {
    channel,
    connection,
    timeoutMs,
    resume: checkYesNo('resume', options.resume, true),
    resumeMs: checked('resumeMs', options.resumeMs, RULES.resumeMs) as number,
    pingMs: checked('pingMs', options.pingMs, RULES.pingMs) as number,
  };
}

/** @throws UsageError ERR_OPTION */
export function checkFunction<F>(option: string, value: F | undefined): F | undefined {
  if (value === undefined || typeof value === 'function') return value;
  throw new UsageError('ERR_OPTION', `Option ${option} cannot be ${show(value)}: it takes a function`, {
    option,
    value,
  });
}

/** The field behind a greeting that says who connects: what `token` is, in UTF-8. */
export const TOKEN = 2;

/** What a listener's `authorize` is to know who connects by; or what says so for each line, as one that is valid for a while. */
export type TokenOption = string | (() => string | PromiseLike<string>) | undefined;

/** @throws UsageError ERR_OPTION, which does not show it */
export function checkToken(token: TokenOption): TokenOption {
  if (token !== undefined && typeof token !== 'function') tokenBytes(token);
  return token;
}
/** What says so in a greeting. @throws (rejects) UsageError ERR_OPTION, what `token` throws */
export async function fieldsOf(token: TokenOption): Promise<readonly GreetingField[]> {
  if (token === undefined) return [];
  const text = typeof token === 'function' ? await token() : token;
  return [{ kind: TOKEN, bytes: tokenBytes(text) }];
}
function tokenBytes(token: unknown): Uint8Array {
  const bytes = typeof token === 'string' ? new TextEncoder().encode(token) : undefined;
  if (bytes !== undefined && bytes.length <= limits.NET_TOKEN_BYTES_MAX) return bytes;
  const given = bytes === undefined ? kindOf(token) : `${bytes.length} bytes`;
  const text = `Option token cannot be ${given}: it takes a text of at most ${limits.NET_TOKEN_BYTES_MAX} bytes, or a function that gives one`;
  throw new UsageError('ERR_OPTION', text, { option: 'token' });
}
