// What a peer says over a byte stream, frame by frame, and what becomes of it where something is changed.
import * as frames from '../../src/transport/stream/frames.ts';
import { Random } from '../kit/prng.ts';
import { type Frame, goodbyeFrame, leavingFrame, TERMS, text } from '../kit/stream-bench.ts';
import { honestPayloads } from './hostile.ts';

const WORDS = [0, 1, -1, 2, 7, 8, 16, 56, 255, 1024, 4096, 4097, 2 ** 16, 2 ** 24, 2 ** 30, 2 ** 31 - 1, -(2 ** 31)];

let payloads: ReturnType<typeof honestPayloads> | undefined;

/** @param numbers of channels that there may be */
export function anyFrame(random: Random, numbers: readonly number[], open: () => Frame): Frame {
  payloads ??= honestPayloads(new Random(1, -1), 300);
  const number = random.pick(numbers);
  const record = (): number[] => {
    const { kind, bytes } = random.pick(payloads as ReturnType<typeof honestPayloads>);
    const short = bytes.subarray(0, 500);
    const [length, ...words] = text(short);
    return [length, kind, ...words];
  };
  return random.pick<() => Frame>([
    () => [frames.DATA, number, ...record()],
    () => [frames.DATA, number, ...record(), ...record()],
    () => [frames.ACK, number, 0, 0, 1024, 0, 0, 0, 0, 0],
    () => [frames.ASK, number, 8, 0],
    () => [frames.INTERRUPT, number, 5, 0],
    () => [frames.ACCEPT, number, ...TERMS, 0, 0],
    open,
    () => [frames.CLOSE, number, 1, 0],
    () => [frames.RESET, number, random.pick([1, 3, 256]), ...text('why')],
    () => [frames.PING, 0, 1, 2],
    () => [random.int(64, 255), number, 1, 2],
    () => random.pick([goodbyeFrame(1, '{"name":"E"}', 3, 1), leavingFrame(100, 'why')]),
  ])();
}

/** Changes something in a frame: a bit, a byte, a word, its length, its end. */
export function damaged(random: Random, honest: Uint8Array): Uint8Array {
  const bytes = honest.slice();
  const words = new Int32Array(bytes.buffer);
  // A frame that claims to be longer: by up to what fits in its field.
  if (random.chance(0.1))
    words[0] = frames.frameHead(frames.typeOf(words[0] as number), 8 * random.skewed(2 ** 24 - 1));
  for (let i = random.int(1, 3); i > 0; i--) {
    const at = random.chance(0.2) ? random.int(0, Math.min(3, words.length - 1)) : random.int(0, words.length - 1);
    if (random.chance(0.4)) words[at] = random.pick(WORDS);
    else if (random.chance(0.5)) words[at]! ^= 1 << random.int(0, 31);
    else bytes[random.int(0, bytes.length - 1)] = random.bits();
  }
  if (random.chance(0.05)) return bytes.subarray(0, random.int(1, bytes.length));
  if (random.chance(0.05)) return Buffer.concat([bytes, bytes]);
  return bytes;
}
