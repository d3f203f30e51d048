// A line chart as static SVG: one line per contender, its name at its end, a bar through each point for the spread.
// No script, no legend to look up, no library: see docs/decisions.
import { type Axis, along, figureAxis, sweepAxis } from './axis.ts';
import type { Kind } from './kind.ts';
import { type Markup, markup } from './markup.ts';

export interface Point {
  readonly x: number;
  readonly y: number;
  readonly low: number;
  readonly high: number;
}

export interface Line {
  readonly name: string;
  readonly kind: Kind;
  /** Which of the muted colours a rival has, or which dashes one of ours; the same throughout a scenario. */
  readonly colour: number;
  readonly points: readonly Point[];
}

export interface LinesOptions {
  readonly title: string;
  readonly xText: (x: number) => string;
  /** A figure in full, and shorter where it is a tick of the axis. */
  readonly yText: (y: number) => string;
  readonly yTick: (y: number) => string;
  /** Letters of the longest name, in all charts that stand side by side: they keep one size by it. 0: no names. */
  readonly nameLength: number;
  /** Figures that the axis must show too, so that charts side by side have the same one. */
  readonly alsoShow?: readonly number[];
  /** No names beside the lines and no other chart beside this one: it may be wide. */
  readonly alone?: boolean;
  /** x values are ranks with equal steps (percentiles), not quantities. */
  readonly ranks?: boolean;
}

/** Of a chart with names beside it or others beside it, and of one that stands alone under a legend. */
const PLOT_WIDTH = 226;
const PLOT_WIDTH_ALONE = 380;
const HEIGHT = 232;
const INSET = { left: 46, top: 12, bottom: 24 };
/** Muted colours in the style sheet; past them they come again, dashed. */
const COLOURS = 7;
/** Ours share the one saturated colour and differ by their dashes. */
const DASHES = ['', ' again', ' dotted', ' dashdot'];
const NAME_GAP = 13;
/** A longer name would squeeze the lines: it goes into a legend instead. */
export const NAME_LENGTH_MAX = 30;
/** More names than this at the lines' ends would push each other away from their lines. */
export const NAMES_MAX = 7;
/** Room of one letter of a name, generous enough for the widest of the fonts that we ask for. */
const LETTER_WIDTH = 5.5;

function short(name: string): string {
  return name.length <= NAME_LENGTH_MAX ? name : `${name.slice(0, NAME_LENGTH_MAX - 1).trimEnd()}…`;
}

function colourClass(line: Pick<Line, 'kind' | 'colour'>): string {
  if (line.kind === 'ours') return `ours${DASHES[line.colour % DASHES.length]}`;
  if (line.kind === 'limit') return 'limit';
  return `s${line.colour % COLOURS}${line.colour >= COLOURS ? ' again' : ''}`;
}

/** The names with a piece of their lines, for where several charts share them. */
export function legend(all: readonly Pick<Line, 'kind' | 'colour' | 'name'>[]): Markup {
  const items = all.map(
    (line) =>
      markup`<li class="${colourClass(line)}"><svg viewBox="0 0 22 8" width="22" height="8" aria-hidden="true"><path class="line" fill="none" stroke="currentColor" d="M1 4H21"/><circle class="dot" cx="11" cy="4" r="2.6"/></svg>${line.name}</li>`,
  );
  return markup`<ul class="legend">${items}</ul>`;
}

/** Moves the names apart until none covers another, keeping their order and staying on the picture. */
function spreadOut(heights: readonly number[]): number[] {
  const order = heights.map((_, at) => at).sort((a, b) => heights[a]! - heights[b]!);
  const placed = [...heights];
  let floor = INSET.top;
  for (const at of order) {
    placed[at] = Math.max(placed[at]!, floor);
    floor = placed[at]! + NAME_GAP;
  }
  let ceiling = HEIGHT - INSET.bottom + 6;
  for (const at of order.reverse()) {
    placed[at] = Math.min(placed[at]!, ceiling);
    ceiling = placed[at]! - NAME_GAP;
  }
  return placed;
}

