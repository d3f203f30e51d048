// The values of one channel that go natively, over its lines: numbered, with a marker in the ring that keeps their place.
import { platform } from '#platform';
import { LayoutError } from '../../errors.ts';
import type { Beside, BesideValue, Copying, HeldValue } from '../../lane/beside.ts';
import { MOVED_COPIED_BYTES_MAX, MOVED_COPIED_SPARE } from '../../limits.ts';
import { cloneForLater, refusal } from '../beside/clone-for-later.ts';
import { exchanged, movedOn, movesOn, pack } from '../beside/exchange.ts';
import { endUnopened, isUnopened, letGoOf, type OnTheWay } from '../beside/lost-values.ts';
import { isMovingEnd, isMovingHandle, type OpenEnd, transferOfAll } from '../beside/moving-end.ts';
import { checkTransfer } from '../beside/transfer-list.ts';
import type { ChannelLines } from './channel-lines.ts';
import { Arrived, outOfSight, VALUE, VALUE_UNSEEN } from './native-values.ts';

/** What moves once cannot always move twice: then who takes the value is told. */
function movable({ value, ports }: BesideValue): BesideValue {
  try {
    const { value: held, transfer } = movedOn(value, ports);
    return { value: held, ports: transfer };
  } catch (cause) {
    return { value: undefined, ports: [], unreadable: { cause: String((cause as Error)?.message) } };
  }
}

export interface BesideLuggage {
  readonly posted: number;
  readonly wantedFrom: number;
  readonly values: readonly (readonly [number: number, value: BesideValue])[];
  readonly sent: readonly OnTheWay[];
}

export class NativeBeside implements Beside, Copying {
  readonly textMin: number = platform.nativeTextMin;
  readonly atWill: boolean = platform.canTake;
  readonly letGo: Beside['letGo'] = letGoOf;
  readonly movesOn: Beside['movesOn'] = movedOn;
  readonly #lines: ChannelLines;
  readonly #openEnd: OpenEnd | undefined;
  /** Made for the first one. */
  #values: Arrived | undefined;
  #nextNumber = 0;
  /** Where the value went that was posted last. */
  #postedWhere = 0;
  /** Values numbered below are let go, also those that are still on their way. */
  #wantedFrom = 0;
  #open = true;
  /** A value is being posted: a getter of it may close this end. */
  #posting = false;
  #closeLater: (() => void) | undefined;

  /** @param openEnd only one end of a channel that is used by itself, in a test, has none */
  constructor(lines: ChannelLines, openEnd?: OpenEnd) {
    this.#lines = lines;
    this.#openEnd = openEnd;
  }

  /**
   * Posts a value the native way and returns its number. What is in `transfer` moves now.
   * @throws DataCloneError, UsageError ERR_TRANSFER; nothing was posted or moved (but see `refusal`)
   */
  post(value: unknown, transfer: readonly unknown[]): number {
    const lines = this.#lines;
    checkTransfer(transfer, lines.natives);
    this.#posting = true;
    try {
      if (transfer.some(isMovingEnd)) {
        const packed = pack(value, transfer, lines.memory);
        try {
          this.#postedWhere = this.#post(packed.value, packed.transfer);
        } catch (error) {
          // They have left.
          letGoOf(packed.value, packed.transfer);
          throw error;
        }
      } else if (transfer.some(isMovingHandle)) {
        // It has waited.
        const again = movesOn(value, transfer);
        this.#postedWhere = this.#post(again.value, again.transfer);
      } else this.#postedWhere = this.#post(value, transfer);
    } finally {
      this.#posting = false;
      this.#closeLater?.();
    }
    const number = this.#nextNumber;
    this.#nextNumber = (number + 1) | 0;
    return number;
  }

  peerOver(): void {
    for (const handle of this.#lines.takeSent()) endUnopened(handle);
  }

  #post(value: unknown, transfer: readonly unknown[]): number {
    const number = this.#nextNumber;
    const ends = transfer.filter(isMovingHandle);
    const ports = transfer.filter((item) => platform.isNativePort(item) || isMovingHandle(item));
    const list = transferOfAll(transfer);
    if (ends.length > 0) this.#lines.sends(ends.map(({ memory, end, ticket }) => ({ memory, end, ticket })));
    try {
      if (platform.walksMessages) return this.#lines.post(VALUE_UNSEEN, [number, outOfSight(value), ports], list);
      // Runtimes that share the characters of a string do so for one in a flat array, or in a flat object in an array, if
      // nothing but primitives is around it: no list where there are no ports.
      if (ports.length === 0) return this.#lines.post(VALUE, [number, value], list);
      return this.#lines.post(VALUE, [number, value, ports], list);
    } catch (cause) {
      throw refusal(value, list, cause);
    }
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
    const { natives, memory } = this.#lines;
    checkTransfer(transfer, natives);
    if (transfer.some(isMovingEnd)) return pack(value, transfer, memory);
    // It has waited before its channel was there.
    if (transfer.some(isMovingHandle)) return movesOn(value, transfer);
    return cloneForLater(value, transfer);
  }

