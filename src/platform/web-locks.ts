// Locks of the web, as far as they tell of an agent's end: the browser takes them from whoever is gone, in whatever way, and gives
// them to who waits. docs/decisions/0059 has what else was tried.
import type { AgentLocks } from './contract.ts';

/** Where nobody says that these are missing, as in a frame of an opaque origin, they are refused when they are asked for. */
export function webLocks(): AgentLocks {
  const locks = globalThis.navigator?.locks;
  const { origin } = globalThis;
  // A page tells of its own end (`onThreadEnd`), and takes its workers with it.
  const mortal = 'WorkerGlobalScope' in globalThis;
  const request = (name: string, options: LockOptions, granted: () => unknown): Promise<unknown> =>
    locks === undefined ? Promise.reject() : locks.request(name, options, granted);
  /** Requests that wait. WebKit forgets those of a page that is put into the back-forward cache. */
  const asking = new Set<() => void>();
  globalThis.addEventListener?.('pageshow', ({ persisted }) => {
    if (persisted) for (const ask of asking) ask();
  });
  const wait: AgentLocks['await'] = (name, granted) => {
    let asked = new AbortController();
    const cancel = (): void => {
      asking.delete(ask);
      asked.abort();
    };
    const ask = (): void => {
      asked.abort();
      const { signal } = (asked = new AbortController());
      const free = (): void => {
        if (signal.aborted) return;
        asking.delete(ask);
        granted();
      };
      // Shared: whoever waits for the same end is told of it at the same time, and nobody who is blocked keeps it from the others.
      request(name, { mode: 'shared', signal }, free).catch(() => {});
    };
    asking.add(ask);
    ask();
    return cancel;
  };
  return {
    mortal,
    outlives: mortal && !('DedicatedWorkerGlobalScope' in globalThis),
    available: locks !== undefined && origin !== 'null',
    await: wait,

    hold(name, held, denied) {
      const asked = new AbortController();
      let release!: () => void;
      const until = new Promise<void>((resolve) => {
        release = resolve;
      });
      let has = false;
      const granted = (): Promise<void> => {
        has = true;
        if (!asked.signal.aborted) held();
        return until;
      };
      request(name, { signal: asked.signal }, granted).catch(() => {
        // It may be taken from a thread that was blocked and terminated while it still runs: Chromium.
        if (!asked.signal.aborted && !has) denied();
      });
      return () => {
        asked.abort();
        release();
      };
    },

    names(then) {
      const query = locks === undefined ? Promise.reject() : locks.query();
      query.then(
        ({ held = [], pending = [] }) => then([...held, ...pending].map(({ name = '' }) => name)),
        () => then([]),
      );
    },
  };
}
