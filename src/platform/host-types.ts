// Types of the runtime that not every program has declared: the web's come with the DOM library, Node's with @types/node, and some
// programs have neither. What our declarations say of them must be true in each of these: the declared type where there is
// one, else the members that matter. (Declarations that name a missing type are an error in the program that imports us.)

/** A native MessagePort. */
export type HostMessagePort = typeof globalThis extends { MessagePort: { prototype: infer T } }
  ? T
  : { postMessage(value: unknown, transfer?: never[]): void; start(): void; close(): void };

/** A native EventTarget. */
export type HostEventTarget = typeof globalThis extends { EventTarget: { prototype: infer T } } ? T : object;

/** Node's Buffer, and without Node's declarations the Uint8Array that it is. */
export type HostBuffer = typeof globalThis extends { Buffer: { isBuffer(value: unknown): value is infer T } }
  ? T
  : Uint8Array;

/** A URL, the web's or Node's. */
export interface Href {
  readonly href: string;
}
