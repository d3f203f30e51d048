// The worker of the interpreter. With shared memory it never returns to its event loop: it blocks for a job, runs it in one go, and
// looks at one word to see whether it is called off. Without, it must go back to its event loop to hear anything.
import { features, parentPort } from '../../src/index.ts';
import { Machine, type Outcome, type Progress } from './interpreter.ts';

export interface Job {
  readonly id: number;
  readonly program: string;
}
/** What asks for the end of a job where there is no word to look at. */
export interface Stop {
  readonly stop: number;
}
export interface Answer extends Progress {
  readonly id: number;
  /** There once the job is over. */
  readonly outcome?: Outcome;
  readonly failed?: string;
  /** Messages that this thread's event loop has brought, by `worker.postMessage`. */
  readonly heard: number;
}

/** Milliseconds between two answers of a job that goes on, and of a slice without shared memory. */
const PROGRESS_MS = 50;
const SLICE_MS = 10;
/** Loops of the program between two looks at the clock. */
const CLOCK_LOOPS = 4096;

let heard = 0;
addEventListener('message', ({ data }: MessageEvent<unknown>) => {
  if (data === 'stop') heard++;
});

// What the page has not looked at is replaced by what is newer, while this thread computes.
const memory = features().memory;
const port = memory ? parentPort({ overflow: 'latest' }) : parentPort();
await port.ready;

const answer = (id: number, progress: Progress): Answer => ({ id, heard, ...progress });

/** To the end in one go: `port.interrupted` is one atomic load. */
function runThrough({ id, program }: Job): void {
  const machine = new Machine(program);
  let loops = 0;
  let told = performance.now();
  const ended = machine.run(() => {
    if (port.interrupted === id) return true;
    if (++loops % CLOCK_LOOPS === 0 && performance.now() - told > PROGRESS_MS) {
      port.postMessage(answer(id, machine.progress));
      told = performance.now();
    }
    return false;
  });
  port.clearInterrupt(id);
  port.postMessage({ ...answer(id, machine.progress), outcome: { ...machine.progress, stopped: !ended } });
}

let stopped = 0;
const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

async function runInSlices({ id, program }: Job): Promise<void> {
  const machine = new Machine(program);
  let ended = false;
  let told = performance.now();
  while (!ended && stopped !== id) {
    const until = performance.now() + SLICE_MS;
    let loops = 0;
    ended = machine.run(() => ++loops % CLOCK_LOOPS === 0 && performance.now() > until);
    if (performance.now() - told > PROGRESS_MS) {
      port.postMessage(answer(id, machine.progress));
      told = performance.now();
    }
    await turn();
  }
  port.postMessage({ ...answer(id, machine.progress), outcome: { ...machine.progress, stopped: !ended } });
}

function failed(id: number, error: unknown): void {
  port.postMessage({ id, heard, steps: 0, output: '', failed: String(error) });
}

if (memory) {
  for (const job of port.blocking() as Iterable<Job>) {
    try {
      runThrough(job);
    } catch (error) {
      failed(job.id, error);
    }
  }
} else {
  port.onmessage = ({ data }) => {
    if ('stop' in (data as object)) stopped = (data as Stop).stop;
    else runInSlices(data as Job).catch((error) => failed((data as Job).id, error));
  };
}
