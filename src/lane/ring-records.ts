// A lane of a region as records go into it and come out of it, with the words beside its ring. Counters are written by one
// thread only and plainly: a reader elsewhere may see them a little late.
import { BAD, DROPS, OUTBOX_PEAK, RECEIVED, SENT, SIDE_TAKEN, STALLS } from '../memory/layout.ts';
import type { LaneMemory, Views } from '../memory/region.ts';
import { Consumer } from '../ring/consumer.ts';
import { LatestConsumer, type Newest } from '../ring/latest-consumer.ts';
import { type Bell, Producer } from '../ring/producer.ts';
import type { InboundNotes, OutboundNotes, RecordSink, RecordSource } from './records.ts';

export class RingSink extends Producer implements RecordSink {
  declare readonly views: Views;

  constructor(lane: LaneMemory, views: Views, bell?: Bell) {
    super(lane, bell, true);
    this.views = views;
  }
}

export class RingSource extends Consumer implements RecordSource {
  declare readonly views: Views;

  constructor(lane: LaneMemory, views: Views, bell?: Bell) {
    super(lane, bell, true);
    this.views = views;
  }
}

/** What a reader goes on with when it learns that only the newest message of a lane counts. */
export class LatestSource extends LatestConsumer implements RecordSource {
  declare readonly views: Views;

  /** @param overtaken told the number of the first value beside the lane that a message from now on may refer to */
  constructor(lane: LaneMemory, views: Views, bell: Bell, overtaken: (number: number) => void, luggage?: Newest) {
    super(lane, bell, overtaken);
    this.views = views;
    if (luggage !== undefined) this.resume(luggage);
  }
}

export class RingOutboundNotes implements OutboundNotes {
  readonly #words: Int32Array;
  readonly #block: number = 0;
  readonly #relearn: number = 0;

  /** @param relearn word index of the other side's RELEARN */
  constructor({ words, block }: LaneMemory, relearn: number) {
    this.#words = words;
    this.#block = block;
    this.#relearn = relearn;
  }

  get relearns(): number {
    // SYNC relearn: a look at a line that nobody writes but in an emergency; pairs with RingInboundNotes.askToRelearn.
    return Atomics.load(this.#words, this.#relearn);
  }
  get besideTaken(): number {
    // SYNC side-taken: what the other side has taken no longer counts; pairs with RingInboundNotes.besideTaken.
    return Atomics.load(this.#words, this.#block + SIDE_TAKEN);
  }
  /** A message is in the ring, all of it. */
  sent(): void {
    const at = this.#block + SENT;
    this.#words[at] = (this.#words[at] as number) + 1;
  }
  /** A message found no room. */
  stalled(): void {
    const at = this.#block + STALLS;
    this.#words[at] = (this.#words[at] as number) + 1;
  }
  outbox(drops: number, peak: number): void {
    this.#words[this.#block + DROPS] = drops;
    this.#words[this.#block + OUTBOX_PEAK] = peak;
  }
}

export class RingInboundNotes implements InboundNotes {
  readonly #words: Int32Array;
  readonly #block: number = 0;
  readonly #relearn: number = 0;

  /** @param relearn word index of this side's RELEARN */
  constructor({ words, block }: LaneMemory, relearn: number) {
    this.#words = words;
    this.#block = block;
    this.#relearn = relearn;
  }

  askToRelearn(): void {
    // SYNC relearn: pairs with RingOutboundNotes.relearns, after which nothing is encoded that needs what came before.
    Atomics.add(this.#words, this.#relearn, 1);
  }
  besideTaken(number: number): void {
    // SYNC side-taken: one value fewer on its way; pairs with RingOutboundNotes.besideTaken.
    Atomics.store(this.#words, this.#block + SIDE_TAKEN, number);
  }
  received(): void {
    const at = this.#block + RECEIVED;
    this.#words[at] = (this.#words[at] as number) + 1;
  }
  undecodable(): void {
    const at = this.#block + BAD;
    this.#words[at] = (this.#words[at] as number) + 1;
  }
}
