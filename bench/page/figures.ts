// What was measured beside each other, in words and as a table of bars.
import type { Result } from '../schema.ts';
import type { Contender } from './contenders.ts';
import { byId, digits, make } from './dom.ts';

export type Unit = 'us' | 'msg/s';

/** `26.4 µs`, `1.20 million a second`. */
export function figure(value: number, unit: Unit): string {
  if (unit === 'us') return value < 1000 ? `${digits(value)} µs` : `${digits(value / 1000)} ms`;
  return value < 1e6 ? `${digits(value)} a second` : `${digits(value / 1e6)} million a second`;
}

/** How many times as good the first is. */
const timesAsGood = (one: Result, other: Result, unit: Unit): number =>
  unit === 'us' ? other.median / one.median : one.median / other.median;

function best(results: readonly Result[], unit: Unit): Result | undefined {
  return results.reduce<Result | undefined>(
    (found, one) => (found === undefined || timesAsGood(one, found, unit) > 1 ? one : found),
    undefined,
  );
}

/**
 * Our best beside the best of the natives, whichever is ahead; '' where one of them is not there. Ours is one that waits as the native
 * does, if there is one: a worker that blocks answers sooner and can do nothing else.
 */
export function headline(results: readonly Result[], contenders: readonly Contender[], unit: Unit): string {
  const of = (kind: Contender['kind']): Result[] => {
    const names = contenders.filter((it) => it.kind === kind).map(({ name }) => name);
    return results.filter(({ subject, samples, checked }) => names.includes(subject) && samples.length > 0 && checked);
  };
  const native = best(of('native'), unit);
  const alike = of('ours').filter(({ wait }) => wait === native?.wait);
  const ours = best(alike.length > 0 ? alike : of('ours'), unit);
  if (ours === undefined || native === undefined) return '';
  const beside = `${ours.label}: ${figure(ours.median, unit)}; ${native.label}: ${figure(native.median, unit)}`;
  if (ours.low <= native.high && native.low <= ours.high) return `${beside}. Their spreads overlap: no difference.`;
  const times = timesAsGood(ours, native, unit);
  return times > 1
    ? `${beside}. Millrace is ${digits(times)} times as fast.`
    : `${beside}. The native one is ${digits(1 / times)} times as fast.`;
}

/** A row for each contender, the best first: its figure, its spread, and a bar from zero on a scale that all share. */
export function drawTable(id: string, results: readonly Result[], contenders: readonly Contender[], unit: Unit): void {
  const there = results
    .filter(({ samples }) => samples.length > 0)
    .sort((a, b) => (timesAsGood(a, b, unit) > 1 ? -1 : 1));
  const largest = Math.max(...there.map(({ median }) => median));
  const rows = there.map((result) => {
    const contender = contenders.find(({ name }) => name === result.subject);
    const bar = make('span', { class: 'bar' });
    bar.style.inlineSize = `${(result.median / largest) * 100}%`;
    bar.style.background = `var(${contender?.colour})`;
    const spread = `${figure(result.low, unit).replace(/ a second$/, '')} to ${figure(result.high, unit)}`;
    return make(
      'tr',
      { class: contender?.kind ?? 'rival', 'data-subject': result.subject },
      make('th', { scope: 'row' }, result.label, bar),
      make(
        'td',
        { class: 'number' },
        make('b', {}, figure(result.median, unit)),
        make('span', { class: 'small' }, result.checked ? spread : 'messages were lost or changed'),
      ),
    );
  });
  const failed = results
    .filter(({ samples }) => samples.length === 0)
    .map(({ label, note }) =>
      make('tr', {}, make('th', { scope: 'row' }, label), make('td', { class: 'loss' }, note ?? 'not measured')),
    );
  byId(id).replaceChildren(...rows, ...failed);
}
