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

/** The web's AbortSignal. */
export type HostAbortSignal = typeof globalThis extends { AbortSignal: { prototype: infer T } }
  ? T
  : AbortSignalMembers;

interface AbortSignalMembers {
  readonly aborted: boolean;
  readonly reason: unknown;
  throwIfAborted(): void;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

// Classes with a parameter: of a constructor that is there its instances are asked for, which a type alone cannot say.
declare const readables: typeof globalThis extends { ReadableStream: infer T } ? T : new <T>() => ReadableMembers<T>;
declare const writables: typeof globalThis extends { WritableStream: infer T } ? T : new <T>() => WritableMembers<T>;
/** The web's ReadableStream of values of type `T`. */
export type HostReadableStream<T> = InstanceType<typeof readables<T>>;
/** The web's WritableStream of values of type `T`. */
export type HostWritableStream<T> = InstanceType<typeof writables<T>>;

/** What of a ReadableStream is looked at: any runtime's is one. */
export interface ReadableMembers<T> {
  readonly locked: boolean;
  cancel(reason?: unknown): Promise<void>;
  getReader(): { read(): Promise<{ done: boolean; value?: T | undefined }>; releaseLock(): void };
}
interface WritableMembers<T> {
  readonly locked: boolean;
  abort(reason?: unknown): Promise<void>;
  close(): Promise<void>;
  getWriter(): { write(value: T): Promise<void>; close(): Promise<void>; releaseLock(): void };
}

/** A URL, the web's or Node's. */
export interface Href {
  readonly href: string;
}
