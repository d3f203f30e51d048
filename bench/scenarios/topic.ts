// One writer, many readers: what a message costs until all have it, and what it costs its writer.
import { type Broadcast, broadcasts } from '../broadcasts.ts';
import { type RowPlan, type Scenario, type Setting, sized } from '../contest.ts';
import { toMany } from '../sessions-process-topic.ts';
import { type TopicOptions, topics } from '../sessions-topic.ts';
import { absentees, isWanted } from '../subjects/list.ts';
import { chosen } from './common.ts';

/** On Deno 2.9 a BroadcastChannel drops what a slow reader leaves lying: it cannot take part. */
const HOW: readonly TopicOptions['how'][] =
  process.versions['deno'] === undefined
    ? ['topic', 'topic:thread', 'topic:blocked', 'broadcast-channel']
    : ['topic', 'topic:thread', 'topic:blocked'];

function rows(setting: Setting): Promise<RowPlan[]> {
  const counts = sized(setting, { full: [1, 16], quick: [1, 16], smoke: [2] });
  const plans = (['all-have-it', 'writer'] as const).flatMap((gauge) =>
    counts.map((readers) => ({
      label: `${readers} reader${readers === 1 ? '' : 's'}, ${gauge === 'writer' ? "the writer's thread" : 'until all have it'}`,
      params: { readers, gauge },
      contestants: HOW.map((how) => topics({ how, readers, gauge })),
    })),
  );
  return Promise.resolve(chosen(setting, plans));
}

export const topicScenario: Scenario = {
  name: 'topic',
  title: 'One writer, the same messages to many readers',
  seed: '',
  unit: 'us',
  better: 'lower',
  baseline: 'broadcast-channel',
  note: "Objects of about 118 B, 512 at a time, to workers all of which get every one (a topic's readers are reliable for that). Until all have it: microseconds a message from the first of a burst to the word of the last reader that it has the last. The writer's thread: processor time of publishing, a message, by process.threadCpuUsage (Node 24 and later; elsewhere its clock, which other threads slow down), to readers that have gone to sleep before each burst.",
  pace: (setting) => sized(setting, { full: { startMs: 1500 }, quick: { startMs: 1500 }, smoke: {} }),
  rows,
};

async function processRows(setting: Setting): Promise<RowPlan[]> {
  const counts = sized(setting, { full: [1, 4, 16], quick: [1, 16], smoke: [2] });
  const present: Broadcast[] = [];
  for (const broadcast of broadcasts) {
    if (!isWanted(setting, broadcast.subject)) continue;
    const missing = await broadcast.absent?.();
    if (missing) absentees.set(broadcast.subject, { subject: broadcast.subject, ...missing });
    else present.push(broadcast);
  }
  const plans = (['all-have-it', 'writer'] as const).flatMap((gauge) =>
    counts.map((readers) => ({
      label: `${readers} process${readers === 1 ? '' : 'es'}, ${gauge === 'writer' ? "the writer's thread" : 'until all have it'}`,
      params: { readers, gauge },
      contestants: present.map((broadcast) => toMany(broadcast, { readers, gauge })),
    })),
  );
  return chosen(setting, plans);
}

export const processTopicScenario: Scenario = {
  name: 'process-topic',
  title: 'One writer, the same messages to many processes',
  seed: '',
  unit: 'us',
  better: 'lower',
  baseline: 'child-process-send',
  note: "As scenario `topic`, to processes. Each reader is a process of its own and says by its parent's channel that it has a burst. The writer's thread: what it spends within its calls, which for sockets, pipes and Redis leaves out what their event loop writes later, and for Redis its server.",
  pace: (setting) =>
    sized(setting, {
      full: { rounds: 5, roundMs: 100, warmMs: 400, startMs: 8000 },
      quick: { rounds: 5, roundMs: 60, warmMs: 250, startMs: 6000 },
      smoke: { rounds: 1, roundMs: 10 },
    }),
  rows: processRows,
};
