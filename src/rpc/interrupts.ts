// How a callee that computes learns that its call is aborted.
import { CALLS_INTERRUPTS_MAX, CALLS_TURN_MS } from '../limits.ts';
import type { CallPort } from './connection.ts';

/**
 * The other side's interrupt word, by which one that computes learns that its call is aborted. There is one word, and a call that it computes is the one that
 * must find its number there: where several are aborted and not answered, they take turns.
 */
export class Interrupts {
  readonly #port: Pick<CallPort, 'interrupt'>;
  readonly #raised: Set<number> = new Set();
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(port: Pick<CallPort, 'interrupt'>) {
    this.#port = port;
  }

  raise(id: number): void {
    this.#raised.add(id);
    if (this.#raised.size > CALLS_INTERRUPTS_MAX) this.#raised.delete(this.#raised.values().next().value as number);
    if (this.#raised.size === 1) this.#port.interrupt(id);
    else if (this.#timer === undefined) {
      this.#timer = setInterval(() => this.#turn(), CALLS_TURN_MS);
      // An aborted call is waited for by nobody, and keeps no process.
      (this.#timer as { unref?(): void }).unref?.();
    }
  }
  #turn(): void {
    const [first] = this.#raised;
    if (first === undefined || this.#raised.size === 1) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
    if (first === undefined) return;
    this.#raised.delete(first);
    this.#raised.add(first);
    this.#port.interrupt(first);
  }
  settled(id: number): void {
    if (this.#raised.size > 0) this.#raised.delete(id);
  }
  end(): void {
    clearInterval(this.#timer);
    this.#raised.clear();
  }
}
