// What was measured as a results file: the shape of bench/schema.ts, which `millrace report` reads.
import type { Compared } from '../browser/measure/index.ts';
import { type Result, type Results, SCHEMA, type ScenarioResults } from '../schema.ts';
import { browser } from './browser.ts';

/** Above it somebody else had the processor's cores (`Noise` of bench/schema.ts). */
export const NOISE_LIMIT = 1.25;

/** One of the two measurements. */
export interface Measurement {
  readonly name: 'page-round-trip' | 'page-stream';
  readonly title: string;
  readonly unit: 'us' | 'msg/s';
  readonly row: Compared;
}

/** A result in messages a second; its samples were microseconds for each. */
export function perSecond(result: Result): Result {
  if (result.samples.length === 0) return result;
  const turned = (value: number): number => 1e6 / value;
  return {
    ...result,
    samples: result.samples.map(turned),
    median: turned(result.median),
    low: turned(result.high),
    high: turned(result.low),
  };
}

function scenarioOf({ name, title, unit, row }: Measurement): ScenarioResults {
  const { label, params, results } = row;
  return {
    name,
    title,
    seed: '',
    unit,
    better: unit === 'us' ? 'lower' : 'higher',
    note: 'Measured in a page, between it and a worker. A browser tells a page neither its processor nor what else it was doing.',
    baseline: 'native-port',
    rows: [{ label, params, results: [...results] }],
  };
}

/** What the server knows of the source; a page knows nothing of it. */
const commit = (): Promise<string> =>
  fetch('/bench/page/commit').then(
    (answer) => (answer.ok ? answer.text() : ''),
    () => '',
  );

export interface Run {
  readonly date: Date;
  readonly seconds: number;
  readonly quick: boolean;
  readonly partial: boolean;
  readonly measurements: readonly Measurement[];
}

export async function resultsOf({ date, seconds, quick, partial, measurements }: Run): Promise<Results> {
  const { name, version, engine, os } = browser();
  const ratio = Math.max(...measurements.map(({ row }) => row.noiseRatio));
  const absent = new Map(measurements.flatMap(({ row }) => row.absent).map((one) => [one.subject, one]));
  return {
    schema: SCHEMA,
    date: date.toISOString(),
    command: 'npm run page',
    commit: await commit(),
    quick,
    partial,
    seconds: Math.round(seconds),
    machine: {
      cpu: 'a processor that browsers do not name',
      cores: navigator.hardwareConcurrency ?? 0,
      // Rounded by the browser, and capped; many do not tell.
      memoryBytes: ((navigator as { deviceMemory?: number }).deviceMemory ?? 0) * 2 ** 30,
      os,
      kernel: crossOriginIsolated ? 'cross-origin isolated' : 'not isolated',
      arch: 'unknown',
    },
    runtime: { name, version, engine, packages: {} },
    noise: { probesMs: [], medianMs: 0, ratio, bad: ratio > NOISE_LIMIT, limit: NOISE_LIMIT },
    scenarios: measurements.map(scenarioOf),
    absent: [...absent.values()],
  };
}

/** `millrace-chromium-156-2026-11-25.json` */
export function fileName({ runtime, date }: Results): string {
  const words = [runtime.name, runtime.version, date.slice(0, 10)].join('-').toLowerCase();
  return `millrace-${words.replace(/[^a-z0-9.-]+/g, '-')}.json`;
}
