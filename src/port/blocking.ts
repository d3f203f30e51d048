// Receiving and sending with this thread blocked and no event loop: the waits around what a transport can do at once.
import { EMPTY } from '../lane/ring-inbound.ts';
import type { Transport } from '../transport/transport.ts';

/** The next message, `CLOSED`, or `EMPTY` at the time limit. */
export function receiveBlocking(transport: Transport, timeoutMs: number): unknown {
  const end = performance.now() + timeoutMs;
  for (let left = timeoutMs; transport.waitReadable(left); left = end - performance.now()) {
    const value = transport.tryReceive();
    if (value !== EMPTY) return value;
  }
  return EMPTY;
}

/**
 * Sends what found no room at the first try; false at the time limit or the end, when nothing was sent.
 * @param sent whether the value was taken already, and only the rest of its parts has to follow
 */
export function sendBlocking(
  transport: Transport,
  value: unknown,
  transfer: readonly unknown[],
  sent: boolean,
  timeoutMs: number,
): boolean {
  const start = performance.now();
  let taken = sent;
  if (!taken) {
    // Tried anew only when there is room for it, because each try encodes the value.
    transport.waitProgress(() => {
      // Asked again after it came true: a value that went in must not go in twice.
      taken ||= transport.pump() && transport.writable && transport.trySend(value, transfer);
      return taken;
    }, timeoutMs);
  }
  if (taken && transport.canBlock) {
    // A message in parts is on its way; what does not go in within the limit follows by itself.
    const left = timeoutMs - (performance.now() - start);
    transport.waitProgress(() => transport.pump(), left);
  }
  return taken;
}
