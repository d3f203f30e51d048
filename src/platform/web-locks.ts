// Locks of the web, as far as they tell of an agent's end: the browser takes them from whoever is gone, in whatever way, and gives
// them to who waits. docs/decisions/0059 has what else was tried.
import type { AgentLocks } from './contract.ts';

/** Where nobody says that these are missing, as in a frame of an opaque origin, they are refused when they are asked for. */
export function webLocks(): AgentLocks | undefined {
  const locks = globalThis.navigator?.locks;
  if (locks === undefined) return undefined;
  return {
    // A page tells of its own end (`onThreadEnd`), and takes its workers with it.
    mortal: 'DedicatedWorkerGlobalScope' in globalThis,

    hold(name, held, denied) {
      const asked = new AbortController();
      let release!: () => void;
      const until = new Promise<void>((resolve) => {
        release = resolve;
      });
      const granted = (): Promise<void> => {
        if (!asked.signal.aborted) held();
        return until;
      };
      locks.request(name, { signal: asked.signal }, granted).catch(() => {
        if (!asked.signal.aborted) denied();
      });
      return () => {
        asked.abort();
        release();
      };
    },

    await(name, granted) {
      const asked = new AbortController();
      const free = (): void => {
        if (!asked.signal.aborted) granted();
      };
      // Shared: whoever waits for the same end is told of it at the same time, and nobody who is blocked keeps it from the others.
      locks.request(name, { mode: 'shared', signal: asked.signal }, free).catch(() => {});
      return () => asked.abort();
    },
  };
}
