// An encoder that is there before it is agreed on what its reader remembers. Until then it teaches nothing, so that what it has
// written can be read whatever is agreed on; from the first value after that on it is one made for what was.
import type { Encoder, Memory } from '../../codec/codec.ts';

export class LateEncoder implements Encoder {
  readonly #makeEarly: () => Encoder;
  readonly #makeAgreed: () => Encoder | undefined;
  #encoder: Encoder | undefined;
  #agreed = false;

  /** @param makeAgreed undefined as long as nothing is agreed on: then one of `makeEarly` teaches nothing */
  constructor(makeEarly: () => Encoder, makeAgreed: () => Encoder | undefined) {
    this.#makeEarly = makeEarly;
    this.#makeAgreed = makeAgreed;
  }

  encodeInto(value: unknown, memory: Memory, offset: number, limit: number, learn: boolean): number {
    if (!this.#agreed) {
      const made = this.#makeAgreed();
      this.#agreed = made !== undefined;
      this.#encoder = made ?? this.#encoder ?? this.#makeEarly();
    }
    return (this.#encoder as Encoder).encodeInto(value, memory, offset, limit, learn && this.#agreed);
  }
  discard(): void {
    this.#encoder?.discard?.();
  }
  forget(): void {
    this.#encoder?.forget?.();
  }
}
