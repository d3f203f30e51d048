// Programs that make many workers, write to each once and see them end. Everything is fresh in each sample.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker, type WorkerOptions } from 'node:worker_threads';
import type { Contestant, Sample, Session } from './contest.ts';
import { CpuMeter } from './cpu.ts';
import { withDeadline } from './deadline.ts';
import type { Life } from './subject.ts';

const LIVES_DEADLINE_MS = 120_000;

/** What every worker is sent: an object of about 118 B whose `id` it tells its parent by parentPort. */
function messageTo(id: number): unknown {
  const params = { userId: 100000 + id, fields: ['name', 'email'], verbose: false };
  return { id, type: 'request', method: 'getUser', params, ts: 1763750000000 + id };
}

class LivesSession implements Session {
  readonly cold = true;
  readonly #life: Life;
  readonly #count: number;
  readonly #atOnce: boolean;
  readonly #folder: string = mkdtempSync(join(tmpdir(), 'millrace-workers-'));
  readonly #url: URL;

  constructor(life: Life, { count, atOnce }: LivesOptions) {
    this.#life = life;
    this.#count = count;
    this.#atOnce = atOnce;
    const path = join(this.#folder, 'worker.mjs');
    writeFileSync(path, life.source);
    this.#url = pathToFileURL(path);
  }

  async round(): Promise<Sample> {
    const meter = new CpuMeter();
    const began = performance.now();
    const all = this.#atOnce ? this.#together() : this.#inTurn();
    const answers = await withDeadline(all, LIVES_DEADLINE_MS, 'not every worker answered and ended');
    const value = performance.now() - began;
    const checked = answers.every((answer, id) => answer === id);
    return { value, checked, cpuUs: meter.stop(), messages: this.#count, wallMs: value };
  }

  #together(): Promise<unknown[]> {
    return Promise.all(Array.from({ length: this.#count }, (_, id) => this.live(id)));
  }

  async #inTurn(): Promise<unknown[]> {
    const answers: unknown[] = [];
    for (let id = 0; id < this.#count; id++) answers.push(await this.live(id));
    return answers;
  }

  /** Makes a worker, writes to it, and waits until it has ended by itself; resolves with what it read. */
  live(id: number): Promise<unknown> {
    const { workerOptions, write, close } = this.#life.open();
    const worker = new Worker(this.#url, workerOptions as WorkerOptions);
    write(worker, messageTo(id));
    let answer: unknown;
    worker.once('message', (value: unknown) => {
      answer = value;
    });
    return new Promise((resolve, reject) => {
      worker.once('error', reject);
      worker.once('exit', () => {
        close();
        resolve(answer);
      });
    });
  }

  stop(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

export interface LivesOptions {
  readonly subject: string;
  readonly label: string;
  readonly count: number;
  /** All are made before the first has ended; else each when the one before has ended. */
  readonly atOnce: boolean;
  life(): Promise<Life>;
}

/** Milliseconds for all of them: made, written to, read, ended. */
export function lives(options: LivesOptions): Contestant {
  return {
    subject: options.subject,
    label: options.label,
    start: async () => {
      const session = new LivesSession(await options.life(), options);
      try {
        // Brings the files into the system's cache, as a program that ran before has.
        await withDeadline(session.live(0), 20_000, 'a worker did not end');
      } catch (error) {
        session.stop();
        throw error;
      }
      return session;
    },
  };
}
