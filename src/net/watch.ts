// Asks the other side for a sign where it has been silent for a while. Silence ends nothing: a peer may stand at a breakpoint for as long as it likes.
import { PING_MS, SILENCE_MS } from '../limits.ts';
import type { StreamConnection } from '../transport/stream/connection.ts';

/** Silences of `pingMs` after which another line is worth a try. */
export const SILENCES: number = SILENCE_MS / PING_MS;

/**
 * @param silent told when nothing has come though it was asked for, and again after as long; not where the line has broken, which is for others
 * @returns what stops it
 */
export function watchSilence(connection: StreamConnection, pingMs: number, silent: () => void): () => void {
  let heard = -1;
  let silences = 0;
  const timer = setInterval(() => {
    silences = connection.heard === heard ? silences + 1 : 0;
    heard = connection.heard;
    if (silences === 0) return;
    connection.ping();
    if (silences % SILENCES === 0) silent();
  }, pingMs);
  (timer as { unref?(): void }).unref?.();
  return () => clearInterval(timer);
}
