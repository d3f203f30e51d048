import { type Contestant, type RowPlan, type Scenario, sized } from '../contest.ts';
import type { LoadSpec } from '../loads.ts';
import type { ProcessSubject } from '../process-subject.ts';
import { type Cadence, processFlow } from '../sessions-process-stream.ts';
import { requests } from '../sessions-processes.ts';
import { isNetwork, presentProcessSubjects } from '../subjects/process-list.ts';
import { chosen } from './common.ts';

interface Row {
  readonly label: string;
  readonly params: RowPlan['params'];
  contestant(subject: ProcessSubject): Contestant | undefined;
}

const OBJECT: LoadSpec = { form: 'object', size: 500, value: 'text' };
const SMALL: LoadSpec = { form: 'object', size: 50, value: 'text' };

function way(label: string, spec: LoadSpec, cadence: Cadence): Row {
  return {
    label,
    params: { form: spec.form, size: spec.size, ...cadence },
    contestant: (subject) =>
      subject.stream?.forms.includes(spec.form) ? processFlow(subject, subject.stream, spec, cadence) : undefined,
  };
}
function asking(workers: number, streams: number, payload: number): Row {
  return {
    label: `requests ${workers}x${streams} P=${payload}`,
    params: { workers, streams, payload },
    contestant: (subject) => requests(subject, { workers, streams, payload }),
  };
}

const ROWS: readonly Row[] = [
  way('one a turn, objects P=500', OBJECT, { burst: 1 }),
  way('100 a turn, objects P=50', SMALL, { burst: 100 }),
  way('as many as go, objects P=500', OBJECT, {}),
  asking(1, 1, 500),
  asking(1, 64, 500),
  asking(2, 4, 500),
];

export const networks: Scenario = {
  name: 'networks',
  title: 'Between machines, over loopback',
  seed: '004',
  unit: 'msg/s',
  better: 'higher',
  baseline: 'ws-json',
  note: 'One way: messages per second until the worker process has consumed the last one; so many are posted in each turn of the event loop, or as many as the contender takes before it says that it is full. WxC: requests of W worker processes with C streams each, as in article-2016. P: characters of the text in each object. CPU is that of the processes that post and read, without the servers of Redis and NATS.',
  pace: (setting) =>
    sized(setting, {
      full: { rounds: 7, roundMs: 150, warmMs: 1500, startMs: 500 },
      quick: { roundMs: 60, warmMs: 150, startMs: 500 },
      smoke: { rounds: 1, roundMs: 10 },
    }),
  rows: async (setting) => {
    const rows = sized<readonly Row[]>(setting, {
      full: ROWS,
      quick: [ROWS[0]!, ROWS[3]!],
      smoke: [ROWS[1]!, ROWS[3]!],
    });
    const subjects = (await presentProcessSubjects(setting)).filter(isNetwork);
    const plans = rows.map(({ label, params, contestant }): RowPlan => {
      const contestants = subjects.flatMap((subject) => contestant(subject) ?? []);
      return { label, params, contestants };
    });
    return chosen(setting, plans);
  },
};
