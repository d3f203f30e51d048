// The thread of scribble.test.ts that keeps changing a payload while the main thread decodes it.
import { parentPort, workerData } from 'node:worker_threads';
import { Random } from '../kit/prng.ts';

interface Orders {
  readonly memory: SharedArrayBuffer;
  /** Word 0: not 0 when it is time to stop. Word 1: how many words of `memory` to play with. */
  readonly control: Int32Array;
  readonly seed: number;
}

const { memory, control, seed } = workerData as Orders;
const words = new Int32Array(memory);
const random = new Random(seed);
parentPort!.postMessage('scribbling');
while (Atomics.load(control, 0) === 0) {
  // Atomics keep the engine from moving these stores out of the loop, where nobody would see them.
  const count = Math.max(1, Atomics.load(control, 1));
  for (let i = 0; i < 64; i++) {
    const index = random.bits() % count;
    const old = words[index]!;
    const which = random.bits() & 7;
    Atomics.store(words, index, which === 0 ? random.bits() : which < 4 ? old ^ (1 << (random.bits() & 31)) : old);
  }
}
