// Objects of the web's classes in parts that a codec can write. Browsers alone need it: a thread that blocks there reads no native
// port, so that what goes over one never comes to it. Everywhere else these objects go the runtime's own way.
//
// The classes and their accessors are taken at the start. The accessors throw for what only looks like an object of the class.
import type { HostForms } from './contract.ts';

type WebClass = { readonly prototype: object } & (new (...parts: readonly unknown[]) => object);
type Make = (Class: WebClass, parts: readonly unknown[]) => object;

const POINT = ['x', 'y', 'z', 'w'];
const RECT = ['x', 'y', 'width', 'height'];
const MATRIX = ['is2D', ...[1, 2, 3, 4].flatMap((column) => [1, 2, 3, 4].map((row) => `m${column}${row}`))];
/** Where those of a matrix in two dimensions stand among them: six numbers make one of two dimensions, sixteen of three. */
const FLAT = [0, 1, 4, 5, 12, 13];

const makeOfParts: Make = (Class, parts) => new Class(...parts);
const makeMatrix: Make = (Class, [flat, ...all]) => new Class(flat === true ? FLAT.map((at) => all[at]) : all);
const makeImage: Make = (Class, [data, width, height, colorSpace, pixelFormat]) =>
  new Class(data, width, height, pixelFormat === undefined ? { colorSpace } : { colorSpace, pixelFormat });
/** Says where it was made, and not where it was read. */
function withStack(exception: object, stack: unknown): object {
  if (typeof stack === 'string')
    Object.defineProperty(exception, 'stack', { value: stack, writable: true, configurable: true });
  return exception;
}
const makeException: Make = (Class, [name, message, stack]) => withStack(new Class(message, name), stack);
const makeQuotaExceeded: Make = (Class, [quota, requested, message, stack]) =>
  withStack(new Class(message, { quota: quota ?? undefined, requested: requested ?? undefined }), stack);

/** The order is the format (docs/protocol/packed.md). */
const FORMS: readonly (readonly [name: string, parts: readonly string[], make: Make])[] = [
  ['DOMException', ['name', 'message'], makeException],
  ['ImageData', ['data', 'width', 'height', 'colorSpace', 'pixelFormat'], makeImage],
  ['DOMPointReadOnly', POINT, makeOfParts],
  ['DOMPoint', POINT, makeOfParts],
  ['DOMRectReadOnly', RECT, makeOfParts],
  ['DOMRect', RECT, makeOfParts],
  ['DOMMatrixReadOnly', MATRIX, makeMatrix],
  ['DOMMatrix', MATRIX, makeMatrix],
  ['DOMQuad', ['p1', 'p2', 'p3', 'p4'], makeOfParts],
  // A DOMException of its name where an engine has no such class.
  ['QuotaExceededError', ['quota', 'requested', 'message'], makeQuotaExceeded],
];

function classNamed(name: string): WebClass | undefined {
  return (globalThis as unknown as Record<string, WebClass | undefined>)[name];
}
const CLASSES: readonly (WebClass | undefined)[] = FORMS.map(([name]) => classNamed(name));
const NUMBERS: ReadonlyMap<unknown, number> = new Map(CLASSES.map((Class, number) => [Class?.prototype, number]));

/** The accessor of `name` in a class; an engine may lack one. */
function accessor(prototype: object | null, name: string): (this: object) => unknown {
  for (let at = prototype; at !== null; at = Object.getPrototypeOf(at)) {
    const get = Object.getOwnPropertyDescriptor(at, name)?.get;
    if (get !== undefined) return get;
  }
  return () => undefined;
}
const ACCESSORS = FORMS.map(([, parts], number) =>
  parts.map((part) => accessor(CLASSES[number]?.prototype ?? null, part)),
);

export const webForms: HostForms = {
  of(object: object): readonly [number: number, parts: unknown[]] | undefined {
    let number: number | undefined;
    for (let at: object | null = object; at !== null && number === undefined; at = Object.getPrototypeOf(at))
      number = NUMBERS.get(at);
    if (number === undefined) return undefined;
    try {
      const parts = (ACCESSORS[number] as ((this: object) => unknown)[]).map((get) => get.call(object));
      if (object instanceof Error) parts.push((object as { stack?: unknown }).stack);
      return [number, parts];
    } catch {
      return undefined;
    }
  },

  make(number: number, parts: readonly unknown[]): object {
    const form = FORMS[number];
    const Class = CLASSES[number];
    if (form === undefined || Class === undefined)
      throw new TypeError(`this runtime has no ${form?.[0] ?? 'such class'}`);
    return form[2](Class, parts);
  },
};
