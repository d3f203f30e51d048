// The table of one scenario: a block of lines per row, one line per contender, best first. One run gets a column for
// each property; several runs get a column each. Without a style sheet it is still a plain table of figures.
import { unitOfExtra } from '../extra.ts';
import type { Result, ScenarioResults } from '../schema.ts';
import { barMarkup, scaleEnd } from './bars.ts';
import { figure, spread, times, unitName } from './format.ts';
import { type Markup, markup, nameMarkup } from './markup.ts';
import {
  betterBy,
  type Contender,
  counts,
  onlyOurs,
  overlap,
  type Report,
  type RowView,
  type ScenarioView,
  type Standing,
} from './model.ts';

/** How our best stands in a row, in words: a rival's win is said as plainly as ours. */
export function verdictText(
  standing: Standing | undefined,
  alone = false,
): { outcome: string; strong: string; rest: string } {
  if (!standing) return { outcome: 'none', strong: '', rest: alone ? 'only Millrace waits this way' : 'not compared' };
  const { outcome, ratio, rival } = standing;
  if (outcome === 'even') return { outcome, strong: 'No difference', rest: `to ${rival.label}: the spreads overlap` };
  if (outcome === 'ahead') return { outcome, strong: `${times(ratio)} ahead`, rest: `of ${rival.label}` };
  return { outcome, strong: `${rival.label} wins`, rest: `by ${times(1 / ratio)}` };
}

function verdictCell(standing: Standing | undefined, alone: boolean, run: string | undefined, span: number): Markup {
  const { outcome, strong, rest } = verdictText(standing, alone);
  return markup`<td class="verdict ${outcome}" colspan="${span}"${run !== undefined && markup` data-of="${run}"`}><span><b>${nameMarkup(strong)}</b> ${nameMarkup(rest)}</span></td>`;
}

function value(result: Result, unit: string): Markup {
  return markup`<data value="${result.median}">${figure(result.median, unit)}</data>`;
}

function span(result: Result, unit: string): Markup {
  return markup`<data value="${result.low}..${result.high}">${spread(result.low, result.high, result.median, unit)}</data>`;
}

/** What must stand beside a name: remarks, and a disagreement of the two ends. */
function asides(cells: readonly (Result | undefined)[]): Markup[] {
  const texts = new Set<string>();
  for (const cell of cells) {
    if (!cell) continue;
    if (cell.checked === false && cell.samples.length > 0) {
      texts.add('not counted: the two ends disagree on what went through');
    }
    if (cell.note) texts.add(cell.note);
  }
  return [...texts].map((text) => markup`<span class="aside">${text}</span>`);
}

function name(contender: Contender): Markup {
  return markup`<th scope="row">${nameMarkup(contender.label)}${asides(contender.cells)}</th>`;
}

/** What our best is against this contender: `4.6× ahead`. */
function against(contender: Contender, row: RowView, better: ScenarioResults['better']): Markup | string {
  const ours = row.standings[0]?.ours;
  const cell = contender.cells[0];
  if (!ours || !counts(cell) || contender.kind === 'ours') return '';
  const ratio = betterBy(ours, cell, better);
  if (overlap(ours, cell)) return 'no difference';
  if (ratio >= 1) return `${times(ratio)} ahead`;
  return contender.kind === 'limit'
    ? `at ${Math.round(ratio * 100)} %`
    : markup`<span class="behind-mark">${times(1 / ratio)} behind</span>`;
}

/** A column of the one-run table after the figure and its spread; on a phone its title stands before its text. */
interface Property {
  readonly title: string;
  readonly kind: 'against' | 'base' | 'more';
  of(cell: Result, contender: Contender, row: RowView): Markup | string;
}

function costs(): Property[] {
  const more = (title: string, of: (cell: Result) => string): Property => ({ title, kind: 'more', of });
  return [
    more('cores busy', (cell) => (cell.cpu ? cell.cpu.cores.toFixed(2) : '')),
    more('CPU each', (cell) => (cell.cpu ? figure(cell.cpu.usPerMessage, 'us') : '')),
    more('peak memory', ({ memory }) => (memory?.peakBytes === undefined ? '' : figure(memory.peakBytes, 'bytes'))),
    more('memory each', ({ memory }) =>
      memory?.perUnitBytes === undefined ? '' : figure(memory.perUnitBytes, 'bytes'),
    ),
    more('heap each', ({ memory }) =>
      memory?.heapUnitBytes === undefined ? '' : figure(memory.heapUnitBytes, 'bytes'),
    ),
  ];
}

/** The properties that at least one contender of the scenario has. */
function properties(scenario: ScenarioView): Property[] {
  const { unit, better, baseline } = scenario.head;
  const extras = new Set<string>();
  for (const row of scenario.rows) {
    for (const { cells } of row.contenders) for (const key of Object.keys(cells[0]?.extra ?? {})) extras.add(key);
  }
  const all: Property[] = [
    ...[...extras].map((key): Property => {
      return {
        title: key,
        kind: 'more',
        of: ({ extra }) => (extra?.[key] === undefined ? '' : figure(extra[key], unitOfExtra(key, unit))),
      };
    }),
    ...costs(),
    {
      title: 'ratio',
      kind: 'base',
      of: (cell) => (cell.ratio === undefined || cell.subject === baseline ? '' : times(cell.ratio)),
    },
    { title: 'Millrace', kind: 'against', of: (_, contender, row) => against(contender, row, better) },
  ];
  return all.filter((property) =>
    scenario.rows.some((row) =>
      row.contenders.some(
        ({ cells: [cell] }, at) => counts(cell) && String(property.of(cell, row.contenders[at]!, row)) !== '',
      ),
    ),
  );
}

