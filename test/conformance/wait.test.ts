// The ways to sleep, each under the suite of its kind, and the blocking one between real threads.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AsyncWait, DoorbellWait } from '../../src/wait/async.ts';
import { BlockingWait } from '../../src/wait/block.ts';
import { SharedPlace } from '../../src/wait/park-place.ts';
import { AWAKE, DATA, SPACE, Waker } from '../../src/wait/signal.ts';
import { Spin } from '../../src/wait/spin.ts';
import { FakeClock } from '../kit/fake-clock.ts';
import { MappedPlace } from '../kit/mapped-place.ts';
import { STEP_MS } from '../kit/watchdog.ts';
import { eventLoopWaitConformance, PARK_WORD, SLEEPS_WORD } from './wait.ts';

const newWords = (): Int32Array => new Int32Array(new SharedArrayBuffer(64));

eventLoopWaitConformance('waitAsync', () => {
  const parks = new SharedPlace(newWords(), PARK_WORD);
  let woken = 0;
  const wait = new AsyncWait(parks, SLEEPS_WORD, () => void woken++);
  return { place: parks, wait, doorbell: () => assert.fail('no message is expected'), woken: () => woken };
});
for (const [where, place] of [
  ['shared memory', () => new SharedPlace(newWords(), PARK_WORD)],
  ['mapped memory', () => new MappedPlace(PARK_WORD)],
] as const) {
  eventLoopWaitConformance(`doorbell, ${where}`, () => {
    const parks = place();
    let woken = 0;
    const wait = new DoorbellWait(parks, SLEEPS_WORD);
    return { place: parks, wait, doorbell: () => void woken++, woken: () => woken };
  });
}

function blocking(
  sliceMs = Number.POSITIVE_INFINITY,
  slice = (): void => {},
): { words: Int32Array; wait: BlockingWait } {
  const words = newWords();
  return {
    words,
    wait: new BlockingWait(new SharedPlace(words, PARK_WORD), SLEEPS_WORD, new Spin(0), () => sliceMs, slice),
  };
}

test('blocking: what is there already is seen without a sleep, also with a time limit of 0', () => {
  const { words, wait } = blocking();
  assert.equal(
    wait.wait(DATA, () => true, 0),
    true,
  );
  assert.equal(
    wait.wait(DATA, () => false, 0),
    false,
  );
  assert.equal(words[SLEEPS_WORD], 0);
});

test('blocking: the time limit ends the sleep, and the announcement is taken back', () => {
  const { words, wait } = blocking();
  const start = performance.now();
  assert.equal(
    wait.wait(DATA, () => false, 15),
    false,
  );
  assert.ok(performance.now() - start >= 14);
  assert.equal(Atomics.load(words, PARK_WORD), AWAKE);
});

test('blocking: the slice is called between sleeps and may end the wait', () => {
  let slices = 0;
  const { wait } = blocking(1, () => void slices++);
  assert.equal(
    wait.wait(DATA, () => slices === 3, STEP_MS),
    true,
  );
  assert.equal(slices, 3);
});

test('blocking: a place whose sleeper nobody can wake is looked at in slices of its own', () => {
  const place = new MappedPlace(PARK_WORD);
  assert.throws(() => Atomics.wait(place.words, PARK_WORD, 0, 0), TypeError);
  let slices = 0;
  const wait = new BlockingWait(
    place,
    SLEEPS_WORD,
    new Spin(0),
    () => Number.POSITIVE_INFINITY,
    () => void slices++,
  );
  assert.equal(
    wait.wait(DATA, () => slices === 3, STEP_MS),
    true,
  );
  assert.equal(
    wait.wait(DATA, () => false, 5),
    false,
  );
  assert.equal(Atomics.load(place.words, PARK_WORD), AWAKE);
});

test('blocking: a wake-up between announcement and sleep is not lost (W2)', () => {
  const { words, wait } = blocking();
  const waker = new Waker(new SharedPlace(words, PARK_WORD), DATA, () => {});
  let looks = 0;
  // It comes true in the second look, after the announcement; the sleep then finds another word and returns at once.
  const seen = wait.wait(
    DATA,
    () => {
      if (++looks === 2) waker.ring();
      return looks > 2;
    },
    STEP_MS,
  );
  assert.equal(seen, true);
});

test('a waker leaves a sleeper alone that waits for something else, and one that is awake', () => {
  const words = newWords();
  let bells = 0;
  const waker = new Waker(new SharedPlace(words, PARK_WORD), SPACE, () => void bells++, 5);
  waker.ring();
  Atomics.store(words, PARK_WORD, 4 | DATA);
  waker.ring();
  assert.equal(bells, 0);
  Atomics.store(words, PARK_WORD, 4 | SPACE);
  waker.ring();
  waker.ring();
  assert.equal(bells, 1);
  assert.equal(words[5], 1, 'wake-ups are counted');
});

test('spinning sees what comes within its window and gives up after it', () => {
  const clock = new FakeClock();
  clock.rule(() => {
    const spin = new Spin(100);
    let looks = 0;
    const look = (): boolean => {
      clock.now += 0.001;
      return ++looks === 20;
    };
    assert.equal(spin.until(look), true);
    const start = clock.now;
    assert.equal(
      spin.until(() => {
        clock.now += 0.001;
        return false;
      }),
      false,
    );
    assert.ok(clock.now - start >= 0.1);
  });
});

test('a port that has gone quiet stops spinning; with a window of 0 it never spins', () => {
  const spin = new Spin(50);
  assert.equal(spin.worthwhile, true);
  for (let i = 0; i < 20; i++) spin.missed();
  assert.equal(spin.worthwhile, false);
  assert.equal(new Spin(0).worthwhile, false);
});
