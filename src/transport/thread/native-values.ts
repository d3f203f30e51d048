// What channels send over a side port: kind, address, and then, by kind,
//
//   VALUE, VALUE_UNSEEN    number, value, native ports in it if there are any
//   SPILL, SPILL_UNSEEN    frames that are left over at the end
//   MEMORY                 number, slot, memory
//   MEMORY_HELD            number: it has come, where only an event loop takes it in
//
// UNSEEN: what it carries is out of sight, see `Platform.walksMessages`. Other kinds: joining.ts.
import type { BesideValue } from '../../lane/beside.ts';
import { type Unread, watchUnread } from '../../lane/unread.ts';
import { letGoOf } from '../beside/lost-values.ts';
import { transferOfAll } from '../beside/moving-end.ts';
import { MOVED } from './stretch.ts';

export const VALUE = 1;
export const SPILL = 2;
export const MEMORY = 4;
export const VALUE_UNSEEN = 5;
export const SPILL_UNSEEN = 6;
export const MEMORY_HELD = 7;

/** An enumeration of properties does not come to what a Map holds; the ports in it stand in the message a second time. */
export function outOfSight(value: unknown): ReadonlyMap<number, unknown> {
  return new Map([[0, value]]);
}

/** The value that a message brings, if it is one that brings any. */
export function valueIn(message: readonly unknown[]): BesideValue | undefined {
  const [kind, , number, content, list] = message;
  if (typeof number !== 'number') return undefined;
  const ports = Array.isArray(list) ? list : [];
  if (kind === VALUE) return { value: content, ports };
  if (kind === VALUE_UNSEEN && content instanceof Map) return { value: content.get(0), ports };
  return undefined;
}

/** Lets go of what a message brings, whose reader is gone. */
export function letGoOfMessage(message: readonly unknown[]): void {
  const lost = valueIn(message);
  if (lost !== undefined) letGoOf(lost.value, lost.ports);
  else if (message[0] === MOVED) letGoOf(undefined, message);
}
/** What must be transferred with a message that is sent on. */
export function nativesOfMessage(message: readonly unknown[]): readonly unknown[] {
  return transferOfAll(valueIn(message)?.ports ?? []);
}

/** Values that have come, by number. Leads to nobody who might take them. */
export class Arrived extends Map<number, BesideValue> implements Unread {
  /** There may be something in it that has another end. */
  #watched = false;

  /** @param taker with whom they end */
  add(number: number, value: BesideValue, taker: object): void {
    this.set(number, value);
    if (this.#watched || value.ports.length === 0) return;
    this.#watched = true;
    watchUnread(taker, this);
  }

  /** Hands everything over. */
  takeAll(): [number: number, value: BesideValue][] {
    const all = [...this];
    this.clear();
    return all;
  }

  /** Nobody will take it. */
  letGoOf(number: number): void {
    const { value, ports } = this.get(number) as BesideValue;
    this.delete(number);
    letGoOf(value, ports);
  }
  /** The same for all from `from`, before which there is none, to the one before `number`. They need not have come in their order. */
  letGoBefore(number: number, from: number): void {
    const span = (number - from) | 0;
    // As many as there are at the most, however far a peer's word is off.
    if (span > this.size) {
      for (const earlier of this.keys()) if (((earlier - number) | 0) < 0) this.letGoOf(earlier);
    } else if (span > 0) {
      for (let at = from; at !== number; at = (at + 1) | 0) if (this.has(at)) this.letGoOf(at);
    }
  }
  letGo(): void {
    for (const number of this.keys()) this.letGoOf(number);
  }
}