function lineOfOne(
  contender: Contender,
  row: RowView,
  unit: string,
  end: number,
  columns: readonly Property[],
): Markup {
  const cell = contender.cells[0];
  if (!cell || cell.samples.length === 0) {
    return markup`<tr class="${contender.kind}">${name(contender)}<td class="chart"></td><td class="num figure">${cell ? 'failed' : '–'}</td><td class="empty" colspan="${columns.length + 1}"></td></tr>`;
  }
  const more = columns.map((column) => {
    const text = column.of(cell, contender, row);
    return markup`<td class="num ${column.kind}${String(text) === '' && ' empty'}" data-of="${column.title}">${text}</td>`;
  });
  return markup`<tr class="${contender.kind}">${name(contender)}<td class="chart">${barMarkup(cell, contender.kind, end)}</td><td class="num figure">${value(cell, unit)}</td><td class="num spread">${span(cell, unit)}</td>${more}</tr>`;
}

/** Further figures and costs in few letters, for a cell of several runs. */
function inShort(cell: Result, unit: string): Markup | undefined {
  const parts = Object.entries(cell.extra ?? {}).map(([key, of]) => `${key} ${figure(of, unitOfExtra(key, unit))}`);
  if (cell.cpu) parts.push(`${cell.cpu.cores.toFixed(2)} cores`);
  if (cell.memory?.peakBytes !== undefined) parts.push(`peak ${figure(cell.memory.peakBytes, 'bytes')}`);
  if (cell.memory?.perUnitBytes !== undefined) parts.push(`${figure(cell.memory.perUnitBytes, 'bytes')} each`);
  if (cell.memory?.heapUnitBytes !== undefined) parts.push(`heap ${figure(cell.memory.heapUnitBytes, 'bytes')} each`);
  const spans = parts.map((part, at) => markup`${at > 0 && ' · '}<span class="nb">${part}</span>`);
  return parts.length === 0 ? undefined : markup`<span class="aside">${spans}</span>`;
}

function cellOfMany(cell: Result | undefined, contender: Contender, unit: string, end: number, run: string): Markup {
  if (!cell) return markup`<td class="empty">–</td>`;
  if (cell.samples.length === 0) return markup`<td data-of="${run}">failed</td>`;
  return markup`<td data-of="${run}">${barMarkup(cell, contender.kind, end)}<span class="both"><span class="figure">${value(cell, unit)}</span> <span class="spread">${span(cell, unit)}</span></span>${inShort(cell, unit)}</td>`;
}

function block(row: RowView, unit: string, report: Report, columns: readonly Property[]): Markup {
  const end = scaleEnd(row);
  const one = report.runs.length === 1;
  const names = report.runs.map((run) => run.name);
  const alone = onlyOurs(row);
  const verdicts = row.standings.map((standing, at) =>
    verdictCell(standing, alone, one ? undefined : names[at]!, one ? 3 + columns.length : 1),
  );
  const lines = row.contenders.map((contender) => {
    if (one) return lineOfOne(contender, row, unit, end, columns);
    const cells = contender.cells.map((cell, at) => cellOfMany(cell, contender, unit, end, names[at]!));
    return markup`<tr class="${contender.kind}">${name(contender)}${cells}</tr>`;
  });
  return markup`<tbody class="row"><tr><th scope="rowgroup" class="label">${row.label}</th>${verdicts}</tr>${lines}</tbody>\n`;
}

function baselineLabel(scenario: ScenarioView): string {
  for (const row of scenario.rows) {
    const found = row.contenders.find((contender) => contender.subject === scenario.head.baseline);
    if (found) return found.label;
  }
  return scenario.head.baseline;
}

/** Columns up to which the bars may have their share: percentiles need more. */
const ROOMY = 7;

/** The whole table of a scenario. */
export function resultsTable(report: Report, scenario: ScenarioView): Markup {
  const { head } = scenario;
  const direction = head.better === 'higher' ? 'more is better' : 'less is better';
  const one = report.runs.length === 1;
  const columns = one ? properties(scenario) : [];
  const titles = ['median', 'spread', ...columns.map((column) => column.title)];
  const ratio = columns.some((column) => column.kind === 'base') && `; ratio: against ${baselineLabel(scenario)}`;
  const headings = one
    ? markup`<th></th>${titles.map((title) => markup`<th class="num">${nameMarkup(title)}</th>`)}`
    : report.runs.map((run) => markup`<th>${run.name}</th>`);
  const blocks = scenario.rows.map((row) => block(row, head.unit, report, columns));
  return markup`<div class="scroll"><table class="results stack ${one ? 'one' : 'many'}${columns.length > ROOMY && ' crowded'}"><caption>${unitName(head.unit)}, ${direction}; bars of one block share a scale from zero${ratio}</caption><thead><tr><th>contender</th>${headings}</tr></thead>
${blocks}</table></div>`;
}
