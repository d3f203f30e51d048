// Options of calls, taken apart once.
import { UsageError } from '../errors.ts';
import { CALLS_PENDING_DEFAULT, CALLS_WINDOW_DEFAULT, CALLS_WINDOW_MAX } from '../limits.ts';
import type { AbortSignalLike } from '../port/events.ts';

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
export function resolved(options: ConnectionOptions): Resolved {
  const { maxPending = CALLS_PENDING_DEFAULT, window = CALLS_WINDOW_DEFAULT, stacks = true, onError } = options;
  whole('maxPending', maxPending, 2 ** 24);
  whole('window', window, CALLS_WINDOW_MAX);
  return { maxPending, window, stacks, onError };
}

function whole(option: string, value: number, max: number): void {
  if (Number.isSafeInteger(value) && value >= 1 && value <= max) return;
  throw wrong(option, value, `it takes a whole number from 1 to ${max}`);
}

function wrong(option: string, value: unknown, takes: string): UsageError {
  return new UsageError('ERR_OPTION', `Option ${option} cannot be ${String(value)}: ${takes}`, { option, value });
}

/** @throws UsageError ERR_OPTION for an option that is unknown, or has a value outside its range */
export function checked<T extends object>(options: T | undefined, known: readonly string[]): T | undefined {
  if (options === undefined) return undefined;
  if (typeof options !== 'object' || options === null) throw wrong('', options, 'options are an object');
  for (const name in options) {
    if (!known.includes(name)) {
      throw new UsageError('ERR_OPTION', `Unknown option ${name}; known are ${known.join(', ')}`, { option: name });
    }
  }
  const { timeoutMs, signal, callbacks } = options as CallOptions;
  if (timeoutMs !== undefined && !(typeof timeoutMs === 'number' && timeoutMs >= 0)) {
    throw wrong('timeoutMs', timeoutMs, 'it takes 0 or more milliseconds, or Infinity');
  }
  if (signal !== undefined && typeof signal?.addEventListener !== 'function')
    throw wrong('signal', signal, 'it takes an AbortSignal');
  if (callbacks !== undefined && callbacks !== 'kept' && callbacks !== 'call')
    throw wrong('callbacks', callbacks, 'it takes kept or call');
  return options;
}
