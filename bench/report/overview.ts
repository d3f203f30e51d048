// The top of the page: what was run where, the score at a glance, and every row that a rival wins.
import type { Results } from '../schema.ts';
import { scoreStrip } from './bars.ts';
import { figure, moment, times } from './format.ts';
import { type Markup, markup, nameMarkup, slug } from './markup.ts';
import { type Report, runtimeName, type ScenarioView, type Score, type Standing, score } from './model.ts';

type Property = readonly [name: string, of: (results: Results) => Markup | string];

function duration(seconds: number): string {
  return seconds < 90 ? `${Math.round(seconds)} s` : `${Math.round(seconds / 60)} min`;
}

function noiseText({ noise }: Results): string {
  if (!Number.isFinite(noise.ratio)) return 'not probed';
  return `${noise.ratio.toFixed(2)}× (limit ${noise.limit.toFixed(2)}×)${noise.bad ? ': too noisy to quote' : ': quiet'}`;
}

function packages(results: Results): string {
  return Object.entries(results.runtime.packages ?? {})
    .map(([name, version]) => `${name} ${version}`)
    .join(', ');
}

const PROPERTIES: readonly Property[] = [
  ['runtime', (run) => `${runtimeName(run)}, ${run.runtime.engine}`],
  ['machine', ({ machine }) => `${machine.cpu}, ${machine.cores} cores, ${figure(machine.memoryBytes, 'bytes')}`],
  ['system', ({ machine }) => `${machine.os}, ${machine.kernel}, ${machine.arch}`],
  ['when', (run) => `${moment(run.date)}, took ${duration(run.seconds)}`],
  [
    'commit',
    (run) =>
      run.commit
        ? markup`<code>${run.commit.slice(0, 12)}${run.commit.length > 12 && run.commit.endsWith('+') ? '+' : ''}</code>`
        : 'unknown',
  ],
  ['command', (run) => markup`<code>${run.command}</code>`],
  ['noise', noiseText],
  ['packages', packages],
];

/** Facts of the runs: properties down, runs across; one wide cell where all runs agree. */
export function runsTable({ runs }: Report): Markup {
  const rows = PROPERTIES.map(([name, of]) => {
    const cells = runs.map((run) => of(run.results));
    const texts = new Set(cells.map(String));
    if (texts.size === 1 && texts.has('')) return undefined;
    const body =
      texts.size === 1
        ? markup`<td colspan="${runs.length}">${cells[0]!}</td>`
        : runs.map((run, at) => markup`<td data-of="${run.name}"><span>${cells[at]!}</span></td>`);
    return markup`<tr><th scope="row">${name}</th>${body}</tr>`;
  });
  const heading =
    runs.length > 1 && markup`<thead><tr><th></th>${runs.map((run) => markup`<th>${run.name}</th>`)}</tr></thead>`;
  return markup`<table class="runs stack">${heading}<tbody>${rows}</tbody></table>`;
}

/** What a reader must know before he believes a figure. */
export function notices({ runs }: Report): Markup[] {
  const found: Markup[] = [];
  for (const { name, results } of runs) {
    if (results.noise.bad) {
      found.push(
        markup`<p class="notice"><b>${name}: do not quote this run.</b> The noise probe was ${results.noise.ratio.toFixed(2)} times slower at its 90th percentile than in silence (limit ${results.noise.limit.toFixed(2)}): somebody else had the cores.</p>`,
      );
    }
    if (results.partial)
      found.push(
        markup`<p class="notice"><b>${name} was interrupted.</b> What is here was measured; what is missing was not.</p>`,
      );
    if (results.quick)
      found.push(
        markup`<p class="notice"><b>${name} is a quick run:</b> few and short rounds. Good for a look, not for quoting.</p>`,
      );
  }
  const machines = new Set(runs.map((run) => JSON.stringify(run.results.machine)));
  if (machines.size > 1) {
    found.push(
      markup`<p class="notice"><b>These runs come from different machines.</b> Compare contenders within a column, not columns with each other.</p>`,
    );
  }
  return found;
}

function scoreText(one: Score): string {
  const parts = [`${one.ahead} ahead`];
  if (one.even > 0) parts.push(`${one.even} even`);
  if (one.behind > 0) parts.push(`${one.behind} behind`);
  return parts.join(', ');
}

