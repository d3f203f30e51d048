import { type Contestant, type RowPlan, type Scenario, type Setting, sized } from '../contest.ts';
import type { LoadSpec } from '../loads.ts';
import { flow, messagesPerSecond } from '../sessions.ts';
import { processFlow } from '../sessions-process-stream.ts';
import { isWanted } from '../subjects/list.ts';
import { subjects as ringSubjects } from '../subjects/millrace-ring.ts';
import { presentProcessSubjects } from '../subjects/process-list.ts';
import { chosen } from './common.ts';

interface Kind {
  readonly label: string;
  readonly spec: LoadSpec;
}

const SMALL: Kind = { label: '64 B records', spec: { form: 'bytes', size: 64 } };
const KINDS: readonly Kind[] = [
  SMALL,
  { label: 'objects P=100', spec: { form: 'object', size: 100, value: 'text' } },
  { label: 'objects P=10000', spec: { form: 'object', size: 10_000, value: 'text' } },
  { label: '1 MiB blocks', spec: { form: 'bytes', size: 1 << 20 } },
];

/** What processes could reach at best: the same code, and memory that the runtime has shared itself. */
const RING_OF_THREADS = 'limit-ring-of-threads';

function ringOfThreads(spec: LoadSpec, { options }: Setting): Contestant {
  const [subject] = ringSubjects;
  const label = 'the ring of millrace alone, between threads';
  const flowing = flow({ subject: subject!, wait: 'block/block', spec, options, gauge: messagesPerSecond }, label);
  return { ...flowing, subject: RING_OF_THREADS };
}

export const processStream: Scenario = {
  name: 'process-stream',
  title: 'One way, master to a worker process',
  seed: '',
  unit: 'msg/s',
  better: 'higher',
  baseline: 'child-process-send',
  note: 'Messages per second until the worker process has consumed the last one; each contender waits when it is full, by its own back-pressure. P: characters of the text in each object; no two of the pool are alike. Of bytes the reader reads the first and the last of each message. CPU is that of both processes.',
  pace: (setting) =>
    sized(setting, {
      full: { rounds: 7, roundMs: 150, warmMs: 400, startMs: 500 },
      quick: { roundMs: 60, warmMs: 150, startMs: 400 },
      smoke: { rounds: 1, roundMs: 10 },
    }),
  rows: async (setting) => {
    const kinds = sized<readonly Kind[]>(setting, {
      full: KINDS,
      quick: [SMALL, KINDS[1]!],
      smoke: [SMALL, KINDS[1]!],
    });
    const subjects = await presentProcessSubjects(setting);
    const rows: RowPlan[] = kinds.map(({ label, spec }) => ({
      label,
      params: { form: spec.form, size: spec.size },
      contestants: [
        ...subjects.flatMap((subject) =>
          subject.stream?.forms.includes(spec.form) ? [processFlow(subject, subject.stream, spec)] : [],
        ),
        ...(spec.form === 'bytes' && isWanted(setting, RING_OF_THREADS) ? [ringOfThreads(spec, setting)] : []),
      ],
    }));
    return chosen(setting, rows);
  },
};
