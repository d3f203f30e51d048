// What a turn looks at and changes, as far as other threads might notice: explore-turns.ts asks, for turns that have nothing to do
// with each other come to the same in either order. Each thing has a number, the same in all worlds that have come the same way.
import type { Touched } from '../kit/explore-turns.ts';

/** Sorts of things; each has so many of them as there may be words in all memories together. */
const SORT = 2 ** 24;
const WORDS_OF_A_MEMORY_MAX = 4096;
/** A thread, with all that is only its own. */
const THREAD = 0;
/** Whether a native port is closed, whether something was put into its queue, and whether its last one was taken. */
const CLOSED = SORT;
const POSTED = 2 * SORT;
const EMPTIED = 3 * SORT;
/** What is marked in a ring. */
const MARKERS = 4 * SORT;
/** A word of shared memory. */
const WORD = 5 * SORT;
/** Lists of the world that its turns add to: native ports and memories, names, and tasks for later. */
const MADE = 6 * SORT;
const NAMED = MADE + 1;
const LATER = MADE + 2;
/** Memory that was there before the world. */
const ELSEWHERE = MADE + 3;

export class Touches implements Touched {
  readonly read: Set<number> = new Set();
  readonly changed: Set<number> = new Set();
}

/** Whose turn it is, if somebody asks. */
let now: Touches | undefined;
const look = (thing: number): void => void now?.read.add(thing);
const change = (thing: number): void => void now?.changed.add(thing);

/** What native ports, rings and the world tell of themselves. */
export const touch = {
  closing: (port: number): void => change(CLOSED + port),
  seesClosed: (port: number): void => look(CLOSED + port),
  posting: (port: number): void => change(POSTED + port),
  seesEmpty: (port: number): void => look(POSTED + port),
  emptying: (port: number): void => change(EMPTIED + port),
  seesLast: (port: number): void => look(EMPTIED + port),
  marking: (ring: number): void => change(MARKERS + ring),
  seesMarks: (ring: number): void => look(MARKERS + ring),
  making: (): void => change(MADE),
  naming: (): void => change(NAMED),
  puttingOff: (): void => change(LATER),
};

/** Runs a turn of a thread and says what it has touched. */
export function touchedBy(thread: number, turn: () => void): Touches {
  const touches = new Touches();
  touches.changed.add(THREAD + thread);
  now = touches;
  globalThis.Atomics = recording;
  try {
    turn();
  } finally {
    now = undefined;
    globalThis.Atomics = real;
  }
  return touches;
}

const RealMemory = globalThis.SharedArrayBuffer;
const numbers: WeakMap<object, number> = new WeakMap();
let made = { count: 0 };
class NumberedMemory extends RealMemory {
  /** Also what somebody else has made. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return value instanceof RealMemory;
  }
  constructor(bytes: number) {
    super(bytes);
    touch.making();
    numbers.set(this, made.count++);
  }
}
/** Memory that is made from now on gets a number: how many its world had before it. Returns how to end that. */
export function countMemories(ofWorld: { count: number }): () => void {
  made = ofWorld;
  globalThis.SharedArrayBuffer = NumberedMemory as SharedArrayBufferConstructor;
  return () => {
    globalThis.SharedArrayBuffer = RealMemory;
  };
}

const real = globalThis.Atomics;
function place(words: Int32Array, index: number): number {
  const memory = numbers.get(words.buffer);
  if (memory === undefined) return ELSEWHERE;
  return WORD + memory * WORDS_OF_A_MEMORY_MAX + (words.byteOffset >> 2) + index;
}
/** Who writes what stands there has looked at it, no more. */
const writes =
  (kind: 'store' | 'add' | 'sub' | 'and' | 'or' | 'xor' | 'exchange' | 'compareExchange') =>
  (words: Int32Array, index: number, ...operands: [number, number]): number => {
    const thing = place(words, index);
    const before = real.load(words, index);
    const result = real[kind](words, index, ...operands);
    look(thing);
    if (real.load(words, index) !== before || thing === ELSEWHERE) change(thing);
    return result;
  };
const recording: typeof Atomics = Object.assign(Object.create(real), {
  load: (words: Int32Array, index: number) => {
    look(place(words, index));
    return real.load(words, index);
  },
  store: writes('store'),
  add: writes('add'),
  sub: writes('sub'),
  and: writes('and'),
  or: writes('or'),
  xor: writes('xor'),
  exchange: writes('exchange'),
  compareExchange: writes('compareExchange'),
});
