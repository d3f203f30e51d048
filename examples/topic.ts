// One writer, three readers that differ in what becomes of them when they are slow: prices are published much faster than anybody looks. One takes
// what it gets and is told what it missed, one wants the newest price alone, one holds the writer until it has read. A fourth comes late.
import { Worker } from 'node:worker_threads';
import { createTopic, type SubscribeOptions } from '../src/topic/index.ts';
import { heading, isProgram, say, table } from './screen.ts';
import type { Told } from './workers/quotes.ts';

const PRICES = 20_000;

export interface Quote {
  readonly symbol: string;
  readonly price: number;
  readonly last: boolean;
}

export async function topic(): Promise<void> {
  heading('One writer, many readers, of whom some are slow');
  const quotes = createTopic<Quote>({ capacityBytes: 64 * 1024, reliableReaders: 1 });
  const started: Worker[] = [];
  const read = (slow: SubscribeOptions['slow']): Promise<readonly [Worker, Promise<Told>]> => {
    const handle = quotes.handle();
    const worker = new Worker(new URL('./workers/quotes.js', import.meta.url), {
      workerData: { handle, slow },
      transferList: handle.transfer,
    });
    started.push(worker);
    return new Promise((resolve) => {
      worker.once('message', () => resolve([worker, new Promise((done) => worker.once('message', done))]));
    });
  };
  const readers = [];
  for (const slow of ['skip', 'newest', 'reliable'] as const) readers.push({ slow, told: (await read(slow))[1] });
  for (let i = 0; i < PRICES; i++) quotes.publish({ symbol: 'ABC', price: i, last: i === PRICES - 1 });
  // Nothing is published any more: it gets the latest all the same.
  readers.push({ slow: 'skip, joined late', told: (await read('skip'))[1] });
  quotes.close();
  const rows = [['slow', 'prices read', 'missed', 'last one read']];
  for (const { slow, told } of readers) {
    const { count, missed, last } = await told;
    rows.push([slow, String(count), String(missed), String(last)]);
  }
  table(rows);
  const { published, evicted } = quotes.stats();
  say(`${published} were published; ${evicted === 0 ? 'nobody was given up' : 'the reliable reader was given up'}.`);
  for (const worker of started) await worker.terminate();
}

if (isProgram(import.meta.url)) await topic();
