// The other process of the tests here, by role. It is given descriptors from FIRST_GIVEN on.
import { fstatSync, ftruncateSync, openSync } from 'node:fs';
import process from 'node:process';
import { Worker } from 'node:worker_threads';
import { BELL, NOT_EQUAL, READABLE, TIMED_OUT, WOKEN } from '../../src/native/primitives.ts';
import { inOneFile } from '../kit/in-one-file.ts';
import { codeOf, FIRST_GIVEN, native } from '../kit/native.ts';
import { COUNT_ROUNDS, count, PING, PINGS, PONG, pong } from './parts.ts';
import { portRoles } from './ports.ts';

const say = (message: unknown): void => {
  process.send!(message);
};
const heard = (): Promise<unknown> => new Promise((resolve) => process.once('message', resolve));
/** The region that came first, whatever size it has. */
function mapGiven(): { words: Int32Array; place: number } {
  const { buffer, place } = native.map(FIRST_GIVEN, fstatSync(FIRST_GIVEN).size);
  return { words: new Int32Array(buffer), place };
}

const roles: Record<string, () => unknown> = {
  async count() {
    const { words } = mapGiven();
    say('ready');
    await heard();
    count(words, COUNT_ROUNDS);
    say('counted');
  },
  /** Answers each ping, asleep in between. */
  pong() {
    const { words, place } = mapGiven();
    say('ready');
    say(pong(words, place));
  },
  /** The same from an event loop: rung, it looks, counts and rings. */
  bell() {
    const { words } = mapGiven();
    let calls = 0;
    const watch = native.watch(FIRST_GIVEN + 1, READABLE | BELL, () => {
      calls++;
      const pings = Atomics.load(words, PING);
      if (Atomics.exchange(words, PONG, pings) !== pings) native.ring(FIRST_GIVEN + 2);
      if (pings < PINGS) return;
      native.unwatch(watch);
      say(calls);
      process.disconnect();
    });
    say('ready');
  },
  /** Blocked for good; it says so in the memory, the last that it can. */
  stuck() {
    const { words, place } = mapGiven();
    Atomics.store(words, PONG, 1);
    native.wake(place, PONG, 1);
    const slice = (): number => native.wait(place, PING, 0, 100);
    for (let answer = slice(); answer === TIMED_OUT || answer === WOKEN; ) answer = slice();
  },
  /** Has a descriptor of the same memory, and does to it what it can. */
  async hostile() {
    const { words } = mapGiven();
    const again = (): number => openSync(`/proc/self/fd/${FIRST_GIVEN}`, 'r+');
    const tried = [
      codeOf(() => ftruncateSync(FIRST_GIVEN, 0)),
      codeOf(() => ftruncateSync(FIRST_GIVEN, 1000)),
      codeOf(() => ftruncateSync(FIRST_GIVEN, 1 << 20)),
      codeOf(() => ftruncateSync(again(), 1)),
    ];
    words.fill(-1);
    say(tried);
    await heard();
  },
  /** Connects, sends the descriptors it was given with one byte for each, and stays until it is told to end. */
  async sender() {
    const { path, count } = (await heard()) as { path: string; count: number };
    const socket = native.connect(path);
    for (let i = 0; i < count; i++) native.send(socket, Uint8Array.of(i), Int32Array.of(FIRST_GIVEN + i));
    say(process.pid);
    await heard();
    process.disconnect();
  },
  /** An exception in a watch's function is one that nobody caught, and the watch goes on. */
  throws() {
    const bell = native.createBell();
    let calls = 0;
    process.on('uncaughtException', (error) => {
      say(error.message);
      if (calls < 2) native.ring(bell);
      else process.exit(3);
    });
    native.watch(bell, READABLE | BELL, () => {
      throw new Error(`call ${++calls}`);
    });
    native.ring(bell);
  },
  /** Ends by process.exit with all that can be open, in threads, too. */
  exit() {
    const region = native.createMemory(4096);
    const { place } = native.map(region, 4096);
    const bell = native.createBell();
    for (let i = 0; i < 10; i++) native.watch(bell, READABLE | BELL, () => {});
    native.wait(place, 0, 0, 1);
    const worker = new Worker(inOneFile(new URL('./thread.js', import.meta.url)), { workerData: { role: 'watches' } });
    worker.once('message', () => process.exit(5));
  },
  /** A loop that nothing holds but watches that say they don't. */
  idle() {
    const bell = native.createBell();
    const watch = native.watch(bell, READABLE | BELL, () => {});
    native.holdLoop(watch, false);
    native.holdLoop(watch, true);
    native.holdLoop(watch, false);
    process.disconnect();
  },
  /** Looks at a word that has another value. */
  unequal() {
    const { place } = mapGiven();
    say(native.wait(place, 0, 1, 1000) === NOT_EQUAL);
    process.disconnect();
  },
  ...portRoles(say, heard),
};

await roles[process.argv[2]!]!();
if (process.connected && ['count', 'pong', 'hostile'].includes(process.argv[2]!)) process.disconnect();
