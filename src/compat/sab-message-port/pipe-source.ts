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
  /** Bytes given back for which nobody was rung. */
  #unrung = 0;

  constructor({ lane, views }: PipeMemory, bell: Bell) {
    super(lane);
    this.views = views;
    this.#bell = bell;
    this.#headWord = lane.block + HEAD;
    this.head = lane.words[this.#headWord] as number;
  }

  override get held(): number {
    return this.#unrung + super.held;
  }
  override tell(): void {
    this.#unrung += super.held;
    super.release();
    this.head = this.words[this.#headWord] as number;
  }
  override release(): void {
    super.release();
    const head = this.words[this.#headWord] as number;
    if (head === this.head && this.#unrung === 0) return;
    this.head = head;
    this.#unrung = 0;
    this.#bell.ring();
  }
}
