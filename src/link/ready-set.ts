// Which of many channels are to be looked at: a bit for each, and a bit for each word of those bits. One agent marks, the
// other takes the marks; what it costs follows the number of marks, not of channels.
//
// Invariants:
// M1. No lost mark. The marker sets the channel's bit first and the summary's second; the taker clears the summary first
//     and the channels' bits second. Say the taker has cleared the summary and the marker's bit comes later than the
//     look at its word: then the summary's bit is set after that, too, and is there for the next look. Before it sleeps
//     the taker announces and looks once more (W1 of wait/signal.ts), and the marker rings after both bits.
// M2. A mark says "look", never "there is something": too many are harmless, and so are the wrong ones. Seats past the
//     end of the set share the bits of earlier ones.

/** Words of summary in a link page: 8 stand for 8,192 channels before two share a bit. */
export const READY_SUMMARY_WORDS = 8;

/** Words that a set with `summary` words of summary takes. */
export function readyWords(summary: number): number {
  return summary + summary * 32;
}

export class ReadySet {
  readonly #words: Int32Array;
  readonly #summary: number;
  readonly #bits: number;
  readonly #summaryWords: number;

  /** @param base word index where the set stands; all zero it is empty */
  constructor(words: Int32Array, base: number, summaryWords: number = READY_SUMMARY_WORDS) {
    this.#words = words;
    this.#summary = base;
    this.#bits = base + summaryWords;
    this.#summaryWords = summaryWords;
  }

  /** Seats that have a bit of their own. Seat `n` shares that of `n % seats`. */
  get seats(): number {
    return this.#summaryWords * 1024;
  }

  /** Says that the channel at `seat` is to be looked at. After what is to be seen there; ring the other agent after it. */
  mark(seat: number): void {
    const bit = seat & (this.seats - 1);
    const word = bit >>> 5;
    // SYNC ready-bit: what was published before is visible to whoever takes the bit; pairs with ReadySet.take (M1).
    Atomics.or(this.#words, this.#bits + word, 1 << (bit & 31));
    // SYNC ready-summary: after the bit that it speaks of; pairs with ReadySet.take (M1).
    Atomics.or(this.#words, this.#summary + (word >>> 5), 1 << (word & 31));
  }

  /**
   * Takes all marks there are; whether there were any. `look` is given the seats, in no order that means anything.
   * @param taken seats from there on are nobody's, and marks of them need not be looked for
   */
  take(look: (seat: number) => void, taken: number = this.seats): boolean {
    let any = false;
    const words = Math.min(this.#summaryWords, (taken + 1023) >>> 10);
    for (let i = 0; i < words; i++) {
      const at = this.#summary + i;
      if (Atomics.load(this.#words, at) === 0) continue;
      // SYNC ready-summary: cleared before the bits are; pairs with ReadySet.mark (M1).
      for (let left = Atomics.exchange(this.#words, at, 0); left !== 0; left &= left - 1) {
        const word = (i << 5) | lowest(left);
        // SYNC ready-bit: what was published before the mark is visible from here on; pairs with ReadySet.mark.
        for (let bits = Atomics.exchange(this.#words, this.#bits + word, 0); bits !== 0; bits &= bits - 1) {
          any = true;
          look((word << 5) | lowest(bits));
        }
      }
    }
    return any;
  }
}

function lowest(bits: number): number {
  return 31 - Math.clz32(bits & -bits);
}
