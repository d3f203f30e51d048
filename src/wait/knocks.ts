// A thread that does one thing whenever it is knocked for, and sleeps between: topics have one that wakes their readers (topic/waker.ts).
// Who knocks pays for the waking of one thread, and for nothing while that one is at work.
//
// P7. No lost knock. KNOCKS changes before ASLEEP is looked at, and the thread says ASLEEP before it looks at KNOCKS: it finds the knock, or
//     who knocks finds it asleep.

// Words of the memory that the two have in common.
export const KNOCKS = 0;
export const ASLEEP = 1;
export const RUNS = 2;
export const OVER = 3;
export const KNOCK_WORDS = 4;

/** What that thread does, until it is over. Its text may be what the thread is made of, so it names nothing outside: `own` has the words above, 0 to 3. */
export function obeyKnocks(own: Int32Array, task: () => void): void {
  let done = 0;
  // SYNC topic-runs: whoever finds it set knocks, and KNOCKS is looked at from here on; pairs with WakerThread.wake.
  Atomics.store(own, 2, 1);
  for (;;) {
    // SYNC topic-knock: ordered behind ASLEEP (P7); pairs with knock.
    const knocks = Atomics.load(own, 0);
    if (knocks !== done) {
      done = knocks;
      task();
      // SYNC topic-over: what was knocked for before is done; pairs with WakerThread.close.
    } else if (Atomics.load(own, 3) === 1) return;
    else {
      // SYNC topic-knock: before KNOCKS is compared, which the wait does; pairs with knock.
      Atomics.store(own, 1, 1);
      Atomics.wait(own, 0, done);
      // SYNC topic-knock: by itself alone. Taken back by a knock that it had heard already, it would sleep unknown; pairs with knock.
      Atomics.store(own, 1, 0);
    }
  }
}

export function knock(own: Int32Array): void {
  // SYNC topic-knock: before ASLEEP is looked at (P7); pairs with obeyKnocks.
  Atomics.add(own, KNOCKS, 1);
  if (Atomics.load(own, ASLEEP) !== 0) Atomics.notify(own, KNOCKS);
}
