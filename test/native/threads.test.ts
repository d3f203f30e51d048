// Threads of one process: each has the addon to itself, and may end at any time.
// runtimes: node
// needs: native
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { descriptors, native, Thread } from '../kit/native.ts';
import { STEP_MS, until } from '../kit/watchdog.ts';
import { ADDED, BYTES, COUNT_ROUNDS, count, PONG, ping, SWAPPED, sleepWhile } from './parts.ts';

const mappings = (): number => readFileSync('/proc/self/maps', 'utf8').split('memfd:millrace').length - 1;
async function withShared(use: (region: number, words: Int32Array, place: number) => Promise<void>): Promise<void> {
  const region = native.createMemory(BYTES);
  const { buffer, place } = native.map(region, BYTES);
  try {
    await use(region, new Int32Array(buffer), place);
  } finally {
    native.unmap(place);
    native.close(region);
  }
}

test('Atomics are exact between threads that have mapped the same', { timeout: STEP_MS }, () =>
  withShared(async (region, words) => {
    const worker = new Thread('count', { region });
    assert.equal(await worker.said(), 'ready');
    count(words, COUNT_ROUNDS);
    assert.equal(await worker.said(), 'counted');
    assert.equal(words[ADDED], 2 * COUNT_ROUNDS);
    assert.equal(words[SWAPPED], 2 * COUNT_ROUNDS);
  }),
);

test('a futex wakes threads, both ways', { timeout: STEP_MS }, () =>
  withShared(async (region, words, place) => {
    const worker = new Thread('pong', { region });
    assert.equal(await worker.said(), 'ready');
    assert.equal(ping(words, place), 0);
    assert.equal(await worker.said(), 0);
  }),
);

test("a bell wakes another thread's loop", { timeout: STEP_MS }, async () => {
  const bell = native.createBell();
  const worker = new Thread('bell', { bell });
  assert.equal(await worker.said(), 'ready');
  native.ring(bell);
  assert.equal(await worker.said(), 'woken');
  await worker.ended();
  native.close(bell);
});

test("a place is its thread's own", { timeout: STEP_MS }, () =>
  withShared(async (_region, _words, place) => {
    const worker = new Thread('foreign', { place });
    assert.equal(await worker.said(), 'ERR_UNMAPPED');
    await worker.ended();
  }),
);

test('a thread that waits in slices can be terminated', { timeout: STEP_MS }, () =>
  withShared(async (region, words, place) => {
    const worker = new Thread('stuck', { region });
    sleepWhile(words, place, PONG, 0);
    await worker.terminate();
    assert.equal(native.wake(place, 0, 10), 0);
    await until('only ours is mapped', () => mappings() === 1);
  }),
);

test('a thread that is terminated leaves no watch, no mapping and no descriptor but those it was not watching', {
  timeout: STEP_MS,
}, async () => {
  const round = async (): Promise<void> => {
    const worker = new Thread('watches');
    assert.equal(await worker.said(), 'ready');
    await worker.terminate();
  };
  await round();
  const before = descriptors().length;
  const ROUNDS = 8;
  for (let i = 0; i < ROUNDS; i++) await round();
  // Descriptors are the process's: each thread made a bell and a region, and closed neither.
  await until('watches are closed', () => descriptors().length <= before + 2 * ROUNDS);
  assert.equal(descriptors().length, before + 2 * ROUNDS);
  await until('nothing is mapped', () => mappings() === 0);
});
