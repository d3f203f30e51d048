// Whether somebody is there at one end of a door's memory. One thread may take another's place there, so a word counts
// them:
//
//   0        nobody has come yet
//   2n       the nth one is there
//   2n + 1   the nth one has ended, and nobody has taken its place
//
// Only the one who is there can say that it ends: when one that was replaced ends at last, its number is past.

/** What the first one to come leaves with. */
export const FIRST = 2;

/** Takes the place; returns the number to leave with. */
export function arrive(words: Int32Array, word: number): number {
  for (;;) {
    const before = Atomics.load(words, word);
    const mine = ((before | 1) + 1) | 0;
    // SYNC life: whoever waits for this end sees that somebody is there again; pairs with isGone.
    if (Atomics.compareExchange(words, word, before, mine) === before) return mine;
  }
}

/** Says that number `mine` has ended; false if another one has taken its place. Everything it wrote comes before. */
export function leave(words: Int32Array, word: number, mine: number): boolean {
  // SYNC life: what was published before is visible to whoever sees this; pairs with isGone.
  return Atomics.compareExchange(words, word, mine, mine | 1) === mine;
}

/** Says of another thread that it has ended. */
export function declareGone(words: Int32Array, word: number): void {
  // SYNC life: pairs with isGone.
  Atomics.or(words, word, 1);
}

/** Makes the place free for one who is to come, if anybody has been there: what the former one says no longer counts. */
export function expectNext(words: Int32Array, word: number): void {
  if (Atomics.load(words, word) !== 0) arrive(words, word);
}

/** Who is there, or was last: changes when another one takes the place, not when this one ends. */
export function numberOf(words: Int32Array, word: number): number {
  return Atomics.load(words, word) | 1;
}

/** Whether the one who was there has ended. */
export function isGone(words: Int32Array, word: number): boolean {
  // SYNC life: what it wrote is visible after this load; pairs with leave and declareGone, and arrive.
  return (Atomics.load(words, word) & 1) !== 0;
}
