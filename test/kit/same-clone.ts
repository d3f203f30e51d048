// Says whether one value is what structured clone must make of another. Stricter than assert.deepStrictEqual: prototypes,
// -0 and NaN, holes, the order of properties, an own `__proto__`, attributes of properties, the fields of errors, the
// buffers behind views, and the shape of the graph: what was one object in the original is one object in the copy, and
// what were two are two.

export interface SameCloneOptions {
  /**
   * `true`: `expected` is the original, so compare with what the HTML standard makes of it (class instances become
   * plain objects, `lastIndex` becomes 0, properties of a Map are lost and so on). `false`: it is a copy too.
   */
  readonly original: boolean;
  /** Leave the `cause` of errors alone, for a runtime whose own structured clone loses it. */
  readonly ignoreCause?: boolean;
  /** Leave the `stack` of errors alone, for a runtime whose own structured clone takes another one than the program has set. */
  readonly ignoreStack?: boolean;
  /** Kinds of which one object that is met twice may be two in `expected`, for a runtime whose own structured clone makes two of it. */
  readonly apart?: ReadonlySet<string>;
}

const ERROR_NAMES = ['EvalError', 'RangeError', 'ReferenceError', 'SyntaxError', 'TypeError', 'URIError'];
const TypedArray: { prototype: object } = Object.getPrototypeOf(Uint8Array);
const typeName: (this: unknown) => string = Object.getOwnPropertyDescriptor(TypedArray.prototype, Symbol.toStringTag)!
  .get as (this: unknown) => string;
const BOXES = [Boolean, Number, String, BigInt];

/** An error stays one when its prototype is taken away. */
function isRootlessError(value: object): boolean {
  return Object.getPrototypeOf(value) === null && Object.prototype.toString.call(value) === '[object Error]';
}

/** What kind of object structured clone takes this for. The values of these tests all come from this realm. */
export function kindOf(value: object): string {
  if (Array.isArray(value)) return 'Array';
  if (ArrayBuffer.isView(value)) return value instanceof DataView ? 'DataView' : typeName.call(value);
  if (value instanceof Map) return 'Map';
  if (value instanceof Set) return 'Set';
  if (value instanceof Date) return 'Date';
  if (value instanceof RegExp) return 'RegExp';
  if (value instanceof Error || isRootlessError(value)) return 'Error';
  if (value instanceof ArrayBuffer) return 'ArrayBuffer';
  if (typeof SharedArrayBuffer !== 'undefined' && value instanceof SharedArrayBuffer) return 'SharedArrayBuffer';
  for (const Box of BOXES) if (value instanceof Box) return Box.name;
  return 'Object';
}

/** The prototype of the copy of `value`. */
function prototypeOfCopy(value: object, kind: string): unknown {
  let name = kind;
  if (kind === 'Error') {
    const given = String((value as Partial<Error>).name);
    name = ERROR_NAMES.includes(given) ? given : 'Error';
  }
  return (globalThis as unknown as Record<string, { prototype: unknown }>)[name]!.prototype;
}

/** Property names as an error message shows them, in the notation of `DataCloneError.path`. */
export function step(key: PropertyKey): string {
  if (typeof key === 'string' && /^[A-Za-z_$][\w$]*$/.test(key)) return `.${key}`;
  if (typeof key === 'string' && /^(0|[1-9]\d*)$/.test(key)) return `[${key}]`;
  return `[${typeof key === 'string' ? JSON.stringify(key) : String(key)}]`;
}

