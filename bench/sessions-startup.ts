// From `new Worker` to its first message: what importing a contender costs a thread. Workers are fresh in every sample, so
// nothing here can be warmed up; the first pair only brings the files into the system's cache and is not counted.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { Contestant, Sample, Session } from './contest.ts';
import { CpuMeter } from './cpu.ts';
import { withDeadline } from './deadline.ts';
import { median, quantile } from './stats.ts';

const START_DEADLINE_MS = 20_000;
const HELLO = 'hello';

/** What a worker imports before it says its first word. */
export interface Imports {
  readonly subject: string;
  readonly label: string;
  /** URLs, resolved beforehand: looking a package up is the same for everybody. */
  urls(): Promise<readonly string[]> | readonly string[];
}

function sourceOf(urls: readonly string[]): string {
  const lines = urls.map((url) => `import ${JSON.stringify(url)};\n`).join('');
  return `${lines}import { parentPort } from 'node:worker_threads';\nparentPort.postMessage(${JSON.stringify(HELLO)});\n`;
}

/** One worker's start. */
interface Start {
  /** Until its first message was heard. */
  readonly ms: number;
  /** Processor time of the process until the worker had ended. */
  readonly cpuMs: number;
  readonly right: boolean;
}

/** The worker's end is awaited, but not timed. */
async function startOnce(url: URL): Promise<Start> {
  const meter = new CpuMeter();
  const began = performance.now();
  const worker = new Worker(url);
  const heard = new Promise<Omit<Start, 'cpuMs'>>((resolve, reject) => {
    worker.once('message', (value) => resolve({ ms: performance.now() - began, right: value === HELLO }));
    worker.once('error', reject);
    worker.once('exit', () => reject(new Error('the worker ended without a word')));
  });
  let start: Omit<Start, 'cpuMs'>;
  try {
    start = await withDeadline(heard, START_DEADLINE_MS, 'the worker did not say a word');
  } finally {
    await worker.terminate();
  }
  return { ...start, cpuMs: (meter.stop() ?? Number.NaN) / 1000 };
}

class StartSession implements Session {
  readonly cold = true;
  readonly #folder: string;
  readonly #empty: URL;
  readonly #loaded: URL;
  readonly #differencesMs: number[] = [];
  readonly #differencesCpuMs: number[] = [];
  #turn = 0;

  constructor(urls: readonly string[]) {
    this.#folder = mkdtempSync(join(tmpdir(), 'millrace-startup-'));
    this.#empty = this.#write('empty.mjs', []);
    this.#loaded = this.#write('loaded.mjs', urls);
  }

  #write(name: string, urls: readonly string[]): URL {
    const path = join(this.#folder, name);
    writeFileSync(path, sourceOf(urls));
    return pathToFileURL(path);
  }

  /** One empty worker and one that imports; neither is always the second. */
  async pair(): Promise<{ empty: Start; loaded: Start }> {
    const emptyFirst = this.#turn++ % 2 === 0;
    const first = await startOnce(emptyFirst ? this.#empty : this.#loaded);
    const second = await startOnce(emptyFirst ? this.#loaded : this.#empty);
    return emptyFirst ? { empty: first, loaded: second } : { empty: second, loaded: first };
  }

  async round(ms: number): Promise<Sample> {
    const end = performance.now() + ms;
    const timesMs: number[] = [];
    let checked = true;
    do {
      const { empty, loaded } = await this.pair();
      timesMs.push(loaded.ms);
      this.#differencesMs.push(loaded.ms - empty.ms);
      this.#differencesCpuMs.push(loaded.cpuMs - empty.cpuMs);
      checked &&= empty.right && loaded.right;
    } while (performance.now() < end);
    const over = (q: number): number => quantile(this.#differencesMs, q);
    const cpu = median(this.#differencesCpuMs);
    const extra = {
      'on top': over(0.5),
      'on top, low': over(0.25),
      'on top, high': over(0.75),
      ...(!Number.isNaN(cpu) && { 'CPU on top': cpu }),
    };
    return { value: median(timesMs), checked, extra, cumulative: true };
  }

  stop(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** Milliseconds to the first message; beside it how much of that is on top of an empty worker started just before or after. */
export function starts({ subject, label, urls }: Imports): Contestant {
  return {
    subject,
    label,
    start: async () => {
      const session = new StartSession(await urls());
      try {
        await session.pair();
      } catch (error) {
        session.stop();
        throw error;
      }
      return session;
    },
  };
}
