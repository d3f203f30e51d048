// Runs the battery: every fact through the codec, and where the codec refuses, through the runtime's structuredClone, as
// a channel does. The last line says how many of how many held, by which way, and what was left out and why.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NO_ROOM, REFUSED } from '../../src/codec/codec.ts';
import { DataCloneError } from '../../src/errors.ts';
import { Random, seed } from '../kit/prng.ts';
import { difference } from '../kit/same-clone.ts';
import { FACTS } from './battery-facts.ts';
import { STANDARD_FACTS } from './battery-standard.ts';
import type { Fact } from './fact.ts';
import { Link } from './link.ts';

interface Tally {
  packed: number;
  native: number;
  readonly excluded: Map<string, number>;
}

/** As a channel does it: the codec, or the runtime for what the codec refuses. */
function clone(value: unknown, tally: Tally): { readonly copy: unknown; readonly by: 'packed' | 'native' } {
  const link = new Link(new Random(seed));
  const length = link.encode(value);
  assert.notEqual(length, NO_ROOM);
  if (length !== REFUSED) return { copy: link.decode(), by: 'packed' };
  try {
    return { copy: structuredClone(value), by: 'native' };
  } catch (error) {
    tally.native++;
    throw error;
  }
}

function failure(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  throw new assert.AssertionError({ message: 'it was copied instead of throwing' });
}

async function run(fact: Fact, tally: Tally): Promise<void> {
  const value = fact.put();
  if (fact.throws !== undefined) {
    const nativeBefore = tally.native;
    const error = failure(() => clone(value, tally));
    if (fact.throws === 'DataCloneError') assert.equal((error as Error).name, 'DataCloneError');
    else assert.equal(error, fact.throws());
    if (tally.native === nativeBefore) {
      tally.packed++;
      if (fact.throws === 'DataCloneError') assert.ok(error instanceof DataCloneError && error.path === '$');
    }
    return;
  }
  const { copy, by } = clone(value, tally);
  // Of what only the runtime can carry the comparer knows nothing: there `also` says it all.
  const wanted = fact.get === undefined ? value : fact.get();
  if (by === 'packed' || fact.get !== undefined) assert.equal(difference(wanted, copy), undefined);
  await fact.also?.(copy as never, value as never);
  tally[by]++;
}

for (const [battery, facts] of [
  ['web platform tests', FACTS],
  ['HTML standard', STANDARD_FACTS],
] as const) {
  const tally: Tally = { packed: 0, native: 0, excluded: new Map() };
  let possible = 0;
  for (const fact of facts) {
    const reason = fact.excluded ?? fact.missing?.();
    if (reason !== undefined) {
      tally.excluded.set(reason, (tally.excluded.get(reason) ?? 0) + 1);
      continue;
    }
    possible++;
    test(`${battery}: ${fact.name}`, () => run(fact, tally));
  }

  test(`${battery}: all ${possible} facts that this runtime can have hold`, () => {
    const held = tally.packed + tally.native;
    const left = facts.length - possible;
    console.log(`${battery}: ${held}/${possible} (${tally.packed} packed, ${tally.native} native), ${left} excluded`);
    for (const [reason, count] of tally.excluded) console.log(`  ${count}: ${reason}`);
    assert.equal(held, possible);
    assert.equal(new Set(facts.map(({ name }) => name)).size, facts.length, 'no name stands twice');
  });
}
