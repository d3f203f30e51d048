// Large texts that repeat travel once: both sides of a direction remember a few, and from then on only a number travels.
//
// To look a text up must cost next to nothing, whether it is known or not, and however long it is. JavaScript cannot
// compare strings by address; `===` does it first, but on texts of equal length goes on to compare the characters. So a
// text is first reduced to a fingerprint of its length and a dozen characters, and `===` decides only where that agrees.
// A text is taught when its fingerprint is met for the second time: one that never repeats costs the fingerprint, and
// nobody keeps it alive.
//
// K1. Numbers are never used again, so a number means one text or none, even after messages were lost.
// K2. What an encoding changes here is undone unless it succeeds.
import { KNOWN_TEXT_CANDIDATES } from '../limits.ts';
import { ARGUMENT_MAX } from './packed-format.ts';

interface Known {
  text: string;
  readonly number: number;
  readonly fingerprint: number;
  readonly bytes: number;
}

function fingerprintOf(text: string): number {
  const last = text.length - 1;
  const stride = (last / 11) | 0;
  let hash = text.length;
  for (let i = 0, at = 0; i < 11; i++, at += stride) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x9e3779b1);
    hash ^= hash >>> 15;
  }
  return Math.imul(hash ^ text.charCodeAt(last), 0x85ebca6b);
}

/** What the encoder knows that the decoder knows. */
export class KnownTexts {
  /** Most recently used last. */
  #known: Known[] = [];
  #bytes = 0;
  #nextNumber = 0;
  /** Fingerprints met once, each at the place that its low bits say. */
  readonly #met: Int32Array = new Int32Array(KNOWN_TEXT_CANDIDATES);
  readonly #countMax: number;
  readonly #bytesMax: number;

  /** What this encoding met first, and how things were before it taught. */
  readonly #metNow: number[] = [];
  #before: { readonly known: Known[]; readonly bytes: number; readonly nextNumber: number } | null = null;

  /** Of the text given to `find` last. */
  #fingerprint = 0;

  constructor(countMax: number, bytesMax: number) {
    this.#countMax = countMax;
    this.#bytesMax = bytesMax;
  }

  /** The number of `text`, or -1. */
  find(text: string): number {
    const fingerprint = fingerprintOf(text);
    this.#fingerprint = fingerprint;
    const known = this.#known;
    for (let i = known.length - 1; i >= 0; i--) {
      const entry = known[i]!;
      if (entry.fingerprint !== fingerprint || entry.text.length !== text.length) continue;
      if (entry.text !== text) return -1; // alike, but not equal: teaching it would only make them take turns
      // The same characters may lie elsewhere now; next time the addresses will be equal.
      entry.text = text;
      if (i !== known.length - 1) {
        known.splice(i, 1);
        known.push(entry);
      }
      return entry.number;
    }
    return -1;
  }

  /** Whether the text that `find` did not find was met before and should be taught. Numbers may run out (K1). */
  isWorthTeaching(length: number): boolean {
    const fingerprint = this.#fingerprint;
    const met = this.#met[fingerprint & (KNOWN_TEXT_CANDIDATES - 1)] === fingerprint;
    if (met || this.#metNow.includes(fingerprint)) {
      if (length > this.#bytesMax || this.#nextNumber >= ARGUMENT_MAX) return false;
      return !this.#known.some((entry) => entry.fingerprint === fingerprint);
    }
    if (this.#metNow.length < KNOWN_TEXT_CANDIDATES) this.#metNow.push(fingerprint);
    return false;
  }

  /** The number that the next text taught will have. */
  get nextNumber(): number {
    return this.#nextNumber;
  }

  /** Remembers the text that `find` did not find. Returns the numbers forgotten for it, itself among them if too big. */
  teach(text: string, bytes: number): number[] {
    this.#before ??= { known: this.#known.slice(), bytes: this.#bytes, nextNumber: this.#nextNumber };
    this.#known.push({ text, number: this.#nextNumber++, fingerprint: this.#fingerprint, bytes });
    this.#bytes += bytes;
    const forgotten: number[] = [];
    while (this.#known.length > this.#countMax || this.#bytes > this.#bytesMax) {
      const oldest = this.#known.shift()!;
      this.#bytes -= oldest.bytes;
      forgotten.push(oldest.number);
    }
    return forgotten;
  }

  finish(succeeded: boolean): void {
    if (succeeded) {
      for (const fingerprint of this.#metNow) this.#met[fingerprint & (KNOWN_TEXT_CANDIDATES - 1)] = fingerprint;
    } else if (this.#before !== null) {
      this.#known = this.#before.known;
      this.#bytes = this.#before.bytes;
      this.#nextNumber = this.#before.nextNumber;
    }
    this.#before = null;
    if (this.#metNow.length > 0) this.#metNow.length = 0;
  }
}

/** What the decoder was taught. Holds its bounds by itself, whatever the encoder says. */
export class TaughtTexts {
  readonly #texts: Map<number, { readonly text: string; readonly bytes: number }> = new Map();
  #bytes = 0;
  readonly #countMax: number;
  readonly #bytesMax: number;

  constructor(countMax: number, bytesMax: number) {
    this.#countMax = countMax;
    this.#bytesMax = bytesMax;
  }

  get(number: number): string | undefined {
    return this.#texts.get(number)?.text;
  }

  remember(number: number, text: string, bytes: number): void {
    this.forget(number);
    this.#texts.set(number, { text, bytes });
    this.#bytes += bytes;
  }

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
}
