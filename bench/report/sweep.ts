// Finds what can be drawn as lines in a scenario: rows that differ in one number, and percentiles of one row.
import type { Result } from '../schema.ts';
import { figure, tickText } from './format.ts';
import { type Line, legend, lines, type Point } from './lines.ts';
import { type Markup, markup } from './markup.ts';
import { counts, type Report, type RowView, type ScenarioView } from './model.ts';

const POINTS_MIN = 3;

/** The numeric parameter with the most values, if every row has it and it takes three values or more. */
export function sweptParam(rows: readonly RowView[]): string | undefined {
  const values = new Map<string, Set<number>>();
  for (const row of rows) {
    for (const [name, value] of Object.entries(row.params)) {
      if (typeof value === 'number') values.set(name, (values.get(name) ?? new Set()).add(value));
    }
  }
  const full = [...values].filter(([name]) => rows.every((row) => typeof row.params[name] === 'number'));
  full.sort((a, b) => b[1].size - a[1].size);
  return full[0] && full[0][1].size >= POINTS_MIN ? full[0][0] : undefined;
}

/** Rows in families that differ in the swept parameter only, keyed by what the others are. */
function families(rows: readonly RowView[], swept: string): Map<string, RowView[]> {
  const found = new Map<string, RowView[]>();
  for (const row of rows) {
    const rest = Object.entries(row.params)
      .filter(([name]) => name !== swept)
      .map(([name, value]) => (typeof value === 'number' ? `${name} ${value}` : value));
    const key = rest.join(', ');
    found.set(key, [...(found.get(key) ?? []), row]);
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

/** Colours by subject, so that a rival keeps its own in every panel of a scenario. */
function colours(scenario: ScenarioView): Map<string, number> {
  const found = new Map<string, number>();
  for (const row of scenario.rows) {
    for (const { subject, kind } of row.contenders) {
      if (kind !== 'ours' && !found.has(subject)) found.set(subject, found.size);
    }
  }
  return found;
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

/** One run: panels beside each other, names at the lines' ends. Several: a strip of small panels under one legend. */
function strip(
  report: Report,
  heading: string,
  all: readonly Line[][],
  draw: (lines: Line[]) => Markup | undefined,
): Markup {
  const panels = all.map((lines, at) => {
    const chart = draw(lines);
    const caption = report.runs.length > 1 ? report.runs[at]!.name : markup`<b>${heading}</b>`;
    return chart && markup`<figure><figcaption>${caption}</figcaption>${chart}</figure>`;
  });
  if (report.runs.length === 1) return markup`${panels}`;
  const names = new Map(all.flat().map((line) => [line.name, line]));
  return markup`<div class="family"><h3>${heading}</h3>${legend([...names.values()])}<div class="strip">${panels}</div></div>`;
}

function sweepPanels(report: Report, scenario: ScenarioView): Markup[] {
  const swept = sweptParam(scenario.rows);
  if (swept === undefined) return [];
  const unit = scenario.head.unit;
  const found: Markup[] = [];
  for (const [heading, rows] of families(scenario.rows, swept)) {
    if (new Set(rows.map((row) => row.params[swept])).size < POINTS_MIN) continue;
    const all = report.runs.map((_, run) =>
      collect(scenario, rows, run, (result, row) => [
        { x: Number(row.params[swept]), y: result.median, low: result.low, high: result.high },
      ]),
    );
    const draw = (some: Line[]): Markup | undefined =>
      lines(some, {
        title: `${scenario.head.title}, ${heading} by ${swept}: the table below has the figures`,
        nameLength: report.runs.length > 1 ? 0 : longestName(scenario),
        alsoShow: allFigures(rows),
        xText: (value) => paramText(swept, value),
        yText: (value) => figure(value, unit),
        yTick: (value) => tickText(value, unit),
      });
    found.push(strip(report, heading || `by ${swept}`, all, draw));
  }
  return found;
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
  const ranks = [...names].sort((a, b) => Number(a.slice(1)) - Number(b.slice(1)));
  if (ranks.length < POINTS_MIN) return [];
  const unit = scenario.head.unit;
  return scenario.rows.map((row) => {
    const all = report.runs.map((_, run) =>
      collect(scenario, [row], run, (result) =>
        ranks.flatMap((name, x) => {
          const y = result.extra?.[name];
          return y === undefined ? [] : [{ x, y, low: y, high: y }];
        }),
      ),
    );
    const draw = (some: Line[]): Markup | undefined =>
      lines(some, {
        title: `${scenario.head.title}, ${row.label}, percentiles: the table below has the figures`,
        nameLength: report.runs.length > 1 ? 0 : longestName(scenario),
        alsoShow: all.flat().flatMap((line) => line.points.map((point) => point.y)),
        xText: (x) => ranks[x]!,
        yText: (value) => figure(value, unit),
        yTick: (value) => tickText(value, unit),
        ranks: true,
      });
    return strip(report, row.label, all, draw);
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
