// What this thread was started with. Belongs to the thread, as its life does: there is one of it, whoever asks.
import { platform } from '#platform';
import type { RemoteHandle } from '../memory/handshake.ts';
import { writeError } from '../memory/life-page.ts';
import type { PortOptions } from './options.ts';

/** What `spawn` gives the new thread. */
export interface SpawnData {
  readonly remote: RemoteHandle;
  /** The page that speaks for the new thread's life. */
  readonly life: SharedArrayBuffer;
  readonly options: PortOptions;
}

let data = platform.spawnData as SpawnData | undefined;

export function startData(): SpawnData | undefined {
  return data;
}

/** Start data has come in a message: from here on this thread's life is watched. */
export function started(arrived: SpawnData): void {
  data = arrived;
  platform.onCrash((error) => writeError(arrived.life, error));
}

/** The page that speaks for this thread's life, if somebody watches it. */
export function ownLife(): SharedArrayBuffer | null {
  return data?.life ?? null;
}
