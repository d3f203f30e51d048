// The picture for the README: one static SVG that follows the reader's light or dark system by itself.
import type { Result } from '../schema.ts';
import { figure, moment, spread } from './format.ts';
import { type Headline, headlines } from './headline.ts';
import { type Markup, markup } from './markup.ts';
import type { Report } from './model.ts';
import { verdictText } from './results-table.ts';
import { PALETTES } from './style.ts';

const WIDTH = 880;
const INSET = 24;
const BAR_FROM = 330;
const BAR_TO = 690;
const LINE = 19;
const HEAD = 92;
const GAP = 21;

const STYLE = `${PALETTES}
text{font:13px ui-sans-serif,-apple-system,"Segoe UI",Inter,Roboto,"Helvetica Neue","Liberation Sans",Arial,sans-serif;font-variant-numeric:tabular-nums;fill:var(--ink)}
.paper{fill:var(--paper)}.h{font-size:20px;font-weight:640;letter-spacing:-.02em}.soft{fill:var(--soft)}.faint{fill:var(--faint);font-size:12px}.b{font-weight:600}
.ours{fill:var(--ours)}.loss{fill:var(--loss)}.ours-bar{fill:var(--ours-fill)}.rival-bar{fill:var(--rival-fill)}.reach{stroke:var(--tick);stroke-width:1.5}.hair{stroke:var(--line)}`;

function short(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1).trimEnd()}…`;
}

function barLine(result: Result, ours: boolean, end: number, unit: string, y: number): Markup {
  const x = (value: number): number => Math.round((BAR_FROM + (value / end) * (BAR_TO - BAR_FROM)) * 10) / 10;
  const width = Math.max(1, x(result.median) - BAR_FROM);
  return markup`<text class="${ours ? 'ours b' : 'soft'}" x="${BAR_FROM - 12}" y="${y + 4}" text-anchor="end">${short(result.label, 38)}</text><rect class="${ours ? 'ours-bar' : 'rival-bar'}" x="${BAR_FROM}" y="${y - 5}" width="${width}" height="10"/><path class="reach" d="M${x(result.low)} ${y}H${x(result.high)}"/><text class="${ours ? 'ours b' : ''}" x="${BAR_TO + 76}" y="${y + 4}" text-anchor="end">${figure(result.median, unit)}</text><text class="faint" x="${WIDTH - INSET}" y="${y + 4}" text-anchor="end">${spread(result.low, result.high, result.median, unit)}</text>`;
}

function block({ scenario, row, standing, native }: Headline, top: number): { markup: Markup; height: number } {
  const results = [standing.ours, standing.rival, ...(native ? [native] : [])];
  const sign = scenario.head.better === 'higher' ? -1 : 1;
  results.sort((a, b) => sign * (a.median - b.median));
  const end = Math.max(...results.map((result) => Math.max(result.high, result.median)));
  const { strong, rest, outcome } = verdictText(standing);
  const colour = outcome === 'ahead' ? 'ours' : outcome === 'behind' ? 'loss' : 'soft';
  const first = top + 42;
  const bars = results.map((result, at) =>
    barLine(result, result === standing.ours, end, scenario.head.unit, first + at * LINE),
  );
  const direction = scenario.head.better === 'higher' ? 'more is better' : 'less is better';
  const height = 42 + results.length * LINE + GAP;
  return {
    markup: markup`<line class="hair" x1="${INSET}" x2="${WIDTH - INSET}" y1="${top}" y2="${top}"/><text class="b" x="${INSET}" y="${top + 22}">${scenario.head.name}<tspan class="faint" font-weight="400" dx="8">${row.label}, ${direction}</tspan></text><text class="${colour}" x="${WIDTH - INSET}" y="${top + 22}" text-anchor="end"><tspan class="b">${strong}</tspan> ${rest}</text>${bars}`,
    height,
  };
}

/** The picture of one run of the report: the middle row of each scenario, ours beside the best rival and the native port. */
export function picture(report: Report, run = 0): string {
  const { name, results } = report.runs[run]!;
  let top = HEAD;
  const blocks = headlines(report, run).map((one) => {
    const drawn = block(one, top);
    top += drawn.height;
    return drawn.markup;
  });
  const foot = `${results.machine.cpu}, ${results.machine.cores} cores · ${moment(results.date)} · ${results.commit.slice(0, 8)} · ${results.command}`;
  const height = top + 36;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-labelledby="title"><style>${STYLE}</style>${markup`<title id="title">Millrace against the best rival, ${name}: the middle row of each scenario</title><rect class="paper" width="${WIDTH}" height="${height}" rx="8"/><text class="h" x="${INSET}" y="42">Millrace, the best rival, and the native port</text><text class="soft" x="${INSET}" y="66">${name}. Of each scenario the row with the middle ratio; bars from zero, the line across is the spread.</text>${blocks}<line class="hair" x1="${INSET}" x2="${WIDTH - INSET}" y1="${top}" y2="${top}"/><text class="faint" x="${INSET}" y="${top + 22}">${short(foot, 132)}</text>`}</svg>\n`;
}
