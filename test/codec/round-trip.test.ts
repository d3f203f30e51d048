// Random values through the codec, compared with what the standard makes of the original and with the runtime's own
// structuredClone. COUNT sets how many (SOAK=1: a million).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cases, eachCase } from '../kit/prng.ts';
import { difference } from '../kit/same-clone.ts';
import { randomValue } from '../kit/values.ts';
import { CAUSE_AS_TEXT, CAUSE_LOST, CYCLIC_CAUSE_FAILS, DEVIATIONS, KINDS_APART, STACK_KEPT } from './deviations.ts';
import { Link } from './link.ts';

const count = cases(50_000, 1_000_000);
const ignoreCause = CAUSE_LOST.present();
const ignoreStack = STACK_KEPT.present();
const mayFail = CYCLIC_CAUSE_FAILS.present();
const mayThrow = CAUSE_AS_TEXT.present();

/** What structuredClone makes of the value, or nothing where it is known to fail on causes. */
function nativeClone(value: unknown): { readonly copy: unknown } | undefined {
  try {
    return { copy: structuredClone(value) };
  } catch (error) {
    if (mayFail && /deserialize/.test(String(error))) return undefined;
    if (mayThrow && error instanceof TypeError) return undefined;
    throw error;
  }
}

test(`${count} random values arrive as the standard and this runtime's structuredClone would copy them`, () => {
  let left = 0;
  eachCase(0, count, (random) => {
    const value = randomValue(random);
    const copy = new Link(random).trip(value);
    assert.equal(difference(value, copy), undefined, 'against the original');
    const native = nativeClone(value);
    if (native === undefined) left++;
    else
      assert.equal(
        difference(native.copy, copy, { original: false, ignoreCause, apart: KINDS_APART, ignoreStack }),
        undefined,
        'against native',
      );
  });
  for (const { name, remedy, present } of DEVIATIONS) if (present()) console.log(`deviation: ${name}; ${remedy}`);
  if (left > 0) console.log(`${left} values were compared with the original only`);
});

const exotic = cases(2_000, 50_000);
test(`${exotic} random values with class instances and the longest sparse arrays arrive as the standard says`, () => {
  eachCase(0, exotic, (random) => {
    const value = randomValue(random, { exotic: true, huge: true });
    assert.equal(difference(value, new Link(random).trip(value)), undefined);
  });
});

const large = cases(150, 2_000);
test(`${large} random values with texts and buffers up to 200 KB arrive as the standard says`, () => {
  eachCase(0, large, (random) => {
    const value = randomValue(random, { large: 100_000, budget: 20 });
    const link = new Link(random);
    assert.equal(difference(value, link.trip(value)), undefined);
    assert.equal(difference(value, link.trip(value)), undefined, 'the second time');
  });
});
