// Asks the other side for a sign where it has been silent for a while. Silence ends nothing: a peer may stand at a breakpoint for as long as it likes.
import { platform } from '#platform';
import { PING_MS, SILENCE_MS } from '../limits.ts';

/** What may be silent: chunks that have come, and what asks for one. */
export interface Watched {
  readonly heard: number;
  ping(): void;
}

/** Silences of `pingMs` after which another line is worth a try. */
export const SILENCES: number = SILENCE_MS / PING_MS;

/**
 * @param silent told when nothing has come though it was asked for, and again after as long; not where the line has broken, which is for others
 * @returns what stops it
 */
export function watchSilence(connection: Watched, pingMs: number, silent: () => void): () => void {
  // What waits for its time keeps nothing of one that is over.
  const watched: { connection: Watched | undefined; silent: () => void } = { connection, silent };
  let heard = -1;
  let silences = 0;
  const look = (): void => {
    const { connection } = watched;
    if (connection === undefined) return;
    silences = connection.heard === heard ? silences + 1 : 0;
    heard = connection.heard;
    if (silences > 0) connection.ping();
    if (silences > 0 && silences % SILENCES === 0) watched.silent();
    platform.later(look, pingMs);
  };
  platform.later(look, pingMs);
  return () => {
    watched.connection = undefined;
    watched.silent = () => {};
  };
}
