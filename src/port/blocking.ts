// Receiving and sending with this thread blocked and no event loop: the waits around what a transport can do at once.
import { platform } from '#platform';
import { UnsupportedError, UsageError } from '../errors.ts';
import { EMPTY } from '../outcome.ts';
import type { Blocking, Transport } from '../transport/transport.ts';

/**
 * The next message, `CLOSED`, or `EMPTY` at the time limit, or at an interrupt if that is wanted.
 * @throws UnsupportedError where the next message can never come to a thread that is blocked without a limit
 */
export function receiveBlocking(
  transport: Transport,
  blocking: Blocking,
  timeoutMs: number,
  interruptible: boolean,
): unknown {
  const end = performance.now() + timeoutMs;
  for (let left = timeoutMs; ; left = end - performance.now()) {
    // With a time limit it just takes until then: the event loop has its turn afterwards.
    if (left === Number.POSITIVE_INFINITY && blocking.awaitsEventLoop) throw besideTheRing();
    if (!blocking.readable(left, interruptible)) return EMPTY;
    const value = transport.in.tryReceive();
    if (value !== EMPTY || (interruptible && isInterrupted(transport))) return value;
  }
}

/** Whether the peer has set this end's interrupt word. */
export function isInterrupted({ interrupts }: Transport): boolean {
  return interrupts !== undefined && interrupts.word !== 0;
}

/**
 * Sends what found no room at the first try. False at the time limit or the end: nothing was sent. True: the value was
 * accepted and cannot be taken back; what of its parts has not gone in by the time limit follows by itself.
 * @throws UsageError ERR_DEADLOCK, when nothing was sent, if the other side is blocked the same way and neither takes in any more
 * @param sent whether the value was taken already, and only the rest of its parts has to follow
 */
export function sendBlocking(
  { out }: Transport,
  blocking: Blocking,
  value: unknown,
  transfer: readonly unknown[],
  sent: boolean,
  timeoutMs: number,
): boolean {
  const start = performance.now();
  let taken = sent;
  if (!taken) {
    // Tried anew only when there is room for it, because each try encodes the value.
    blocking.progress(() => {
      // Asked again after it came true: a value that went in must not go in twice.
      taken ||= out.unheard !== true && out.pump() && out.writable && out.trySend(value, transfer);
      return taken || out.unheard === true;
    }, timeoutMs);
  }
  if (taken) {
    // Waited for all the same: a thread that went on to block on something else would hold back the rest.
    const left = timeoutMs - (performance.now() - start);
    try {
      blocking.progress(() => out.pump() || out.unheard === true, left);
    } catch (error) {
      // It follows while we receive, which is what both sides must do now.
      if (!(error instanceof UsageError && error.code === 'ERR_DEADLOCK')) throw error;
    }
  }
  return taken;
}

function besideTheRing(): UnsupportedError {
  return new UnsupportedError(
    'Cannot receive here: the next message travels beside the ring, and in this runtime only the event loop takes it in; await receiveAsync(), or have it copied instead of transferred, or sent in another form (bytes for a Blob, what crypto.subtle.exportKey gives for a key)',
    { feature: 'blockingTransfer' },
  );
}

/** How to wait with this thread. @throws UnsupportedError naming what to use `instead` where that is not possible */
export function blockingOf(
  transport: Pick<Transport, 'blocking' | 'inspect'>,
  action: string,
  instead: string,
): Blocking {
  if (transport.blocking !== undefined) return transport.blocking;
  // A page's own thread, and a service worker: no header and no service worker would help it.
  if (!platform.canBlock && platform.fetchSync === undefined) {
    throw new UnsupportedError(`Cannot ${action} here: this thread may not block; use ${instead}, or a worker`);
  }
  const why = transport.inspect().way?.blocking;
  if (why !== undefined) {
    throw new UnsupportedError(`Cannot ${action} here with the thread blocked: ${why}; or use ${instead}`, {
      feature: 'blocking',
    });
  }
  throw new UnsupportedError(
    `Cannot ${action} here: nothing would come over this connection while the thread is blocked; make it with \`blocking: true\` (listen, connect, fork and parentPort of millrace/process and millrace/net take that), or use ${instead}`,
    { feature: 'blocking' },
  );
}
