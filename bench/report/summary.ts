// The report at a glance, for a terminal: one line per scenario and run, then every row that a rival wins.
import { figure, times } from './format.ts';
import { type Report, type Run, type ScenarioView, score } from './model.ts';
import { bar, type Palette, sparkline, table } from './terminal.ts';

const BAR_WIDTH = 12;

/** So many probes fit beside the facts; of more, the slowest of each neighbourhood. */
const PROBES_MAX = 40;

function slowest(probesMs: readonly number[]): number[] {
  const each = Math.ceil(probesMs.length / PROBES_MAX);
  const count = Math.ceil(probesMs.length / each);
  return Array.from({ length: count }, (_, at) => Math.max(...probesMs.slice(at * each, (at + 1) * each)));
}

function runLine({ name, results }: Run, colours: Palette): string {
  const { machine, date, commit, noise } = results;
  const marks = [results.quick && 'quick', results.partial && 'interrupted', noise.bad && 'too noisy to quote'];
  const warning = marks.filter((mark) => mark !== false).join(', ');
  const facts = `${machine.cpu}, ${machine.cores} cores, ${date.slice(0, 10)}, ${commit.slice(0, 8) || 'commit unknown'}`;
  const probes =
    noise.probesMs.length > 0 ? `, noise ${sparkline(slowest(noise.probesMs))} ${noise.ratio.toFixed(2)}×` : '';
  return `${colours.strong(name)}  ${facts}${probes}${warning && colours.loss(`  ${warning}`)}`;
}

function scoreRow(scenario: ScenarioView, at: number, run: string, first: boolean, colours: Palette): string[] {
  const one = score(scenario, at);
  const name = first ? scenario.head.name : '';
  if (one.total === 0) return [name, run, colours.faint('not compared')];
  const share = bar(one.ahead / one.total, BAR_WIDTH).padEnd(BAR_WIDTH, '·');
  const lost = one.behind > 0 ? colours.loss(`${one.behind} behind`) : '';
  return [
    name,
    run,
    one.ratio < 1 ? colours.loss(times(one.ratio)) : colours.strong(times(one.ratio)),
    `${times(one.ratioMin)} to ${times(one.ratioMax)}`,
    colours.ours(share),
    `${one.ahead} of ${one.total} ahead`,
    one.even > 0 ? `${one.even} even` : '',
    lost,
  ];
}

function lossRows(report: Report, colours: Palette): string[][] {
  const found: string[][] = [];
  for (const { head, rows } of report.scenarios) {
    for (const row of rows) {
      row.standings.forEach((standing, at) => {
        if (standing?.outcome !== 'behind') return;
        const { rival, ours, ratio } = standing;
        found.push([
          `${head.name}, ${row.label}`,
          report.runs[at]!.name,
          colours.loss(`${rival.label}, ${times(1 / ratio)}`),
          figure(rival.median, head.unit),
          colours.faint(`against our ${figure(ours.median, head.unit)}`),
        ]);
      });
    }
  }
  return found;
}

/** The summary, ready to print. */
export function summary(report: Report, colours: Palette): string {
  const names = report.runs.map((run) => run.name);
  const scores = report.scenarios.flatMap((scenario) =>
    names.map((name, at) => scoreRow(scenario, at, names.length > 1 ? name : '', at === 0, colours)),
  );
  const right = { align: 'right' } as const;
  const columns = [{ title: '' }, { title: '' }, { title: '', ...right }, { title: '', ...right }];
  const blank = { title: '' };
  const losses = lossRows(report, colours);
  return `${[
    ...report.runs.map((run) => runLine(run, colours)),
    '',
    'Our best against the best rival of each row: mean ratio, range, rows',
    ...table([...columns, blank, { title: '', ...right }, blank, blank], scores),
    '',
    losses.length === 0 ? 'No row is won by a rival.' : 'Where a rival wins',
    ...table([blank, blank, blank, { title: '', ...right }, blank], losses),
  ].join('\n')}\n`;
}