function glanceCell(scenario: ScenarioView, at: number, run: string): Markup {
  const one = score(scenario, at);
  if (one.total === 0) {
    return markup`<td data-of="${run}"><span><span class="detail">no row with ours and a rival</span></span></td>`;
  }
  const range = one.total > 1 && markup`<span class="range">${times(one.ratioMin)} to ${times(one.ratioMax)}</span>`;
  return markup`<td data-of="${run}"><span><span class="ratio${one.ratio < 1 ? ' loss-ink' : ''}">${times(one.ratio)}</span> ${range}${scoreStrip(one.ahead, one.even, one.behind)} <span class="detail">${scoreText(one)}</span></span></td>`;
}

/** Every scenario in a line: the mean ratio of our best to the best rival, and how many rows went which way. */
export function glance(report: Report): Markup {
  const rows = report.scenarios.map(
    (scenario) =>
      markup`<tr><th scope="row"><a href="#${slug(scenario.head.name)}">${scenario.head.name}</a> <span class="detail">${scenario.head.title}</span></th>${report.runs.map((run, at) => glanceCell(scenario, at, run.name))}</tr>`,
  );
  return markup`<section id="glance"><header><h2>At a glance</h2><p class="note">Our best against the best rival of each row: geometric mean over the rows, then how many rows went which way. Above 1× is ahead, whatever the unit.</p></header><table class="glance stack"><thead><tr><th>scenario</th>${report.runs.map((run) => markup`<th>${run.name}</th>`)}</tr></thead><tbody>${rows}</tbody></table></section>`;
}

function lossCell(standing: Standing | undefined, unit: string, run: string): Markup {
  if (!standing) return markup`<td class="soft" data-of="${run}"><span>not measured</span></td>`;
  const { outcome, ratio, ours, rival } = standing;
  if (outcome === 'even') return markup`<td class="soft" data-of="${run}"><span>no difference</span></td>`;
  if (outcome === 'ahead') return markup`<td class="soft" data-of="${run}"><span>${times(ratio)} ahead</span></td>`;
  return markup`<td data-of="${run}"><span><span class="loss-ink">${nameMarkup(rival.label)}, ${times(1 / ratio)}</span> <span class="detail">${figure(rival.median, unit)} against our ${figure(ours.median, unit)}</span></span></td>`;
}

/** Every row that a rival wins in any run. There is no other place to hide one. */
export function losses(report: Report): Markup {
  const rows: Markup[] = [];
  const count = { behind: 0, even: 0, ahead: 0 };
  for (const { head, rows: all } of report.scenarios) {
    for (const row of all) {
      for (const standing of row.standings) if (standing) count[standing.outcome]++;
      if (!row.standings.some((standing) => standing?.outcome === 'behind')) continue;
      const cells = row.standings.map((standing, at) => lossCell(standing, head.unit, report.runs[at]!.name));
      rows.push(
        markup`<tr><th scope="row"><a href="#${slug(head.name)}">${head.name}</a> <span class="detail">${row.label}</span></th>${cells}</tr>`,
      );
    }
  }
  const total = count.behind + count.even + count.ahead;
  const even = count.even > 0 ? ` In ${count.even} more the spreads overlap: no difference.` : '';
  const body =
    rows.length > 0 &&
    markup`<table class="glance losses stack"><thead><tr><th>row</th>${report.runs.map((run) => markup`<th>${run.name}</th>`)}</tr></thead><tbody>${rows}</tbody></table>`;
  return markup`<section id="losses"><header><h2>Where a rival wins</h2><p class="note">In ${count.behind} of ${total} comparisons.${even}</p></header>${body}</section>`;
}

/** Contenders that could not take part. */
export function absentees({ runs }: Report): Markup | undefined {
  const found = new Map<string, Markup>();
  for (const { results } of runs) {
    for (const one of results.absent ?? []) {
      const remedy = one.remedy === undefined ? '' : markup` <code>${one.remedy}</code>`;
      found.set(one.subject, markup`<li><b>${one.subject}</b>: ${one.reason}.${remedy}</li>`);
    }
  }
  return found.size === 0
    ? undefined
    : markup`<section id="absent"><header><h2>Not taking part</h2></header><ul class="absent">${[...found.values()]}</ul></section>`;
}
