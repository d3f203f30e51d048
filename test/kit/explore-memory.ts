// The memory a model runs on: views that look like Int32Array and Uint8Array over one block, and an `Atomics` that
// accepts them. Neither holds any value: every access becomes an `Access` and is answered by whoever runs the actor.

/** One access to shared memory. `word` counts Int32 elements of the whole block, whichever view made the access. */
export interface Access {
  readonly kind: AccessKind;
  readonly word: number;
  /** The operand: value to store, expected value, or the notify count. For bytes: the byte's place in its word. */
  readonly a: number;
  /** The second operand: replacement value, timeout in ms, or the byte to write. */
  readonly b: number;
}

export type AccessKind =
  | 'read'
  | 'write'
  | 'readByte'
  | 'writeByte'
  | 'load'
  | 'store'
  | 'add'
  | 'sub'
  | 'and'
  | 'or'
  | 'xor'
  | 'exchange'
  | 'compareExchange'
  | 'wait'
  | 'waitAsync'
  | 'notify';

export type Answer = number | string;

/** Answers an access, or throws to suspend the actor there. */
export type Answerer = (access: Access) => Answer | WaitAsyncAnswer;
export type WaitAsyncAnswer = { async: boolean; value: unknown };

interface View {
  readonly firstByte: number;
  readonly length: number;
  readonly byteSized: boolean;
}

const views = new WeakMap<object, View>();
const INDEX = /^\d+$/;

function makeView(view: View, answer: Answerer, bulk?: () => void): object {
  const at = (index: number): Access => {
    const byte = view.firstByte + (view.byteSized ? index : index * 4);
    return view.byteSized
      ? { kind: 'readByte', word: byte >> 2, a: byte & 3, b: 0 }
      : { kind: 'read', word: byte >> 2, a: 0, b: 0 };
  };
  const get = (index: number): number | undefined => (index < view.length ? (answer(at(index)) as number) : undefined);
  const set = (index: number, value: number): void => {
    if (index >= view.length) return;
    const access = at(index);
    if (view.byteSized) answer({ kind: 'writeByte', word: access.word, a: access.a, b: value & 255 });
    else answer({ kind: 'write', word: access.word, a: value | 0, b: 0 });
  };
  const members: Record<string, unknown> = {
    length: view.length,
    byteOffset: view.firstByte,
    byteLength: view.byteSized ? view.length : view.length * 4,
    set(source: ArrayLike<number>, offset = 0): void {
      bulk?.();
      for (let i = 0; i < source.length; i++) set(offset + i, source[i] as number);
    },
    fill(value: number, start = 0, end: number = view.length): void {
      for (let i = start; i < end; i++) set(i, value);
    },
    subarray(start = 0, end: number = view.length): object {
      bulk?.();
      const firstByte = view.firstByte + (view.byteSized ? start : start * 4);
      return makeView({ firstByte, length: end - start, byteSized: view.byteSized }, answer);
    },
    slice(start = 0, end: number = view.length): ArrayLike<number> {
      const copy = view.byteSized ? new Uint8Array(end - start) : new Int32Array(end - start);
      for (let i = start; i < end; i++) copy[i - start] = get(i) as number;
      return copy;
    },
  };
  const proxy = new Proxy(members, {
    get(_, key) {
      if (typeof key === 'string' && INDEX.test(key)) return get(Number(key));
      if (typeof key === 'symbol') return undefined;
      if (!(key in members)) throw new Error(`a model's memory has no "${key}"`);
      return members[key];
    },
    set(_, key, value) {
      if (typeof key !== 'string' || !INDEX.test(key))
        throw new Error(`cannot set "${String(key)}" of a model's memory`);
      set(Number(key), value as number);
      return true;
    },
  });
  views.set(proxy, view);
  return proxy;
}

/** A view of Int32 elements, starting `firstByte` bytes into the block. */
export function wordsView(firstByte: number, length: number, answer: Answerer): Int32Array {
  return makeView({ firstByte, length, byteSized: false }, answer) as Int32Array;
}

/** A view of bytes, starting `firstByte` bytes into the block. `bulk` is called before `set` and `subarray`. */
export function bytesView(firstByte: number, length: number, answer: Answerer, bulk?: () => void): Uint8Array {
  return makeView({ firstByte, length, byteSized: true }, answer, bulk) as Uint8Array;
}

export function isView(value: object): boolean {
  return views.has(value);
}

const UPDATES = ['add', 'sub', 'and', 'or', 'xor', 'exchange'] as const;