  /** @param taker with whom it ends, if nobody takes it */
  arrive(number: number, value: BesideValue, taker: object): void {
    if (((number - this.#wantedFrom) | 0) < 0 || !this.#open) letGoOf(value.value, value.ports);
    else this.#arrived.add(number | 0, value, taker);
  }
  get #arrived(): Arrived {
    this.#values ??= new Arrived();
    return this.#values;
  }
  take(number: number, where: number): BesideValue | undefined {
    if (this.#values?.has(number) !== true) this.#lines.pull();
    const found = this.#values?.get(number) ?? this.#unreadable(where);
    if (found === undefined) return undefined;
    this.#values?.delete(number);
    this.#values?.letGoBefore(number, this.#wantedFrom);
    this.#wantedFrom = (number + 1) | 0;
    return found;
  }
  has(number: number, where: number): boolean {
    return this.#values?.has(number) === true || this.#lines.hasArrived(where);
  }
  opened(value: unknown, ports: readonly unknown[]): BesideValue {
    if (!ports.some(isMovingHandle)) return { value, ports };
    const opened = new Map<unknown, unknown>();
    try {
      for (const item of ports) if (isMovingHandle(item)) opened.set(item, this.#openEnd?.(item));
    } catch (cause) {
      for (const port of opened.values()) (port as { close(): void }).close();
      const unopened = ports.filter((item) => !opened.has(item));
      letGoOf(value, unopened);
      throw cause;
    }
    return { value: exchanged(value, opened), ports: ports.map((item) => opened.get(item) ?? item) };
  }
  /** What came from there and is not among the values could not be made here; or the line was over before it came. */
  #unreadable(where: number): BesideValue | undefined {
    if (!this.#lines.hasArrived(where)) return undefined;
    return { value: undefined, ports: [], unreadable: this.#lines.causeOf(where) ?? {} };
  }

  get late(): boolean {
    return !platform.canTake || this.#lines.unsettled;
  }

  /** Where nothing can be taken at will a buffer that moves is copied: else a thread that blocks would never have it. */
  get copying(): Copying | undefined {
    return platform.canTake ? undefined : this;
  }
  suits(transfer: readonly unknown[], bytesMax: number): boolean {
    checkTransfer(transfer, this.#lines.natives);
    let bytes = MOVED_COPIED_SPARE;
    for (const item of transfer) {
      if (!(item instanceof ArrayBuffer)) return false;
      bytes += item.byteLength;
    }
    return bytes <= Math.min(bytesMax, MOVED_COPIED_BYTES_MAX);
  }
  detach(transfer: readonly unknown[]): void {
    try {
      platform.cloneMoving(undefined, transfer);
    } catch (cause) {
      throw refusal(undefined, transfer, cause);
    }
  }
  /** What goes along when this end goes over to another thread. */
  leave(): BesideLuggage {
    this.#open = false;
    const sent = this.#lines.takeSent().filter(isUnopened);
    const values = (this.#values?.takeAll() ?? []).map(([number, value]) => [number, movable(value)] as const);
    return { posted: this.#nextNumber, wantedFrom: this.#wantedFrom, values, sent };
  }
  /** @param taker as `arrive`. @throws LayoutError for what no `leave` has made */
  resume({ posted, wantedFrom, values, sent }: BesideLuggage, taker: object): void {
    this.#lines.sends(sent);
    this.#nextNumber = posted;
    this.#wantedFrom = wantedFrom;
    for (const [number, value] of values) {
      if (!Array.isArray(value.ports)) throw new LayoutError('Cannot go on with what has come: it makes no sense');
      this.#arrived.add(number, value, taker);
    }
  }

  letGoBefore(number: number): void {
    const from = this.#wantedFrom;
    this.#wantedFrom = number;
    this.#lines.pull();
    this.#values?.letGoBefore(number, from);
  }

  /**
   * Nobody takes anything here any more.
   * @param done called when nothing is being posted
   */
  close(done: () => void): void {
    if (this.#open) this.#lines.pull();
    this.#open = false;
    this.#values?.letGo();
    // Into a port that is closed meanwhile some runtimes drop what moves, and tell nobody.
    if (this.#posting) this.#closeLater = done;
    else done();
  }
}

/** Of a channel that is not there: no end is one of it. */
const NO_MEMORY = {};

/** What becomes of values before their channel is there. */
export const BEFORE_ANY_CHANNEL: Pick<Beside, 'holdBack' | 'letGo'> = {
  holdBack(value, transfer) {
    checkTransfer(transfer, []);
    return transfer.some(isMovingEnd) ? pack(value, transfer, NO_MEMORY) : cloneForLater(value, transfer);
  },
  letGo: letGoOf,
};
