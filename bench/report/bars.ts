// One figure as a bar: its length is the median, from zero; the line across its end is the spread; each tick is a
// round. Static SVG, stretched by the style sheet to whatever room the cell has, so nothing here knows pixels.
import type { Result } from '../schema.ts';
import type { Kind } from './kind.ts';
import { type Markup, markup } from './markup.ts';
import { counts, type RowView } from './model.ts';

/** Past this many times the longest other bar, a limit is cut off instead of flattening everybody else. */
const LIMIT_SHARE_MAX = 1.5;

/**
 * Right end of the scale of one row: all its bars, in all runs, start at zero and share it. A limit is allowed to
 * stretch the scale a little only; its bar is cut when it is far out.
 */
export function scaleEnd(row: RowView): number {
  let contenders = 0;
  let limits = 0;
  for (const contender of row.contenders) {
    for (const cell of contender.cells) {
      if (cell === undefined || cell.samples.length === 0) continue;
      const end = Math.max(cell.high, cell.median);
      if (contender.kind === 'limit') limits = Math.max(limits, end);
      else contenders = Math.max(contenders, end);
    }
  }
  return (contenders === 0 ? limits : Math.max(contenders, Math.min(limits, contenders * LIMIT_SHARE_MAX))) * 1.02 || 1;
}

function place(value: number, end: number): number {
  return Math.round(Math.max(0, Math.min(100, (value / end) * 100)) * 100) / 100;
}

/** The bar of one result. Hidden from screen readers: the figure beside it says the same. */
export function barMarkup(result: Result, kind: Kind, end: number): Markup {
  const width = place(result.median, end);
  const cut = result.median > end;
  const ticks = result.samples.map((sample) => `M${place(sample, end)} 3v4`).join('');
  const state = counts(result) ? kind : 'unsure';
  return markup`<svg class="bar ${state}" viewBox="0 0 100 10" width="200" height="10" preserveAspectRatio="none" aria-hidden="true"><rect class="fill" width="${width}" height="10"/>${
    cut
      ? markup`<path class="cut" d="M96 0l-1 10M98 0l-1 10"/>`
      : markup`<path class="rounds" d="${ticks}"/><path class="reach" d="M${place(result.low, end)} 5H${place(result.high, end)}"/>`
  }</svg>`;
}

/** A strip in three parts: rows ahead, even, behind. */
export function scoreStrip(ahead: number, even: number, behind: number): Markup {
  const total = Math.max(1, ahead + even + behind);
  const parts = [
    ['ahead', ahead, 1],
    ['even', even, 0.5],
    ['behind', behind, 0.15],
  ] as const;
  let from = 0;
  const rects = parts.map(([name, count, opacity]) => {
    const width = (count / total) * 100;
    // The opacity is for a page without its style sheet, where all three would be black.
    const rect =
      count > 0 && markup`<rect class="${name}" fill-opacity="${opacity}" x="${from}" width="${width}" height="6"/>`;
    from += width;
    return rect;
  });
  return markup`<svg class="score" viewBox="0 0 100 6" width="100" height="6" preserveAspectRatio="none" aria-hidden="true">${rects}</svg>`;
}