function r(value: number): number {
  return Math.round(value * 10) / 10;
}

/** The chart; undefined when there is no line to draw. */
export function lines(all: readonly Line[], options: LinesOptions): Markup | undefined {
  const drawn = all.filter((line) => line.points.length > 0);
  if (drawn.length === 0) return undefined;
  const points = drawn.flatMap((line) => line.points);
  const yAxis = figureAxis([
    ...points.flatMap((point) => [point.low, point.high, point.y]),
    ...(options.alsoShow ?? []),
  ]);
  const plot = options.alone ? PLOT_WIDTH_ALONE : PLOT_WIDTH;
  const right = INSET.left + plot;
  const named = options.nameLength > 0;
  const letters = Math.min(options.nameLength, NAME_LENGTH_MAX);
  const width = Math.round(right + (named ? 22 + letters * LETTER_WIDTH : 18));
  const xs = points.map((point) => point.x);
  const xAxis: Axis = options.ranks
    ? { log: false, low: Math.min(...xs), high: Math.max(...xs), ticks: [...new Set(xs)] }
    : sweepAxis(xs);
  const x = (value: number): number => r(INSET.left + along(xAxis, value) * plot);
  const y = (value: number): number =>
    r(HEIGHT - INSET.bottom - along(yAxis, value) * (HEIGHT - INSET.top - INSET.bottom));
  const grid = yAxis.ticks.map(
    (tick) =>
      markup`<line class="grid" x1="${INSET.left}" x2="${right}" y1="${y(tick)}" y2="${y(tick)}"/><text font-size="11" x="${INSET.left - 8}" y="${y(tick) + 3.5}" text-anchor="end">${options.yTick(tick)}</text>`,
  );
  const floor = HEIGHT - INSET.bottom;
  const ticks = xAxis.ticks.map(
    (tick) =>
      markup`<line class="axis" x1="${x(tick)}" x2="${x(tick)}" y1="${floor}" y2="${floor + 4}"/><text font-size="11" x="${x(tick)}" y="${floor + 16}" text-anchor="middle">${options.xText(tick)}</text>`,
  );
  const ends = drawn.map((line) => y(line.points[line.points.length - 1]!.y));
  const names = spreadOut(ends);
  // Ours is drawn last, on top of everybody it crosses.
  const order = drawn
    .map((_, at) => at)
    .sort((a, b) => Number(drawn[a]!.kind === 'ours') - Number(drawn[b]!.kind === 'ours'));
  const shapes = order.map((at) => {
    const line = drawn[at]!;
    const last = line.points[line.points.length - 1]!;
    const path = line.points.map((point, index) => `${index === 0 ? 'M' : 'L'}${x(point.x)} ${y(point.y)}`).join('');
    const reach = line.points.map((point) => `M${x(point.x)} ${y(point.low)}V${y(point.high)}`).join('');
    const dots = line.points.map(
      (point) =>
        markup`<circle class="dot" cx="${x(point.x)}" cy="${y(point.y)}" r="${line.kind === 'ours' ? 3.2 : 2.6}"><title>${line.name}, ${options.xText(point.x)}: ${options.yText(point.y)} (${options.yText(point.low)} to ${options.yText(point.high)})</title></circle>`,
    );
    const from = x(last.x) + 6;
    return markup`<g class="${colourClass(line)}"><path class="reach" d="${reach}"/><path class="line" fill="none" stroke="currentColor" d="${path}"/>${dots}${
      named &&
      markup`<path class="leader" d="M${from} ${ends[at]!}L${right + 14} ${r(names[at]!)}"/><text class="name" x="${right + 18}" y="${r(names[at]! + 3.7)}">${short(line.name)}<title>${line.name}</title></text>`
    }</g>`;
  });
  return markup`<svg class="sweep" viewBox="0 0 ${width} ${HEIGHT}" width="${width}" height="${HEIGHT}" role="img" aria-label="${options.title}"><g>${grid}<line class="axis" x1="${INSET.left}" x2="${right}" y1="${floor}" y2="${floor}"/>${ticks}</g>${shapes}</svg>`;
}
