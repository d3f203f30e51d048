// What may be called of what was exposed. Deny by default: a name leads to an own function, or to a method of a class of the program's.
import { platform } from '#platform';
import { UsageError } from '../errors.ts';
import { Reference } from './reference.ts';

/** Names that lead nowhere, whatever is exposed. */
export const RESERVED: ReadonlySet<string> = new Set(['constructor', 'prototype', '__proto__', 'then']);
const NATIVE = /\{\s*\[native code\]\s*\}\s*$/;
const builtIn: WeakMap<object, boolean> = new WeakMap();
/** Those of the runtime's classes that are written in JavaScript: EventTarget on Node. */
let globals: ReadonlySet<unknown> | undefined;

/** Who makes objects of this prototype; a class is the prototype of classes that are derived from it. */
function makerOf(prototype: object): unknown {
  return typeof prototype === 'function' ? prototype : ownValueOf(prototype, 'constructor');
}

/** Of which everybody can see that it is the runtime's. */
function isPlainlyBuiltIn(prototype: object): boolean {
  globals ??= new Set(Object.getOwnPropertyNames(globalThis).map((name) => ownValueOf(globalThis, name)));
  const maker = makerOf(prototype);
  if (globals.has(prototype) || globals.has(maker)) return true;
  return typeof maker === 'function' && NATIVE.test(Function.prototype.toString.call(maker));
}

/** Whether this is the prototype of a class of the runtime's. Node's own as well: `class Api extends EventEmitter` exposes nothing of EventEmitter's. */
export function isBuiltIn(prototype: object): boolean {
  const known = builtIn.get(prototype);
  if (known !== undefined) return known;
  // A class that derives from none is the program's, and most are: for them the runtime's modules are not asked.
  const parent = Object.getPrototypeOf(prototype) as object | null;
  const maker = makerOf(prototype);
  const derives = parent !== null && !isPlainlyBuiltIn(parent);
  const old = typeof maker === 'function' && !Function.prototype.toString.call(maker).startsWith('class');
  if (!(derives || old) || isPlainlyBuiltIn(prototype)) {
    builtIn.set(prototype, isPlainlyBuiltIn(prototype));
    return isBuiltIn(prototype);
  }
  const classes = platform.runtimeClasses();
  for (let at: object | null = prototype; at !== null; at = Object.getPrototypeOf(at) as object | null) {
    builtIn.set(at, isPlainlyBuiltIn(at) || classes.has(makerOf(at)));
  }
  return builtIn.get(prototype) === true;
}

/** An own property that is no accessor. */
function ownValueOf(object: object, name: string): unknown {
  return Object.getOwnPropertyDescriptor(object, name)?.value;
}

/** The object that has this name as a function, of all that count; `undefined`: none. */
function holderOf(target: object, name: string): object | undefined {
  for (let at: object | null = target; at !== null; at = Object.getPrototypeOf(at) as object | null) {
    if (at !== target && isBuiltIn(at)) return undefined;
    const own = Object.getOwnPropertyDescriptor(at, name);
    if (own !== undefined) return typeof own.value === 'function' ? at : undefined;
  }
  return undefined;
}

/** All names that lead to something: methods, and references. */
export function callableOf(target: object): Set<string> {
  const found = new Set<string>();
  const hidden = new Set<string>(RESERVED);
  for (let at: object | null = target; at !== null; at = Object.getPrototypeOf(at) as object | null) {
    if (at !== target && isBuiltIn(at)) break;
    for (const name of Object.getOwnPropertyNames(at)) {
      if (hidden.has(name)) continue;
      hidden.add(name);
      const value = ownValueOf(at, name);
      if (typeof value === 'function' || (at === target && value instanceof Reference)) found.add(name);
    }
  }
  return found;
}

type Callable = (...values: unknown[]) => unknown;

/** An object, and what each name that was asked for has led to: to look again costs three times as much (48 ns for 15). */
export class Exposure {
  readonly target: object;
  readonly #only: ReadonlySet<string> | undefined;
  readonly #methods: Map<string, Callable> = new Map();

  /** @param only the names that count; default: all that the rule lets through */
  constructor(target: object, only?: readonly string[]) {
    this.target = target;
    this.#only = only && new Set(only);
  }

  /** @throws UsageError ERR_NO_METHOD */
  method(name: string): Callable {
    const target = this.target as Record<string, unknown>;
    const known = this.#methods.get(name);
    // It may have been replaced, taken away or hidden meanwhile.
    if (known !== undefined && target[name] === known) return known;
    const holder = RESERVED.has(name) || this.#only?.has(name) === false ? undefined : holderOf(target, name);
    if (holder === undefined) throw noMethod(name);
    const method = ownValueOf(holder, name) as Callable;
    this.#methods.set(name, method);
    return method;
  }

  /** What a name leads to on the way to a method: only what was exposed as such. @throws UsageError ERR_NO_METHOD */
  within(name: string): Exposure {
    const found = RESERVED.has(name) || this.#only?.has(name) === false ? undefined : ownValueOf(this.target, name);
    if (!(found instanceof Reference)) throw noMethod(name);
    return exposureOf(found);
  }
}

const exposures: WeakMap<Reference, Exposure> = new WeakMap();

export function exposureOf(reference: Reference): Exposure {
  let exposure = exposures.get(reference);
  if (exposure === undefined) exposures.set(reference, (exposure = new Exposure(reference.target)));
  return exposure;
}

/**
 * What a path leads to in a value that a call has come to: its own members, for the other side is given it anyway, and what of a reference may be
 * called. @throws UsageError ERR_NO_METHOD
 */
export function memberOf(value: unknown, name: string | number): unknown {
  if (value instanceof Reference) return exposureOf(value).within(String(name));
  if (value instanceof Exposure) return value.within(String(name));
  const own = typeof value === 'object' && value !== null && !RESERVED.has(String(name));
  const found = own ? Object.getOwnPropertyDescriptor(value, name) : undefined;
  if (found === undefined || !('value' in found)) throw noMethod(String(name));
  // A function of an array or plain object goes along with it; one of any other object stays where it is.
  if (typeof found.value === 'function' && !isContainer(value as object)) throw noMethod(String(name));
  return found.value;
}

export function noMethod(name: string): UsageError {
  const what = `Cannot call ${JSON.stringify(name)}: the other side exposes no such method`;
  return new UsageError(
    'ERR_NO_METHOD',
    `${what}; of an object within what is exposed it does where that is a reference`,
    {
      method: name,
    },
  );
}

/** Of what may stand anywhere in a message: an array, or an object without a class. */
export function isContainer(value: object): boolean {
  return Array.isArray(value) || isPlain(value);
}

function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value) as unknown;
  return prototype === Object.prototype || prototype === null;
}
