// What ties one end of a region to the other thread: the values of this channel that go natively, what is left over at its
// end, and, by the lines that it has (channel-lines.ts), the other thread's life and waking it.
import { platform } from '#platform';
import type { BesideValue, HeldValue, SpilledFrame } from '../../lane/beside.ts';
import { cloneForLater, refusal } from '../../lane/clone-for-later.ts';
import type { SideWords } from '../../lane/end-teller.ts';
import { letGoOf } from '../../lane/lost-values.ts';
import { checkTransfer } from '../../lane/transfer-list.ts';
import { type Views, viewsOf } from '../../memory/region.ts';
import type { CloseReason } from '../../outcome.ts';
import type { Tie, TieEvents, Together } from '../ring/tie.ts';
import type { SelectPlace } from '../transport.ts';
import type { AgentLinks } from './agent-links.ts';
import { ChannelLines, type LinesUser } from './channel-lines.ts';
import type { JoiningOptions } from './joining.ts';
import { Arrived, MEMORY, outOfSight, SPILL, SPILL_UNSEEN, VALUE, VALUE_UNSEEN, valueIn } from './native-values.ts';
import type { ThreadLink } from './thread-link.ts';
import { threadSelect } from './thread-select.ts';

/** Bytes from which on a frame that is left behind is moved instead of copied. */
const MOVED_BYTES_MIN = 64 * 1024;
export class ThreadTie implements Tie, LinesUser, Together {
  readonly textMin: number = platform.nativeTextMin;
  readonly late: boolean = !platform.canTake;
  readonly discard: Tie['discard'] = letGoOf;
  readonly lines: ChannelLines;
  readonly #events: TieEvents;
  readonly #values = new Arrived();
  #spill: readonly SpilledFrame[] | undefined;
  #nextNumber = 0;
  /** Where the value went that was posted last. */
  #postedWhere = 0;
  /** What the other side has made for long messages: one memory for each of its slots, the newest. */
  readonly #memories: { readonly number: number; readonly views: Views }[] = [];
  /** Values numbered below are let go, also those that are still on their way. */
  #wantedFrom = 0;
  #open = true;
  /** A value is being posted: a getter of it may close this end. */
  #posting = false;
  #closeLater: (() => void) | undefined;
  #selected: ((blocked: boolean) => boolean) | undefined;
  #arrivesLater = false;

  constructor(
    first: ThreadLink,
    agent: AgentLinks | undefined,
    side: SideWords,
    options: JoiningOptions,
    events: TieEvents,
  ) {
    this.#events = events;
    this.lines = new ChannelLines(first, agent, side, options, this);
  }

  // ---- as its lines see it ------------------------------------------------------------------------------------

