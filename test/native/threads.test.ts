// Threads of one process: each has the addon to itself, and may end at any time.
// runtimes: node
// needs: native
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { descriptors, native } from '../kit/native.ts';
import { STEP_MS, until, within } from '../kit/watchdog.ts';
import { ADDED, BYTES, COUNT_ROUNDS, count, PONG, ping, SWAPPED, sleepWhile } from './parts.ts';

const mappings = (): number => readFileSync('/proc/self/maps', 'utf8').split('memfd:millrace').length - 1;
const start = (role: string, data: object = {}): Worker =>
  new Worker(new URL('./thread.js', import.meta.url), { workerData: { role, ...data } });
const said = async (worker: Worker): Promise<unknown> => {
  const [message] = await within('a word of the thread', once(worker, 'message'));
  return message;
};
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
    const worker = start('count', { region });
    const done = said(worker);
    await within('its start', once(worker, 'online'));
    count(words, COUNT_ROUNDS);
    assert.equal(await done, 'counted');
    assert.equal(words[ADDED], 2 * COUNT_ROUNDS);
    assert.equal(words[SWAPPED], 2 * COUNT_ROUNDS);
  }),
);

test('a futex wakes threads, both ways', { timeout: STEP_MS }, () =>
  withShared(async (region, words, place) => {
    const worker = start('pong', { region });
    assert.equal(await said(worker), 'ready');
    const result = said(worker);
    assert.equal(ping(words, place), 0);
    assert.equal(await result, 0);
  }),
);

test("a bell wakes another thread's loop", { timeout: STEP_MS }, async () => {
  const bell = native.createBell();
  const worker = start('bell', { bell });
  assert.equal(await said(worker), 'ready');
  const woken = said(worker);
  native.ring(bell);
  assert.equal(await woken, 'woken');
  await within('its end', once(worker, 'exit'));
  native.close(bell);
});

test("a place is its thread's own", { timeout: STEP_MS }, () =>
  withShared(async (_region, _words, place) => {
    const worker = start('foreign', { place });
    assert.equal(await said(worker), 'ERR_UNMAPPED');
    await within('its end', once(worker, 'exit'));
  }),
);

test('a thread that waits in slices can be terminated', { timeout: STEP_MS }, () =>
  withShared(async (region, words, place) => {
    const worker = start('stuck', { region });
    sleepWhile(words, place, PONG, 0);
    await within('its end', worker.terminate());
    assert.equal(native.wake(place, 0, 10), 0);
    await until('only ours is mapped', () => mappings() === 1);
  }),
);

test('a thread that is terminated leaves no watch, no mapping and no descriptor but those it was not watching', {
  timeout: STEP_MS,
}, async () => {
  const round = async (): Promise<void> => {
    const worker = start('watches');
    assert.equal(await said(worker), 'ready');
    await within('its end', worker.terminate());
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