const show = (value: unknown): string => {
  if (typeof value === 'string') return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}...` : value);
  if (Object.is(value, -0)) return '-0';
  return typeof value === 'bigint'
    ? `${value}n`
    : typeof value === 'object' && value !== null
      ? 'object'
      : String(value);
};

const isIndex = (key: string): boolean => String(Number(key) >>> 0) === key && Number(key) >>> 0 !== 2 ** 32 - 1;

class Comparison {
  readonly #options: SameCloneOptions;
  readonly #forth: Map<object, object> = new Map();
  readonly #back: Map<object, object> = new Map();
  /** Pairs still to be looked into; a stack of its own, so that depth does not matter. */
  readonly #todo: [unknown, unknown, string][] = [];

  constructor(options: SameCloneOptions) {
    this.#options = options;
  }

  run(expected: unknown, actual: unknown): string | undefined {
    this.#todo.push([expected, actual, '$']);
    for (let pair = this.#todo.pop(); pair !== undefined; pair = this.#todo.pop()) {
      const fault = this.#pair(pair[0], pair[1], pair[2]);
      if (fault !== undefined) return fault;
    }
    return undefined;
  }

  #pair(expected: unknown, actual: unknown, path: string): string | undefined {
    if (typeof expected !== 'object' || expected === null || typeof actual !== 'object' || actual === null) {
      return Object.is(expected, actual) ? undefined : `${path}: ${show(actual)} instead of ${show(expected)}`;
    }
    if (this.#options.apart?.has(kindOf(expected))) return this.#objects(expected, actual, path);
    const seen = this.#forth.get(expected);
    const seenBack = this.#back.get(actual);
    if (seen !== undefined || seenBack !== undefined) {
      return seen === actual && seenBack === expected ? undefined : `${path}: not the same object as elsewhere`;
    }
    this.#forth.set(expected, actual);
    this.#back.set(actual, expected);
    return this.#objects(expected, actual, path);
  }

  #objects(expected: object, actual: object, path: string): string | undefined {
    const kind = kindOf(expected);
    const actualKind = kindOf(actual);
    if (kind !== actualKind) return `${path}: ${actualKind} instead of ${kind}`;
    if (actual === expected) return `${path}: the original itself, not a copy`;
    const prototype = this.#options.original ? prototypeOfCopy(expected, kind) : Object.getPrototypeOf(expected);
    if (Object.getPrototypeOf(actual) !== prototype) return `${path}: wrong prototype`;
    const fault = this.#inside(kind, expected, actual, path);
    if (fault !== undefined) return `${path}: ${fault}`;
    return kind === 'Error' ? undefined : this.#properties(kind, expected, actual, path);
  }

  /** What an object of this kind holds beside its properties. */
  #inside(kind: string, expected: object, actual: object, path: string): string | undefined {
    if (kind === 'Object') return undefined;
    if (kind === 'Array') {
      const [a, b] = [(expected as unknown[]).length, (actual as unknown[]).length];
      return a === b ? undefined : `length ${b} instead of ${a}`;
    }
    if (kind === 'Map') return this.#map(expected as Map<unknown, unknown>, actual as Map<unknown, unknown>, path);
    if (kind === 'Set') return this.#set(expected as Set<unknown>, actual as Set<unknown>, path);
    if (kind === 'Error') return this.#error(expected as Error, actual as Error, path);
    if (kind === 'RegExp') return this.#regExp(expected as RegExp, actual as RegExp);
    if (kind === 'ArrayBuffer') return sameBytes(expected as ArrayBuffer, actual as ArrayBuffer);
    // The block is shared, not copied, and a copy's identity differs; only its length can be told apart from here.
    if (kind === 'SharedArrayBuffer') {
      const same = (expected as SharedArrayBuffer).byteLength === (actual as SharedArrayBuffer).byteLength;
      return same ? undefined : 'byteLength differs';
    }
    if (ArrayBuffer.isView(expected)) return this.#view(expected, actual as ArrayBufferView, path);
    const [a, b] = [expected.valueOf(), actual.valueOf()];
    return Object.is(a, b) ? undefined : `${show(b)} instead of ${show(a)} in the ${kind}`;
  }

  #map(expected: Map<unknown, unknown>, actual: Map<unknown, unknown>, path: string): string | undefined {
    if (expected.size !== actual.size) return `size ${actual.size} instead of ${expected.size}`;
    const others = actual.entries();
    let index = 0;
    for (const [key, value] of expected) {
      const [otherKey, otherValue] = others.next().value as [unknown, unknown];
      this.#todo.push([key, otherKey, `${path}<key ${index}>`], [value, otherValue, `${path}<value ${index}>`]);
      index++;
    }
    return undefined;
  }

  #set(expected: Set<unknown>, actual: Set<unknown>, path: string): string | undefined {
    if (expected.size !== actual.size) return `size ${actual.size} instead of ${expected.size}`;
    const others = actual.values();
    let index = 0;
    for (const value of expected) this.#todo.push([value, others.next().value, `${path}<item ${index++}>`]);
    return undefined;
  }

  // Runtimes differ in whether `stack` is an own property and of which kind, so only its text counts.
  #error(expected: Error, actual: Error, path: string): string | undefined {
    if (Object.keys(actual).length !== 0) return 'an error with enumerable properties';
    for (const field of ['message', 'cause'] as const) {
      if (field === 'cause' && this.#options.ignoreCause) continue;
      const descriptor = Object.getOwnPropertyDescriptor(expected, field);
      // The standard takes own data properties only: an accessor's message is not read.
      const present = descriptor !== undefined && 'value' in descriptor;
      const copy = Object.getOwnPropertyDescriptor(actual, field);
      if (present !== (copy !== undefined)) return `own ${field}: ${!present} instead of ${present}`;
      if (copy === undefined) continue;
      if (!copy.writable || !copy.configurable || copy.enumerable) return `${field} has wrong attributes`;
      if (field === 'cause') this.#todo.push([descriptor!.value, copy.value, `${path}.cause`]);
      else if (copy.value !== String(descriptor!.value)) return `message ${show(copy.value)}`;
    }
    if (this.#options.ignoreStack) return undefined;
    const stack: unknown = expected.stack;
    return typeof stack === 'string' && stack !== actual.stack ? `stack ${show(actual.stack)}` : undefined;
  }

  #regExp(expected: RegExp, actual: RegExp): string | undefined {
    if (expected.source !== actual.source) return `source ${show(actual.source)} instead of ${show(expected.source)}`;
    if (expected.flags !== actual.flags) return `flags ${actual.flags} instead of ${expected.flags}`;
    return actual.lastIndex === 0 ? undefined : `lastIndex ${actual.lastIndex} instead of 0`;
  }

  #view(expected: ArrayBufferView, actual: ArrayBufferView, path: string): string | undefined {
    for (const field of ['byteOffset', 'byteLength'] as const) {
      if (expected[field] !== actual[field]) return `${field} ${actual[field]} instead of ${expected[field]}`;
    }
    this.#todo.push([expected.buffer, actual.buffer, `${path}.buffer`]);
    return undefined;
  }

  #properties(kind: string, expected: object, actual: object, path: string): string | undefined {
    const all = Reflect.ownKeys(actual);
    const keys = Object.keys(actual);
    // Beside the enumerable ones each kind may have just the properties that the language itself gives it.
    const builtIn = kind === 'Array' || kind === 'String' ? ['length'] : kind === 'RegExp' ? ['lastIndex'] : [];
    if (all.length !== keys.length + builtIn.length || builtIn.some((key) => !all.includes(key))) {
      return `${path}: properties that are not enumerable`;
    }
    if (kind !== 'Object' && kind !== 'Array') {
      const own = kind === 'String' || kind.endsWith('Array') ? keys.filter((key) => !isIndex(key)) : keys;
      return own.length === 0 ? undefined : `${path}: property ${show(own[0])} that no copy has`;
    }
    const wanted = Object.keys(expected);
    if (wanted.length !== keys.length) return `${path}: ${keys.length} properties instead of ${wanted.length}`;
    for (let i = wanted.length - 1; i >= 0; i--) {
      const key = wanted[i]!;
      if (key !== keys[i]) return `${path}: property ${i} is ${show(keys[i])} instead of ${show(key)}`;
      const descriptor = Object.getOwnPropertyDescriptor(actual, key)!;
      if (!('value' in descriptor)) return `${path}${step(key)}: an accessor`;
      if (!descriptor.writable || !descriptor.configurable) return `${path}${step(key)}: read-only`;
      this.#todo.push([(expected as Record<string, unknown>)[key], descriptor.value, `${path}${step(key)}`]);
    }
    return undefined;
  }
}

function sameBytes(expected: ArrayBuffer, actual: ArrayBuffer): string | undefined {
  if (expected.byteLength !== actual.byteLength) return `byteLength ${actual.byteLength}, not ${expected.byteLength}`;
  type Resizable = { resizable?: boolean; maxByteLength?: number };
  const [from, to] = [expected as Resizable, actual as Resizable];
  if (from.resizable !== to.resizable || from.maxByteLength !== to.maxByteLength) return 'resizable differs';
  const [a, b] = [new Uint8Array(expected), new Uint8Array(actual)];
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return `byte ${i} is ${b[i]} instead of ${a[i]}`;
  return undefined;
}

/** Where `actual` is not what structured clone makes of `expected`, in words, or `undefined` where it is. */
export function difference(expected: unknown, actual: unknown, options?: SameCloneOptions): string | undefined {
  return new Comparison(options ?? { original: true }).run(expected, actual);
}

/** Whether `actual` is what structured clone makes of the original `expected`. */
export function sameClone(expected: unknown, actual: unknown, options?: SameCloneOptions): boolean {
  return difference(expected, actual, options) === undefined;
}
