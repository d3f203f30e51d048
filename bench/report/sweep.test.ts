import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Row } from '../schema.ts';
import { fixture } from './fixture.ts';
import { buildReport, type RowView } from './model.ts';
import { paramText } from './panels.ts';
import { families, sweeps } from './sweep.ts';

function rows(...params: Row['params'][]): RowView[] {
  return params.map((one, at) => ({ label: `row ${at}`, params: one, way: undefined, contenders: [], standings: [] }));
}

function headings(found: ReturnType<typeof families>): string[] {
  return found.map(({ swept, heading, rows: members }) => `${swept} | ${heading} | ${members.length}`);
}

test('rows that differ in one number are a family, told apart by what else differs', () => {
  const found = families(
    rows(
      ...[64, 256, 1024].map((size) => ({ form: 'bytes', read: 'ends', size })),
      ...[64, 256, 1024].map((size) => ({ form: 'string', read: 'ends', size })),
    ),
  );
  assert.deepEqual(headings(found), ['size | bytes | 3', 'size | string | 3']);
});

test('two numbers swept one at a time are two families, and zero is no word', () => {
  const found = families(
    rows(
      ...[64, 256, 1024, 4096].map((size) => ({ size, burst: 0 })),
      ...[1, 10, 100].map((burst) => ({ size: 0, burst })),
    ),
  );
  assert.deepEqual(headings(found), ['size | by size | 4', 'burst | by burst | 3']);
});

test('two points make no line, and a grid is drawn along its longer side only', () => {
  assert.deepEqual(families(rows({ size: 1 }, { size: 2 })), []);
  const grid = [1, 2, 4, 8].flatMap((size) => [1, 2, 3].map((ports) => ({ size, ports })));
  assert.deepEqual(headings(families(rows(...grid))), [
    'size | ports 1 | 4',
    'size | ports 2 | 4',
    'size | ports 3 | 4',
  ]);
});

test('a parameter is written as people read it', () => {
  assert.deepEqual(
    [paramText('size', 4096), paramText('size', 1500), paramText('rate', 100_000), paramText('workers', 3)],
    ['4 KiB', '1.5 KiB', '100k', '3'],
  );
});

test('percentiles are lines from the median on, without the file naming the median twice', () => {
  const report = buildReport([fixture()]);
  const drawn = String(sweeps(report, report.scenarios[3]!));
  for (const name of ['p50', 'p90', 'p99.99']) assert.ok(drawn.includes(`>${name}</text>`), name);
  assert.equal(drawn.match(/<svg class="sweep"/g)!.length, 3);
});

test('workers by streams are charts of a payload each, over the loads in the order of the rows', () => {
  const whole = fixture();
  const [scenario] = whole.scenarios;
  const grid = [100, 1000].flatMap((payload) =>
    [1, 2].flatMap((workers) => [1, 4].map((streams) => ({ workers, streams, payload }))),
  );
  const rows = grid.map((params) => ({
    label: `${params.workers}x${params.streams} P=${params.payload}`,
    params,
    results: scenario!.rows[0]!.results,
  }));
  const report = buildReport([{ ...whole, scenarios: [{ ...scenario!, rows }] }]);
  const drawn = String(sweeps(report, report.scenarios[0]!));
  assert.equal(drawn.match(/<svg class="sweep"/g)!.length, 2);
  assert.deepEqual(drawn.match(/>\dx\d<\/text>/g)!.slice(0, 4), [
    '>1x1</text>',
    '>1x4</text>',
    '>2x1</text>',
    '>2x4</text>',
  ]);
  assert.ok(drawn.includes('<b>payload = 1000</b>'), 'a chart of the second payload');
});
