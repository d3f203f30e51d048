// The first words of a connection that this side has asked for.
import { ClosedError, MillraceError, type TimeoutError } from '../errors.ts';
import type { AbortSignalLike } from './events.ts';
import type { Port } from './port.ts';
import type { StreamLink } from './stream-link.ts';

/**
 * Until the other side has greeted, and both have agreed on how values go. Keeps the process alive until then.
 * @throws (rejects) RefusedError, LayoutError, what else the connection has ended of, ClosedError where it has ended of nothing; the signal's reason
 */
export async function greeting(
  link: StreamLink,
  port: Port,
  greeted: Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const { connection } = link;
  connection.hold(true);
  const giveUp = (): void => connection.close();
  if (signal.aborted) giveUp();
  signal.addEventListener('abort', giveUp);
  try {
    await Promise.race([greeted, link.closed]);
  } finally {
    signal.removeEventListener('abort', giveUp);
    connection.hold(false);
  }
  if (link.reason === undefined) return;
  if (signal.aborted) throw signal.reason;
  // Who refuses does so with its first words; who takes it may have said all that it had to say with them, and that is read from the port.
  const taken = await port.ready.then(
    () => true,
    () => false,
  );
  if (taken) return;
  const why = link.error instanceof Error ? `: ${link.error.message}` : '';
  const text = `Cannot connect to ${link.address}: what listens there has ended the connection without a greeting${why}`;
  throw link.error instanceof MillraceError ? link.error : new ClosedError(text, link.reason, link.error);
}

/**
 * Does what is to be given up after so many milliseconds, or when `signal` is aborted: the one that `body` has is aborted then, with the error or the
 * signal's reason.
 */
export async function givingUp<T>(
  timeoutMs: number,
  signal: AbortSignalLike | undefined,
  late: () => TimeoutError,
  body: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const giveUp = new AbortController();
  const timer = setTimeout(() => giveUp.abort(late()), timeoutMs);
  const aborted = (): void => giveUp.abort(signal?.reason);
  if (signal?.aborted) aborted();
  signal?.addEventListener('abort', aborted);
  try {
    return await body(giveUp.signal);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', aborted);
  }
}
