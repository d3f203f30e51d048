// The worker of scenario `select`: talks over one of its channels, and rests before each message if it is to.
import { parentPort, workerData } from 'node:worker_threads';
import type { Remote } from '../src/index.ts';
import { openDoor } from './doors.ts';

const { attach } = await openDoor<typeof import('../src/index.ts')>('.');

/** `count` round trips over channel `at`, each after a rest. */
export interface SelectOrder {
  readonly at: number;
  readonly count: number;
  readonly restMs: number;
}
/** What it sends: when, on a clock that all threads share. */
export const clock = (): number => performance.timeOrigin + performance.now();

if (parentPort !== null) {
  const ends = (workerData as readonly Remote[]).map((remote) => attach(remote));
  const still = new Int32Array(new SharedArrayBuffer(4));
  parentPort.on('message', ({ at, count, restMs }: SelectOrder) => {
    const end = ends[at]!;
    for (let i = 0; i < count; i++) {
      if (restMs > 0) Atomics.wait(still, 0, 0, restMs);
      end.send(clock());
      end.receive();
    }
  });
  parentPort.postMessage('ready');
}
