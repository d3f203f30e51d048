// The plain objects that a decoder makes.

/**
 * `new PlainObject()` is `{}`, save for what V8 knows about it. To give an object a key, V8 looks for the key among all
 * that ever came next: after `{}` those of the whole program, here those of decoders only. And it makes room in the
 * object itself for the keys that the first few had, where `{}` has room for four.
 */
export const PlainObject: new () => Record<string, unknown> = Plain as never;

function Plain(): void {}
Plain.prototype = Object.prototype;

/** Defines what assigning might not: `__proto__`, or a key for which someone made a setter. */
export function setCarefully(object: object, key: string, value: unknown): void {
  Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
}
