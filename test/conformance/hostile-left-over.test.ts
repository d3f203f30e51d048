// What a hostile peer leaves behind when it ends: the receiver takes no more memory for it than the channel's limit says.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KIND_PACKED } from '../../src/frame/header.ts';
import { CLOSED, channel, LayoutError } from '../../src/index.ts';
import { ATTACHED, CLOSE_CODES, CLOSED as CLOSED_WORD, SIDE_1, SPILLED } from '../../src/memory/layout.ts';

const SPILL = 2;
/** The address of the channel that the native ports came with. */
const FOUNDER = 0;
const LIMIT = 64 * 1024;

for (const [what, memory] of [
  ['of its own', () => new ArrayBuffer(LIMIT + 8)],
  // It costs the peer nothing: no page of it was touched. (No longer, because Deno looks at every byte of one that arrives.)
  ['that it shares', () => new SharedArrayBuffer(LIMIT * 16)],
] as const) {
  test(`a left-over longer than the channel takes, in memory ${what}, is damage and is not copied`, () => {
    const { port, remote } = channel({ maxMessageBytes: LIMIT });
    const words = new Int32Array(remote.memory);
    Atomics.store(words, SIDE_1 + ATTACHED, 1);
    const side = remote.side as { postMessage(message: unknown): void };
    side.postMessage([SPILL, FOUNDER, [[KIND_PACKED, new Uint8Array(memory())]]]);
    Atomics.store(words, SIDE_1 + SPILLED, 1);
    Atomics.store(words, SIDE_1 + CLOSED_WORD, CLOSE_CODES.closed);
    assert.throws(() => port.receive(), LayoutError);
    assert.equal(port.receive(), CLOSED);
    port.close();
  });
}
