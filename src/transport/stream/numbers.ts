// The numbers of a connection's channels: the initiator's are odd, the other side's even, in rising order, each for one channel. So
// what is still on its way for a channel that is over never hits another one.
import { LayoutError } from '../../errors.ts';
import { CHANNEL_MAX } from './frames.ts';

export class Numbers {
  readonly #parity: 0 | 1;
  #next: number;
  /** The highest that the other side has opened. */
  #opened = 0;

  /** @param from the lowest that is not used yet */
  constructor(initiator: boolean, from = 1) {
    this.#parity = initiator ? 1 : 0;
    this.#next = from + ((from ^ this.#parity) & 1);
  }

  get initiator(): boolean {
    return this.#parity === 1;
  }
  /** Whether all of this side's are used. At a hundred channels a millisecond that takes three hours. */
  get usedUp(): boolean {
    return this.#next > CHANNEL_MAX;
  }
  /** The next of this side's, used by this call. */
  take(): number {
    const number = this.#next;
    this.#next += 2;
    return number;
  }
  /** The other side opens a channel. @throws LayoutError if it cannot with this number */
  opened(number: number): void {
    if (!this.isTheirs(number) || number <= this.#opened)
      throw new LayoutError(`Cannot open channel ${number}: it is not the other side's, or was opened before`);
    this.#opened = number;
  }
  isTheirs(number: number): boolean {
    return (number & 1) !== this.#parity;
  }
  /** Whether a channel has, or had, this number. */
  known(number: number): boolean {
    return this.isTheirs(number) ? number <= this.#opened : number < this.#next;
  }
}
