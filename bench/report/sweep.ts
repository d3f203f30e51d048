// Finds what can be drawn as lines in a scenario: rows that differ in one number, and percentiles of one row.
import type { Result } from '../schema.ts';
import { figure, tickText } from './format.ts';
import { type Line, legend, lines, NAME_LENGTH_MAX, NAMES_MAX, type Point } from './lines.ts';
import { type Markup, markup } from './markup.ts';
import { counts, type Report, type RowView, type ScenarioView } from './model.ts';

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

const BYTE_PARAMS = /^(payload|size|bytes|length)/i;

/** A parameter's value on an axis: sizes in B, KiB, MiB; other numbers with k and M. */
export function paramText(name: string, value: number): string {
  if (BYTE_PARAMS.test(name)) {
    const units = ['B', 'KiB', 'MiB', 'GiB'];
    let at = 0;
    let size = value;
    while (size >= 1024 && at < units.length - 1) {
      size /= 1024;
      at++;
    }
    return `${Number.isInteger(size) ? size : size.toFixed(size < 10 ? 1 : 0)} ${units[at]}`;
  }
  if (value >= 1e6) return `${value / 1e6}M`;
  return value >= 1e4 ? `${value / 1e3}k` : String(value);
}

/** Colours by subject (dashes, for ours), so that each keeps its own in every panel of a scenario. */
function colours(scenario: ScenarioView): Map<string, number> {
  const ours = new Map<string, number>();
  const others = new Map<string, number>();
  for (const row of scenario.rows) {
    for (const { subject, kind } of row.contenders) {
      const found = kind === 'ours' ? ours : others;
      if (!found.has(subject)) found.set(subject, found.size);
    }
  }
  return new Map([...ours, ...others]);
}

function collect(
  scenario: ScenarioView,
  rows: readonly RowView[],
  run: number,
  points: (result: Result, row: RowView) => readonly Point[],
): Line[] {
  const hues = colours(scenario);
  const found = new Map<string, { line: Omit<Line, 'points'>; points: Point[] }>();
  for (const row of rows) {
    for (const { subject, label, kind, cells } of row.contenders) {
      const cell = cells[run];
      if (!counts(cell)) continue;
      const entry = found.get(subject) ?? { line: { name: label, kind, colour: hues.get(subject) ?? 0 }, points: [] };
      entry.points.push(...points(cell, row));
      found.set(subject, entry);
    }
  }
  return [...found.values()].map(({ line, points: all }) => ({ ...line, points: all.sort((a, b) => a.x - b.x) }));
}

function longestName(scenario: ScenarioView): number {
  return Math.max(...scenario.rows.flatMap((row) => row.contenders.map((contender) => contender.label.length)));
}

/** Every figure that the rows have in any run: charts of one family share their axis, so that runs compare by eye. */
function allFigures(rows: readonly RowView[]): number[] {
  return rows.flatMap((row) =>
    row.contenders.flatMap(({ cells }) => cells.filter(counts).flatMap((cell) => [cell.low, cell.high, cell.median])),
  );
}

/** Letters for the names at the lines' ends; 0 when they are too long, too many, or shared by several charts. */
function nameRoom(report: Report, scenario: ScenarioView): number {
  const longest = longestName(scenario);
  const most = Math.max(...scenario.rows.map((row) => row.contenders.length));
  return report.runs.length > 1 || longest > NAME_LENGTH_MAX || most > NAMES_MAX ? 0 : longest;
}

/** The charts of one family: one run's is a panel, several runs' are a strip of small ones under one legend. */
function strip(
  report: Report,
  heading: string,
  all: readonly Line[][],
  named: boolean,
  draw: (lines: Line[]) => Markup | undefined,
): Markup {
  const names = new Map(all.flat().map((line) => [line.name, line]));
  const key = named ? undefined : legend([...names.values()]);
  const charts = all.map(draw);
  if (report.runs.length === 1) {
    return markup`<figure><figcaption><b>${heading}</b>${key}</figcaption>${charts}</figure>`;
  }
  const panels = charts.map(
    (chart, at) => chart && markup`<figure><figcaption>${report.runs[at]!.name}</figcaption>${chart}</figure>`,
  );
  return markup`<div class="family"><h3>${heading}</h3>${key}<div class="strip">${panels}</div></div>`;
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
  const panels = percentiles.length > 0 ? percentiles : sweepPanels(report, scenario);
  return panels.length === 0
    ? undefined
    : markup`<div class="sweeps ${report.runs.length > 1 && 'many'}">${panels}</div>`;
}
