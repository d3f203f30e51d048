// Scales of a chart: where a value lands, and which values deserve a tick.

export interface Axis {
  readonly log: boolean;
  readonly low: number;
  readonly high: number;
  readonly ticks: readonly number[];
}

/** Where a value lies between the ends of the axis, 0 to 1. */
export function along(axis: Axis, value: number): number {
  if (axis.high === axis.low) return 0.5;
  return axis.log
    ? Math.log(value / axis.low) / Math.log(axis.high / axis.low)
    : (value - axis.low) / (axis.high - axis.low);
}

/** Values this far apart are drawn on a logarithmic axis: on a linear one the small ones would lie on the floor. */
const LOG_RATIO_MIN = 8;

/** An axis for figures: linear and from zero, so that heights compare; logarithmic when they span too much. */
export function figureAxis(values: readonly number[]): Axis {
  const low = Math.min(...values);
  const high = Math.max(...values);
  if (low > 0 && high / low >= LOG_RATIO_MIN) return logAxis(low, high);
  const step = niceStep(high || 1);
  const ticks: number[] = [];
  for (let tick = 0; tick <= high + step / 2; tick += step) ticks.push(tick);
  return { log: false, low: 0, high: Math.max(high, ticks[ticks.length - 1]!), ticks };
}

/** A step of 1, 2 or 5 times a power of ten that gives three to five ticks up to `high`. */
function niceStep(high: number): number {
  const power = 10 ** Math.floor(Math.log10(high / 4));
  for (const factor of [1, 2, 5]) if (high / (power * factor) <= 5) return power * factor;
  return power * 10;
}

function logAxis(low: number, high: number): Axis {
  const first = Math.floor(Math.log10(low));
  const last = Math.ceil(Math.log10(high));
  // Under three decades the powers of ten alone would leave two or three lines: add 2 and 5.
  const factors = Math.log10(high / low) < 2.2 ? [1, 2, 5] : [1];
  const all: number[] = [];
  for (let power = first; power <= last; power++) for (const factor of factors) all.push(factor * 10 ** power);
  const from = all.filter((tick) => tick <= low).pop()!;
  const to = all.find((tick) => tick >= high)!;
  // An end far away from the data is not worth the paper: stop a little outside the data instead.
  const ends = { low: low / from > 3 ? low / 1.3 : from, high: to / high > 3 ? high * 1.3 : to };
  return { log: true, ...ends, ticks: all.filter((tick) => tick >= ends.low && tick <= ends.high) };
}

/** An axis for a parameter that was swept: its own values are the ticks, thinned to what fits. */
export function sweepAxis(values: readonly number[], ticksMax = 6): Axis {
  const sorted = [...new Set(values)].sort((a, b) => a - b);
  const low = sorted[0]!;
  const high = sorted[sorted.length - 1]!;
  const every = Math.ceil(sorted.length / ticksMax);
  const ticks = sorted.filter((_, at) => (sorted.length - 1 - at) % every === 0);
  return { log: low > 0 && high / low >= LOG_RATIO_MIN, low, high, ticks };
}
