// The reading end of a pipe's ring, as records come out of it.
import type { RecordSource } from '../../lane/records.ts';
import { HEAD } from '../../memory/layout.ts';
import type { Views } from '../../memory/region.ts';
import { Consumer } from '../../ring/consumer.ts';
import type { Bell } from '../../ring/producer.ts';
import type { PipeMemory } from './layout.ts';

/**
 * Every message is given back to the writer when it is taken, not later: HEAD is where a reader that takes the place of
 * this one goes on, so that it reads nothing twice. The writer is rung for less often: by `release`.
 */
export class PipeSource extends Consumer implements RecordSource {
  declare readonly views: Views;
  readonly #bell: Bell;
  readonly #headWord: number = 0;
  /** HEAD as this end left it. */
  head = 0;
  /** The same when the writer was rung last. */
  #rung = 0;

  constructor({ lane, views }: PipeMemory, bell: Bell) {
    super(lane);
    this.views = views;
    this.#bell = bell;
    this.#headWord = lane.block + HEAD;
    this.head = this.headNow;
    this.#rung = this.head;
  }

  /** Bytes for which the writer was not rung. */
  override get held(): number {
    return (this.head - this.#rung) >>> 0;
  }
  /** By then a message is out, or a part of one copied. */
  override advance(): void {
    super.advance();
    this.#giveBack();
  }
  override tell(): void {}
  override release(): void {
    // A pad may have been passed over.
    this.#giveBack();
    if (this.head === this.#rung) return;
    this.#rung = this.head;
    this.#bell.ring();
  }

  /** HEAD as it is now. Whoever makes sure that readers take turns has ordered this: a plain load will do. */
  get headNow(): number {
    return this.words[this.#headWord] as number;
  }
  /** Sets HEAD, which was damaged, or behind which nothing can be read. */
  mend(head: number): void {
    // SYNC room-visible: nothing before it is read any more; pairs with Producer.tryClaim.
    Atomics.store(this.words, this.#headWord, head);
  }

  #giveBack(): void {
    super.release();
    this.head = this.headNow;
  }
}
