// Sends so many readings to whoever has the other end, in bursts of its own, and is done.
import { attach, CLOSED, parentPort, type Remote } from '../../src/index.ts';

export interface Job {
  readonly number: number;
  readonly readings: number;
  /** Milliseconds of rest after every tenth. */
  readonly each: number;
  readonly remote: Remote;
}
export interface Reading {
  readonly sensor: number;
  readonly value: number;
}

const parent = parentPort<Job>();
await parent.ready;
const job = parent.receive();
if (job !== CLOSED) {
  const port = attach<never, Reading>(job.remote);
  for (let i = 0; i < job.readings; i++) {
    port.send({ sensor: job.number, value: Math.sin(i / 10) });
    if (i % 10 === 9) await new Promise((resolve) => setTimeout(resolve, job.each));
  }
  port.close();
}
