// Where the channel of `parentPort()` comes from: start data, which is on its way, or never comes.
import { UsageError } from '../errors.ts';
import type { StartInbox } from '../platform/start-inbox.ts';
import type { Coming } from '../transport/late.ts';
import type { Transport } from '../transport/transport.ts';

export class ComingStart implements Coming {
  readonly canTake: boolean;
  readonly #inbox: StartInbox;
  readonly #open: (data: unknown) => Transport;
  readonly #timeoutMs: number;
  readonly #since: number = performance.now();
  #over = false;

  /** @param timeoutMs to wait for start data */
  constructor(inbox: StartInbox, open: (data: unknown) => Transport, timeoutMs: number) {
    this.canTake = inbox.canTake;
    this.#inbox = inbox;
    this.#open = open;
    this.#timeoutMs = timeoutMs;
  }

  take(): Transport | undefined {
    const data = this.#inbox.take();
    if (data !== undefined) return this.#open(data);
    if (!this.#over && performance.now() - this.#since < this.#timeoutMs) return undefined;
    throw new UsageError(
      'ERR_HANDLE',
      `Cannot open the parent port: no start data has come in ${this.#timeoutMs} ms; either this thread was not started with spawn(), or millrace was loaded after something that takes time, and the message was lost`,
    );
  }
  await(arrived: () => void): () => void {
    // Holds the thread: without it, nothing else might until the data has come.
    const timer = setTimeout(() => {
      this.#over = true;
      arrived();
    }, this.#timeoutMs);
    const stop = this.#inbox.await(arrived);
    return () => {
      clearTimeout(timer);
      stop();
    };
  }
}
