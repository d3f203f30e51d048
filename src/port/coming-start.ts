// Where the channel of `parentPort()` comes from: start data, which is on its way, or never comes.
import { UsageError } from '../errors.ts';
import type { StartInbox } from '../platform/start-inbox.ts';
import type { Coming } from '../transport/late.ts';
import type { Transport } from '../transport/transport.ts';

/** @param timeoutMs to wait for start data */
export function comingStart(inbox: StartInbox, open: (data: unknown) => Transport, timeoutMs: number): Coming {
  const since = performance.now();
  let over = false;
  return {
    canTake: inbox.canTake,
    take() {
      const data = inbox.take();
      if (data !== undefined) return open(data);
      if (!over && performance.now() - since < timeoutMs) return undefined;
      throw new UsageError(
        'ERR_HANDLE',
        `Cannot open the parent port: no start data has come in ${timeoutMs} ms; this thread was not started with spawn(), or loaded millrace too late to be told`,
      );
    },
    await(arrived) {
      // Holds the thread: without it, nothing else might until the data has come.
      const timer = setTimeout(() => {
        over = true;
        arrived();
      }, timeoutMs);
      const stop = inbox.await(arrived);
      return () => {
        clearTimeout(timer);
        stop();
      };
    },
  };
}
