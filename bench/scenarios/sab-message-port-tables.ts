// The three tables of seed 000.
import { type RowPlan, type Scenario, sized } from '../contest.ts';
import { messagesPerSecond, microsecondsEach } from '../sessions.ts';
import { chosen, specOfValue, streamers } from './common.ts';
import { tripPace, trippers } from './round-trip.ts';

export const smp1000: Scenario = {
  name: 'smp-1000',
  title: '1,000 messages, about 757 KB in total',
  seed: '000',
  unit: 'us',
  better: 'lower',
  baseline: 'sab-message-port',
  note: 'Time from the first send to the last message consumed, divided by 1,000: the seed calls it average latency, though it is the inverse of a short burst of throughput. Each round repeats the burst, to a worker that was idle, until its time is over, and gives the mean; before the first round, bursts ran until they were compiled.',
  rows: async (setting) => {
    const contestants = await streamers(setting, specOfValue('obj757'), microsecondsEach, 1000);
    const rows: RowPlan[] = [
      { label: '1,000 objects of 757 B', params: { value: 'obj757', count: 1000 }, contestants },
    ];
    return chosen(setting, rows);
  },
};

export const smpSustained: Scenario = {
  name: 'smp-sustained',
  title: 'Sustained stream of objects of about 500 bytes',
  seed: '000',
  unit: 'msg/s',
  better: 'higher',
  baseline: 'sab-message-port',
  note: 'The seed streams for 3 s; here that is five rounds of 600 ms, taken in turns with the others, so that a median and a spread can be given (five of 60 ms in a quick run).',
  pace: (setting) => sized(setting, { full: { rounds: 5, roundMs: 600 }, quick: { roundMs: 60 }, smoke: {} }),
  rows: async (setting) => {
    const contestants = await streamers(setting, specOfValue('obj500'), messagesPerSecond);
    return chosen(setting, [{ label: 'objects of 500 B', params: { value: 'obj500' }, contestants }]);
  },
};

export const smpRoundTrip: Scenario = {
  name: 'smp-round-trip',
  title: '1,000 round trips of 118 bytes',
  seed: '000',
  unit: 'us',
  better: 'lower',
  baseline: 'sab-message-port',
  note: 'The echo test of the seed with its four configurations, and ours beside them. Each round repeats the 1,000 round trips until its time is over and gives the mean; before the first round, they ran until they were compiled.',
  pace: tripPace,
  rows: async (setting) => {
    const count = sized(setting, { full: 1000, quick: 1000, smoke: 100 });
    const contestants = await trippers(setting, specOfValue('req118'), { burst: count });
    return chosen(setting, [{ label: '118 B there and back', params: { value: 'req118', count }, contestants }]);
  },
};
