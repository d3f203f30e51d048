// What the models share: where things stand in the block, and small actors.
import type { Look, Model } from '../kit/explore.ts';
import type { TurnModel } from '../kit/explore-turns.ts';
import type { Shipped } from './shipped.ts';

/** A model with a name, to be made for the shipped source or for a mutant. */
export interface NamedModel {
  readonly name: string;
  readonly about: string;
  /** Parts of the outcomes that must have been reached, else the model proves less than it says. */
  readonly reaches?: readonly RegExp[];
  make(shipped: Shipped): Model | TurnModel;
}

// The block: two lane blocks with TAIL at 0 and HEAD at 16 as in memory/layout.ts, then words for sleeping, then data.
export const LANE = [0, 32] as const;
export const TAIL = 0;
export const HEAD = 16;
/** Park words of the two sides. */
export const PARK = [64, 66] as const;
/** Closed words of the two sides. */
export const CLOSED = [68, 70] as const;
export const DEAD = 72;
export const BELL = 74;
/** Where the sides count their sleeps; nobody looks at it. */
export const SLEEPS = [76, 77] as const;
const DATA = 80;

export const names: Record<number, string> = {
  [TAIL]: 'TAIL',
  [HEAD]: 'HEAD',
  [LANE[1] + TAIL]: 'TAIL of lane 1',
  [LANE[1] + HEAD]: 'HEAD of lane 1',
  [PARK[0]]: 'PARK of side 0',
  [PARK[1]]: 'PARK of side 1',
  [CLOSED[0]]: 'CLOSED of side 0',
  [CLOSED[1]]: 'CLOSED of side 1',
  [DEAD]: 'DEAD',
  [BELL]: 'BELL',
};

export interface Lane {
  readonly words: Int32Array;
  readonly bytes: Uint8Array;
  readonly block: number;
  readonly data: number;
  readonly capacity: number;
}

interface Memory {
  words(): Int32Array;
  bytes(): Uint8Array;
}

/** Lane `which`, of `capacity` bytes. Both lanes of a model are of one size. */
export function laneOf(kit: Memory, capacity: number, which: 0 | 1 = 0): Lane {
  return { words: kit.words(), bytes: kit.bytes(), block: LANE[which], data: DATA * 4 + which * capacity, capacity };
}

export function wordsFor(capacity: number, lanes: 1 | 2 = 1): number {
  return DATA + (lanes * capacity) / 4;
}

/** Positions keep their order and their distance (I1). */
export function positionsHold(capacity: number, lane: 0 | 1 = 0): (look: Look) => string | undefined {
  return (look) => {
    const tail = look(LANE[lane] + TAIL);
    const head = look(LANE[lane] + HEAD);
    const used = (tail - head) >>> 0;
    return used <= capacity && (tail & 7) === 0 && (head & 7) === 0 ? undefined : `TAIL ${tail}, HEAD ${head}`;
  };
}

/** Writes record number `i`, `length` bytes of it, if there is room. Whole words through `words`, the rest bytewise. */
export function tryWrite(producer: InstanceType<Shipped['Producer']>, length: number, i: number): boolean {
  const offset = producer.tryClaim(length);
  if (offset < 0) return false;
  for (let at = 0; at < length; ) {
    if (length - at >= 4) {
      producer.words[(offset + at) >>> 2] = 1000 * (i + 1) + at;
      at += 4;
    } else producer.bytes[offset + at++] = 17 * (i + 1);
  }
  producer.commit(length);
  return true;
}

/** Reads a record back: its length if it is record number `i` unharmed, else what is wrong, as text. */
export function read(consumer: InstanceType<Shipped['Consumer']>, offset: number, i: number): number | string {
  const { length } = consumer;
  for (let at = 0; at < length; ) {
    if (length - at >= 4) {
      const found = consumer.words[(offset + at) >>> 2];
      if (found !== 1000 * (i + 1) + at) return `word ${at} of record ${i} is ${found}`;
      at += 4;
    } else {
      const found = consumer.bytes[offset + at++];
      if (found !== ((17 * (i + 1)) & 255)) return `byte ${at - 1} of record ${i} is ${found}`;
    }
  }
  return length;
}

/** A final check: the reader got exactly the records sent, or their beginning if somebody was killed. */
export function received(lengths: readonly number[], reader = 'reader'): NonNullable<Model['final']> {
  return ({ results, killed }) => {
    const got = results[reader] as (number | string)[] | undefined;
    if (got === undefined) return killed === undefined ? `${reader} has no result` : undefined;
    const whole = killed !== undefined || got.length === lengths.length;
    const right = got.every((length, i) => length === lengths[i]);
    return whole && right ? undefined : `sent ${lengths}, received ${got}`;
  };
}
