import assert from 'node:assert/strict';
import { test } from 'node:test';
import { platformMemory } from '#platform';
import { pooled } from './pooled.ts';

test('what is taken is known for a part of its memory, or has one of its own, also where a program gives the pool another size', () => {
  const { Buffer } = globalThis as unknown as { Buffer?: { poolSize: number } };
  const known = (bytes: number): void => {
    const part = pooled(bytes);
    assert.equal(part.length, bytes);
    const { byteLength } = part.buffer;
    assert.ok(byteLength === bytes || platformMemory.isPooled(part, bytes, byteLength), `${bytes} of ${byteLength}`);
  };
  for (const bytes of [0, 1, 40, 4095, 4096, 5000, 70_000]) known(bytes);
  if (Buffer === undefined) return;
  const before = Buffer.poolSize;
  Buffer.poolSize = 65_536;
  try {
    for (let i = 0; i < 1000; i++) known(40 + i);
  } finally {
    Buffer.poolSize = before;
  }
});
