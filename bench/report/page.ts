// The report as one HTML file: no script, no request, no font to load; light or dark as the reader's system is.
import { type Markup, markup, slug } from './markup.ts';
import type { Report, ScenarioView } from './model.ts';
import { score } from './model.ts';
import { absentees, glance, losses, notices, runsTable } from './overview.ts';
import { resultsTable } from './results-table.ts';
import { STYLE } from './style.ts';
import { sweeps } from './sweep.ts';

function origin(scenario: ScenarioView): string {
  return scenario.head.seed === '' ? 'a question of ours' : `reproduces seed ${scenario.head.seed}`;
}

/** One sentence per scenario, made of counts only. */
function finding(report: Report, scenario: ScenarioView): Markup | undefined {
  const sum = { ahead: 0, even: 0, behind: 0, total: 0 };
  report.runs.forEach((_, at) => {
    const one = score(scenario, at);
    for (const key of ['ahead', 'even', 'behind', 'total'] as const) sum[key] += one[key];
  });
  if (sum.total === 0) return markup`<p class="finding soft">No row has both ours and a rival.</p>`;
  const runs = report.runs.length > 1 ? ` in ${report.runs.length} runs` : '';
  const rest = [
    sum.even > 0 ? markup`no difference in ${sum.even}` : undefined,
    sum.behind > 0 ? markup`<span class="loss-ink">behind in ${sum.behind}</span>` : undefined,
  ].filter((part) => part !== undefined);
  const tail = rest.map((part) => markup`, ${part}`);
  return markup`<p class="finding">Ahead of every rival in <span class="ours-ink">${sum.ahead} of ${sum.total}</span> rows${runs}${tail}.</p>`;
}

function section(report: Report, scenario: ScenarioView): Markup {
  const { head } = scenario;
  return markup`<section id="${slug(head.name)}"><header><p class="eyebrow">${head.name} · ${origin(scenario)}</p><h2>${head.title}</h2><p class="note">${head.note}</p>${finding(report, scenario)}</header>${sweeps(report, scenario)}${resultsTable(report, scenario)}</section>\n`;
}

const READING = markup`<section id="reading"><header><h2>How to read this</h2></header>
<p class="note">A figure is the median of its rounds. Its spread runs from the lower to the upper quartile, or from the smallest to the largest round when there were fewer than eight. A bar ends at the median; each fine tick is one round, the line across is the spread. All bars of one block share a scale that starts at zero; a bar with a cut end is a limit that goes on beyond it.</p>
<p class="note">Contenders of one row ran interleaved in the same rounds, on the same payload, to the same delivered form, and both ends counted the same messages and checksum; a figure that failed this is outlined, and counts for nothing. Ratios are the median of the ratios within each round. When two spreads overlap the report says “no difference”, whatever the medians say. “Ahead” and “behind” compare the best of ours in a row with the best rival in it, and a row holds only contenders that wait in the same way: event loops beside event loops, a blocking worker beside a blocking worker. A row of a way that only Millrace has says so and counts for nothing; limits (what C++ or memcpy does on this machine) are drawn for scale only. A stand-in is our own build of a rival’s documented design, used where its package could not be installed.</p></section>`;

function contents(report: Report): Markup {
  const items = report.scenarios.map(({ head }) => markup`<li><a href="#${slug(head.name)}">${head.name}</a></li>`);
  return markup`<nav aria-label="Contents"><ol><li><a href="#glance">At a glance</a></li><li><a href="#losses">Where a rival wins</a></li></ol><span class="eyebrow">Scenarios</span><ol>${items}</ol><span class="eyebrow">About</span><ol><li><a href="#runs">The runs</a></li><li><a href="#reading">How to read this</a></li></ol></nav>`;
}

/** The whole page. `title` is for the window and the heading. */
export function page(report: Report, title = 'Millrace, measured'): string {
  const figures = report.scenarios.reduce((sum, { rows }) => {
    for (const row of rows) for (const { cells } of row.contenders) sum += cells.filter((cell) => cell).length;
    return sum;
  }, 0);
  const lead = `Messages between JavaScript threads and processes: ${report.scenarios.length} scenarios, ${figures} figures, ${report.runs.map((run) => run.name).join(', ')}. Every figure stands with its spread, its rivals and the command that repeats it.`;
  return `<!doctype html>\n${markup`<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
`}<style>${STYLE}</style>
</head>
<body>
${markup`<div class="page">
<header><h1>${title}</h1><p class="lead">${lead}</p>${notices(report)}</header>
${contents(report)}
<main>
${glance(report)}
${losses(report)}
${report.scenarios.map((scenario) => section(report, scenario))}
<section id="runs"><header><h2>The runs</h2></header>${runsTable(report)}</section>
${absentees(report)}
${READING}
</main>
</div>`}
</body>
</html>
`;
}
