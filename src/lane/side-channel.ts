// The two native ports beside a ring. The TETHER tells of the other thread's end and carries doorbells and probes (the
// number 0) to its event loop. The SIDE PORT carries values that only the native clone can (numbered; a marker in the
// ring keeps their place), what was left over when the other side ended, and the page that tells of its thread's life.
// They are two because a port that somebody listens on cannot be read at will: on Deno the listener has taken the
// message already. Nobody listens on the side port where the platform can take from it.
import { platform } from '#platform';
import { DataCloneError } from '../errors.ts';
import { SIDE_VALUES_MAX } from '../limits.ts';
import { lacksTransfer, type NativePair } from '../memory/handshake.ts';
import { endedOn, isLifePage, readError } from '../memory/life-page.ts';
import { type Views, viewsOf } from '../memory/region.ts';
import type { CloseReason } from '../outcome.ts';
import type { NativePort } from '../platform/contract.ts';
import type { Beside, BesideMemory, BesideValue, HeldValue, SpilledFrame } from './beside.ts';
import { letGoOf, type Unread, watchUnread } from './lost-values.ts';
import { NativeEnds } from './native-ends.ts';
import { checkTransfer, movedAnyway } from './transfer-list.ts';

/** Bytes from which on a frame that is left behind is moved instead of copied. */
const MOVED_BYTES_MIN = 64 * 1024;
const VALUE = 1;
const SPILL = 2;
const LIFE = 3;
const MEMORY = 4;
/** The same as VALUE and SPILL, what they carry being out of sight: see `Platform.walksMessages`. */
const VALUE_UNSEEN = 5;
const SPILL_UNSEEN = 6;

export interface SideEvents {
  /** Something arrived; look. */
  arrived(): void;
  /** The other thread, or its end of the tether, is gone. */
  closed(): void;
}

export class SideChannel implements Beside, BesideMemory {
  readonly textMin: number = platform.nativeTextMin;
  readonly late: boolean = !platform.canTake;
  readonly discard: Beside['discard'] = letGoOf;
  readonly natives: NativeEnds;
  readonly #tether: NativePort;
  readonly #side: NativePort;
  readonly #events: SideEvents;
  readonly #values = new Arrived();
  #spill: readonly SpilledFrame[] | undefined;
  #peerLife: SharedArrayBuffer | undefined;
  #nextNumber = 0;
  /** Number of the next value to arrive. */
  #nextArriving = 0;
  /** What the other side has made for long messages: one memory for each of its slots, the newest. */
  readonly #memories: { readonly number: number; readonly views: Views }[] = [];
  /** Values numbered below are let go, also those that are still on their way. */
  #wantedFrom = 0;
  #open = true;
  /** A value is being posted: a getter of it may close this end. */
  #posting = false;
  #closeLater: (() => void) | undefined;

