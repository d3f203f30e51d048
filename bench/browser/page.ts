// The page that the driver opens: asks it what to measure, measures, and posts how far it is and what it found.
import type { Pace, Setting } from '../contest.ts';
import { costOf, runScenario } from '../run.ts';
import { PageNoise } from './measure/noise.ts';
import { absentees, browsers } from './scenario.ts';
import type { Assignment, PageReport } from './told.ts';

const PACE: Pace = { rounds: 2, roundMs: 2, warmMs: 2, startMs: 200 };

async function tell(report: PageReport): Promise<void> {
  await fetch('report', { method: 'POST', body: JSON.stringify(report) });
}

async function run(): Promise<void> {
  if (!crossOriginIsolated) throw new Error('the page is not isolated');
  const { setting, rounds } = (await (await fetch('assignment')).json()) as Assignment;
  const plan = { scenario: browsers, rows: await browsers.rows(setting), pace: paceOf(setting, rounds) };
  const total = costOf([plan]);
  const noise = new PageNoise();
  let done = 0;
  const watcher = {
    title: (text: string) => void tell({ title: text, share: done / total }),
    advance: (units: number) => {
      done += units;
    },
  };
  const scenario = await runScenario(plan, noise, watcher, () => false);
  noise.stop();
  const found = { scenario, noise: noise.result(), absent: [...absentees.values()], agent: navigator.userAgent };
  await tell({ share: 1, found });
}

function paceOf(setting: Setting, rounds: number | undefined): Pace {
  return { ...PACE, ...browsers.pace?.(setting), ...(rounds !== undefined && { rounds }) };
}

run().catch((error: unknown) => tell({ share: 0, failed: error instanceof Error ? `${error.stack}` : String(error) }));
