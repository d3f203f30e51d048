import { type RowPlan, type Scenario, sized } from '../contest.ts';
import { requests } from '../sessions-processes.ts';
import { presentProcessSubjects } from '../subjects/process-list.ts';
import { chosen } from './common.ts';

type Shape = readonly [workers: number, streams: number, payload: number];

const FULL: readonly Shape[] = [
  [1, 1, 100],
  [1, 4, 100],
  [2, 1, 100],
  [2, 4, 100],
  [2, 4, 1000],
  [2, 4, 10_000],
];

export const article2016: Scenario = {
  name: 'article-2016',
  title: 'Requests from worker processes to their master',
  seed: '004',
  unit: 'msg/s',
  better: 'higher',
  baseline: 'child-process-send',
  note: 'WxC P: W worker processes, each with C streams that send a request with a payload of P characters and wait for the answer, which carries it back. Requests answered per second, all workers together; CPU is that of master and workers, without the servers of Redis and NATS.',
  pace: (setting) =>
    sized(setting, {
      full: { rounds: 7, roundMs: 120, warmMs: 400, startMs: 500 },
      quick: { roundMs: 60, warmMs: 150, startMs: 500 },
      smoke: { roundMs: 10 },
    }),
  rows: async (setting) => {
    const shapes = sized<readonly Shape[]>(setting, { full: FULL, quick: [FULL[3]!], smoke: [FULL[0]!] });
    const subjects = await presentProcessSubjects(setting);
    const rows: RowPlan[] = shapes.map(([workers, streams, payload]) => ({
      label: `${workers}x${streams} P=${payload}`,
      params: { workers, streams, payload },
      contestants: subjects.map((subject) => requests(subject, { workers, streams, payload })),
    }));
    return chosen(setting, rows);
  },
};
