import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Results } from '../schema.ts';
import { fixture } from './fixture.ts';
import {
  BEGIN,
  current,
  END,
  PAGE,
  PICTURE,
  renew,
  renewed,
  resultsPage,
  resultsTable,
  stale,
} from './readme-table.ts';

test('README and picture show what bench/results has (else run `node dist/bench/report/readme-table.js`)', () => {
  assert.deepEqual(stale(renewed()), []);
});

test('a README and a picture that lag behind the results are found, and so is a result that changed', () => {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-readme-'));
  try {
    mkdirSync(join(folder, 'bench/results'), { recursive: true });
    mkdirSync(join(folder, 'docs'));
    writeFileSync(join(folder, 'README.md'), `# x\n\n${BEGIN}\n${END}\n`);
    const result = (speed: number): void =>
      writeFileSync(join(folder, 'bench/results/a.json'), JSON.stringify(fixture({ speed })));
    result(1);
    assert.deepEqual(stale(renewed(folder), folder), ['README.md', PICTURE, PAGE]);
    for (const [path, text] of renewed(folder)) writeFileSync(join(folder, path), text);
    assert.deepEqual(stale(renewed(folder), folder), []);
    // All figures grow alike: who wins by how much stays as it was.
    result(1.1);
    assert.deepEqual(stale(renewed(folder), folder), ['README.md', PICTURE]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
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
    at('2026-04-01', '26.9.0', { command: 'npm run bench -- --json a.json --scenario startup,open' }),
  ]);
  assert.deepEqual(
    chosen.map((file) => `${file.runtime.name} ${file.runtime.version}`),
    ['node 24.1.0', 'node 26.0.0', 'bun 1.4.5'],
  );
});

test('the table has a line per scenario that can be compared, and rows with the same number of cells', () => {
  const files = [fixture(), fixture({ seed: 2, version: '26.10.0' })];
  const text = resultsTable(files);
  const rows = text.split('\n').filter((line) => line.startsWith('|'));
  const cells = (line: string): number => line.replace(/\\\|/g, '').split('|').length;
  assert.equal(rows.length, 2 + 3 + 2 + 4);
  assert.deepEqual(new Set(rows.slice(0, 5).map(cells)), new Set([8]));
  assert.deepEqual(new Set(rows.slice(5).map(cells)), new Set([6]));
  assert.match(text, /Node 24\.21\.0, Invented CPU/);
  assert.match(text, /Of the 19 rows of this run we are ahead in \d+, level in \d, and \*\*a rival wins 2\*\*/);
  assert.match(resultsPage(files)!, /- `shared-rate`, 64 KiB string: @nxtedition\/shared \(stand-in\), 1\.\d×/);
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
  const once = renew(`a\n${BEGIN}\nold\n${END}\nz`, 'new');
  assert.equal(once, `a\n${BEGIN}\n\nnew\n\n${END}\nz`);
  assert.equal(renew(once, 'new'), once);
  for (const bad of ['', BEGIN, `${END}${BEGIN}`, `${BEGIN}${BEGIN}${END}`])
    assert.throws(() => renew(bad, 'x'), /needs/);
});
