// Calls with this thread blocked until they are answered.
import { platform } from '#platform';
import { UnsupportedError, UsageError } from '../errors.ts';
import { lateError } from './calls.ts';
import { thrownBy } from './failures.ts';
import type { Pending } from './pending.ts';
import { type Invoke, isRemote, makeRemote, remoteOf } from './proxy.ts';
import { blocking, isRemoteIterator } from './stream-reader.ts';

/**
 * @throws what the call has thrown; TimeoutError, ClosedError, UnsupportedError where this thread may not block
 */
export const invokeSync: Invoke = ({ connection, target, options }, path, values) => {
  if (!platform.canBlock && platform.fetchSync === undefined)
    throw new UnsupportedError('Cannot block here: this thread may not; use wrap, or a worker');
  if (options?.signal !== undefined) {
    throw new UsageError(
      'ERR_OPTION',
      'A blocking call takes no signal: nobody could abort it while this thread stands still; give it timeoutMs',
      { option: 'signal' },
    );
  }
  let settled = false;
  let value: unknown;
  let thrown: { readonly error: unknown } | undefined;
  const timeoutMs = options?.timeoutMs ?? Number.POSITIVE_INFINITY;
  const pending: Pending | undefined = connection.calls.start(
    target,
    path,
    values,
    false,
    options?.callbacks && { callbacks: options.callbacks },
    {
      resolve: (result) => {
        settled = true;
        value = result;
      },
      reject: (error, failure) => {
        settled = true;
        thrown = { error: failure === undefined ? error : thrownHere(failure) };
      },
    },
    true,
  );
  const done = (): boolean => settled;
  try {
    if (!settled && !connection.blocking.until(done, timeoutMs) && pending !== undefined) {
      connection.calls.giveUp(pending, lateError(pending.name, timeoutMs, connection.met));
    }
  } catch (error) {
    if (pending !== undefined && !settled) connection.calls.giveUp(pending, error);
    throw error;
  }
  if (thrown !== undefined) throw thrown.error;
  return forThread(value);
};

/** What was thrown over there; what says so and makes no sense is thrown as such. */
function thrownHere(failure: unknown): unknown {
  try {
    return thrownBy(failure, new Error('').stack?.split('\n').slice(3).join('\n'));
  } catch (error) {
    return error;
  }
}

/** What a thread that blocks can do with what has come: it waits for the next value of a stream, and for the answers of a function. */
function forThread(value: unknown): unknown {
  if (isRemoteIterator(value)) return blocking(value);
  const held = isRemote(value) ? remoteOf(value) : undefined;
  return held === undefined ? value : makeRemote({ ...held, invoke: invokeSync });
}
