// One writer, many readers: what a message costs until all have it, and what it costs its writer.
import { type RowPlan, type Scenario, type Setting, sized } from '../contest.ts';
import { type TopicOptions, topics } from '../sessions-topic.ts';
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
