// Large texts that repeat travel once: both sides of a direction remember a few, and from then on only a number travels.
//
// To look a text up must cost next to nothing, whether it is known or not, and however long it is. JavaScript cannot
// compare strings by address; `===` does it first, but on texts of equal length goes on to compare the characters. So a
// text is first reduced to a fingerprint of its length and a few characters, and `===` decides only where that agrees.
// A text is taught when its fingerprint is met for the second time: one that never repeats costs the fingerprint, and
// nobody keeps it alive.
//
// K1. Numbers are never used again, so a number means one text or none, even after messages were lost.
// K2. What an encoding changes here is undone unless it succeeds, and what a decoding changes likewise.
// K3. Both sides count the same bytes, those of the characters as they were written, without padding. Each holds the
//     bounds by itself, and would otherwise forget other texts than its peer does.
import { KNOWN_TEXT_CANDIDATES, KNOWN_TEXTS_ALIKE_MAX } from '../../limits.ts';
import { isSameText } from '../same-text.ts';
import { ARGUMENT_MAX } from './format.ts';

interface Known {
  text: string;
  /** When it was last met; grows. */
  used: number;
  readonly number: number;
  readonly fingerprint: number;
  readonly bytes: number;
}

/** Of the length and six characters, away from the start and mostly from the end, which texts often have in common. */
function fingerprintOf(text: string): number {
  const { length } = text;
  const eighth = length >>> 3;
  let hash = Math.imul(length, 31) + text.charCodeAt(eighth);
  hash = Math.imul(hash, 31) + text.charCodeAt(eighth * 3 + 1);
  hash = Math.imul(hash, 31) + text.charCodeAt(eighth * 4 + 2);
  hash = Math.imul(hash, 31) + text.charCodeAt(eighth * 5 + 1);
  hash = Math.imul(hash, 31) + text.charCodeAt(eighth * 6 + 3);
  hash = Math.imul(hash, 31) + text.charCodeAt(length - 1);
  return hash ^ (hash >>> 15);
}

/** What the encoder knows that the decoder knows. */
export class KnownTexts {
  #known: Known[] = [];
  #clock = 0;
  #bytes = 0;
  #nextNumber = 0;
  /** Fingerprints met once, each at the place that its low bits say. */
  readonly #met: Int32Array = new Int32Array(KNOWN_TEXT_CANDIDATES);
  /** In which encoding each was met. */
  readonly #metIn: Int32Array = new Int32Array(KNOWN_TEXT_CANDIDATES);
  #encoding = 1;
  readonly #countMax: number;
  readonly #bytesMax: number;

  /** How things were before this encoding taught. */
  #before: { readonly known: Known[]; readonly bytes: number; readonly nextNumber: number } | null = null;

  /** Of the text given to `find` last. */
  #fingerprint = 0;

  /** @param nextNumber those before it were given by another encoder */
  constructor(countMax: number, bytesMax: number, nextNumber: number = 0) {
    this.#countMax = countMax;
    this.#bytesMax = bytesMax;
    this.#nextNumber = nextNumber;
  }

  /** The number of `text`, or -1. */
  find(text: string): number {
    const fingerprint = fingerprintOf(text);
    this.#fingerprint = fingerprint;
    const known = this.#known;
    for (let i = 0; i < known.length; i++) {
      const entry = known[i]!;
      if (entry.fingerprint !== fingerprint || !isSameText(entry.text, text)) continue;
      // The same characters may lie elsewhere now; next time the addresses will be equal.
      entry.text = text;
      entry.used = ++this.#clock;
      return entry.number;
    }
    return -1;
  }

