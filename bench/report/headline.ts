// One row per scenario, for where there is no room for all: the one whose ratio is the middle one, so that neither the
// row that flatters us most nor the one that flatters us least stands for the rest.
import type { Result } from '../schema.ts';
import { counts, type Report, type RowView, type ScenarioView, type Standing } from './model.ts';

/** The subject that everybody has: what one would use without us. */
const NATIVE = 'native-port';

export interface Headline {
  readonly scenario: ScenarioView;
  readonly row: RowView;
  readonly standing: Standing;
  /** The runtime's own MessagePort in this row, when it took part and is not the best rival itself. */
  readonly native: Result | undefined;
}

/** The middle row of a scenario in one run; of two middle ones the less flattering. */
export function headline(scenario: ScenarioView, run: number): Headline | undefined {
  const rows = scenario.rows.filter((row) => row.standings[run]);
  rows.sort((a, b) => a.standings[run]!.ratio - b.standings[run]!.ratio);
  const row = rows[(rows.length - 1) >> 1];
  const standing = row?.standings[run];
  if (!row || !standing) return undefined;
  const native = row.contenders.find((one) => one.subject === NATIVE)?.cells[run];
  return { scenario, row, standing, native: counts(native) && native !== standing.rival ? native : undefined };
}

export function headlines(report: Report, run: number): Headline[] {
  return report.scenarios.map((scenario) => headline(scenario, run)).filter((one) => one !== undefined);
}
