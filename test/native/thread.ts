// Another thread of the tests here, by role. Descriptors are the process's, mappings and watches a thread's own.
import { parentPort, workerData } from 'node:worker_threads';
import { BELL, READABLE, TIMED_OUT, WOKEN } from '../../src/native/primitives.ts';
import { codeOf, native } from '../kit/native.ts';
import { createLink, createRegion } from '../kit/native-agents.ts';
import { BYTES, COUNT_ROUNDS, count, PONG, pong } from './parts.ts';

const { role, region, bell, place: foreign } = workerData as Record<string, number> & { role: string };
const say = (message: unknown): void => parentPort!.postMessage(message);

const roles: Record<string, () => void> = {
  count() {
    const { buffer, place } = native.map(region!, BYTES);
    say('ready');
    count(new Int32Array(buffer), COUNT_ROUNDS);
    native.unmap(place);
    say('counted');
  },
  pong() {
    const { buffer, place } = native.map(region!, BYTES);
    say('ready');
    say(pong(new Int32Array(buffer), place));
  },
  /** Blocked, slice by slice. */
  stuck() {
    const { buffer, place } = native.map(region!, BYTES);
    Atomics.store(new Int32Array(buffer), PONG, 1);
    native.wake(place, PONG, 1);
    const slice = (): number => native.wait(place, 0, 0, 20);
    for (let answer = slice(); answer === TIMED_OUT || answer === WOKEN; ) answer = slice();
  },
  /** Blocked in a port over memory that was mapped. */
  port() {
    const { link } = createLink();
    const port = link.port(createRegion());
    say('ready');
    port.receive();
  },
  /** Many watches on a loop that will be ended from outside. */
  watches() {
    const own = native.createBell();
    for (let i = 0; i < 10; i++) native.watch(own, READABLE | BELL, () => {});
    native.map(native.createMemory(BYTES), BYTES);
    say('ready');
  },
  /** Woken by a bell, from whichever thread. */
  bell() {
    const watch = native.watch(bell!, READABLE | BELL, () => {
      native.unwatch(watch);
      say('woken');
    });
    say('ready');
  },
  /** A place is a number of another thread's: here it is none. */
  foreign() {
    say(codeOf(() => native.wake(foreign!, 0, 1)));
  },
};
roles[role]!();
