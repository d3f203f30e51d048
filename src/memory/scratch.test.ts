import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SCRATCH_BYTES_KEPT } from '../limits.ts';
import type { Views } from './region.ts';
import { Scratch } from './scratch.ts';

const KIB = 1024;

test('memory that came back is used again, all of a burst', () => {
  const scratch = new Scratch();
  const burst = Array.from({ length: 8 }, () => scratch.take(65 * KIB));
  assert.equal(new Set(burst).size, 8);
  for (const views of burst) scratch.give(views, 65 * KIB);
  const again = new Set(Array.from({ length: 8 }, () => scratch.take(65 * KIB)));
  assert.deepEqual(again, new Set(burst));
});

test('no more is kept than a thread may keep, and larger memory drives out smaller', () => {
  const scratch = new Scratch();
  const small = Array.from({ length: 400 }, () => scratch.take(64 * KIB));
  for (const views of small) scratch.give(views, 64 * KIB);
  const kept = Array.from({ length: 400 }, () => scratch.take(64 * KIB)).filter((views) => small.includes(views));
  assert.equal(kept.length, SCRATCH_BYTES_KEPT / (64 * KIB));
  for (const views of kept) scratch.give(views, 64 * KIB);
  const large = scratch.take(SCRATCH_BYTES_KEPT);
  scratch.give(large, SCRATCH_BYTES_KEPT);
  assert.equal(scratch.take(1), large);
  assert.ok(!kept.includes(scratch.take(1)));
  const tooLarge = scratch.take(SCRATCH_BYTES_KEPT + 1);
  scratch.give(tooLarge, SCRATCH_BYTES_KEPT + 1);
  assert.notEqual(scratch.take(SCRATCH_BYTES_KEPT + 1), tooLarge);
});

test('memory for large messages is let go when messages have become small, all of it', () => {
  const scratch = new Scratch();
  const large = new Set<Views>(Array.from({ length: 4 }, () => scratch.take(1024 * KIB)));
  for (const views of large) scratch.give(views, 1024 * KIB);
  for (let i = 0; i < 80; i++) scratch.give(scratch.take(KIB), KIB);
  for (let i = 0; i < 4; i++) assert.ok(!large.has(scratch.take(KIB)));
});
