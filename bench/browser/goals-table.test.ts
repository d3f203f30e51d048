// runtimes: once
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Result, type Results, SCHEMA } from '../schema.ts';
import { goalsTable } from './goals-table.ts';

const result = (subject: string, median: number): Result => ({
  subject,
  label: subject,
  samples: [median],
  median,
  low: median,
  high: median,
  checked: true,
});

const file: Results = {
  schema: SCHEMA,
  date: '2026-11-26T00:00:00.000Z',
  command: 'npm run bench -- browsers',
  commit: '',
  quick: false,
  partial: false,
  seconds: 1,
  machine: { cpu: '', cores: 2, memoryBytes: 0, os: '', kernel: '', arch: '' },
  runtime: { name: 'chromium', version: '156.0', engine: '', packages: {} },
  noise: { probesMs: [], medianMs: 0, ratio: 2, bad: true, limit: 1.25 },
  absent: [],
  scenarios: [
    {
      name: 'browsers',
      title: '',
      seed: '000',
      unit: 'us',
      better: 'lower',
      note: '',
      baseline: 'native-port',
      rows: [
        {
          label: 'round trip, 118 B object',
          params: {},
          results: [result('millrace-port:loop', 30), result('native-port', 40), result('worker-post', 60)],
        },
        {
          label: '64 KiB blocks to a worker',
          params: {},
          results: [result('millrace-port:loop', 90), result('native-port', 60)],
        },
      ],
    },
  ],
};

test('goals are reached or not, and rows that a rival wins say so', () => {
  const lines = goalsTable([file]).split('\n');
  for (const expected of [
    '| native-port | 40.0 µs (40.0 µs to 40.0 µs) |',
    '| 118 B there and back, beside MessagePort | **not reached: 0.75** of 0.5 |',
    '| 118 B there and back, beside worker.postMessage | reached: 0.5 |',
    '| 3 MB text, the same again: at most 1 ms | not measured |',
    '| round trip, 118 B object | ours, 0.75 of native-port |',
    '| 64 KiB blocks to a worker | **native-port wins**, ours takes 1.5 |',
    'The machine was busy in the runs of Chromium 156.0.',
  ])
    assert.ok(lines.includes(expected), `${expected}\n${lines.join('\n')}`);
});
