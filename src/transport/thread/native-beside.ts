// The values of one channel that go natively, over its lines: numbered, with a marker in the ring that keeps their place.
import { platform } from '#platform';
import type { Beside, BesideValue, HeldValue } from '../../lane/beside.ts';
import { cloneForLater, refusal } from '../../lane/clone-for-later.ts';
import { letGoOf } from '../../lane/lost-values.ts';
import { checkTransfer } from '../../lane/transfer-list.ts';
import type { ChannelLines } from './channel-lines.ts';
import { Arrived, outOfSight, VALUE, VALUE_UNSEEN } from './native-values.ts';
import type { ThreadLink } from './thread-link.ts';

export class NativeBeside implements Beside {
  readonly textMin: number = platform.nativeTextMin;
  readonly late: boolean = !platform.canTake;
  readonly discard: Beside['discard'] = letGoOf;
  readonly #lines: ChannelLines;
  readonly #values = new Arrived();
  #nextNumber = 0;
  /** Where the value went that was posted last. */
  #postedWhere = 0;
  /** Values numbered below are let go, also those that are still on their way. */
  #wantedFrom = 0;
  #open = true;
  /** A value is being posted: a getter of it may close this end. */
  #posting = false;
  #closeLater: (() => void) | undefined;

  constructor(lines: ChannelLines) {
    this.#lines = lines;
  }

  /**
   * Posts a value the native way and returns its number. What is in `transfer` moves now.
   * @throws DataCloneError, UsageError ERR_TRANSFER; nothing was posted or moved (but see `refusal`)
   */
  post(value: unknown, transfer: readonly unknown[]): number {
    const lines = this.#lines;
    checkTransfer(transfer, lines.natives);
    const ports = transfer.filter((item) => platform.isNativePort(item));
    const number = this.#nextNumber;
    const { address, generation } = lines;
    let place: number;
    this.#posting = true;
    try {
      if (platform.walksMessages)
        place = lines.post([VALUE_UNSEEN, address, number, outOfSight(value), ports], transfer);
      // Runtimes that share the characters of a string do so for one in a flat array, or in a flat object in an array, if
      // nothing but primitives is around it: no list where there are no ports.
      else if (ports.length === 0) place = lines.post([VALUE, address, number, value], transfer);
      else place = lines.post([VALUE, address, number, value, ports], transfer);
    } catch (cause) {
      throw refusal(value, transfer, cause);
    } finally {
      this.#posting = false;
      this.#closeLater?.();
    }
    this.#postedWhere = (place << 1) | generation;
    this.#nextNumber = (number + 1) | 0;
    return number;
  }
  get postedWhere(): number {
    return this.#postedWhere;
  }
  /** Values posted so far. */
  get posted(): number {
    return this.#nextNumber;
  }

  /**
   * Takes a value to be posted later. What is in `transfer` moves now.
   * @throws DataCloneError, UsageError ERR_TRANSFER; nothing was moved (but see `refusal`)
   */
  holdBack(value: unknown, transfer: readonly unknown[]): HeldValue {
    checkTransfer(transfer, this.#lines.natives);
    return cloneForLater(value, transfer);
  }

  /** @param taker with whom it ends, if nobody takes it */
  arrive(number: number, value: BesideValue, taker: object): void {
    if (((number - this.#wantedFrom) | 0) < 0 || !this.#open) letGoOf(value.value, value.ports);
    else this.#values.add(number, value, taker);
  }
  take(number: number, where: number): BesideValue | undefined {
    if (!this.#values.has(number)) this.#lines.pull();
    const found = this.#values.get(number) ?? this.#unreadable(where);
    if (found === undefined) return undefined;
    this.#wantedFrom = (number + 1) | 0;
    this.#values.delete(number);
    this.#values.forgetBefore(number);
    return found;
  }
  has(number: number, where: number): boolean {
    return this.#values.has(number) || this.#lineOf(where).hasArrived(where >> 1);
  }
  /** What came from there and is not among the values could not be made here. */
  #unreadable(where: number): BesideValue | undefined {
    const line = this.#lineOf(where);
    if (!line.hasArrived(where >> 1)) return undefined;
    return { value: undefined, ports: [], unreadable: { cause: line.causeOf(where >> 1) } };
  }
  #lineOf(where: number): ThreadLink {
    return this.#lines.lineOf(where & 1);
  }

  letGo(number: number): void {
    this.#wantedFrom = number;
    this.#lines.pull();
    this.#values.forgetBefore(number);
  }

  /**
   * Nobody takes anything here any more.
   * @param done called when nothing is being posted
   */
  close(done: () => void): void {
    if (this.#open) this.#lines.pull();
    this.#open = false;
    this.#values.discard();
    // Into a port that is closed meanwhile some runtimes drop what moves, and tell nobody.
    if (this.#posting) this.#closeLater = done;
    else done();
  }
}
