// A contender at work for rounds: round trips, or messages one way. A sample is microseconds for each of them.
import type { Contestant, Sample, Session } from '../../contest.ts';
import { withDeadline } from '../../deadline.ts';
import { digest as digestOf, expected, freshCount, freshLoad, type Load, type Tally } from '../../loads.ts';
import { type Filled, Pacer } from '../../pacer.ts';
import { median, quantile } from '../../stats.ts';
import { type Link, openLink } from './link.ts';
import type { Payload } from './payloads.ts';
import type { Done, Task } from './player.ts';
import type { PageSubject, Place } from './subject.ts';

/** There and back; there, and only a number back; one way. */
export type Direction = 'round-trip' | 'delivery' | 'to-worker' | 'to-page';

export interface Work {
  readonly subject: PageSubject;
  readonly label: string;
  readonly place: Place;
  readonly payload: Payload;
  readonly direction: Direction;
  /** Messages under way at once; 1 for round trips one after the other. */
  readonly batch: number;
  /** Silence before each round trip; 0 for none. */
  readonly pauseMs: number;
  /** Messages of a round; undefined for as many as fill its time. */
  readonly trips: number | undefined;
}

const DEADLINE_MS = 60_000;
const PAUSED_TRIPS_MIN = 5;
const WINDOW_BYTES = 4 << 20;
const WINDOW = 2048;

interface Run {
  readonly seconds: number;
  readonly checked: boolean;
  readonly timesUs: readonly number[];
}

const same = (a: Tally, b: Tally): boolean => a.count === b.count && a.sum === b.sum;

class PageSession implements Session {
  readonly #work: Work;
  readonly #link: Link;
  readonly #pacer: Pacer<Run>;
  #verified = false;
  #pool = 0;

  constructor(work: Work, link: Link) {
    this.#work = work;
    this.#link = link;
    this.#pacer = new Pacer((count) => this.#trips(count), work.batch);
  }

  async round(ms: number): Promise<Sample> {
    if (!this.#verified) await this.#verify();
    this.#verified = true;
    const { timesUs, seconds, checked, count } = await this.#round(ms);
    // A clock that ticks every 20 us gives its own steps as a median.
    const value = timesUs.length > 0 ? middleMean(timesUs) : (seconds * 1e6) / count;
    return { value, checked, messages: count, wallMs: seconds * 1000 };
  }

  #round(ms: number): Promise<Filled<Run>> {
    const { trips, pauseMs, direction, payload } = this.#work;
    if (pauseMs > 0) return filled(trips ?? Math.max(PAUSED_TRIPS_MIN, Math.ceil(ms / pauseMs)), (n) => this.#trips(n));
    if (direction === 'to-worker' || direction === 'to-page') {
      const burst = Math.max(1, Math.min(WINDOW, Math.floor(WINDOW_BYTES / payload.bytes)));
      return bursts(ms, trips, burst, (n) => this.#oneWay(n));
    }
    if (payload.spec.fresh) return bursts(ms, trips, freshCount(payload.spec), (n) => this.#trips(n));
    return trips === undefined ? this.#pacer.fill(ms) : filled(trips, (n) => this.#trips(n));
  }

  #nextLoad(count: number): Load {
    const { load } = this.#link;
    return this.#work.payload.spec.fresh ? freshLoad(load, count, ++this.#pool) : load;
  }

  async #trips(count: number): Promise<Run> {
    const { direction, batch, pauseMs } = this.#work;
    const load = this.#nextLoad(count);
    const shared = { count, answer: direction === 'delivery' ? 'weight' : 'same' } as const;
    const echoed = await this.#link.far.begin({ ...shared, do: 'echo' });
    const asking: Task = { ...shared, do: 'ask', batch, ...(pauseMs > 0 && { pauseMs }) };
    const asked = await this.#link.near.begin(asking, load);
    const [near, far] = await this.#both(asked.done, echoed.done);
    const wanted = expected(load, count);
    return { ...near, checked: same(near.tally, wanted) && same(far.tally, wanted) };
  }

  async #oneWay(count: number): Promise<Run> {
    const { near, far } = this.#link;
    const load = this.#nextLoad(count);
    const out = this.#work.direction === 'to-worker';
    const received = await (out ? far : near).begin({ do: 'receive', count });
    const start = performance.now();
    const sent = await (out ? near : far).begin({ do: 'send', count }, load);
    const [receiver] = await this.#both(received.done, sent.done);
    const seconds = (performance.now() - start) / 1000;
    return { seconds, timesUs: [], checked: same(receiver.tally, expected(load, count)) };
  }

  #both(one: Promise<Done>, other: Promise<Done>): Promise<[Done, Done]> {
    return withDeadline(Promise.all([one, other]), DEADLINE_MS, 'the round did not end');
  }

  /** Sends the start of the pool and compares every field of what arrives: only then is speed worth measuring. */
  async #verify(): Promise<void> {
    const { load, near, far } = this.#link;
    const deep = load.spec.form !== 'bytes' && load.sizeBytes < 100_000;
    const count = Math.min(deep ? 64 : 2, load.items.length);
    const out = this.#work.direction !== 'to-page';
    const received = await (out ? far : near).begin({ do: 'receive', count, deep });
    const sent = await (out ? near : far).begin({ do: 'send', count });
    const [{ tally }] = await this.#both(received.done, sent.done);
    const wanted = expected(deep ? { ...load, weigh: digestOf } : load, count);
    if (!same(tally, wanted)) throw new Error(`values arrived changed: ${tally.count} of ${count}, sum ${tally.sum}`);
  }

  stop(): void {
    this.#link.stop();
  }
}

async function filled(count: number, run: (count: number) => Promise<Run>): Promise<Filled<Run>> {
  return { ...(await run(count)), count };
}

/** Repeats a burst until the time is over, or so many messages went; only the bursts are timed. */
async function bursts(
  ms: number,
  trips: number | undefined,
  burst: number,
  run: (count: number) => Promise<Run>,
): Promise<Filled<Run>> {
  const end = performance.now() + ms;
  const sum = { seconds: 0, checked: true, count: 0, timesUs: [] };
  do {
    const count = trips === undefined ? burst : Math.min(burst, trips - sum.count);
    const { seconds, checked } = await run(count);
    sum.seconds += seconds;
    sum.checked &&= checked;
    sum.count += count;
  } while (trips === undefined ? performance.now() < end : sum.count < trips);
  return sum;
}

/** The mean of what lies between the quartiles. */
function middleMean(values: readonly number[]): number {
  const [low, high] = [quantile(values, 0.25), quantile(values, 0.75)];
  const middle = values.filter((value) => value >= low && value <= high);
  return middle.length === 0 ? median(values) : middle.reduce((sum, value) => sum + value, 0) / middle.length;
}

export function contestant(work: Work): Contestant {
  const { subject, label, place, payload } = work;
  return {
    subject: subject.name,
    label,
    wait: subject.wait[place],
    start: async () => new PageSession(work, await openLink(subject, place, payload.spec)),
  };
}
