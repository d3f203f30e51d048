// One writer, many readers of the same messages: how long until all have them, and what the writer's own thread spends.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Topic } from '../src/topic/index.ts';
import type { Contestant, Sample, Session } from './contest.ts';
import { CpuMeter, threadUs } from './cpu.ts';
import { withDeadline } from './deadline.ts';
import { openDoor } from './doors.ts';
import { Pacer } from './pacer.ts';
import { ROUND_DEADLINE_MS } from './sessions.ts';
import { BURST, burstSum, burstValues, REST_MS } from './topic-load.ts';
import type { TopicReaderData } from './topic-reader.ts';

const { createTopic } = await openDoor<typeof import('../src/topic/index.ts')>('./topic');

let channels = 0;

export interface TopicOptions {
  readonly how: 'topic' | 'topic:thread' | 'topic:blocked' | 'broadcast-channel';
  readonly readers: number;
  /** What is measured: the time until all have all of it, or the processor time of the writer's thread. */
  readonly gauge: 'all-have-it' | 'writer';
}

class TopicSession implements Session {
  readonly #options: TopicOptions;
  readonly #publish: (values: readonly unknown[]) => void;
  readonly #close: () => void;
  readonly #workers: readonly Worker[];
  readonly #target: Int32Array;
  readonly #pacer = new Pacer((count) => this.#run(count), BURST);
  #published = 0;

  constructor(
    options: TopicOptions,
    publish: (values: readonly unknown[]) => void,
    close: () => void,
    workers: readonly Worker[],
    target: Int32Array,
  ) {
    this.#options = options;
    this.#publish = publish;
    this.#close = close;
    this.#workers = workers;
    this.#target = target;
  }

  async round(ms: number): Promise<Sample> {
    const meter = new CpuMeter();
    const { seconds, us, checked, count } = await this.#pacer.fill(ms);
    const messages = count * this.#options.readers;
    return { value: us / count, checked, cpuUs: meter.stop(), messages, wallMs: seconds * 1000 };
  }

  async #run(count: number): Promise<{ seconds: number; us: number; checked: boolean }> {
    const rests = this.#options.gauge === 'writer';
    let checked = true;
    let us = 0;
    const begin = performance.now();
    for (let left = count; left > 0; left -= BURST) {
      if (rests) await new Promise((resolve) => setTimeout(resolve, REST_MS));
      this.#published = (this.#published + BURST) | 0;
      Atomics.store(this.#target, 0, this.#published);
      const all = Promise.all(this.#workers.map((worker) => once(worker, 'message')));
      const start = rests ? threadUs() : performance.now() * 1000;
      this.#publish(burstValues);
      if (rests) us += threadUs() - start;
      const sums = await withDeadline(all, ROUND_DEADLINE_MS, 'not everybody has got everything');
      if (!rests) us += performance.now() * 1000 - start;
      const wanted = Math.imul(burstSum, this.#published / BURST);
      checked &&= sums.every(([sum]) => sum === wanted);
    }
    return { seconds: (performance.now() - begin) / 1000, us, checked };
  }

  async stop(): Promise<void> {
    this.#close();
    await Promise.all(this.#workers.map((worker) => worker.terminate()));
  }
}

function writerOf({ how, readers }: TopicOptions): {
  readonly publish: (values: readonly unknown[]) => void;
  readonly close: () => void;
  readonly data: () => Pick<TopicReaderData, 'handle' | 'channel'>;
} {
  if (how === 'broadcast-channel') {
    const channel = `millrace-topic-${process.pid}-${channels++}`;
    const all = new BroadcastChannel(channel);
    const publish = (values: readonly unknown[]): void => {
      for (const value of values) all.postMessage(value);
    };
    return { publish, close: () => all.close(), data: () => ({ channel }) };
  }
  const topic: Topic = createTopic({ reliableReaders: readers, wakes: how === 'topic:thread' ? 'thread' : 'writer' });
  return {
    publish: (values) =>
      topic.cork(() => {
        for (const value of values) topic.publish(value);
      }),
    close: () => topic.close(),
    data: () => ({ handle: topic.handle() }),
  };
}

export function topics(options: TopicOptions): Contestant {
  const { how, readers } = options;
  const blocks = how === 'topic:blocked';
  return {
    subject: how === 'broadcast-channel' ? how : `millrace-${how}`,
    label:
      how === 'broadcast-channel'
        ? 'BroadcastChannel'
        : `topic, readers ${blocks ? 'block' : 'on event loops'}${how === 'topic:thread' ? ', a thread wakes them' : ''}`,
    wait: blocks ? 'loop/block' : 'loop/loop',
    start: async () => {
      const { publish, close, data } = writerOf(options);
      const target = new SharedArrayBuffer(4);
      const workers = Array.from({ length: readers }, () => {
        const own = data();
        return new Worker(new URL('./topic-reader.js', import.meta.url), {
          workerData: { ...own, blocks, reliable: true, target } satisfies TopicReaderData,
          transferList: (own.handle?.transfer ?? []) as never,
        });
      });
      const ready = Promise.all(workers.map((worker) => once(worker, 'message')));
      await withDeadline(ready, ROUND_DEADLINE_MS, 'the workers did not start');
      return new TopicSession(options, publish, close, workers, new Int32Array(target));
    },
  };
}
