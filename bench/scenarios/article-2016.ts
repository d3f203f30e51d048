import { type RowPlan, type Scenario, type Setting, sized } from '../contest.ts';
import { limitRequests } from '../native/limits.ts';
import type { ProcessSubject } from '../process-subject.ts';
import { requests } from '../sessions-processes.ts';
import { presentProcessSubjects } from '../subjects/process-list.ts';
import { chosen } from './common.ts';

type Shape = readonly [workers: number, streams: number, payload: number];

const LOADS = [
  [1, 1],
  [1, 4],
  [2, 1],
  [2, 4],
] as const;
const PAYLOADS = [100, 1000, 10_000] as const;
const FULL: readonly Shape[] = PAYLOADS.flatMap((payload) => LOADS.map((load): Shape => [...load, payload]));
const SMALLEST: Shape = [1, 1, 100];

/** Who blocks in both processes can serve one stream of one worker. */
function isAble({ wait }: ProcessSubject, [workers, streams]: Shape): boolean {
  return wait === undefined || (workers === 1 && streams === 1);
}

function rowOf(shape: Shape, subjects: readonly ProcessSubject[], setting: Setting): RowPlan {
  const [workers, streams, payload] = shape;
  const contestants = subjects
    .filter((subject) => isAble(subject, shape))
    .map((subject) => requests(subject, { workers, streams, payload }));
  if (String(shape) === String(SMALLEST)) contestants.push(...limitRequests(setting));
  return { label: `${workers}x${streams} P=${payload}`, params: { workers, streams, payload }, contestants };
}

export const article2016: Scenario = {
  name: 'article-2016',
  title: 'Requests from worker processes to their master',
  seed: '004',
  unit: 'msg/s',
  better: 'higher',
  baseline: 'child-process-send',
  note: 'WxC P: W worker processes, each with C streams that send a request with a payload of P characters and wait for the answer, which carries it back. Requests answered per second, all workers together. The payload is the same text in each, as in the article. CPU is that of master and workers, without the servers of Redis and NATS.',
  pace: (setting) =>
    sized(setting, {
      // All of them are level after 1.5 to 2 seconds: both processes compile, on the cores that they measure on.
      full: { rounds: 7, roundMs: 120, warmMs: 2000, startMs: 500 },
      quick: { roundMs: 60, warmMs: 150, startMs: 500 },
      smoke: { roundMs: 10 },
    }),
  rows: async (setting) => {
    const shapes = sized<readonly Shape[]>(setting, { full: FULL, quick: [[2, 4, 100]], smoke: [SMALLEST] });
    const subjects = await presentProcessSubjects(setting);
    const rows = shapes.map((shape) => rowOf(shape, subjects, setting));
    return chosen(setting, rows);
  },
};