/** An `Atomics` for views made here; arrays of any other kind go to the real one. */
export function modelAtomics(real: typeof Atomics, answer: Answerer): typeof Atomics {
  const place = (target: object, index: number): number => {
    const view = views.get(target);
    if (view === undefined) return -1;
    if (view.byteSized) throw new TypeError('a model has no atomics on bytes');
    if (!(index >= 0 && index < view.length)) throw new RangeError(`atomic access at ${index} of ${view.length}`);
    return (view.firstByte >> 2) + index;
  };
  const fake: Record<string, unknown> = {
    isLockFree: () => true,
    pause: () => undefined,
    load(target: Int32Array, index: number): unknown {
      const word = place(target, index);
      return word < 0 ? real.load(target, index) : answer({ kind: 'load', word, a: 0, b: 0 });
    },
    store(target: Int32Array, index: number, value: number): unknown {
      const word = place(target, index);
      if (word < 0) return real.store(target, index, value);
      answer({ kind: 'store', word, a: value | 0, b: 0 });
      return value;
    },
    compareExchange(target: Int32Array, index: number, expected: number, value: number): unknown {
      const word = place(target, index);
      if (word < 0) return real.compareExchange(target, index, expected, value);
      return answer({ kind: 'compareExchange', word, a: expected | 0, b: value | 0 });
    },
    notify(target: Int32Array, index: number, count: number = Number.POSITIVE_INFINITY): unknown {
      const word = place(target, index);
      return word < 0 ? real.notify(target, index, count) : answer({ kind: 'notify', word, a: count, b: 0 });
    },
    wait(target: Int32Array, index: number, expected: number, timeout: number = Number.POSITIVE_INFINITY): unknown {
      const word = place(target, index);
      if (word < 0) return real.wait(target, index, expected, timeout);
      return answer({ kind: 'wait', word, a: expected | 0, b: timeout });
    },
    waitAsync(
      target: Int32Array,
      index: number,
      expected: number,
      timeout: number = Number.POSITIVE_INFINITY,
    ): unknown {
      return answer({ kind: 'waitAsync', word: place(target, index), a: expected | 0, b: timeout });
    },
  };
  for (const kind of UPDATES) {
    fake[kind] = (target: Int32Array, index: number, value: number): unknown => {
      const word = place(target, index);
      return word < 0 ? real[kind](target, index, value) : answer({ kind, word, a: value | 0, b: 0 });
    };
  }
  return fake as unknown as typeof Atomics;
}

export function isPlain(access: Access): boolean {
  return access.kind === 'read' || access.kind === 'write' || access.kind === 'readByte' || access.kind === 'writeByte';
}

/** Whether the access may change its word. */
export function isWrite({ kind }: Access): boolean {
  return !(kind === 'read' || kind === 'readByte' || kind === 'load' || kind === 'wait' || kind === 'waitAsync');
}

/** What a plain or atomic access leaves in its word (`old` when it only reads). */
export function valueAfter(access: Access, old: number): number {
  switch (access.kind) {
    case 'write':
    case 'store':
    case 'exchange':
      return access.a;
    case 'writeByte':
      return (old & ~(255 << (access.a * 8))) | (access.b << (access.a * 8));
    case 'add':
      return (old + access.a) | 0;
    case 'sub':
      return (old - access.a) | 0;
    case 'and':
      return old & access.a;
    case 'or':
      return old | access.a;
    case 'xor':
      return old ^ access.a;
    case 'compareExchange':
      return old === access.a ? access.b : old;
    default:
      return old;
  }
}

/** What the access returns to the actor; waits and notify are the scheduler's business. */
export function answerTo(access: Access, old: number): Answer {
  switch (access.kind) {
    case 'write':
    case 'writeByte':
    case 'store':
      return 0;
    case 'readByte':
      return (old >>> (access.a * 8)) & 255;
    default:
      return old;
  }
}

export function describeAccess(access: Access, answer: Answer | undefined, name: (word: number) => string): string {
  const { kind, a, b } = access;
  const place = name(access.word);
  const result = answer === undefined ? '' : ` -> ${answer}`;
  switch (kind) {
    case 'read':
    case 'load':
      return `${kind} ${place}${result}`;
    case 'readByte':
      return `read ${place} byte ${a}${result}`;
    case 'write':
    case 'store':
      return `${kind} ${place} = ${a}`;
    case 'writeByte':
      return `write ${place} byte ${a} = ${b}`;
    case 'compareExchange':
      return `compareExchange ${place}, ${a}, ${b}${result}`;
    case 'wait':
    case 'waitAsync':
      return `${kind} ${place} while ${a}${b === Number.POSITIVE_INFINITY ? '' : ` for ${b} ms`}${result}`;
    case 'notify':
      return `notify ${place}${a === Number.POSITIVE_INFINITY ? '' : `, ${a}`}${result}`;
    default:
      return `${kind} ${place}, ${a}${result}`;
  }
}
