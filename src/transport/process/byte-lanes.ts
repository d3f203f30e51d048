// The memory by which a thread and its carrier hand each other a socket's bytes: a region as channels have it (memory/layout.ts), its side 0 the
// thread, side 1 the carrier; each record is a piece of the stream. CLOSED of a side says that nothing follows from there, and counts once
// everything before it is taken.
import { platform } from '#platform';
import { CLOSED, PARK, PARKS, SIDE_0, SIDE_1 } from '../../memory/layout.ts';
import { openRegion } from '../../memory/region.ts';
import type { BlockMemory } from '../../platform/contract.ts';
import { Consumer } from '../../ring/consumer.ts';
import { FULL, Producer } from '../../ring/producer.ts';
import type { EventLoopWait } from '../../wait/async.ts';
import { BlockingWait } from '../../wait/block.ts';
import type { AsyncPlace } from '../../wait/park-place.ts';
import { sharedParking } from '../../wait/parking.ts';
import { ANYTHING, DATA, SPACE, Waker } from '../../wait/signal.ts';
import { Spin } from '../../wait/spin.ts';

const OVER = 1;
const NEVER_SPINS = new Spin(0);
const FOR_EVER = (): number => Number.POSITIVE_INFINITY;

export class ByteLanes {
  readonly #words: Int32Array;
  readonly #blocks: BlockMemory;
  readonly #out: Producer;
  readonly #in: Consumer;
  readonly #here: number;
  readonly #there: number;
  readonly #loop: EventLoopWait;
  readonly #blocking: BlockingWait;
  readonly #wakeOther: Waker;

  /**
   * @param memory from `allocateMemory`
   * @param doorbell wakes the other side's event loop where it is woken by messages
   * @param woken called on this side's event loop; where it is woken by messages, whoever takes them calls it
   */
  constructor(memory: SharedArrayBuffer, side: 0 | 1, doorbell: () => void, woken: () => void) {
    const { views, lanes } = openRegion(memory);
    const [here, there] = side === 0 ? [SIDE_0, SIDE_1] : [SIDE_1, SIDE_0];
    const { words } = views;
    const parking = sharedParking(platform.asyncPark);
    const place = parking.place(words, here + PARK) as AsyncPlace;
    const other = parking.place(words, there + PARK);
    this.#words = words;
    this.#blocks = views.blocks;
    this.#here = here + CLOSED;
    this.#there = there + CLOSED;
    this.#out = new Producer(lanes[side], new Waker(other, DATA, doorbell));
    this.#in = new Consumer(lanes[side === 0 ? 1 : 0], new Waker(other, SPACE, doorbell));
    this.#wakeOther = new Waker(other, ANYTHING, doorbell);
    this.#loop = parking.onLoop(place, here + PARKS, woken);
    this.#blocking = new BlockingWait(place, here + PARKS, NEVER_SPINS, FOR_EVER, () => {});
  }

  // ---- out -------------------------------------------------------------------------------------------------------

  /** Writes what there is room for, from byte `at` on; where it has come to. The other side sees it at once. */
  put(bytes: Uint8Array, at = 0): number {
    let done = at;
    while (done < bytes.length) {
      const room = Math.min(bytes.length - done, this.#out.claimable(bytes.length - done));
      const offset = room > 0 ? this.#out.tryClaim(room) : FULL;
      if (offset === FULL) break;
      this.#blocks.copyIn(bytes.subarray(done, done + room), offset);
      this.#out.commit(room);
      done += room;
    }
    return done;
  }
  /** Whether there is more room than when `put` found too little. */
  get hasRoom(): boolean {
    return this.#out.headMoved;
  }
  /** Whether the other side has released all of it. */
  get allTaken(): boolean {
    return this.#out.releasedUpTo(this.#out.position);
  }
  /** Nothing follows. */
  end(): void {
    // SYNC line-over: everything that was put is published before; pairs with ByteLanes.isOver.
    Atomics.store(this.#words, this.#here, OVER);
    this.#wakeOther.ring();
  }

  // ---- in --------------------------------------------------------------------------------------------------------

  get hasData(): boolean {
    return this.#in.ready;
  }
  /** The next piece, which is this side's until `release`; undefined if there is none. */
  next(): Uint8Array | undefined {
    const offset = this.#in.tryNext();
    return offset < 0 ? undefined : this.#in.bytes.subarray(offset, offset + this.#in.length);
  }
  /** Whatever was taken is the other side's again. */
  release(): void {
    this.#in.release();
  }
  /** Whether nothing follows what can be taken now: to be asked before the last of that is taken. */
  get isOver(): boolean {
    // SYNC line-over: what was put before can be taken; pairs with ByteLanes.end.
    return Atomics.load(this.#words, this.#there) === OVER;
  }

  // ---- sleeping --------------------------------------------------------------------------------------------------

  /** Has `woken` called once `look` may have come true; false if it has already. */
  rest(interest: number, look: () => boolean): boolean {
    return this.#loop.park(interest, look);
  }
  wake(): void {
    this.#loop.unpark();
  }
  /** Waits with the thread until `look` is true; false at the time limit. */
  wait(interest: number, look: () => boolean, timeoutMs: number): boolean {
    return this.#blocking.wait(interest, look, timeoutMs);
  }
}
