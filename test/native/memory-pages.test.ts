// What memory that processes share takes of the machine.
// needs: native
import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { test } from 'node:test';
import { native } from '../kit/native.ts';

test('memory is taken by the pages that are touched; by all, where the system may refuse one later', () => {
  const bytes = 1 << 20;
  const region = native.createMemory(bytes);
  const taken = (): number => statSync(`/proc/self/fd/${region}`).blocks * 512;
  const strict = readFileSync('/proc/sys/vm/overcommit_memory', 'utf8').startsWith('2');
  assert.equal(taken(), strict ? bytes : 0);
  const { buffer, place } = native.map(region, bytes);
  assert.equal(new Uint8Array(buffer)[bytes >> 1], 0);
  new Uint8Array(buffer)[bytes >> 1] = 1;
  if (!strict) assert.ok(taken() > 0 && taken() <= bytes >> 2, String(taken()));
  native.unmap(place);
  native.close(region);
});
