// Results as text: one block per row, one line per contender, a bar for the eye.
import { unitOfExtra } from './extra.ts';
import type { Result, Results, Row, ScenarioResults } from './schema.ts';

const BAR = 20;

export function printScenario(scenario: ScenarioResults): string {
  const arrow = scenario.better === 'higher' ? 'more is better' : 'less is better';
  const seed = scenario.seed ? `, seed ${scenario.seed}` : '';
  const lines = ['', `## ${scenario.name}: ${scenario.title} (${scenario.unit}, ${arrow}${seed})`];
  for (const row of scenario.rows) lines.push('', `   ${row.label}`, ...printRow(row, scenario));
  return lines.join('\n');
}

function printRow(row: Row, scenario: ScenarioResults): string[] {
  const most = Math.max(...row.results.map((result) => result.median));
  const width = Math.max(...row.results.map((result) => result.label.length));
  return row.results.map((result) => {
    const name = result.label.padEnd(width);
    if (result.samples.length === 0) return `   ${name}  ${result.note ?? 'no result'}`;
    return `   ${name}  ${bar(result.median, most)} ${figures(result, scenario.unit)}`;
  });
}

function bar(value: number, most: number): string {
  const eighths = Math.max(1, Math.round((value / most) * BAR * 8));
  const full = '█'.repeat(Math.floor(eighths / 8));
  const rest = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'][eighths % 8]!;
  return (full + rest).padEnd(BAR);
}

function figures(result: Result, unit: string): string {
  const parts = [
    quantity(result.median, unit).padStart(11),
    `[${quantity(result.low, unit)} .. ${quantity(result.high, unit)}]`.padEnd(25),
    result.ratio === undefined ? '' : `x${short(result.ratio)}`.padEnd(7),
    result.verdict === 'no difference' ? 'no difference' : '',
    result.cpu ? `cpu ${short(result.cpu.usPerMessage)} us/msg, ${short(result.cpu.cores)} cores` : '',
    result.memory?.peakBytes ? `peak ${quantity(result.memory.peakBytes, 'bytes')}` : '',
    result.memory?.perUnitBytes ? `${quantity(result.memory.perUnitBytes, 'bytes')} each` : '',
    result.memory?.heapUnitBytes ? `heap ${quantity(result.memory.heapUnitBytes, 'bytes')} each` : '',
    ...Object.entries(result.extra ?? {}).map(([name, value]) => `${name} ${quantity(value, unitOfExtra(name, unit))}`),
    result.checked ? '' : 'CHECKSUM DIFFERS',
    result.note ?? '',
  ];
  return parts.filter((part) => part.trim() !== '').join('  ');
}

/** `12345678`, 'msg/s' -> `12.3 M/s`. */
export function quantity(value: number, unit: string): string {
  if (unit === 'msg/s') return `${scaled(value, 1000, ['', 'K', 'M', 'G'])}/s`;
  if (unit === 'B/s') return `${scaled(value, 1024, ['', 'Ki', 'Mi', 'Gi'])}B/s`;
  if (unit === 'ns' || unit === 'us') {
    const units = unit === 'ns' ? ['ns', 'us', 'ms', 's'] : ['us', 'ms', 's'];
    return scaled(value, 1000, units);
  }
  if (unit === 'bytes') return `${scaled(value, 1024, ['', 'Ki', 'Mi', 'Gi'])}B`;
  // Long units stand in the heading.
  return unit.includes('/') ? short(value) : `${short(value)} ${unit}`;
}

function scaled(value: number, base: number, prefixes: readonly string[]): string {
  let rest = value;
  let i = 0;
  while (rest >= base && i < prefixes.length - 1) {
    rest /= base;
    i++;
  }
  return `${short(rest)} ${prefixes[i]}`;
}

/** Three significant digits without an exponent. */
export function short(value: number): string {
  if (!Number.isFinite(value)) return '-';
  if (value >= 100) return Math.round(value).toLocaleString('en-US');
  return String(Number(value.toPrecision(3)));
}

export function printHead(results: Results): string {
  const { machine, runtime, noise } = results;
  const lines = [
    `${runtime.name} ${runtime.version} (${runtime.engine}), ${machine.cpu}, ${machine.cores} cores, ${machine.os}, ${machine.kernel}`,
    `${results.date}, commit ${results.commit || 'unknown'}, ${results.command}`,
    `noise: a fixed piece of arithmetic took ${noise.ratio} times its time in silence (90th percentile)${noise.bad ? ` -- ABOVE ${noise.limit}: this machine was busy, do not quote these numbers` : ''}`,
  ];
  if (results.partial) lines.push('interrupted: what was measured is shown');
  for (const { subject, reason, remedy } of results.absent) {
    lines.push(`absent: ${subject}: ${reason}${remedy ? ` -- ${remedy}` : ''}`);
  }
  return lines.join('\n');
}
