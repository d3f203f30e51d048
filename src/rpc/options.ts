// Options of calls, taken apart once.
import { UsageError } from '../errors.ts';
import { CALLS_PENDING_DEFAULT, CALLS_PENDING_MAX, CALLS_WINDOW_DEFAULT, CALLS_WINDOW_MAX } from '../limits.ts';
import type { AbortSignalLike } from '../port/events.ts';
import { checked, checkNames } from '../port/options.ts';

/** Of one call, or of all calls of a proxy. */
export interface CallOptions {
  /** Milliseconds until the call rejects with a TimeoutError, and is aborted over there; default: none. */
  readonly timeoutMs?: number | undefined;
  /** Aborts the call: it rejects with the signal's reason. */
  readonly signal?: AbortSignalLike | undefined;
  /** How long functions among the arguments can be called: `kept` (the default) until let go of or collected, `call` until the call is answered. */
  readonly callbacks?: 'kept' | 'call' | undefined;
}

/** Of a port's calls in both directions; whoever first exposes or wraps over it says them. */
export interface ConnectionOptions {
  /** Calls a side that are not answered yet, here and of the other side here; default 16,384. */
  readonly maxPending?: number | undefined;
  /** Values that a stream may be ahead of who reads it here; default 64. */
  readonly window?: number | undefined;
  /** Whether errors of what is exposed here take their stacks along; default true. */
  readonly stacks?: boolean | undefined;
  /** Is told of messages that make no sense (a CodecError, ERR_PROTOCOL). Nothing else is hurt by them. */
  readonly onError?: ((error: Error) => void) | undefined;
}

export interface Resolved {
  readonly maxPending: number;
  readonly window: number;
  readonly stacks: boolean;
  readonly onError: ((error: Error) => void) | undefined;
}

export const CALL_OPTIONS: readonly string[] = ['timeoutMs', 'signal', 'callbacks'];
export const CONNECTION_OPTIONS: readonly string[] = ['maxPending', 'window', 'stacks', 'onError'];

/** @throws UsageError ERR_OPTION */
export function resolved({ maxPending, window, stacks = true, onError }: ConnectionOptions): Resolved {
  if (typeof stacks !== 'boolean') throw wrong('stacks', stacks, 'true or false');
  return {
    maxPending: whole('maxPending', maxPending, CALLS_PENDING_DEFAULT, 1, CALLS_PENDING_MAX),
    window: whole('window', window, CALLS_WINDOW_DEFAULT, 1, CALLS_WINDOW_MAX),
    stacks,
    onError: handler('onError', onError),
  };
}

/** What was said of a connection that is there already is what it has, or nothing. @throws UsageError ERR_OPTION */
export function checkSame(options: ConnectionOptions, chosen: Resolved): void {
  for (const name of CONNECTION_OPTIONS as readonly (keyof Resolved)[]) {
    const value = options[name];
    if (value === undefined || value === chosen[name]) continue;
    const why = 'whoever first exposes or wraps over a port says it';
    throw new UsageError('ERR_OPTION', `Option ${name} cannot be chosen any more: ${why}`, { option: name, value });
  }
}

/** Options of calls, with others or without. @throws UsageError ERR_OPTION for one that is unknown, or has a value outside its range */
export function callOptions<T extends CallOptions>(options: T, others: readonly string[] = []): T {
  checkNames(options, [...CALL_OPTIONS, ...others]);
  const { timeoutMs, signal, callbacks } = options;
  time('timeoutMs', timeoutMs, 0);
  if (signal !== undefined && typeof signal?.addEventListener !== 'function')
    throw wrong('signal', signal, 'an AbortSignal');
  checked('callbacks', callbacks, { fallback: 'kept', names: ['kept', 'call'] });
  return options;
}

export function whole(option: string, value: number | undefined, fallback: number, min: number, max: number): number {
  return checked(option, value, { fallback, min, max }) as number;
}
export function time(option: string, value: number | undefined, fallback: number): number {
  if (value === undefined) return fallback;
  if (typeof value === 'number' && value >= 0) return value;
  throw wrong(option, value, '0 or more milliseconds, or Infinity');
}
export function handler<F>(option: string, value: F): F {
  if (value === undefined || typeof value === 'function') return value;
  throw wrong(option, value, 'a function');
}
export function wrong(option: string, value: unknown, takes: string): UsageError {
  return new UsageError('ERR_OPTION', `Option ${option} cannot be ${shown(value)}: it takes ${takes}`, {
    option,
    value,
  });
}

/** A value as errors show it. It may be anything: nothing of it is asked. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'function') return `the function ${value.name}`;
  if (Array.isArray(value) && value.length === 0) return '[]';
  return typeof value === 'object' && value !== null ? Object.prototype.toString.call(value) : String(value);
}
