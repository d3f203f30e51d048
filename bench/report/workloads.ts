// The charts of seed 004: one for each payload, over the loads from left to right, a line for each contender.
import { figure, tickText } from './format.ts';
import { type Line, lines } from './lines.ts';
import type { Markup } from './markup.ts';
import type { Report, RowView, ScenarioView } from './model.ts';
import { allFigures, collect, nameRoom, strip } from './panels.ts';

const POINTS_MIN = 2;

/** `2x4`, of rows that have W workers with C streams each. */
function loadOf({ params }: RowView): string | undefined {
  const { workers, streams, payload } = params;
  return workers === undefined || streams === undefined || payload === undefined ? undefined : `${workers}x${streams}`;
}

export function workloadPanels(report: Report, scenario: ScenarioView): Markup[] {
  const rows = scenario.rows.filter((row) => loadOf(row) !== undefined);
  const loads = [...new Set(rows.map((row) => loadOf(row) as string))];
  const payloads = [...new Set(rows.map((row) => row.params['payload'] as number))];
  const { title, unit } = scenario.head;
  const room = nameRoom(report, scenario);
  const panels: Markup[] = [];
  for (const payload of payloads) {
    const members = rows.filter((row) => row.params['payload'] === payload);
    if (new Set(members.map(loadOf)).size < POINTS_MIN) continue;
    const all = report.runs.map((_, run) =>
      collect(scenario, members, run, (result, row) => {
        const x = loads.indexOf(loadOf(row) as string);
        return [{ x, y: result.median, low: result.low, high: result.high }];
      }),
    );
    const heading = `payload = ${payload}`;
    const draw = (some: Line[]): Markup | undefined =>
      lines(some, {
        title: `${title}, ${heading} by workers and streams: the table below has the figures`,
        nameLength: room,
        alone: room === 0 && report.runs.length === 1,
        alsoShow: allFigures(members),
        xText: (x) => loads[x] as string,
        yText: (value) => figure(value, unit),
        yTick: (value) => tickText(value, unit),
        ranks: true,
      });
    panels.push(strip(report, heading, all, room > 0, draw));
  }
  return panels;
}
