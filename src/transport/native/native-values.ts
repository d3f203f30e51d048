// Values that no codec carries, and what moves with them, over the native port that a stream's bytes go by.
import { platform } from '#platform';
import { UsageError } from '../../errors.ts';
import type { Beside, BesideValue, HeldValue } from '../../lane/beside.ts';
import { cloneForLater, refusal } from '../beside/clone-for-later.ts';
import { letGoOf } from '../beside/lost-values.ts';
import { isMovingEnd } from '../beside/moving-end.ts';
import { checkTransfer } from '../beside/transfer-list.ts';
import type { NativeStream, ValueTaker } from './native-stream.ts';

export class NativeValues implements Beside, ValueTaker {
  readonly textMin: number = Number.POSITIVE_INFINITY;
  readonly atWill = false;
  readonly postedWhere = 0;
  posted = 0;
  readonly letGo: Beside['letGo'] = letGoOf;
  readonly #stream: NativeStream;
  readonly #came = new Map<number, BesideValue>();
  /** The number of the next one that comes. */
  #next = 0;
  /** Nobody reads any more. */
  #unread = false;

  constructor(stream: NativeStream) {
    this.#stream = stream;
  }

  get late(): boolean {
    return this.#stream.late;
  }

  post(value: unknown, transfer: readonly unknown[]): number {
    this.#check(transfer);
    const ports = transfer.filter((item) => platform.isNativePort(item));
    try {
      this.#stream.postValue([this.posted, value, ports], transfer);
    } catch (cause) {
      throw refusal(value, transfer, cause);
    }
    const number = this.posted;
    this.posted = (number + 1) | 0;
    return number;
  }
  holdBack(value: unknown, transfer: readonly unknown[]): HeldValue {
    this.#check(transfer);
    return cloneForLater(value, transfer);
  }
  #check(transfer: readonly unknown[]): void {
    checkTransfer(transfer, [this.#stream.port]);
    if (!transfer.some(isMovingEnd)) return;
    throw new UsageError(
      'ERR_TRANSFER',
      'Cannot transfer a Port: this channel goes over a native message port; send the `remote` of a channel that is not opened yet',
    );
  }

  arrived(number: number, value: BesideValue): void {
    this.#next = (number + 1) | 0;
    if (this.#unread) letGoOf(value.value, value.ports);
    else this.#came.set(number, value);
  }
  unreadable(): void {
    this.arrived(this.#next, { value: undefined, ports: [], unreadable: {} });
  }
  take(number: number): BesideValue | undefined {
    const found = this.#came.get(number);
    this.#came.delete(number);
    return found;
  }
  has(number: number): boolean {
    return this.#came.has(number);
  }
  readerOver(): void {
    this.#unread = true;
    for (const { value, ports } of this.#came.values()) letGoOf(value, ports);
    this.#came.clear();
  }
  /** Overflow `latest`, which replaces messages, takes memory. */
  letGoBefore(): void {}
  peerOver(): void {}
  movesOn(value: unknown, transfer: readonly unknown[]): HeldValue {
    return { value, transfer };
  }
  opened(value: unknown, ports: readonly unknown[]): BesideValue {
    return { value, ports };
  }
}
