// Other things in the places of some in a value: handles in those of Ports on the way out, Ports in those of handles on arrival.
import { platform } from '#platform';
import { Classifier, MAP, PLAIN, SET } from '../../codec/classify.ts';
import { setCarefully } from '../../codec/plain-object.ts';
import { UsageError } from '../../errors.ts';
import type { HeldValue } from '../../lane/beside.ts';
import type { MovingHandle } from '../../memory/handle.ts';
import { renewed } from '../../memory/native-pair.ts';
import type { NativePort } from '../../platform/contract.ts';
import { cloneForLater } from './clone-for-later.ts';
import { letGoOf } from './lost-values.ts';
import { isMovingEnd, nativesIn, transferOfAll } from './moving-end.ts';

/**
 * Makes handles of the Ports in a transfer list, and puts them in their places in the value, which is cloned now.
 * @param memory of the channel that is to carry them
 * @throws DataCloneError, UsageError ERR_TRANSFER; nothing was moved (but see `refusal` in clone-for-later.ts), unless memory of an end is
 *   damaged while it leaves: what had left with it by then ends
 */
export function pack(value: unknown, transfer: readonly unknown[], memory: unknown): HeldValue {
  const ends = transfer.filter(isMovingEnd);
  for (const end of ends) end.check(memory);
  const others = transfer.filter((item) => !isMovingEnd(item));
  const places = ends.map(() => ({}));
  const placed = exchanged(value, new Map(ends.map(({ port }, i) => [port, places[i]])));
  // Getters have run: one of them may have closed or sent what is to move.
  for (const end of ends) end.check(memory);
  const held = cloneForLater([placed, places], others);
  const [cloned, clonedPlaces] = held.value as [unknown, readonly object[]];
  const handles: MovingHandle[] = [];
  try {
    for (const end of ends) handles.push(end.leave());
  } catch (cause) {
    // Its memory was damaged since it was asked: that is its own end, and no reason for this channel's.
    letGoOf(undefined, [...handles, ...held.transfer]);
    throw new UsageError('ERR_TRANSFER', `Cannot transfer a Port: ${String(cause)}`, { cause });
  }
  const moved = new Map<unknown, unknown>([
    ...others.map((item, i) => [item, held.transfer[i]] as const),
    ...ends.map((end, i) => [end, handles[i]] as const),
  ]);
  return {
    value: exchanged(cloned, new Map(clonedPlaces.map((place, i) => [place, handles[i]]))),
    transfer: transfer.map((item) => moved.get(item)),
  };
}

/**
 * A value that moves on, with what moves in it. On Node a native port that was closed on the way cannot, and would take
 * everything with it: another one that is closed, too, goes in its stead.
 */
export function movesOn(value: unknown, moved: readonly unknown[]): HeldValue {
  const natives = platform.movesWhole ? nativesIn(moved) : [];
  if (natives.length === 0) return { value, transfer: moved };
  const places = new Map(natives.map((port) => [port, renewed(port as NativePort)]));
  const [placed, transfer] = exchanged([value, moved], places) as [unknown, readonly unknown[]];
  return { value: placed, transfer };
}

/**
 * The same now and by itself, for what somebody else has sent: what cannot move keeps nothing else from moving.
 * @throws what the runtime says of it; it was let go then
 */
export function movedOn(value: unknown, moved: readonly unknown[]): HeldValue {
  const { value: placed, transfer } = movesOn(value, moved);
  try {
    const cloned = platform.cloneMoving([placed, transfer], transferOfAll(transfer));
    const [held, list] = cloned as [unknown, readonly unknown[]];
    return { value: held, transfer: list };
  } catch (cause) {
    letGoOf(placed, transfer);
    throw cause;
  }
}

const classifier = new Classifier();

/** A copy of a value with other things in the places of some; what holds none of them by structured clone's own ways stays itself. */
export function exchanged(value: unknown, places: ReadonlyMap<unknown, unknown>): unknown {
  const made = new Map<unknown, unknown>(places);
  const open: (() => void)[] = [];
  const copyOf = (item: unknown): unknown => {
    if (typeof item !== 'object' || item === null) return item;
    if (!made.has(item)) made.set(item, begin(item));
    return made.get(item);
  };
  const begin = (item: object): unknown => {
    if (Array.isArray(item)) {
      const copy: unknown[] = [];
      copy.length = item.length;
      open.push(() => fill(copy as unknown as Record<string, unknown>, item));
      return copy;
    }
    if (ArrayBuffer.isView(item)) return item;
    const prototype: object | null = Object.getPrototypeOf(item);
    const kind = prototype === null ? PLAIN : classifier.kindOf(item, prototype);
    if (kind === MAP) {
      const copy = new Map();
      open.push(() => {
        for (const [key, each] of item as Map<unknown, unknown>) copy.set(copyOf(key), copyOf(each));
      });
      return copy;
    }
    if (kind === SET) {
      const copy = new Set();
      open.push(() => {
        for (const each of item as Set<unknown>) copy.add(copyOf(each));
      });
      return copy;
    }
    if (kind !== PLAIN || platform.isProxy(item)) return item;
    const copy = {};
    open.push(() => fill(copy, item));
    return copy;
  };
  const fill = (copy: Record<string, unknown>, item: object): void => {
    for (const key of Object.keys(item)) setCarefully(copy, key, copyOf((item as Record<string, unknown>)[key]));
  };
  const result = copyOf(value);
  for (let next = open.pop(); next !== undefined; next = open.pop()) next();
  return result;
}
