// Points in a lane's stream of which something waits in the outbox. Each is given its position the moment that the last
// message before it stands in the lane.
import { Fifo } from './fifo.ts';
import type { Mark } from './lane.ts';
import type { RecordSink } from './records.ts';

export class Marks {
  readonly #sink: Pick<RecordSink, 'position'>;
  readonly #unplaced: Fifo<Mark> = new Fifo();

  constructor(sink: Pick<RecordSink, 'position'>) {
    this.#sink = sink;
  }

  /**
   * @param accepted messages so far
   * @param moved those of them that stand in the lane, or were dropped
   */
  add(accepted: number, moved: number): Mark {
    const mark: Mark = { accepted, position: undefined };
    this.#unplaced.push(mark);
    this.place(moved);
    return mark;
  }

  /** The messages before the first `moved` stand in the lane now, or were dropped. */
  place(moved: number): void {
    for (let mark = this.#unplaced.first; mark !== undefined; mark = this.#unplaced.first) {
      if (mark.accepted > moved) return;
      mark.position = this.#sink.position;
      this.#unplaced.shift();
    }
  }
}
