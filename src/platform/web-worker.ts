// The web's Worker, as Bun, Deno and browsers have it.
import type { ThreadEnded } from './contract.ts';
import { startMessage } from './start-inbox.ts';

/** The members that the three have in common; the libraries that declare them don't agree. */
interface WebWorker extends EventTarget {
  postMessage(message: unknown, transfer: readonly unknown[]): void;
  terminate(): void;
}

export function isWebWorker(value: unknown): boolean {
  return typeof globalThis.Worker === 'function' && value instanceof globalThis.Worker;
}

/**
 * Hands its start data to a web Worker that somebody made.
 * @param errorEnds whether an uncaught error ends the thread
 * @param tellsClose whether the Worker has a `close` event when its thread ends
 */
export function adoptWebWorker(
  worker: unknown,
  data: unknown,
  transfer: readonly unknown[],
  ended: ThreadEnded,
  { errorEnds, tellsClose }: { readonly errorEnds: boolean; readonly tellsClose: boolean },
): void {
  const web = worker as WebWorker;
  let failed: { readonly error: unknown } | undefined;
  web.addEventListener('error', (event) => {
    const { error, message } = event as ErrorEvent;
    failed ??= { error: error ?? new Error(message) };
    if (errorEnds && !tellsClose) ended('crash', failed.error);
  });
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
