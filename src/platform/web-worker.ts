// The web's Worker, as Bun, Deno and browsers have it.
import { START_WINDOW_MS } from '../limits.ts';
import type { Forsake, ThreadEnded } from './contract.ts';
import { startMessage } from './start-inbox.ts';

/** The members that the three have in common; the libraries that declare them don't agree. */
interface WebWorker extends EventTarget {
  postMessage(message: unknown, transfer: readonly unknown[]): void;
  terminate(): void;
}

const NOT_LOADED =
  'The script of the worker, or one that it imports, did not load: see its address, its Content-Type, a content security policy, Cross-Origin-Embedder-Policy, and whether it parses';

export function isWebWorker(value: unknown): boolean {
  return typeof globalThis.Worker === 'function' && value instanceof globalThis.Worker;
}

/**
 * Hands its start data to a web Worker that somebody made.
 * @param errorEnds whether an uncaught error ends the thread
 * @param tellsClose whether the Worker has a `close` event when its thread ends
 * @param forsake where an error that ends no thread may also be all that is heard of a script that could not be loaded; none elsewhere
 */
export function adoptWebWorker(
  worker: unknown,
  data: unknown,
  transfer: readonly unknown[],
  ended: ThreadEnded,
  { errorEnds, tellsClose }: { readonly errorEnds: boolean; readonly tellsClose: boolean },
  forsake?: Forsake,
): void {
  const web = worker as WebWorker;
  let failed: { readonly error: unknown } | undefined;
  /** The worker has posted something: it runs. */
  let spoken = false;
  web.addEventListener('error', (event) => {
    const { error, message } = event as ErrorEvent;
    failed ??= { error: error ?? new Error(message ?? NOT_LOADED) };
    if (errorEnds && !tellsClose) ended('crash', failed.error);
    else if (forsake !== undefined) {
      const check = (): void => {
        if (!spoken && forsake()) ended('crash', failed?.error);
      };
      // An event that tells of no error is of a script that is not there, may not run, or does not parse. One that does may be of a
      // thread that goes on: it gets the time to open its end.
      if (message === undefined) check();
      else setTimeout(check, START_WINDOW_MS);
    }
  });
  if (forsake !== undefined) web.addEventListener('message', () => (spoken = true), { once: true });
  if (tellsClose) {
    web.addEventListener('close', (event) => {
      const { code } = event as CloseEvent;
      if (failed !== undefined) ended('crash', failed.error);
      // 0 is a normal end as well as terminate(): a thread that has loaded the library says itself that it has ended.
      else ended(code > 1 ? 'exit' : undefined, undefined);
    });
  } else {
    // The call is the only sign: a busy or blocked thread goes on on Deno, and not every browser tells of a port's end.
    const { terminate } = web;
    web.terminate = () => {
      terminate.call(web);
      ended(undefined, undefined);
    };
  }
  web.postMessage(startMessage(data), transfer);
}
