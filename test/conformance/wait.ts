// What every way of sleeping does. Event loops: `eventLoopWaitConformance`; threads: `blockingWaitConformance`.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EventLoopWait } from '../../src/wait/async.ts';
import type { ParkPlace } from '../../src/wait/park-place.ts';
import { ANYTHING, AWAKE, DATA, SPACE, Waker } from '../../src/wait/signal.ts';
import { turn, until } from '../kit/watchdog.ts';

/** Word indexes that the suite uses. */
export const PARK_WORD = 0;
export const SLEEPS_WORD = 1;

export interface WaitBench {
  readonly place: ParkPlace;
  readonly wait: EventLoopWait;
  /** What a waker is to call for a sleeper that waits for a message. */
  readonly doorbell: () => void;
  /** How often `woken` was called so far. */
  readonly woken: () => number;
}

export function eventLoopWaitConformance(name: string, make: () => WaitBench): void {
  const setUp = (): WaitBench & { words: Int32Array; waker: (interest: number) => Waker } => {
    const bench = make();
    return {
      ...bench,
      words: bench.place.words,
      waker: (interest) => new Waker(bench.place, interest, bench.doorbell),
    };
  };

  test(`${name}: park() returns false, with nothing arranged, when there is something already`, () => {
    const { wait, words, waker, woken } = setUp();
    assert.equal(
      wait.park(DATA, () => true),
      false,
    );
    assert.equal(Atomics.load(words, PARK_WORD), AWAKE);
    waker(DATA).ring();
    assert.equal(woken(), 0);
    assert.equal(words[SLEEPS_WORD], 0, 'that was no sleep');
  });

  test(`${name}: it announces first and looks second (W1)`, () => {
    const { wait, words } = setUp();
    let announced = false;
    wait.park(DATA, () => {
      announced = (Atomics.load(words, PARK_WORD) & DATA) !== 0;
      return false;
    });
    assert.equal(announced, true);
    wait.unpark();
  });

  test(`${name}: a sleeper is woken by what it waits for, once, and by nothing else`, async () => {
    const { wait, words, waker, woken } = setUp();
    assert.equal(
      wait.park(DATA, () => false),
      true,
    );
    assert.equal(words[SLEEPS_WORD], 1);
    waker(SPACE).ring();
    await turn();
    assert.equal(woken(), 0, 'it does not wait for room');
    waker(DATA).ring();
    await until('the sleeper is woken', () => woken() > 0);
    waker(DATA).ring();
    await turn();
    assert.equal(woken(), 1, 'who is awake is not woken');
    assert.equal(Atomics.load(words, PARK_WORD), AWAKE);
  });

  test(`${name}: a sleeper that waits for anything is woken by either`, async () => {
    for (const interest of [DATA, SPACE]) {
      const { wait, waker, woken } = setUp();
      wait.park(ANYTHING, () => false);
      waker(interest).ring();
      await until('the sleeper is woken', () => woken() === 1);
    }
  });

  test(`${name}: after unpark() nobody rings, and the next park() works`, async () => {
    const { wait, waker, woken } = setUp();
    for (let round = 1; round <= 3; round++) {
      const before = woken();
      wait.park(DATA, () => false);
      wait.unpark();
      waker(DATA).ring();
      await turn();
      // An earlier sleep's promise may still tell; the owner looks then and finds nothing.
      assert.ok(woken() - before <= 1);
      const asleep = woken();
      wait.park(DATA, () => false);
      waker(DATA).ring();
      await until('the sleeper is woken', () => woken() > asleep);
    }
  });

  test(`${name}: a wake-up between announcement and sleep is not lost (W2)`, async () => {
    const { wait, waker, woken } = setUp();
    const slept = wait.park(DATA, () => {
      waker(DATA).ring();
      return false;
    });
    // Either it did not go to sleep, or it is told.
    if (slept) await until('the sleeper is woken', () => woken() > 0);
  });
}
