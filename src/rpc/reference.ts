// What a program says of a value that is to travel in another way than by its bytes. Wrappers that no codec takes: one that lies deep
// in a value is found because it cannot be cloned (values.ts).
import { refuseToClone } from '../codec/classify.ts';

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
  constructor(value: T, list: readonly unknown[]) {
    this.value = value;
    this.list = list;
  }
}

refuseToClone(Reference.prototype, 'it goes by calls of millrace/rpc only');
refuseToClone(
  Transferred.prototype,
  'it is given to calls of millrace/rpc as an argument or a result itself, not within one',
);

/**
 * An object that is not copied: whoever gets it, in what is exposed, as an argument or as a result, gets a proxy and calls its methods here. The
 * rule of what may be called is that of `expose`.
 */
export function reference<T extends object>(target: T): Reference<T> {
  return new Reference(target);
}

/** An argument or a result of which what stands in `list` moves instead of being copied. Typed as the value itself. */
export function transfer<T>(value: T, list: readonly unknown[]): T {
  return new Transferred(value, list) as unknown as T;
}
