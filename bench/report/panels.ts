// What all line charts of a scenario have in common: who has which colour, where the names go, how charts stand side by side.
import type { Result } from '../schema.ts';
import { type Line, legend, NAME_LENGTH_MAX, NAMES_MAX, type Point } from './lines.ts';
import { type Markup, markup } from './markup.ts';
import { counts, type Report, type RowView, type ScenarioView } from './model.ts';

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

/** A line for each contender, of what `points` makes of its figures. */
export function collect(
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
export function allFigures(rows: readonly RowView[]): number[] {
  return rows.flatMap((row) =>
    row.contenders.flatMap(({ cells }) => cells.filter(counts).flatMap((cell) => [cell.low, cell.high, cell.median])),
  );
}

/** Letters for the names at the lines' ends; 0 when they are too long, too many, or shared by several charts. */
export function nameRoom(report: Report, scenario: ScenarioView): number {
  const longest = longestName(scenario);
  const most = Math.max(...scenario.rows.map((row) => row.contenders.length));
  return report.runs.length > 1 || longest > NAME_LENGTH_MAX || most > NAMES_MAX ? 0 : longest;
}

/** The charts of one family: one run's is a panel, several runs' are a strip of small ones under one legend. */
export function strip(
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
