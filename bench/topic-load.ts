// What writers of many readers say: 512 objects of about 118 B at a time.
import { makeLoad } from './loads.ts';
import { specOfValue } from './scenarios/common.ts';

/** Messages that are on their way at once: who keeps them for slow readers keeps no more than these. */
export const BURST = 512;
/** Before what the writer spends is measured: its readers have gone to sleep. */
export const REST_MS = 2;
const load = makeLoad(specOfValue('req118'));
export const burstValues: readonly unknown[] = Array.from({ length: BURST }, (_, i) => load.items[i & load.mask]);
export const burstSum: number = burstValues.reduce<number>((sum, value) => (sum + load.weigh(value)) | 0, 0);
/** What a reader adds up. */
export const weigh: (value: unknown) => number = load.weigh;
