// Invented results of the right shape, for tests and for looking at the report before there is anything to report.
// The machine's name says so. Same seed, same numbers.
import type { Result, Results, Row, ScenarioResults } from '../schema.ts';
import { betterBy } from './model.ts';
import { median } from './stats.ts';

export type Random = () => number;

/** mulberry32: small, seeded, good enough to shake a benchmark with. */
export function random(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let word = Math.imul(state ^ (state >>> 15), state | 1);
    word ^= word + Math.imul(word ^ (word >>> 7), word | 61);
    return ((word ^ (word >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A result around `middle` whose rounds vary by about `noise`, skewed towards slow as real ones are. */
export function result(subject: string, label: string, middle: number, next: Random, noise = 0.04, rounds = 9): Result {
  const samples: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const slower = next() < 0.15 ? noise * 2 * next() : 0;
    samples.push(middle * (1 + noise * (next() + next() - 1) - slower));
  }
  const sorted = [...samples].sort((a, b) => a - b);
  const quarter = Math.floor((rounds - 1) / 4);
  return {
    subject,
    label,
    wait: 'loop/loop',
    samples,
    median: median(samples),
    low: sorted[quarter]!,
    high: sorted[rounds - 1 - quarter]!,
    checked: true,
  };
}

type Line = readonly [subject: string, label: string, ...middles: number[]];

function sweep(
  params: readonly Row['params'][],
  labels: readonly string[],
  lines: readonly Line[],
  next: Random,
): Row[] {
  return params.map((param, at) => ({
    label: labels[at]!,
    params: param,
    results: lines.flatMap(([subject, label, ...middles]) =>
      middles[at] ? [result(subject, label, middles[at]!, next)] : [],
    ),
  }));
}

function scenario(
  name: string,
  title: string,
  seed: string,
  unit: string,
  better: ScenarioResults['better'],
  note: string,
  rows: Row[],
): ScenarioResults {
  const baseline = 'native-port';
  const compared = rows.map((row) => {
    const base = row.results.find((one) => one.subject === baseline);
    if (!base) return row;
    return { ...row, results: row.results.map((one) => ({ ...one, ratio: betterBy(one, base, better) })) };
  });
  return { name, title, seed, unit, better, note, baseline, rows: compared };
}

const SIZES = [64, 256, 1024, 4096, 16384, 65536];
const SIZE_NAMES = ['64 B', '256 B', '1 KiB', '4 KiB', '16 KiB', '64 KiB'];

/** One whole run of invented figures; `speed` moves every figure, as a faster machine or runtime would. */
export function fixture(options: { seed?: number; runtime?: string; version?: string; speed?: number } = {}): Results {
  const next = random(options.seed ?? 1);
  const speed = options.speed ?? 1;
  const up = (...figures: number[]): number[] => figures.map((one) => one * speed);
  const down = (...figures: number[]): number[] => figures.map((one) => one / speed);
  const bytes = (kind: string): Row['params'][] => SIZES.map((payload) => ({ kind, payload }));
  const rate = [
    ...sweep(
      bytes('bytes'),
      SIZE_NAMES.map((size) => `${size} bytes`),
      [
        ['millrace-ring', 'Millrace ring, zero copy', ...up(15.2e6, 16.6e6, 7.4e6, 2.85e6, 1.1e6, 307e3)],
        ['nxtedition-stand-in', '@nxtedition/shared (stand-in)', ...up(3.32e6, 3.1e6, 1.6e6, 397e3, 170e3, 50e3)],
        ['ringbuf-js', 'ringbuf.js', ...up(1.79e6, 1.75e6, 602e3, 155e3, 38e3, 9.1e3)],
        ['native-port', 'MessagePort', ...up(292e3, 290e3, 240e3, 182e3, 92e3, 31e3)],
        ['limit-ring', 'C++ ring (limit)', 61e6, 44e6, 19e6, 6.1e6, 1.6e6, 402e3],
      ],
      next,
    ),
    ...sweep(
      bytes('string'),
      SIZE_NAMES.map((size) => `${size} string`),
      [
        ['millrace-port', 'Millrace port', ...up(5.8e6, 4.1e6, 2.2e6, 610e3, 148e3, 37e3)],
        ['nxtedition-stand-in', '@nxtedition/shared (stand-in)', ...up(3.9e6, 3.3e6, 1.9e6, 604e3, 171e3, 46e3)],
        ['native-port', 'MessagePort', ...up(345e3, 340e3, 301e3, 210e3, 99e3, 38e3)],
      ],
      next,
    ),
  ];
  const trip: readonly Line[] = [
    ['millrace-port', 'Millrace port', ...down(5.7, 7.4, 7.7, 9.2)],
    ['sab-message-port', 'sab-message-port 1.0.4', ...down(53.9, 41.6, 53.9, 45.1)],
    ['native-port', 'MessagePort, event loops', ...down(38, 38.1, 37.5, 9.1)],
  ];
  const tripLabels = ['both block', 'worker blocks', 'event loops', 'broadcast of one'];
  const trips = sweep(
    tripLabels.map((ways) => ({ ways })),
    tripLabels,
    trip,
    next,
  ).map((row) => ({
    ...row,
    results: row.results.map((one, at) => ({
      ...one,
      cpu: { usPerMessage: at === 0 ? 11.2 : 31.5, cores: at === 0 ? 1.94 : 0.87 },
    })),
  }));
  const loads = ['1x1', '1x4', '2x1'].flatMap((load) => [100, 1000].map((payload) => ({ load, payload })));
  const article = sweep(
    loads,
    loads.map((one) => `${one.load} P=${one.payload}`),
    [
      ['child-process-json', 'child_process.send, json', ...up(21.5e3, 16.6e3, 89.8e3, 60e3, 35.8e3, 24e3)],
      ['unix-opt', 'unix socket, concatenation (“opt”)', ...up(35.8e3, 26.2e3, 122e3, 81e3, 49.5e3, 33e3)],
      ['tcp-json', 'TCP, JSON lines', ...up(24.3e3, 13.6e3, 64.7e3, 41e3, 30e3, 19e3)],
      ['redis', 'Redis pub/sub (ioredis)', ...up(9.1e3, 6.8e3, 13.3e3, 8e3, 8.6e3, 5e3)],
    ],
    next,
  );
  const latency = sweep(
    [1000, 10_000, 100_000].map((perSecond) => ({ perSecond })),
    ['1,000 per second', '10,000 per second', '100,000 per second'],
    [
      ['millrace-port', 'Millrace port', ...down(9.1, 8.3, 7.2)],
      ['native-port', 'MessagePort', ...down(31, 29, 5100)],
    ],
    next,
  ).map((row) => ({
    ...row,
    results: row.results.map((one) => ({
      ...one,
      extra: {
        p90: one.median * 1.4,
        p99: one.median * 2.9,
        'p99.9': one.median * 11,
        'p99.99': one.median * 36,
      },
    })),
  }));
  return {
    schema: 1,
    date: '2026-11-21T12:00:00.000Z',
    command: 'npx millrace bench --json results.json',
    commit: '0000000',
    quick: false,
    partial: false,
    seconds: 1234,
    machine: {
      cpu: 'Invented CPU (a fixture, not a measurement)',
      cores: 2,
      memoryBytes: 8 * 2 ** 30,
      os: 'Debian 12',
      kernel: '6.1.0',
      arch: 'x64',
    },
    runtime: {
      name: options.runtime ?? 'node',
      version: options.version ?? '24.21.0',
      engine: options.runtime === 'bun' ? 'jsc 1.0' : 'v8 13.6',
      packages: { 'ringbuf.js': '0.4.0', ioredis: '5.8.0' },
    },
    noise: { probesMs: [10, 10.1, 10, 10.2], medianMs: 10.05, ratio: 1.02, bad: false, limit: 1.15 },
    scenarios: [
      scenario(
        'shared-rate',
        'Messages per second through one ring, one way',
        '001',
        'msg/s',
        'higher',
        'The reader touches every byte. The C++ ring is the machine’s limit, not a rival.',
        rate,
      ),
      scenario(
        'smp-round-trip',
        'Round trip of a 118-byte object in four configurations',
        '000',
        'us',
        'lower',
        'Blocking configurations spin first: the cores column says what that costs.',
        trips,
      ),
      scenario(
        'article-2016',
        'W processes times C streams, payload P',
        '004',
        'msg/s',
        'higher',
        'Rivals only: our process transport joins later.',
        article,
      ),
      scenario(
        'latency-histogram',
        'Latency at a fixed rate, coordinated omission corrected',
        '',
        'us',
        'lower',
        'Measured from the moment a message was due, not from when it was sent.',
        latency,
      ),
    ],
    absent: [{ subject: 'nats', reason: 'nats-server is not installed', remedy: 'apt install nats-server' }],
  };
}
