import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Results } from '../schema.ts';
import { type Change, type Comparison, compare, compareText, smallestP } from './compare.ts';
import { fixture } from './fixture.ts';
import { palette } from './terminal.ts';

interface Loose {
  subject: string;
  samples: number[];
  median: number;
  low: number;
  high: number;
}

/** The file with some results made `factor` times as large. */
function scaled(
  file: Results,
  factor: number,
  which: (subject: string, scenario: string, row: number) => boolean,
): Results {
  const copy = structuredClone(file);
  for (const scenario of copy.scenarios) {
    scenario.rows.forEach((row, at) => {
      for (const one of row.results as unknown as Loose[]) {
        if (!which(one.subject, scenario.name, at)) continue;
        one.samples = one.samples.map((sample) => sample * factor);
        for (const key of ['median', 'low', 'high'] as const) one[key] *= factor;
      }
    });
  }
  return copy;
}

function found(comparison: Comparison, finding: Change['finding']): string[] {
  return comparison.changes
    .filter((one) => one.finding === finding)
    .map((one) => `${one.scenario}, ${one.row}: ${one.subject}`);
}

const plain = palette({});
const before = fixture({ seed: 1 });
const again = fixture({ seed: 2 });

test('two runs of the same thing have no regression and no improvement, whatever their noise', () => {
  for (let seed = 2; seed < 22; seed++) {
    const comparison = compare(before, fixture({ seed }));
    assert.deepEqual(found(comparison, 'regression'), [], `seed ${seed}`);
    assert.deepEqual(found(comparison, 'improvement'), [], `seed ${seed}`);
  }
});

test('a figure of ours that became a tenth worse is a regression, and only it', () => {
  const after = scaled(
    again,
    0.9,
    (subject, scenario, row) => /^millrace/.test(subject) && scenario === 'shared-rate' && row === 3,
  );
  assert.deepEqual(found(compare(before, after), 'regression'), ['shared-rate, 4 KiB bytes: millrace-ring']);
});

/** One scenario with one figure of ours whose rounds are these. */
function single(samples: readonly number[]): Results {
  const median = [...samples].sort((a, b) => a - b)[samples.length >> 1]!;
  const only = { subject: 'millrace-port', label: 'ours', samples, median, low: median, high: median, checked: true };
  const base = fixture();
  return { ...base, scenarios: [{ ...base.scenarios[0]!, rows: [{ label: 'row', params: {}, results: [only] }] }] };
}

test('a median that fell far, but by chance as well as not, is no regression', () => {
  const wide = single([60, 70, 80, 90, 100, 110, 120, 130, 140]);
  const wider = single([58, 68, 78, 82, 85, 112, 122, 132, 138]);
  assert.equal(compare(wide, wider).changes[0]!.change, 0.85);
  assert.deepEqual(found(compare(wide, wider), 'same'), ['shared-rate, row: millrace-port']);
});

test('a change that is certain but too small to matter is no regression', () => {
  const comparison = compare(
    single([100, 100.1, 100.2, 100.3, 100.4, 100.5, 100.6]),
    single([98, 98.1, 98.2, 98.3, 98.4, 98.5, 98.6]),
  );
  assert.ok(comparison.changes[0]!.p < 0.001);
  assert.deepEqual(found(comparison, 'same'), ['shared-rate, row: millrace-port']);
});

test('where less is better, more is the regression', () => {
  const longer = scaled(
    again,
    1.2,
    (subject, scenario) => subject === 'millrace-port' && scenario === 'smp-round-trip',
  );
  assert.equal(found(compare(before, longer), 'regression').length, 4);
  const shorter = scaled(
    again,
    0.8,
    (subject, scenario) => subject === 'millrace-port' && scenario === 'smp-round-trip',
  );
  assert.equal(found(compare(before, shorter), 'improvement').length, 4);
});

test('when everybody became slower it was the machine, and is shown as that', () => {
  const comparison = compare(
    before,
    scaled(again, 0.8, (_, scenario) => scenario === 'shared-rate'),
  );
  assert.deepEqual(found(comparison, 'regression'), []);
  assert.equal(found(comparison, 'drift').filter((one) => one.includes('millrace')).length, 12);
  assert.ok(Math.abs(comparison.drift.get('shared-rate')! - 0.8) < 0.03);
  assert.match(compareText(comparison, plain), /The machine moved.*\n.*\n {2}shared-rate +−\d\d\.\d % +12 +\d+\n/);
});

test('a rival that moved alone is told apart from us', () => {
  const comparison = compare(
    before,
    scaled(again, 1.5, (subject) => subject === 'ringbuf-js'),
  );
  assert.deepEqual(found(comparison, 'regression'), []);
  assert.equal(found(comparison, 'other').length, 6);
});

test('too few rounds for the test are called undecidable, not the same', () => {
  const cut = structuredClone(before);
  for (const one of cut.scenarios[1]!.rows[0]!.results as unknown as Loose[]) one.samples.length = 3;
  const comparison = compare(cut, cut);
  assert.equal(found(comparison, 'undecidable').length, 3);
  assert.match(compareText(comparison, plain), /3 figures have too few rounds/);
  assert.equal(smallestP(5, 5), 2 / 252);
});

test('what is missing in the second run is listed, and reasons to doubt come first', () => {
  const after = structuredClone(again) as Results & { scenarios: unknown[] };
  after.scenarios.splice(3, 1);
  (after.scenarios[0] as unknown as { rows: unknown[] }).rows.splice(0, 1);
  Object.assign(after.runtime, { version: '26.10.0' });
  Object.assign(after.noise, { bad: true, ratio: 1.5 });
  const text = compareText(compare(before, after), plain);
  assert.match(
    text,
    /^Careful: the runtimes differ: Node 24\.21\.0, Node 26\.10\.0\.\nCareful: the second run was noisy/,
  );
  assert.match(text, /latency-histogram: the whole scenario/);
  assert.match(text, /shared-rate, 64 B bytes: ringbuf\.js/);
});
