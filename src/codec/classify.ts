// What structured clone would call an object. Answers are remembered per prototype; the object itself is asked, by the
// intrinsic accessors that only a genuine one survives, because a prototype proves nothing.

export const PLAIN = 0;
export const DATE = 1;
export const MAP = 2;
export const SET = 3;
export const REGEXP = 4;
export const ERROR = 5;
export const BUFFER = 6;
export const BOXED = 7;
/** Structured clone refuses these everywhere. */
export const UNCLONEABLE = 8;
/** Only the runtime knows. */
export const HOST = 9;

export type Kind = number;

const OBJECT_PROTOTYPE: object = Object.prototype;
const tagOf: (this: unknown) => string = Object.prototype.toString;

function getter(prototype: object, name: string): (this: unknown) => unknown {
  return Object.getOwnPropertyDescriptor(prototype, name)?.get as (this: unknown) => unknown;
}

const GENUINE: Record<Kind, (this: unknown) => unknown> = {
  [DATE]: Date.prototype.getTime,
  [MAP]: getter(Map.prototype, 'size'),
  [SET]: getter(Set.prototype, 'size'),
  [REGEXP]: getter(RegExp.prototype, 'flags'),
  [BUFFER]: getter(ArrayBuffer.prototype, 'byteLength'),
};

const BOXES: readonly ((this: unknown) => unknown)[] = [
  Number.prototype.valueOf,
  String.prototype.valueOf,
  Boolean.prototype.valueOf,
  BigInt.prototype.valueOf,
];

function survives(ask: (this: unknown) => unknown, object: object): boolean {
  try {
    ask.call(object);
    return true;
  } catch {
    return false;
  }
}

const isError: ((value: unknown) => boolean) | undefined = (Error as { isError?: (value: unknown) => boolean }).isError;

function isGenuine(kind: Kind, object: object): boolean {
  if (kind === BOXED) return BOXES.some((box) => survives(box, object));
  if (kind === ERROR) {
    if (isError !== undefined) return isError(object);
    return Symbol.toStringTag in object || tagOf.call(object) === '[object Error]';
  }
  // `flags` of a RegExp reads properties of anything; `source` does not.
  if (kind === REGEXP) return object !== RegExp.prototype && survives(regexpSource, object);
  return survives(GENUINE[kind]!, object);
}
const regexpSource = getter(RegExp.prototype, 'source');

const KINDS: Map<object, Kind> = new Map<object, Kind>([
  [Date.prototype, DATE],
  [Map.prototype, MAP],
  [Set.prototype, SET],
  [RegExp.prototype, REGEXP],
  [Error.prototype, ERROR],
  [ArrayBuffer.prototype, BUFFER],
  [Number.prototype, BOXED],
  [String.prototype, BOXED],
  [Boolean.prototype, BOXED],
  [BigInt.prototype, BOXED],
  [Symbol.prototype, UNCLONEABLE],
  [Promise.prototype, UNCLONEABLE],
  [WeakMap.prototype, UNCLONEABLE],
  [WeakSet.prototype, UNCLONEABLE],
  [WeakRef.prototype, UNCLONEABLE],
  [FinalizationRegistry.prototype, UNCLONEABLE],
  // An error to look at, but the runtime has its own way to clone it.
  ...(typeof DOMException === 'undefined' ? [] : [[DOMException.prototype, HOST] as [object, Kind]]),
  // Iterators and generators of every sort, synchronous and asynchronous.
  [Object.getPrototypeOf(Object.getPrototypeOf([].values())), UNCLONEABLE],
  [Object.getPrototypeOf(Object.getPrototypeOf(Object.getPrototypeOf((async function* () {})()))), UNCLONEABLE],
]);

const REMEDIES: Map<object, string> = new Map();

/**
 * From now on objects that inherit from `prototype` can't be cloned. For classes whose fields would be lost on the way.
 * @param remedy what to do with them instead
 */
export function refuseToClone(prototype: object, remedy: string): void {
  KINDS.set(prototype, UNCLONEABLE);
  REMEDIES.set(prototype, remedy);
}

/** What it is that cannot be cloned, and what to do about it. */
export function whatIs(object: object): string {
  const what = `a ${tagOf.call(object).slice(8, -1)}`;
  for (const [prototype, remedy] of REMEDIES)
    if (Object.prototype.isPrototypeOf.call(prototype, object)) return `${what}: ${remedy}`;
  return what;
}

