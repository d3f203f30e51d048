// The message that carries a port to the other thread, and its transfer list.

/** Anything with a `postMessage`: a Worker, a MessagePort, the scope of a worker. */
export interface InitTarget {
  // biome-ignore lint/suspicious/noExplicitAny: every runtime declares its own signature
  postMessage(message: any, transfer?: any): unknown;
}

/**
 * The documented transfer list, `[buffer]`. No runtime accepts a SharedArrayBuffer for transfer, so handing this on,
 * as the document shows, threw. An array whose iterator yields only what may be transferred looks the same to the
 * caller (`Array.isArray`, `length`, `[0]`), and works: transfer lists are read by iteration.
 */
export function documentedTransfer(buffer: SharedArrayBuffer, transferable: readonly unknown[]): unknown[] {
  return new Proxy<unknown[]>([buffer], {
    get(list, name) {
      if (name === Symbol.iterator) return () => transferable[Symbol.iterator]();
      return Reflect.get(list, name);
    },
  });
}

/** Whether `value` is an init message of this type. */
export function isInit(value: unknown, type: string): boolean {
  return typeof value === 'object' && value !== null && (value as { type?: unknown }).type === type;
}