  arrived(): void {
    this.#events.arrived();
  }
  marked(blocked: boolean): void {
    if (this.#selected?.(blocked) === false) return;
    if (blocked) this.later();
    else this.#events.arrived();
  }
  gone(how: CloseReason | undefined, error: unknown): void {
    this.#events.closed(how, error);
  }
  accept(kind: unknown, message: readonly unknown[]): void {
    const [, , second, third, fourth] = message;
    const value = valueIn(message);
    if (value !== undefined) this.#arrive(second as number, value);
    else if (kind === SPILL && Array.isArray(second)) {
      this.#spill = second.filter(isFrame);
    } else if (kind === SPILL_UNSEEN && second instanceof Map && Array.isArray(second.get(0))) {
      this.#spill = second.get(0).filter(isFrame);
    } else if (kind === MEMORY && typeof second === 'number' && isSlot(third) && fourth instanceof SharedArrayBuffer) {
      this.#accept(second, third, fourth);
    }
  }
  /** Two ways lead here, so that an older one may come behind a newer one. */
  #accept(number: number, slot: number, memory: SharedArrayBuffer): void {
    const had = this.#memories[slot];
    if (had === undefined || ((number - had.number) | 0) > 0) this.#memories[slot] = { number, views: viewsOf(memory) };
  }
  #arrive(number: number, value: BesideValue): void {
    if (((number - this.#wantedFrom) | 0) < 0 || !this.#open) letGoOf(value.value, value.ports);
    else this.#values.add(number, value, this);
  }

  // ---- beside the ring ----------------------------------------------------------------------------------------

  /**
   * Posts a value the native way and returns its number. What is in `transfer` moves now.
   * @throws DataCloneError, UsageError ERR_TRANSFER; nothing was posted or moved (but see `refusal`)
   */
  post(value: unknown, transfer: readonly unknown[]): number {
    checkTransfer(transfer, this.lines.natives);
    const ports = transfer.filter((item) => platform.isNativePort(item));
    const number = this.#nextNumber;
    const { lines } = this;
    const { peerAddress, generation } = lines;
    let place: number;
    this.#posting = true;
    try {
      if (platform.walksMessages)
        place = lines.post([VALUE_UNSEEN, peerAddress, number, outOfSight(value), ports], transfer);
      // Runtimes that share the characters of a string do so for one in a flat array, or in a flat object in an array, if
      // nothing but primitives is around it: no list where there are no ports.
      else if (ports.length === 0) place = lines.post([VALUE, peerAddress, number, value], transfer);
      else place = lines.post([VALUE, peerAddress, number, value, ports], transfer);
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

  /**
   * Takes a value to be posted later. What is in `transfer` moves now.
   * @throws DataCloneError, UsageError ERR_TRANSFER; nothing was moved (but see `refusal`)
   */
  holdBack(value: unknown, transfer: readonly unknown[]): HeldValue {
    checkTransfer(transfer, this.lines.natives);
    return cloneForLater(value, transfer);
  }

  /** Values posted so far. */
  get posted(): number {
    return this.#nextNumber;
  }

  take(number: number, where: number): BesideValue | undefined {
    if (!this.#values.has(number)) this.lines.pull();
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
    return this.lines.lineOf(where & 1);
  }

  /** Lets go of every value before `number`, also of those still on their way: what they belong to was replaced. */
  letGo(number: number): void {
    this.#wantedFrom = number;
    this.lines.pull();
    this.#values.forgetBefore(number);
  }

  /** Gives the other side memory for what is too long for slot `slot`, in the place of what it had for that slot before. */
  share(number: number, slot: number, memory: SharedArrayBuffer): void {
    this.lines.post([MEMORY, this.lines.peerAddress, number, slot, memory], []);
  }

  /** Memory `number` of the other side; `undefined` while it has not arrived. */
  shared(number: number): Views | undefined {
    const find = (): Views | undefined => this.#memories.find((it) => it?.number === number)?.views;
    const found = find();
    if (found !== undefined) return found;
    this.lines.pull();
    return find();
  }

  /** Leaves frames for the other side to read once it has drained the ring. The last thing an ending side does. */
  leave(frames: readonly SpilledFrame[]): void {
    // Moving is for the large: a transfer list is looked through for doubles, and a million entries take minutes.
    const transfer = frames
      .map(([, payload]) => payload.buffer)
      .filter((buffer) => buffer.byteLength >= MOVED_BYTES_MIN);
    const { peerAddress } = this.lines;
    this.lines.post(
      platform.walksMessages ? [SPILL_UNSEEN, peerAddress, outOfSight(frames)] : [SPILL, peerAddress, frames],
      transfer,
    );
  }

  /** The frames that the other side left; `undefined` while they have not arrived. */
  takeSpill(): readonly SpilledFrame[] | undefined {
    if (this.#spill === undefined) this.lines.pull();
    return this.#spill;
  }
  get spillArrived(): boolean {
    return this.#spill !== undefined;
  }

  // ---- the other thread ---------------------------------------------------------------------------------------

  doorbell(): void {
    this.lines.doorbell();
  }
  peerOver(): void {
    this.lines.peerOver();
  }
  get linked(): boolean {
    return this.lines.linked;
  }
  above(): void {
    this.lines.above();
  }
  rest(): void {
    this.lines.rest();
  }
  peerGone(): CloseReason | undefined {
    return this.lines.peerGone();
  }
  get peerError(): unknown {
    return this.lines.peerError;
  }
  hold(held: boolean): void {
    this.lines.hold(held);
  }
  // ---- waited for together with others ------------------------------------------------------------------------

  readonly together: Together = this;
  get place(): SelectPlace {
    return threadSelect();
  }
  selected(tell: (blocked: boolean) => boolean): void {
    this.#selected = tell;
  }
  later(): void {
    if (this.#arrivesLater) return;
    this.#arrivesLater = true;
    queueMicrotask(() => {
      this.#arrivesLater = false;
      this.#events.arrived();
    });
  }

  /** @param attached whether a thread has the other end */
  close(attached: boolean): void {
    if (this.#open) this.lines.pull();
    this.#open = false;
    this.#values.discard();
    // Into a port that is closed meanwhile some runtimes drop what moves, and tell nobody.
    if (this.#posting) this.#closeLater = () => this.lines.close(attached);
    else this.lines.close(attached);
  }
}

/** Bounded, because it says how many memories are kept at a time. */
function isSlot(value: unknown): value is 0 | 1 | 2 {
  return value === 0 || value === 1 || value === 2;
}

function isFrame(frame: unknown): frame is SpilledFrame {
  return Array.isArray(frame) && typeof frame[0] === 'number' && frame[1] instanceof Uint8Array;
}
