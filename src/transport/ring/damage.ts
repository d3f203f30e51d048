// Damaged memory ends the channel, whatever was being done; every other error is its caller's alone. Here is decided which
// it is; the ends of both lanes (writing.ts, reading.ts) hand over what they catch.
import { LayoutError } from '../../errors.ts';

export class Damage {
  /** The region cannot be trusted any more: nothing in it is looked at again. */
  is = false;
  /** Found while nobody was there to throw at; the next one who reads is told. */
  #found: unknown;
  readonly #end: () => void;

  /** @param end ends the channel as `lost` */
  constructor(end: () => void) {
    this.#end = end;
  }

  /** What to throw on. */
  judged(error: unknown): unknown {
    if (error instanceof LayoutError) {
      this.is = true;
      this.#end();
    }
    return error;
  }

  /** A look at the ring by somebody who cannot be thrown at. Damage counts as something to be read. */
  looked(look: () => boolean): boolean {
    try {
      return look();
    } catch (error) {
      this.#found = this.judged(error);
      return true;
    }
  }

  /** What was found and nobody was told of. */
  take(): unknown {
    const found = this.#found;
    this.#found = undefined;
    return found;
  }
}
