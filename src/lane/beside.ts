// What only the medium's own way can carry travels beside the records, and a marker among them keeps its place. A medium that
// carries bytes only has no such way: a value that its codec refuses, or that is to be moved, is refused there.
import { DataCloneError, UsageError } from '../errors.ts';
import { SIDE_VALUE_BYTES } from '../limits.ts';

/** A value that came beside a lane. */
export interface BesideValue {
  readonly value: unknown;
  readonly ports: readonly unknown[];
  /** Why it could not be made in this thread, if it could not. */
  readonly unreadable?: { readonly cause?: unknown };
}

/** A value cloned for later, with the transferred objects in it: they have left their sender already. */
export interface HeldValue {
  readonly value: unknown;
  readonly transfer: readonly unknown[];
  /** Encoded, where that is known. */
  readonly bytes?: number;
}

/** What it counts for against the bounds of an outbox. Of what only the native clone carries nobody knows how large it is. */
export function weightOf({ value, transfer }: HeldValue): number {
  let bytes = SIDE_VALUE_BYTES + (typeof value === 'string' ? value.length : 0);
  for (const moved of transfer) if (moved instanceof ArrayBuffer) bytes += moved.byteLength;
  return bytes;
}

/** What moves by being copied into the lane, and taken from its sender then. */
export interface Copying {
  /**
   * Whether all that is in the list moves so.
   * @param bytesMax of one message
   * @throws UsageError ERR_TRANSFER for what does not move at all
   */
  suits(transfer: readonly unknown[], bytesMax: number): boolean;
  /** Takes it from here. @throws DataCloneError, UsageError; nothing was taken */
  detach(transfer: readonly unknown[]): void;
}

export interface Beside {
  /** Characters from which on the medium's own way carries a string faster than a codec; Infinity: never. */
  readonly textMin: number;
  /** Whether a value may come after its marker. False once its way is over, as of LeftOver. */
  readonly late: boolean;
  /** Whether a thread that is blocked can take in what has come, without its event loop. */
  readonly atWill: boolean;
  /** Where a thread that is blocked cannot take in what has come: what moves by the lane all the same. */
  readonly copying?: Copying | undefined;
  /** Values posted so far. */
  readonly posted: number;
  /** Where the last one went, as `take` over there must be told. */
  readonly postedWhere: number;
  /**
   * Posts a value and returns its number. What is in `transfer` moves now.
   * @throws DataCloneError, UsageError ERR_TRANSFER; nothing was posted
   */
  post(value: unknown, transfer: readonly unknown[]): number;
  /** Takes a value to be posted later. What is in `transfer` moves now. @throws as post */
  holdBack(value: unknown, transfer: readonly unknown[]): HeldValue;
  /** The other side is over: ends of other channels that it has not opened nobody ever will, and their peers are told. */
  peerOver(): void;
  /** Takes value `number`; `undefined` while it has not arrived. Earlier values that nobody took are let go. */
  take(number: number, where: number): BesideValue | undefined;
  /** Whether value `number` has come. Takes nothing in. */
  has(number: number, where: number): boolean;
  /** Nobody reads here any more: what has come, and what still comes, is let go. Only where this is not said by somebody else. */
  readerOver?(): void;
  /** Lets go of every value before `number`, also of those still on their way: what they belong to was replaced. */
  letGoBefore(number: number): void;
  /**
   * Nobody will ever have this value: the other ends of what has moved with it are to know. A function of its own, which
   * leads to nobody.
   */
  readonly letGo: (value: unknown, moved: readonly unknown[]) => void;
  /** A value that waits here, or was taken and not read, goes on to another agent, with what has moved with it. @throws if it cannot: it was let go */
  movesOn(value: unknown, moved: readonly unknown[]): HeldValue;
  /**
   * What who asks for the value is to get: the ends of other channels that came with it are opened now, and not before.
   * @throws what is wrong with one of them; nothing that came with the value is left open then
   */
  opened(value: unknown, ports: readonly unknown[]): BesideValue;
}

/** Beside a lane that carries bytes only. */
export const NOTHING_BESIDE: Beside = {
  textMin: Number.POSITIVE_INFINITY,
  late: false,
  posted: 0,
  postedWhere: 0,
  post: refuse,
  holdBack: refuse,
  atWill: true,
  peerOver: () => {},
  take: () => undefined,
  has: () => false,
  letGoBefore: () => {},
  letGo: () => {},
  movesOn: (value, transfer) => ({ value, transfer }),
  opened: (value, ports) => ({ value, ports }),
};

function refuse(_: unknown, transfer: readonly unknown[]): never {
  if (transfer.length === 0) {
    throw new DataCloneError('Cannot send: this channel carries bytes, and no codec of it can write the value', '$');
  }
  throw new UsageError(
    'ERR_TRANSFER',
    'Cannot transfer: this channel carries bytes only; leave the list out to send a copy',
  );
}