  /** Whether the text that `find` did not find was met before and should be taught. Numbers may run out (K1). */
  isWorthTeaching(length: number): boolean {
    const fingerprint = this.#fingerprint;
    const place = fingerprint & (KNOWN_TEXT_CANDIDATES - 1);
    if (this.#met[place] !== fingerprint) {
      this.#met[place] = fingerprint;
      this.#metIn[place] = this.#encoding;
      return false;
    }
    if (length > this.#bytesMax || this.#nextNumber >= ARGUMENT_MAX) return false;
    // Texts that are alike without being equal, such as records that differ in a number, look as if they repeated. A few
    // of them may be taught; all of them would drive out what does repeat.
    let alike = 0;
    for (const entry of this.#known) if (entry.fingerprint === fingerprint) alike++;
    return alike < KNOWN_TEXTS_ALIKE_MAX;
  }

  /** The number that the next text taught will have. */
  get nextNumber(): number {
    return this.#nextNumber;
  }

  /**
   * Remembers the text that `find` did not find, which took `bytes`. Returns the numbers forgotten for it: its own alone
   * if it turned out to be too big.
   */
  teach(text: string, bytes: number): number[] {
    this.#before ??= { known: this.#known.slice(), bytes: this.#bytes, nextNumber: this.#nextNumber };
    if (bytes > this.#bytesMax) return [this.#nextNumber++];
    const used = ++this.#clock;
    this.#known.push({ text, used, number: this.#nextNumber++, fingerprint: this.#fingerprint, bytes });
    this.#bytes += bytes;
    const forgotten: number[] = [];
    while (this.#known.length > this.#countMax || this.#bytes > this.#bytesMax) {
      const oldest = this.#known.reduce((a, b) => (b.used < a.used ? b : a));
      this.#known.splice(this.#known.indexOf(oldest), 1);
      this.#bytes -= oldest.bytes;
      forgotten.push(oldest.number);
    }
    return forgotten;
  }

  /** The value goes another way: that its texts were met holds, whatever becomes of this encoding. */
  goesBeside(): void {
    this.#encoding = (this.#encoding + 1) | 0;
  }

  finish(succeeded: boolean): void {
    if (!succeeded) this.#undo();
    this.#before = null;
    this.#encoding = (this.#encoding + 1) | 0;
  }

  /** The decoder may know less than it was taught. It drops what it does know by itself, as the oldest. */
  forget(): void {
    this.#known = [];
    this.#bytes = 0;
  }

  #undo(): void {
    // Without this, a large text that is tried again where there is more room would have been met twice.
    for (let i = 0; i < KNOWN_TEXT_CANDIDATES; i++) {
      if (this.#metIn[i] === this.#encoding) this.#met[i] = 0;
    }
    if (this.#before === null) return;
    this.#known = this.#before.known;
    this.#bytes = this.#before.bytes;
    this.#nextNumber = this.#before.nextNumber;
  }
}

type Taught = Map<number, { readonly text: string; readonly bytes: number }>;
/** Number, text, bytes. */
export type TaughtText = readonly [number: number, text: string, bytes: number];

/** What every decoder begins with; nobody adds to it. */
const NOTHING: Taught = new Map();

/** What the decoder was taught. Holds its bounds by itself, whatever the encoder says. */
export class TaughtTexts {
  #texts = NOTHING;
  #bytes = 0;
  readonly #countMax: number;
  readonly #bytesMax: number;
  /** How things were before this payload taught. */
  #before: { readonly texts: Taught; readonly bytes: number } | null = null;

  constructor(countMax: number, bytesMax: number) {
    this.#countMax = countMax;
    this.#bytesMax = bytesMax;
  }

  get(number: number): string | undefined {
    return this.#texts.get(number)?.text;
  }

  remember(number: number, text: string, bytes: number): void {
    if (this.#before === null) {
      this.#before = { texts: this.#texts, bytes: this.#bytes };
      this.#texts = new Map(this.#texts);
    }
    this.forget(number);
    this.#texts.set(number, { text, bytes });
    this.#bytes += bytes;
  }

  /** Called after `remember`, in the same payload. */
  forget(number: number): void {
    this.#bytes -= this.#texts.get(number)?.bytes ?? 0;
    this.#texts.delete(number);
  }

  /** Drops the oldest beyond the bounds: there are none unless messages were lost or the peer is hostile. */
  trim(): void {
    for (const number of this.#texts.keys()) {
      if (this.#texts.size <= this.#countMax && this.#bytes <= this.#bytesMax) return;
      this.forget(number);
    }
  }

  /** Between payloads: what is known, oldest first. */
  all(): TaughtText[] {
    return [...this.#texts].map(([number, { text, bytes }]) => [number, text, bytes]);
  }
  /** Begins with what another decoder knew. Holds its bounds, too. */
  resume(texts: readonly TaughtText[]): void {
    this.#texts = new Map();
    for (const [number, text, bytes] of texts) {
      this.#texts.set(number, { text, bytes });
      this.#bytes += bytes;
    }
    this.trim();
  }

  /** The payload has been read. @param whole what it taught holds (K2) */
  finish(whole: boolean): void {
    const before = this.#before;
    if (before === null) return;
    this.#before = null;
    if (whole) return;
    this.#texts = before.texts;
    this.#bytes = before.bytes;
  }
}
