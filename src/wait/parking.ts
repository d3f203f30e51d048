// How agents that have some memory in common sleep on its words, and wake each other there. Threads have memory that their
// runtime shares, and its own ways to sleep; who has mapped memory brings others.
import type { LoopWay } from '../platform/contract.ts';
import { AsyncWait, DoorbellWait, type EventLoopWait } from './async.ts';
import { type AsyncPlace, type ParkPlace, SharedPlace } from './park-place.ts';

export interface Parking {
  /** Where a park word is slept on, or its sleeper woken. */
  place(words: Int32Array, index: number): ParkPlace;
  /**
   * How an event loop sleeps on a word, with nobody else.
   * @param place made here
   * @param sleeps word index of the sleeper's counter of sleeps
   * @param woken called when it was woken, unless it is a bell that wakes it, whose owner knows; perhaps then, too
   */
  onLoop(place: ParkPlace, sleeps: number, woken: () => void): EventLoopWait;
}

function place(words: Int32Array, index: number): ParkPlace {
  return new SharedPlace(words, index);
}

/** @param belled its bell is rung, too */
function onWord(belled: boolean): Parking {
  return {
    place,
    onLoop(where: AsyncPlace, sleeps: number, woken: () => void): EventLoopWait {
      return new AsyncWait(where, sleeps, woken, belled);
    },
  };
}
const WAIT_ASYNC: Parking = /* @__PURE__ */ onWord(false);
const WAIT_ASYNC_OR_DOORBELL: Parking = /* @__PURE__ */ onWord(true);

const FOR_DOORBELL: Parking = {
  place,
  onLoop: (where, sleeps) => new DoorbellWait(where, sleeps),
};

/** Of memory that this runtime has shared itself. */
export function sharedParking(asyncPark: LoopWay): Parking {
  if (asyncPark === 'wait-async') return WAIT_ASYNC;
  return asyncPark === 'doorbell' ? FOR_DOORBELL : WAIT_ASYNC_OR_DOORBELL;
}
