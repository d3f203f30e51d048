// Damages payloads: the ways in which bytes go wrong, and the ways in which someone would make them go wrong.
import type { Random } from '../kit/prng.ts';

const WORDS = [
  0,
  1,
  -1,
  2,
  7,
  16,
  255,
  0x0fff_ffff,
  0x7fff_ffff,
  -0x8000_0000,
  0x4000_0000,
  0x00ff_ffff,
  1 << 20,
  0x100,
];

/** A word of the payload, replaced by one that is near it, far from it, or famous. */
function changeWord(random: Random, payload: Uint8Array): void {
  if (payload.length < 4) return;
  const at = 4 * random.int(0, (payload.length >>> 2) - 1);
  const view = new DataView(payload.buffer, payload.byteOffset);
  const old = view.getInt32(at, true);
  const which = random.int(0, 6);
  let word: number;
  if (which === 0) word = random.bits();
  else if (which === 1) word = random.pick(WORDS);
  else if (which === 2) word = old + random.int(-4, 4);
  // Another tag with the same argument, another argument with the same tag.
  else if (which === 3) word = (old & ~15) | random.int(0, 15);
  else if (which === 4) word = (random.pick(WORDS) << 4) | (old & 15);
  else if (which === 5) word = (random.skewed(2 ** 27) << 4) | (old & 15);
  else word = (old & ~0xff0) | (random.int(0, 14) << 4);
  view.setInt32(at, word, true);
}

function join(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

function cut(random: Random, payload: Uint8Array): readonly [Uint8Array, Uint8Array] {
  const at = random.chance(0.8) ? 4 * random.int(0, payload.length >>> 2) : random.int(0, payload.length);
  return [payload.subarray(0, at), payload.subarray(at)];
}

function junk(random: Random, length: number): Uint8Array {
  return Uint8Array.from({ length }, () => random.bits());
}

/** A damaged copy of `payload`; `other` lends parts. */
export function mutate(random: Random, payload: Uint8Array, other: Uint8Array): Uint8Array<ArrayBuffer> {
  let mutant = payload.slice() as Uint8Array<ArrayBuffer>;
  for (let times = 1 + random.skewed(3); times > 0; times--) {
    const which = random.int(0, 9);
    const [head, tail] = cut(random, mutant);
    if (which < 4) changeWord(random, mutant);
    else if (which === 4 && mutant.length > 0) mutant[random.int(0, mutant.length - 1)]! ^= 1 << random.int(0, 7);
    else if (which === 5) mutant = head.slice() as Uint8Array<ArrayBuffer>;
    else if (which === 6) mutant = join(head, cut(random, other)[1]);
    else if (which === 7) mutant = join(head, junk(random, random.skewed(64)), tail);
    else if (which === 8) mutant = join(head, tail.subarray(4 * random.skewed(8)));
    else mutant = join(head, head.subarray(Math.max(0, head.length - 4 * random.skewed(16))), tail);
  }
  return mutant;
}
