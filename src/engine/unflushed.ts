// Bytes that were published and that the server may not have yet: it is asked now and then, which costs a trip.
import { ENGINE_FLUSH_BYTES } from '../limits.ts';
import type { Driver } from './driver.ts';

export class Unflushed {
  /** Bytes. */
  amount = 0;
  readonly #driver: Driver;
  readonly #fell: () => void;
  #since = 0;

  /** @param fell called when they are fewer */
  constructor(driver: Driver, fell: () => void = () => {}) {
    this.#driver = driver;
    this.#fell = fell;
  }

  add(bytes: number): void {
    this.amount += bytes;
    this.#since += bytes;
    if (this.#since < ENGINE_FLUSH_BYTES) return;
    const asked = this.#since;
    this.#since = 0;
    const out = (): void => {
      this.amount -= asked;
      this.#fell();
    };
    // Whoever counts on it is told of a server that is lost.
    this.#driver.flush().then(out, out);
  }
}
