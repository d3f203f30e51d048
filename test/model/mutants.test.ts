// The mutants of `npm run model`, as tests: a file of their own, so that none is the last one alone.
// runtimes: once
// watchdog: 1800 s
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkMutant } from './check.ts';
import { mutants } from './mutants.ts';
import { loadShipped } from './shipped.ts';

for (const mutant of mutants) {
  test(`a bug is caught: ${mutant.name}`, async () => {
    await checkMutant(mutant);
  });
}

test('there are at least 12 mutants, each under its own name', () => {
  assert.ok(mutants.length >= 12);
  assert.equal(new Set(mutants.map(({ name }) => name)).size, mutants.length);
});

test('a mutation that no longer matches the source is an error', async () => {
  const stale = { file: 'ring/producer.js', find: 'no such text', replace: '' };
  await assert.rejects(loadShipped([stale]), /0 times, not once/);
  await assert.rejects(loadShipped([{ ...stale, file: 'ring/nowhere.js' }]), /no file ring\/nowhere.js/);
  await assert.rejects(loadShipped([{ ...stale, find: 'this' }]), /times, not once/);
});
