import assert from 'node:assert/strict';
import { test } from 'node:test';
import { platformMemory } from '#platform';
import type { BlockMemory } from './contract.ts';
import { PlainBlockMemory } from './plain-blocks.ts';

// The lengths stand on both sides of the one from which on the copy goes another way.
const LENGTHS = [0, 1, 7, 64, 1023, 1024, 1025, 70_000];

type Make = (memory: SharedArrayBuffer | ArrayBuffer) => BlockMemory;
const MEANS: readonly (readonly [string, Make])[] = [
  ["the runtime's", (memory) => platformMemory.blockMemory(memory)],
  ["the language's", (memory) => new PlainBlockMemory(memory)],
];

for (const [Memory, [means, make]] of [SharedArrayBuffer, ArrayBuffer].flatMap((it) =>
  MEANS.map((each) => [it, each] as const),
)) {
  test(`by ${means} means blocks arrive whole in and out of a ${Memory.name}, at odd places too, and touch nothing beside them`, () => {
    const source = Uint8Array.from({ length: 70_003 }, (_, i) => (i * 7 + 1) & 255);
    for (const length of LENGTHS) {
      for (const offset of [8, 13]) {
        const memory = new Memory(offset + length + 5);
        const blocks = make(memory);
        const block = source.subarray(3, 3 + length);
        blocks.copyIn(block, offset);
        const wanted = new Uint8Array(memory.byteLength);
        for (let i = 0; i < length; i++) wanted[offset + i] = block[i] as number;
        assert.deepEqual(Uint8Array.from(new Uint8Array(memory)), wanted, `${length} bytes at ${offset}`);

        const target = new Uint8Array(length + 2);
        blocks.copyOut(target, offset, length, 1);
        assert.deepEqual(target.subarray(1, length + 1), block, `${length} bytes from ${offset}`);
        assert.equal((target[0] as number) + (target[length + 1] as number), 0);
      }
    }
  });
}
