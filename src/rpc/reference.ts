// What a program says of a value that is to travel in another way than by its bytes. Wrappers that no codec takes: one that lies deep
// in a value is found because it cannot be cloned (values.ts).
import { refuseToClone } from '../codec/classify.ts';
import { UsageError } from '../errors.ts';
import { shown } from './options.ts';

/** An object that stays here, and whose methods the other side may call. Made by `reference`. */
export class Reference<T extends object = object> {
  readonly target: T;
  constructor(target: T) {
    this.target = target;
  }
}

/** A value, and what of it moves. Made by `transfer`. */
export class Transferred<T = unknown> {
  readonly value: T;
  readonly list: readonly unknown[];
  /** It was not sent. */
  readonly unsent: (() => void) | undefined;
  constructor(value: T, list: readonly unknown[], unsent?: () => void) {
    this.value = value;
    this.list = list;
    this.unsent = unsent;
  }
}

refuseToClone(Reference.prototype, 'it goes by calls of millrace/rpc only');
refuseToClone(
  Transferred.prototype,
  'it is given to calls of millrace/rpc as an argument or a result itself, not within one',
);

/**
 * An object that is not copied: whoever gets it, in what is exposed, as an argument or as a result, gets a proxy and calls its methods here. The
 * rule of what may be called is that of `expose`. The other side holds it until it lets go (`release`), nobody there holds the proxy any more, or the port ends; 65,536 a
 * port at the most. The same object given away twice is the same one over there, and comes back as itself.
 * ```ts
 * import { attach, channel } from 'millrace';
 * import { expose, reference, type Remote, wrap } from 'millrace/rpc';
 * const { port, remote } = channel();
 * const server = {
 *   files: reference({ read: (name: string) => `what ${name} holds` }),
 *   watch: (listener: Remote<{ changed(name: string): void }>) => listener.changed('a.txt'),
 * };
 * expose(server, attach(remote));                            // in another thread
 * const api = wrap<typeof server>(port);
 * console.log(await api.files.read('a.txt'));                // what a.txt holds
 * await api.watch(reference({ changed: (name: string) => console.log(name) }));   // a.txt
 * port.close();
 * ```
 * @throws UsageError ERR_OPTION for what is no object
 */
export function reference<T extends object>(target: T): Reference<T> {
  if ((typeof target !== 'object' && typeof target !== 'function') || target === null)
    throw new UsageError('ERR_OPTION', `Cannot make a reference of ${shown(target)}: expected an object with methods`, {
      value: target,
    });
  return new Reference(target);
}

/**
 * An argument or a result of which what stands in `list` moves instead of being copied: it is not usable here any more once the call has gone out. Typed as the value itself.
 * It is the argument or the result, not a part of one; between processes nothing moves, and such a call rejects.
 * ```ts
 * import { attach, channel } from 'millrace';
 * import { expose, transfer, wrap } from 'millrace/rpc';
 * const { port, remote } = channel();
 * const server = { length: (bytes: Uint8Array) => bytes.length };
 * expose(server, attach(remote));                            // in another thread
 * const bytes = new Uint8Array(1_000_000);
 * console.log(await wrap<typeof server>(port).length(transfer(bytes, [bytes.buffer])), bytes.length);   // 1000000 0
 * port.close();
 * ```
 * @throws UsageError ERR_OPTION for a list that is none
 */
export function transfer<T>(value: T, list: readonly unknown[]): T {
  if (!Array.isArray(list))
    throw new UsageError(
      'ERR_OPTION',
      `Cannot transfer by ${shown(list)}: expected an array of what is to move, as in transfer(bytes, [bytes.buffer])`,
      { value: list },
    );
  return new Transferred(value, list) as unknown as T;
}
