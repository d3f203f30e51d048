// Numbers for people: three significant digits, the unit's usual prefix, thin spaces nowhere. A figure and its spread
// are scaled together, so that they can be compared by eye.

/** A way to write every number of one cell: divided by `by`, followed by `suffix`. */
interface Scale {
  readonly by: number;
  readonly suffix: string;
}

const METRIC: readonly Scale[] = [
  { by: 1e9, suffix: ' G' },
  { by: 1e6, suffix: ' M' },
  { by: 1e3, suffix: ' k' },
];
const BINARY: readonly Scale[] = [
  { by: 2 ** 30, suffix: ' GiB' },
  { by: 2 ** 20, suffix: ' MiB' },
  { by: 2 ** 10, suffix: ' KiB' },
];
const NANOSECONDS: Readonly<Record<string, number>> = { ns: 1, us: 1e3, µs: 1e3, ms: 1e6, s: 1e9 };
const TIMES: readonly Scale[] = [
  { by: 1e9, suffix: ' s' },
  { by: 1e6, suffix: ' ms' },
  { by: 1e3, suffix: ' µs' },
];

function pick(scales: readonly Scale[], value: number, rest: Scale): Scale {
  for (const scale of scales) if (Math.abs(value) >= scale.by) return scale;
  return rest;
}

/** The scale for a number in `unit`; times and byte counts choose their own prefix, the rest are counted in k, M, G. */
function scaleFor(value: number, unit: string): Scale {
  const perUnit = NANOSECONDS[unit];
  if (perUnit !== undefined) {
    const scale = pick(TIMES, value * perUnit, { by: 1, suffix: ' ns' });
    return { by: scale.by / perUnit, suffix: scale.suffix };
  }
  if (unit === 'bytes' || unit === 'B' || unit === 'B/s') return pick(BINARY, value, { by: 1, suffix: ' B' });
  // A thousand and a bit reads better in full than as `1.23 k`.
  return pick(Math.abs(value) < 10_000 ? [] : METRIC, value, { by: 1, suffix: '' });
}

/** `1234.5` as `1,235`, `12.345` as `12.3`, `0.01234` as `0.0123`. */
export function digits(value: number): string {
  const size = Math.abs(value);
  if (size === 0) return '0';
  if (size >= 100) return group(Math.round(value));
  if (size >= 10) return value.toFixed(1);
  if (size >= 1) return value.toFixed(2);
  return value.toPrecision(3).replace(/(\.\d*?)0+$/, '$1');
}

/** Thousands separated by commas, without asking the machine's locale: reports must not depend on it. */
function group(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** One number in the scenario's unit, with the prefix that suits it: `15.2 M`, `5.60 µs`, `1.21 GiB`. */
export function figure(value: number, unit: string): string {
  const scale = scaleFor(value, unit);
  return digits(value / scale.by) + scale.suffix;
}

/** A round number for an axis: `10 M`, `50 k`, `0.5 µs`, without the zeros that a measured figure keeps. */
export function tickText(value: number, unit: string): string {
  const scale = scaleFor(value, unit);
  return String(Number((value / scale.by).toPrecision(3))) + scale.suffix;
}

/** Low and high in the prefix of the median beside them: `14.8 – 15.6`. */
export function spread(low: number, high: number, median: number, unit: string): string {
  const { by } = scaleFor(median, unit);
  return `${digits(low / by)}–${digits(high / by)}`;
}

/** What stands behind the figures, for headings: the prefix of times and bytes is in the figure already. */
export function unitName(unit: string): string {
  if (unit in NANOSECONDS) return 'time';
  if (unit === 'bytes' || unit === 'B') return 'bytes';
  if (unit === 'msg/s') return 'messages per second';
  if (unit === 'B/s') return 'bytes per second';
  return unit;
}

/** `4.1×`, `1.07×`, `380×`. */
export function times(ratio: number): string {
  const text = ratio >= 100 ? group(Math.round(ratio)) : ratio >= 10 ? ratio.toFixed(0) : ratio.toPrecision(2);
  return `${Math.abs(ratio - 1) < 0.1 && ratio < 10 ? ratio.toFixed(2) : text}×`;
}

/** `+12.3 %`, `−4.0 %`, with a true minus sign. */
export function percent(change: number): string {
  const size = Math.abs(change * 100);
  return `${change < 0 ? '−' : '+'}${size >= 100 ? digits(size) : size.toFixed(1)} %`;
}

/** `2026-11-21 19:26 UTC`. */
export function moment(iso: string): string {
  const time = new Date(iso);
  return Number.isNaN(time.getTime()) ? iso : `${time.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
