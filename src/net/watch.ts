// Asks the other side for a sign where it has been silent for a while. Silence ends nothing here: a peer may stand at a breakpoint, or compute.
import { platform } from '#platform';
import { PING_MS, SILENCE_MS } from '../limits.ts';

/** What may be silent: chunks that have come, and what asks for one. */
export interface Watched {
  readonly heard: number;
  ping(): void;
}
/** Who is without a line is not asked. */
interface Asked {
  readonly isApart: boolean;
}

/** Silences of `pingMs` after which another line is worth a try. */
export const SILENCES: number = SILENCE_MS / PING_MS;

/**
 * @param silent told when nothing has come though it was asked for, and again after as long; not where the line has broken, which is for others
 * @returns what stops it
 */
export function watchSilence(watched: Watched, stream: Asked, pingMs: number, silent: () => void): () => void {
  // What waits for its time keeps nothing of one that is over.
  const watching: { watched: Watched | undefined; stream: Asked | undefined; silent: () => void } = {
    watched,
    stream,
    silent,
  };
  let heard = -1;
  let silences = 0;
  const look = (): void => {
    const { watched, stream } = watching;
    if (watched === undefined) return;
    // Of a line that has just come nobody knows yet whether it is silent.
    silences = watched.heard === heard && stream?.isApart === false ? silences + 1 : 0;
    heard = watched.heard;
    if (silences > 0) watched.ping();
    if (silences > 0 && silences % SILENCES === 0) watching.silent();
    platform.later(look, pingMs);
  };
  platform.later(look, pingMs);
  return () => {
    watching.watched = undefined;
    watching.stream = undefined;
    watching.silent = () => {};
  };
}
