// The thread itself: wakes whoever sleeps on SIGNAL, and rings for the event loops that say that they sleep.
import { workerData } from 'node:worker_threads';
import { nativeFrom } from '../../native/load.ts';
import { obeyKnocks } from '../../wait/knocks.ts';
import { type Ringer, ringerOf } from './bell.ts';
import { futexParking } from './futex.ts';
import { BELL_0, DONE_WITH, MEMORY, NOTHING, SLOTS, TAKEN, type TopicWakerStart } from './topic-waker.ts';

const { native, own, given, bytes, signal, sleeps } = workerData as TopicWakerStart;
const AWAKE = 0;

const primitives = nativeFrom(native);
// SYNC topic-bell: it is this thread's from here on; pairs with startTopicWaker.
const memory = Atomics.exchange(given, MEMORY, NOTHING);
const mapping = primitives.map(memory, bytes);
primitives.close(memory);
const words = new Int32Array(mapping.buffer);
const place = futexParking(primitives, mapping).place(words, signal);
const ringers: (Ringer | undefined)[] = [];

/** The bell of this slot, which is taken or given up as its word says. */
function ringerAt(slot: number): Ringer | undefined {
  const word = BELL_0 + slot;
  const stands = Atomics.load(given, word);
  if (stands === DONE_WITH) {
    ringers[slot]?.close();
    ringers[slot] = undefined;
    // SYNC topic-bell: the slot is free; pairs with WakerBells.isFree.
    Atomics.store(given, word, NOTHING);
  } else if (stands > NOTHING && Atomics.compareExchange(given, word, stands, TAKEN) === stands) {
    try {
      ringers[slot] = ringerOf(primitives, stands);
    } catch {
      // No bell: the connection that it came with is over.
      primitives.close(stands);
    }
  }
  return ringers[slot];
}

obeyKnocks(own, () => {
  place.wake();
  const slots = Atomics.load(given, SLOTS);
  for (let slot = 0; slot < slots; slot++) {
    const ringer = ringerAt(slot);
    // SYNC topic-loop: behind the change of SIGNAL; pairs with LoopPlace.sleepAsync.
    if (Atomics.exchange(words, sleeps + slot, AWAKE) !== AWAKE) ringer?.ring();
  }
});
for (const ringer of ringers) ringer?.close();
primitives.unmap(mapping.place);
