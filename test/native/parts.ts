// What both sides of the tests here do, in threads and processes.

import { TIMED_OUT } from '../../src/native/primitives.ts';
import { native } from '../kit/native.ts';
import { STEP_MS } from '../kit/watchdog.ts';

/** Words, each on a cache line of its own. */
export const ADDED = 0;
export const SWAPPED = 32;
export const PING = 64;
export const PONG = 96;
export const WORDS = 1024;
export const BYTES: number = WORDS * 4;

export const COUNT_ROUNDS = 200_000;
export const PINGS = 2000;

/** Adds, and adds again by compare and exchange. */
export function count(words: Int32Array, rounds: number): void {
  for (let i = 0; i < rounds; i++) {
    Atomics.add(words, ADDED, 1);
    for (let seen = Atomics.load(words, SWAPPED); ; ) {
      const found = Atomics.compareExchange(words, SWAPPED, seen, seen + 1);
      if (found === seen) break;
      seen = found;
    }
  }
}

/** Milliseconds of one sleep. */
const SLICE_MS = 1000;

/**
 * Sleeps until the word is not `seen`; how many wake-ups were lost: a sleep went on to its end though the word had changed. Whoever
 * is only slow has not changed it yet.
 */
export function sleepWhile(words: Int32Array, place: number, index: number, seen: number): number {
  let lost = 0;
  for (let sleeps = 0; Atomics.load(words, index) === seen; sleeps++) {
    // Here nothing but this can turn a hang into a report: the thread is blocked.
    if (sleeps * SLICE_MS > STEP_MS) throw new Error(`hang: word ${index} is ${seen} for ever`);
    if (native.wait(place, index, seen, SLICE_MS) === TIMED_OUT && Atomics.load(words, index) !== seen) lost++;
  }
  return lost;
}

/** Answers PINGS pings; how many wake-ups were lost. */
export function pong(words: Int32Array, place: number): number {
  let lost = 0;
  for (let i = 1; i <= PINGS; i++) {
    lost += sleepWhile(words, place, PING, i - 1);
    Atomics.store(words, PONG, i);
    native.wake(place, PONG, 1);
  }
  return lost;
}

export function ping(words: Int32Array, place: number): number {
  let lost = 0;
  for (let i = 1; i <= PINGS; i++) {
    Atomics.store(words, PING, i);
    native.wake(place, PING, 1);
    lost += sleepWhile(words, place, PONG, i - 1);
  }
  return lost;
}
