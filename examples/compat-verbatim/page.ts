// Stands in for the web page of an example that was written for browsers: `Worker` and `self` as there, on any runtime,
// so that the example's own text need not change.
import { Worker as Thread } from 'node:worker_threads';

const SCOPE = new URL('./worker-scope.js', import.meta.url);

/**
 * Runs `main.js` of a folder here, and the workers that it names in threads, until `last` says yes to something that
 * was logged.
 * @param globals what the example leaves to its reader
 */
export async function runPage(
  folder: URL,
  last: (logged: readonly unknown[]) => boolean,
  globals: object = {},
): Promise<void> {
  class PageWorker extends Thread {
    constructor(path: string) {
      super(SCOPE, { workerData: { module: new URL(path, folder).href } });
    }
  }
  Object.assign(globalThis, globals);
  Object.defineProperty(globalThis, 'Worker', { value: PageWorker, configurable: true, writable: true });
  const log = console.log;
  const done = new Promise<void>((resolve) => {
    console.log = (...values: unknown[]): void => {
      log(...values);
      if (last(values)) resolve();
    };
  });
  await import(new URL('main.js', folder).href);
  await done;
  console.log = log;
}
