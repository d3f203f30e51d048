import assert from 'node:assert/strict';
import { test } from 'node:test';
import { random } from './fixture.ts';
import { geometricMean, mannWhitney, median } from './stats.ts';

const SEED = Number(process.env['SEED'] ?? 7);

function near(actual: number, expected: number, within: number): void {
  assert.ok(Math.abs(actual - expected) <= within, `${actual} is not within ${within} of ${expected}`);
}

/** The same p by brute force: every way to deal the pooled values, compared by the sum of their average ranks. */
function byEnumeration(a: readonly number[], b: readonly number[]): number {
  const pooled = [...a, ...b];
  const rank = (value: number): number =>
    pooled.filter((one) => one < value).length + (pooled.filter((one) => one === value).length + 1) / 2;
  const ranks = pooled.map(rank);
  const center = (a.length * (pooled.length + 1)) / 2;
  const sum = (mask: number): number => ranks.reduce((total, one, at) => total + ((mask >> at) & 1) * one, 0);
  const distance = Math.abs(sum((1 << a.length) - 1) - center);
  let all = 0;
  let beyond = 0;
  for (let mask = 0; mask < 1 << pooled.length; mask++) {
    if ([...mask.toString(2)].filter((bit) => bit === '1').length !== a.length) continue;
    all++;
    if (Math.abs(sum(mask) - center) >= distance) beyond++;
  }
  return beyond / all;
}

test('median and geometric mean of what can be said by heart', () => {
  assert.equal(median([3, 1, 2]), 2);
  assert.equal(median([4, 1, 2, 3]), 2.5);
  assert.ok(Number.isNaN(median([])));
  near(geometricMean([2, 0.5]), 1, 1e-12);
  near(geometricMean([1, 10, 100]), 10, 1e-9);
});

test('mannWhitney of two sets that do not overlap is 2 over the number of ways to deal them', () => {
  near(mannWhitney([1, 2, 3, 4, 5], [6, 7, 8, 9, 10]), 2 / 252, 1e-12);
  near(mannWhitney([9, 8, 7], [1, 2, 3]), 2 / 20, 1e-12);
});

test('mannWhitney of equal sets, and of sets with nothing in them, is 1', () => {
  assert.equal(mannWhitney([1, 2, 3], [1, 2, 3]), 1);
  assert.equal(mannWhitney([5, 5, 5, 5], [5, 5, 5, 5]), 1);
  assert.equal(mannWhitney([], [1, 2]), 1);
});

test(`mannWhitney equals brute force, ties included (SEED=${SEED})`, () => {
  const next = random(SEED);
  for (let round = 0; round < 40; round++) {
    const draw = (): number => Math.floor(next() * 6);
    const a = Array.from({ length: 2 + Math.floor(next() * 4) }, draw);
    const b = Array.from({ length: 2 + Math.floor(next() * 4) }, draw);
    near(mannWhitney(a, b), byEnumeration(a, b), 1e-12);
    near(mannWhitney(b, a), mannWhitney(a, b), 1e-12);
  }
});

test('mannWhitney with many samples agrees with the textbook normal approximation', () => {
  // 25 against 25, shifted by 10 of 50 ranks: U = 225 - 0, computed by hand below from the ranks.
  const a = Array.from({ length: 25 }, (_, at) => at);
  const b = Array.from({ length: 25 }, (_, at) => at + 10.5);
  // U = number of pairs with a > b = 14 + 13 + ... + 1 = 105; mean 312.5, deviation sqrt(25 * 25 * 51 / 12) = 51.54.
  // z = (207.5 - 0.5) / 51.54 = 4.0163, two-sided p = 5.91e-5.
  near(mannWhitney(a, b), 5.91e-5, 1e-6);
});

test(`mannWhitney calls equal distributions different as rarely as it promises (SEED=${SEED})`, () => {
  const next = random(SEED);
  const draw = (): number[] => Array.from({ length: 9 }, () => next() ** 3);
  let alarms = 0;
  for (let round = 0; round < 500; round++) if (mannWhitney(draw(), draw()) < 0.05) alarms++;
  // 500 times 0.05 is 25; more than 45 would be four deviations away.
  assert.ok(alarms <= 45, `${alarms} false alarms of 500 at 0.05`);
});