  constructor(natives: NativePair, events: SideEvents) {
    this.#tether = natives.tether;
    this.#side = natives.side;
    this.#events = events;
    const ends = new NativeEnds(natives);
    this.natives = ends;
    // A native port with a listener lives as long as its thread: its listeners must not lead to whoever uses it.
    const self = new WeakRef(this);
    const told = (what: (side: SideChannel) => void): void => {
      const side = self.deref();
      if (side !== undefined) what(side);
    };
    platform.listen(this.#tether, {
      message: () => told((side) => side.#events.arrived()),
      closed: () => {
        ends.othersGone();
        told((side) => side.#events.closed());
      },
    });
    if (!platform.canTake) {
      platform.listen(this.#side, {
        message: (value) => {
          const side = self.deref();
          if (side === undefined) letGoOfMessage(value);
          else side.#arrived(value);
        },
        closed: () => {},
        unreadable: () => told((side) => side.#unreadable()),
      });
    }
  }

  /** Wakes the other side's event loop. */
  doorbell(): void {
    this.natives.doorbell();
  }

  /**
   * Posts a value the native way and returns its number. What is in `transfer` moves now.
   * @throws DataCloneError, UsageError ERR_TRANSFER; nothing was posted or moved (but see `refusal`)
   */
  post(value: unknown, transfer: readonly unknown[]): number {
    checkTransfer(transfer, [this.#tether, this.#side]);
    const ports = transfer.filter((item) => platform.isNativePort(item));
    const number = this.#nextNumber;
    this.#posting = true;
    try {
      // A string goes bare: runtimes that share the characters of a string do so for a message that is one.
      if (typeof value === 'string' && transfer.length === 0) this.#side.postMessage(value);
      else if (platform.walksMessages)
        this.#side.postMessage([VALUE_UNSEEN, number, outOfSight(value), ports], transfer);
      // So they do for one in a flat object, if nothing but that and primitives is around it: no list where there are no ports.
      else if (ports.length === 0) this.#side.postMessage([VALUE, number, value], transfer);
      else this.#side.postMessage([VALUE, number, value, ports], transfer);
    } catch (cause) {
      throw refusal(value, transfer, cause);
    } finally {
      this.#posting = false;
      this.#closeLater?.();
    }
    this.#nextNumber = (number + 1) | 0;
    this.natives.left = true;
    return number;
  }

  /**
   * Takes a value to be posted later. What is in `transfer` moves now.
   * @throws DataCloneError, UsageError ERR_TRANSFER; nothing was moved (but see `refusal`)
   */
  holdBack(value: unknown, transfer: readonly unknown[]): HeldValue {
    checkTransfer(transfer, [this.#tether, this.#side]);
    return cloneForLater(value, transfer);
  }

  /** Values posted so far. */
  get posted(): number {
    return this.#nextNumber;
  }

  /** Takes value `number`; `undefined` while it has not arrived. Earlier values that nobody took are let go. */
  take(number: number): BesideValue | undefined {
    if (!this.#values.has(number)) this.pull();
    const found = this.#values.get(number);
    if (found === undefined) return undefined;
    this.#wantedFrom = (number + 1) | 0;
    for (const earlier of this.#values.keys()) {
      if (earlier === number) break;
      this.#values.forget(earlier);
    }
    this.#values.delete(number);
    return found;
  }

  /** Whether value `number` has come. Takes nothing in. */
  has(number: number): boolean {
    return this.#values.has(number);
  }

  /** Lets go of every value before `number`, also of those still on their way: what they belong to was replaced. */
  letGo(number: number): void {
    this.#wantedFrom = number;
    this.pull();
    for (const earlier of this.#values.keys()) {
      if (((earlier - number) | 0) >= 0) break;
      this.#values.forget(earlier);
    }
  }

  /** Gives the other side memory for what is too long for slot `slot`, in the place of what it had for that slot before. */
  share(number: number, slot: number, memory: SharedArrayBuffer): void {
    this.natives.left = true;
    this.#side.postMessage([MEMORY, number, slot, memory]);
  }

  /** Memory `number` of the other side; `undefined` while it has not arrived. */
  shared(number: number): Views | undefined {
    const find = (): Views | undefined => this.#memories.find((it) => it?.number === number)?.views;
    const found = find();
    if (found !== undefined) return found;
    this.pull();
    return find();
  }

  /** Leaves frames for the other side to read once it has drained the ring. The last thing an ending side does. */
  leave(frames: readonly SpilledFrame[]): void {
    // Moving is for the large: a transfer list is looked through for doubles, and a million entries take minutes.
    const transfer = frames
      .map(([, payload]) => payload.buffer)
      .filter((buffer) => buffer.byteLength >= MOVED_BYTES_MIN);
    this.natives.left = true;
    const message = platform.walksMessages ? [SPILL_UNSEEN, outOfSight(frames)] : [SPILL, frames];
    this.#side.postMessage(message, transfer);
  }

  /** The frames that the other side left; `undefined` while they have not arrived. */
  takeSpill(): readonly SpilledFrame[] | undefined {
    if (this.#spill === undefined) this.pull();
    return this.#spill;
  }

  get spillArrived(): boolean {
    return this.#spill !== undefined;
  }

  /** Tells the other side which page speaks for this thread's life. */
  announceLife(life: SharedArrayBuffer): void {
    this.#side.postMessage([LIFE, life]);
  }

  watchLife(life: SharedArrayBuffer): void {
    this.#peerLife = life;
  }

  /** Takes in whatever waits on the side port, without the event loop. */
  pull(): void {
    for (let failures = 0; failures <= SIDE_VALUES_MAX; ) {
      let taken: { readonly message: unknown } | undefined;
      try {
        taken = platform.takeMessage(this.#side);
      } catch (cause) {
        failures++;
        this.#arriveUnreadable({ cause });
        continue;
      }
      if (taken === undefined) return;
      this.#accept(taken.message);
    }
  }

  /** Asks whether, and how, the other thread is gone, without the event loop; `undefined` when it cannot be known here. */
  peerGone(): CloseReason | undefined {
    this.pull();
    const told = this.#peerLife && endedOn(this.#peerLife);
    if (told !== undefined) return told;
    // What rang for the event loop is of no use to a thread that is awake. Taking is also what makes Node notice the end.
    while (platform.takeMessage(this.#tether) !== undefined);
    return platform.probeGone(this.#tether) ? 'terminated' : undefined;
  }

  /** What the other thread died of, as far as it could say so. */
  get peerError(): unknown {
    if (this.#open) this.pull();
    return this.#peerLife && readError(this.#peerLife);
  }

  hold(held: boolean): void {
    this.natives.hold(held);
  }

  /** @param attached whether a thread has the other end */
  close(attached: boolean): void {
    if (this.#open) this.pull();
    this.#open = false;
    this.#values.discard();
    // Into a port that is closed meanwhile some runtimes drop what moves, and tell nobody.
    if (this.#posting) this.#closeLater = () => this.natives.close(attached);
    else this.natives.close(attached);
  }

  #arrived(message: unknown): void {
    this.#accept(message);
    this.#events.arrived();
  }
  #unreadable(): void {
    this.#arriveUnreadable({ cause: undefined });
    this.#events.arrived();
  }

  #arrive(number: number, value: BesideValue): void {
    this.#nextArriving = (number + 1) | 0;
    if (((number - this.#wantedFrom) | 0) < 0 || !this.#open) letGoOf(value.value, value.ports);
    else this.#values.add(number, value, this);
  }

  /** Something came that this thread cannot make: a value, for nothing else that is sent here could fail. */
  #arriveUnreadable(unreadable: { readonly cause: unknown }): void {
    this.#arrive(this.#nextArriving, { value: undefined, ports: [], unreadable });
  }

  #accept(message: unknown): void {
    if (typeof message === 'string') {
      this.#arrive(this.#nextArriving, { value: message, ports: [] });
    }
    if (!Array.isArray(message)) return;
    const value = valueIn(message);
    if (value !== undefined) this.#arrive(message[1], value);
    else if (message[0] === SPILL && Array.isArray(message[1])) {
      this.#spill = message[1].filter(isFrame);
    } else if (message[0] === SPILL_UNSEEN && message[1] instanceof Map && Array.isArray(message[1].get(0))) {
      this.#spill = message[1].get(0).filter(isFrame);
    } else if (message[0] === MEMORY && isSlot(message[2]) && message[3] instanceof SharedArrayBuffer) {
      this.#memories[message[2]] = { number: Number(message[1]), views: viewsOf(message[3]) };
    } else if (message[0] === LIFE && isLifePage(message[1])) {
      this.watchLife(message[1]);
    }
  }
}

/** Values that have come, by number. Leads to nobody who might take them. */
class Arrived extends Map<number, BesideValue> implements Unread {
  /** There may be something in it that has another end. */
  #watched = false;

  /** @param taker with whom they end */
  add(number: number, value: BesideValue, taker: object): void {
    this.set(number, value);
    if (this.#watched || value.ports.length === 0) return;
    this.#watched = true;
    watchUnread(taker, this);
  }

  /** Nobody will take it. */
  forget(number: number): void {
    const { value, ports } = this.get(number) as BesideValue;
    this.delete(number);
    letGoOf(value, ports);
  }

  discard(): void {
    for (const number of this.keys()) this.forget(number);
  }
}

/** The value that a message of a side port brings, if it is one with ports or an array. */
function valueIn(message: readonly unknown[]): BesideValue | undefined {
  const [kind, number, content, list] = message;
  if (typeof number !== 'number') return undefined;
  const ports = Array.isArray(list) ? list : [];
  if (kind === VALUE) return { value: content, ports };
  if (kind === VALUE_UNSEEN && content instanceof Map) return { value: content.get(0), ports };
  return undefined;
}

/** Lets go of what a message of a side port brings, whose reader is gone. */
function letGoOfMessage(message: unknown): void {
  const lost = Array.isArray(message) ? valueIn(message) : undefined;
  if (lost !== undefined) letGoOf(lost.value, lost.ports);
}

/** The same for all that waits on a side port. */
export function discardPosted(side: NativePort): void {
  for (let failures = 0; failures <= SIDE_VALUES_MAX; ) {
    try {
      const taken = platform.takeMessage(side);
      if (taken === undefined) return;
      letGoOfMessage(taken.message);
    } catch {
      // What cannot be made here has nothing that could be let go.
      failures++;
    }
  }
}

/**
 * Clones a value with what moves along, which has been checked. It moves now.
 * @throws DataCloneError; nothing was moved (but see `refusal`)
 */
export function cloneForLater(value: unknown, transfer: readonly unknown[]): HeldValue {
  if (typeof value === 'string' && transfer.length === 0) return { value, transfer };
  try {
    const held = structuredClone([value, transfer], { transfer: transfer as Transferable[] });
    return { value: held[0], transfer: held[1] as readonly unknown[] };
  } catch (cause) {
    throw refusal(value, transfer, cause);
  }
}

/**
 * The list was in order, so it is the value. Deno has moved the buffers by then: nothing brings them back, and only a
 * second clone of every value beforehand would spare them.
 */
function refusal(value: unknown, transfer: readonly unknown[], cause: unknown): DataCloneError {
  const text = lacksTransfer(value, transfer)
    ? 'pass `remote.transfer`, or `transferOf(remote)` for one that arrived, as transfer list when you post `remote`'
    : cause instanceof Error
      ? cause.message
      : String(cause);
  const lost = movedAnyway(transfer) ? '; this runtime has detached the buffers of its transfer list all the same' : '';
  return new DataCloneError(`Cannot clone the value: ${text}${lost}`, '$', cause);
}

/** An enumeration of properties does not come to what a Map holds; the ports in it stand in the message a second time. */
function outOfSight(value: unknown): ReadonlyMap<number, unknown> {
  return new Map([[0, value]]);
}

/** Bounded, because it says how many memories are kept at a time. */
function isSlot(value: unknown): value is number {
  return value === 0 || value === 1 || value === 2;
}

function isFrame(frame: unknown): frame is SpilledFrame {
  return Array.isArray(frame) && typeof frame[0] === 'number' && frame[1] instanceof Uint8Array;
}
