// The tables of seed 001: throughput and message rate, buffers and strings, 64 B to 64 KiB.
import { type RowPlan, type Scenario, type Setting, sized } from '../contest.ts';
import { limitBytes } from '../native/limits.ts';
import { bytesPerSecond, type Gauge, messagesPerSecond } from '../sessions.ts';
import { chosen, sizeName, streamers } from './common.ts';

const SIZES: readonly number[] = [64, 1024, 4096, 65536];

async function rows(setting: Setting, gauge: Gauge): Promise<RowPlan[]> {
  const sizes = sized<Record<'bytes' | 'string', readonly number[]>>(setting, {
    full: { bytes: SIZES, string: SIZES },
    quick: { bytes: [64, 4096], string: [64] },
    smoke: { bytes: [1024], string: [1024] },
  });
  const found: RowPlan[] = [];
  for (const form of ['bytes', 'string'] as const) {
    for (const size of sizes[form]) {
      const spec = { form, size };
      const contestants = await streamers(setting, spec, gauge);
      if (form === 'bytes') contestants.push(...limitBytes(setting, spec, gauge));
      found.push({
        label: `${sizeName(size)} ${form === 'bytes' ? 'buffer' : 'string'}`,
        params: { form, size },
        contestants,
      });
    }
  }
  return chosen(setting, found);
}

const NOTE =
  'Fixed-size messages from the main thread to a worker, consumed in place where the contender allows it (first and last byte read); a string is written by the sender and read back as a string by the receiver.';

export const sharedThroughput: Scenario = {
  name: 'shared-throughput',
  title: 'Throughput of buffers and strings',
  seed: '001',
  unit: 'B/s',
  better: 'higher',
  baseline: 'nxtedition-shared',
  note: NOTE,
  rows: (setting) => rows(setting, bytesPerSecond),
};

export const sharedRate: Scenario = {
  name: 'shared-rate',
  title: 'Message rate of buffers and strings',
  seed: '001',
  unit: 'msg/s',
  better: 'higher',
  baseline: 'nxtedition-shared',
  note: NOTE,
  rows: (setting) => rows(setting, messagesPerSecond),
  // The same measurement in another unit: one run serves both tables.
  derived: { from: 'shared-throughput', scale: (params) => 1 / Number(params['size']) },
};
