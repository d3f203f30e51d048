// What this thread was started with. Belongs to the thread, as its life does: there is one of it, whoever asks.
import { platform, platformStart } from '#platform';
import { ofAgent } from '../agent.ts';
import type { NativeHandle, RemoteHandle } from '../memory/handle.ts';
import { LAYOUT_VERSION } from '../memory/layout.ts';
import { createLifePage, writeError } from '../memory/life-page.ts';
import type { PortOptions } from './options.ts';
import type { Port } from './port.ts';

/** What `spawn` gives the new thread. */
export interface SpawnData {
  readonly remote: RemoteHandle | NativeHandle;
  /** The page that speaks for the new thread's life; none where there is no memory for it. */
  readonly life: SharedArrayBuffer | null;
  readonly options: PortOptions;
}

export interface Started {
  data: SpawnData | undefined;
  /** The page of its life, where there is no start data. */
  life?: SharedArrayBuffer;
  /** The port of `parentPort`, and the options that its first call chose. */
  parent: Port | undefined;
  chosen: PortOptions;
}

let own: Started | undefined;

export function ownStart(): Started {
  own ??= ofAgent(`start/${LAYOUT_VERSION}`, () => ({
    data: platformStart.data as SpawnData | undefined,
    parent: undefined,
    chosen: {},
  }));
  return own;
}

export function startData(): SpawnData | undefined {
  return ownStart().data;
}

/** Start data has come in a message: from here on this thread's life is watched. */
export function started(arrived: SpawnData): void {
  ownStart().data = arrived;
  const { life } = arrived;
  if (life !== null) platform.onCrash((error) => writeError(life, error));
}

/** The page that speaks for this thread's life, if somebody watches it: who started it, or whoever has a channel with it. */
export function ownLife(): SharedArrayBuffer | null {
  const start = ownStart();
  if (start.data === undefined && platform.agentLocks?.mortal === true) start.life ??= createLifePage();
  return start.data?.life ?? start.life ?? null;
}