/** Genuine objects of another realm (a vm context, a frame) share no prototype with ours; their tag is the hint. */
const TAGS: ReadonlyMap<string, Kind> = new Map<string, Kind>([
  ['[object Date]', DATE],
  ['[object Map]', MAP],
  ['[object Set]', SET],
  ['[object RegExp]', REGEXP],
  ['[object Error]', ERROR],
  ['[object ArrayBuffer]', BUFFER],
  ['[object Number]', BOXED],
  ['[object String]', BOXED],
  ['[object Boolean]', BOXED],
  ['[object BigInt]', BOXED],
  ['[object Symbol]', UNCLONEABLE],
  ['[object Promise]', UNCLONEABLE],
  ['[object WeakMap]', UNCLONEABLE],
  ['[object WeakSet]', UNCLONEABLE],
  ['[object WeakRef]', UNCLONEABLE],
  ['[object Arguments]', UNCLONEABLE],
  ['[object Generator]', UNCLONEABLE],
  ['[object AsyncGenerator]', UNCLONEABLE],
  ['[object SharedArrayBuffer]', HOST],
  ['[object Module]', UNCLONEABLE],
]);

const sourceOf: (this: unknown) => string = Function.prototype.toString;

/** How engines spell what they have built in: V8 in one line, SpiderMonkey and JavaScriptCore in three. No program's text ends so. */
const NATIVE_CODE = /\{\s*\[native code\]\s*\}$/;

/** A class of the runtime's: on the global object, not written in JavaScript, or marked by Node as cloneable its way. */
function isHostPrototype(prototype: object): boolean {
  const maker: unknown = Object.getOwnPropertyDescriptor(prototype, 'constructor')?.value;
  if (typeof maker === 'function' && maker !== Object) {
    const name: unknown = Object.getOwnPropertyDescriptor(maker, 'name')?.value;
    if (typeof name === 'string' && name !== '' && Object.hasOwn(globalThis, name)) {
      if ((globalThis as Record<string, unknown>)[name] === maker) return true;
    }
    // Such as WebAssembly.Module and Intl.NumberFormat. Another realm's Object is no host class.
    if (name !== 'Object' && NATIVE_CODE.test(sourceOf.call(maker))) return true;
  }
  for (const symbol of Object.getOwnPropertySymbols(prototype)) {
    const about = symbol.description;
    if (about !== undefined && /^messaging_(clone|transfer)|^nodejs\.worker_threads/.test(about)) return true;
  }
  return false;
}

function kindOfPrototype(prototype: object, object: object): Kind {
  let host = false;
  for (let at: object | null = prototype; at !== null && at !== OBJECT_PROTOTYPE; at = Object.getPrototypeOf(at)) {
    const kind = KINDS.get(at);
    if (kind !== undefined) return kind;
    host ||= isHostPrototype(at);
  }
  return TAGS.get(tagOf.call(object)) ?? (host ? HOST : PLAIN);
}

/** What an object without a prototype is: a module's namespace, an error that lost its prototype, or plain. */
export function kindOfRootless(object: object): Kind {
  const kind = TAGS.get(tagOf.call(object)) ?? PLAIN;
  if (kind === ERROR) return isGenuine(ERROR, object) ? ERROR : PLAIN;
  if (kind !== UNCLONEABLE) return PLAIN;
  // A namespace's tag cannot be changed; one that can be proves nothing.
  const tag = Object.getOwnPropertyDescriptor(object, Symbol.toStringTag);
  return tag?.configurable === false ? UNCLONEABLE : PLAIN;
}

/** Whether an object that looks plain is a function's `arguments`. */
export function isArguments(object: object): boolean {
  return tagOf.call(object) === '[object Arguments]' && !(Symbol.toStringTag in object);
}

export class Classifier {
  readonly #kinds: WeakMap<object, Kind> = new WeakMap();

  /** For an object that is neither an array nor a view and whose prototype is `prototype`. */
  kindOf(object: object, prototype: object): Kind {
    let kind = this.#kinds.get(prototype);
    if (kind === undefined) {
      kind = kindOfPrototype(prototype, object);
      this.#kinds.set(prototype, kind);
    }
    if (kind === PLAIN || kind >= UNCLONEABLE || isGenuine(kind, object)) return kind;
    return PLAIN;
  }
}
