// Finds what can be drawn as lines in a scenario: rows that differ in one number, and percentiles of one row.
import { figure, tickText } from './format.ts';
import { type Line, lines } from './lines.ts';
import { type Markup, markup } from './markup.ts';
import type { Report, RowView, ScenarioView } from './model.ts';
import { allFigures, collect, nameRoom, paramText, strip } from './panels.ts';
import { workloadPanels } from './workloads.ts';

const POINTS_MIN = 3;

/** Rows that differ in one number only. */
interface Family {
  readonly swept: string;
  /** The other parameters, as far as they tell families apart. */
  readonly heading: string;
  readonly rows: readonly RowView[];
}

/** The parameters that are not the same in all rows: only these are worth a word in a heading. */
function telling(rows: readonly RowView[]): Set<string> {
  const found = new Set<string>();
  for (const row of rows) {
    for (const [name, value] of Object.entries(row.params)) if (rows[0]!.params[name] !== value) found.add(name);
  }
  return found;
}

/** `string`, `burst 10`, `repeated: yes`; nothing for a number that is zero, which says that it does not apply. */
function word(name: string, value: string | number): string {
  if (typeof value === 'number') return value === 0 ? '' : `${name} ${paramText(name, value)}`;
  return /^(yes|no|true|false)$/.test(value) ? `${name}: ${value}` : value;
}

/**
 * Families of three rows or more along one numeric parameter. A parameter with many values comes first, and a row
 * that it has taken is not drawn again along another.
 */
export function families(rows: readonly RowView[]): Family[] {
  const values = new Map<string, Set<number>>();
  for (const row of rows) {
    for (const [name, value] of Object.entries(row.params)) {
      if (typeof value === 'number') values.set(name, (values.get(name) ?? new Set()).add(value));
    }
  }
  const order = [...values].sort((a, b) => b[1].size - a[1].size).map(([name]) => name);
  const told = telling(rows);
  const taken = new Set<RowView>();
  const found: Family[] = [];
  for (const swept of order) {
    const groups = new Map<string, RowView[]>();
    for (const row of rows) {
      if (taken.has(row) || typeof row.params[swept] !== 'number') continue;
      const rest = Object.entries(row.params).filter(([name]) => name !== swept && told.has(name));
      const key = JSON.stringify(rest);
      groups.set(key, [...(groups.get(key) ?? []), row]);
    }
    for (const [key, group] of groups) {
      if (new Set(group.map((row) => row.params[swept])).size < POINTS_MIN) continue;
      for (const row of group) taken.add(row);
      const words = (JSON.parse(key) as [string, string | number][]).map(([name, value]) => word(name, value));
      found.push({ swept, heading: words.filter((one) => one !== '').join(', ') || `by ${swept}`, rows: group });
    }
  }
  return found;
}

function sweepPanels(report: Report, scenario: ScenarioView): Markup[] {
  const unit = scenario.head.unit;
  const room = nameRoom(report, scenario);
  return families(scenario.rows).map(({ swept, heading, rows }) => {
    const all = report.runs.map((_, run) =>
      collect(scenario, rows, run, (result, row) => [
        { x: Number(row.params[swept]), y: result.median, low: result.low, high: result.high },
      ]),
    );
    const draw = (some: Line[]): Markup | undefined =>
      lines(some, {
        title: `${scenario.head.title}, ${heading} by ${swept}: the table below has the figures`,
        nameLength: room,
        alone: room === 0 && report.runs.length === 1,
        alsoShow: allFigures(rows),
        xText: (value) => paramText(swept, value),
        yText: (value) => figure(value, unit),
        yTick: (value) => tickText(value, unit),
      });
    return strip(report, heading, all, room > 0, draw);
  });
}

const PERCENTILE = /^p(\d+(?:\.\d+)?)$/;

function percentilePanels(report: Report, scenario: ScenarioView): Markup[] {
  const names = new Set<string>();
  for (const row of scenario.rows) {
    for (const { cells } of row.contenders) {
      for (const cell of cells)
        for (const name of Object.keys(cell?.extra ?? {})) if (PERCENTILE.test(name)) names.add(name);
    }
  }
  // The median is a percentile too; a file need not say it twice.
  names.add('p50');
  const ranks = [...names].sort((a, b) => Number(a.slice(1)) - Number(b.slice(1)));
  if (ranks.length < POINTS_MIN) return [];
  const unit = scenario.head.unit;
  const room = nameRoom(report, scenario);
  return scenario.rows.map((row) => {
    const all = report.runs.map((_, run) =>
      collect(scenario, [row], run, (result) =>
        ranks.flatMap((name, x) => {
          const y = result.extra?.[name] ?? (name === 'p50' ? result.median : undefined);
          return y === undefined ? [] : [{ x, y, low: y, high: y }];
        }),
      ),
    );
    const draw = (some: Line[]): Markup | undefined =>
      lines(some, {
        title: `${scenario.head.title}, ${row.label}, percentiles: the table below has the figures`,
        nameLength: room,
        alone: room === 0 && report.runs.length === 1,
        alsoShow: all.flat().flatMap((line) => line.points.map((point) => point.y)),
        xText: (x) => ranks[x]!,
        yText: (value) => figure(value, unit),
        yTick: (value) => tickText(value, unit),
        ranks: true,
      });
    return strip(report, row.label, all, room > 0, draw);
  });
}

/** The line charts of a scenario; undefined when its rows make no line. */
export function sweeps(report: Report, scenario: ScenarioView): Markup | undefined {
  const percentiles = percentilePanels(report, scenario);
  const loads = percentiles.length > 0 ? percentiles : workloadPanels(report, scenario);
  const panels = loads.length > 0 ? loads : sweepPanels(report, scenario);
  return panels.length === 0
    ? undefined
    : markup`<div class="sweeps ${report.runs.length > 1 && 'many'}">${panels}</div>`;
}
