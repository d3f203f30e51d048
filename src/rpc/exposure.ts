// What may be called of what was exposed. Deny by default: a name leads to an own function, or to a method of a class of the program's.
import { UsageError } from '../errors.ts';
import { Reference } from './reference.ts';

/** Names that lead nowhere, whatever is exposed. */
export const RESERVED: ReadonlySet<string> = new Set(['constructor', 'prototype', '__proto__', 'then']);
const NATIVE = /\{\s*\[native code\]\s*\}\s*$/;
const builtIn: WeakMap<object, boolean> = new WeakMap();
/** Those of the runtime's classes that are written in JavaScript: EventTarget on Node. */
let globals: ReadonlySet<unknown> | undefined;

/** Whether this is the prototype of a class of the runtime's. */
export function isBuiltIn(prototype: object): boolean {
  let known = builtIn.get(prototype);
  if (known === undefined) {
    globals ??= new Set(Object.getOwnPropertyNames(globalThis).map((name) => ownValueOf(globalThis, name)));
    const maker = ownValueOf(prototype, 'constructor');
    known = typeof maker === 'function' && (globals.has(maker) || NATIVE.test(Function.prototype.toString.call(maker)));
    builtIn.set(prototype, known);
  }
  return known;
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

type Callable = (...values: unknown[]) => unknown;

/** An object, and where each name that was asked for was found: to look again costs as much as a call. */
export class Exposure {
  readonly target: object;
  readonly #only: ReadonlySet<string> | undefined;
  readonly #holders: Map<string, object> = new Map();

  /** @param only the names that count; default: all that the rule lets through */
  constructor(target: object, only?: readonly string[]) {
    this.target = target;
    this.#only = only && new Set(only);
  }

  /** @throws UsageError ERR_NO_METHOD */
  method(name: string): Callable {
    const target = this.target as Record<string, Callable>;
    const holder = this.#holders.get(name);
    if (holder !== undefined) {
      const found = (holder === target || !Object.hasOwn(target, name) ? holder : target) as typeof target;
      const method = found[name];
      if (typeof method === 'function') return method;
    }
    const at = RESERVED.has(name) || this.#only?.has(name) === false ? undefined : holderOf(target, name);
    if (at === undefined) throw noMethod(name);
    this.#holders.set(name, at);
    return (at as typeof target)[name] as Callable;
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
  return found.value;
}

export function noMethod(name: string): UsageError {
  return new UsageError('ERR_NO_METHOD', `Cannot call ${JSON.stringify(name)}: the other side exposes no such method`, {
    method: name,
  });
}
