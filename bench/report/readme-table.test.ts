import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Results } from '../schema.ts';
import { fixture } from './fixture.ts';
import { BEGIN, committedResults, current, END, ROOT, renew, resultsTable } from './readme-table.ts';

test('the README has the results that bench/results has (else run `node dist/bench/report/readme-table.js`)', () => {
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
  assert.equal(readme, renew(readme, resultsTable(committedResults())));
});

test('with no results the table says so and how to get some', () => {
  assert.match(resultsTable([]), /No results are committed yet.*millrace bench/);
});

test('of each runtime release the newest complete run counts, and a quick one never does', () => {
  const at = (date: string, version: string, more: Partial<Results> = {}): Results => ({
    ...fixture({ version }),
    date,
    ...more,
  });
  const chosen = current([
    at('2026-03-01', '24.2.0', { quick: true }),
    at('2026-02-01', '24.1.0'),
    at('2026-01-01', '24.0.0'),
    at('2026-01-01', '26.0.0'),
    { ...fixture({ runtime: 'bun', version: '1.4.5' }), date: '2026-01-01' },
    at('2026-04-01', '26.9.0', { partial: true }),
  ]);
  assert.deepEqual(
    chosen.map((file) => `${file.runtime.name} ${file.runtime.version}`),
    ['node 24.1.0', 'node 26.0.0', 'bun 1.4.5'],
  );
});

test('the table has a line per scenario that can be compared, rows with the same number of cells, and the losses', () => {
  const text = resultsTable([fixture(), fixture({ seed: 2, version: '26.10.0' })]);
  const rows = text.split('\n').filter((line) => line.startsWith('|'));
  const cells = (line: string): number => line.replace(/\\\|/g, '').split('|').length;
  assert.equal(rows.length, 2 + 3 + 2 + 4);
  assert.deepEqual(new Set(rows.slice(0, 5).map(cells)), new Set([8]));
  assert.deepEqual(new Set(rows.slice(5).map(cells)), new Set([6]));
  assert.match(text, /Node 24\.21\.0, Invented CPU/);
  assert.match(text, /- `shared-rate`, 64 KiB string: @nxtedition\/shared \(stand-in\), 1\.\d×/);
  assert.ok(!/NaN|undefined|Infinity/.test(text));
});

test('a noisy run is named as too noisy to quote', () => {
  const file = fixture();
  assert.match(resultsTable([{ ...file, noise: { ...file.noise, bad: true } }]), /Too noisy to quote.*Node 24/);
});

test('what a results file says cannot break out of its cell', () => {
  const file = structuredClone(fixture());
  Object.assign(file.scenarios[0]!.rows[0]!.results[0]!, { label: 'a | b\n<img>' });
  for (const line of resultsTable([file]).split('\n')) assert.ok(!line.includes('<img') && !line.startsWith('b'));
});

test('renew() keeps what is around the markers and refuses a README without them', () => {
  const renewed = renew(`a\n${BEGIN}\nold\n${END}\nz`, 'new');
  assert.equal(renewed, `a\n${BEGIN}\n\nnew\n\n${END}\nz`);
  assert.equal(renew(renewed, 'new'), renewed);
  for (const bad of ['', BEGIN, `${END}${BEGIN}`, `${BEGIN}${BEGIN}${END}`])
    assert.throws(() => renew(bad, 'x'), /needs/);
});
