// The thread that wakes the readers of a topic that are in other processes, as its writer's thread has it. What is said to it lies in memory that
// the two share: a descriptor belongs to whoever has last taken it from its word, so that none is closed twice, whoever ends when.
import { Worker } from 'node:worker_threads';
import { TOPIC_HANDLES_MAX } from '../../limits.ts';
import type { Primitives } from '../../native/primitives.ts';
import { knock } from '../../wait/knocks.ts';
import type { WakerBells, WakerPlan } from '../topic-medium.ts';
import { threadUrl } from './own-thread.ts';
import { TOPIC_WAKER } from './topic-waker-source.ts';

// What stands in the word of a reader's bell, beside its descriptor (above 0): from whoever writes a topic to the thread.
export const NOTHING = 0;
/** The thread has it. */
export const TAKEN = -1;
/** The thread is to close it. */
export const DONE_WITH = -2;

/** Words in front of those of the bells. */
export const MEMORY = 0;
export const SLOTS = 1;
export const BELL_0 = 2;

export interface TopicWakerStart {
  /** Where this thread has the primitives from. */
  readonly native: string;
  readonly own: Int32Array;
  /** The descriptor of the topic's memory, how far the bells go, and one word for each of them. */
  readonly given: Int32Array;
  readonly bytes: number;
  /** Word indexes in the topic's memory. */
  readonly signal: number;
  readonly sleeps: number;
}

/**
 * @param from where the primitives are from
 * @throws what the system says
 */
export function startTopicWaker(native: Primitives, from: string, descriptor: number, plan: WakerPlan): WakerBells {
  const { own, bytes, signal, sleeps, lost } = plan;
  const given = new Int32Array(new SharedArrayBuffer(4 * (BELL_0 + TOPIC_HANDLES_MAX)));
  given[MEMORY] = native.duplicate(descriptor);
  const closeRest = (): void => {
    for (const [word] of given.entries()) {
      if (word === SLOTS) continue;
      // SYNC topic-bell: what the thread has not taken; pairs with the thread's exchange.
      const left = Atomics.exchange(given, word, NOTHING);
      if (left > NOTHING) native.close(left);
    }
  };
  try {
    const start: TopicWakerStart = { native: from, own, given, bytes, signal, sleeps };
    // What the program preloads into each of its threads has no use there.
    const worker = new Worker(threadUrl(TOPIC_WAKER), { name: 'millrace waker', workerData: start, execArgv: [] });
    worker.unref();
    worker.on('error', () => {});
    worker.on('exit', () => {
      lost();
      closeRest();
    });
  } catch (error) {
    closeRest();
    throw error;
  }
  return {
    add(slot, bell) {
      // SYNC topic-bell: with the descriptor goes the duty to close it; pairs with the thread's exchange.
      Atomics.store(given, BELL_0 + slot, bell());
      if (slot >= Atomics.load(given, SLOTS)) Atomics.store(given, SLOTS, slot + 1);
    },
    remove(slot) {
      const word = BELL_0 + slot;
      const stands = Atomics.load(given, word);
      // SYNC topic-bell: whoever has changed it has the descriptor; pairs with the thread's exchange.
      if (stands > NOTHING && Atomics.compareExchange(given, word, stands, NOTHING) === stands) native.close(stands);
      else {
        Atomics.store(given, word, DONE_WITH);
        // Now, and not when somebody is to be woken next: that may be never, and neither the slot nor the descriptor would be free.
        knock(own);
      }
    },
    isFree: (slot) => Atomics.load(given, BELL_0 + slot) === NOTHING,
  };
}
