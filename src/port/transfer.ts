// What moves with a message instead of being cloned: a list, or an options object that has one, as with a native port.
import { UsageError } from '../errors.ts';
import type { MovingHandle } from '../memory/handle.ts';
import { LAYOUT_VERSION } from '../memory/layout.ts';
import { MovingEnd } from '../transport/beside/moving-end.ts';

export type Transfer = readonly unknown[] | { readonly transfer?: readonly unknown[] | undefined };

const NO_TRANSFER: readonly unknown[] = [];
const KNOWN: readonly string[] = ['transfer'];

/** By which a Port is known in a list, and says how it moves, whichever copy of this library has made it. */
const MOVES: unique symbol = Symbol.for('millrace.moves');

/** As for `MovingEnd`. */
export interface Moving {
  readonly memory: unknown;
  refusal(): string | undefined;
  leave(): MovingHandle;
}
/** What a Port says; if its version is another one, nothing else is known of it. */
interface Moves {
  [MOVES](): Moving & { readonly version: number };
}

/** For the class of them. */
export function portsMoveBy(ports: object, moving: (port: object) => Moving): void {
  const value = function (this: object): Moving & { readonly version: number } {
    return { version: LAYOUT_VERSION, ...moving(this) };
  };
  Object.defineProperty(ports, MOVES, { value });
}

function movingEndOf(port: Moves): MovingEnd {
  const { version, memory, refusal, leave } = port[MOVES]();
  const foreign = version === LAYOUT_VERSION ? undefined : 'another version of this library has made it';
  return new MovingEnd(port, memory, () => foreign ?? refusal(), leave);
}

/**
 * @param known the options that may stand beside `transfer`
 * @returns the list, with what makes them move in the places of Ports
 * @throws UsageError ERR_TRANSFER if it is no list; ERR_OPTION for other options
 */
export function transferList(transfer: Transfer | undefined, known: readonly string[] = KNOWN): readonly unknown[] {
  if (transfer === undefined || transfer === null) return NO_TRANSFER;
  const list = Array.isArray(transfer) ? transfer : listIn(transfer as Exclude<Transfer, readonly unknown[]>, known);
  return list.some(isPort) ? list.map((item: unknown) => (isPort(item) ? movingEndOf(item) : item)) : list;
}

function isPort(item: unknown): item is Moves {
  return typeof item === 'object' && item !== null && MOVES in item;
}

/** A buffer in place of a list, or a misspelt `transfer`, would move nothing and say nothing. */
function listIn(options: Exclude<Transfer, readonly unknown[]>, known: readonly string[]): readonly unknown[] {
  // By its tag, because it may be an object of another realm.
  const list = Object.prototype.toString.call(options) === '[object Object]' ? (options.transfer ?? NO_TRANSFER) : null;
  if (!Array.isArray(list)) {
    throw new UsageError('ERR_TRANSFER', 'Cannot transfer: the transfer list must be an array');
  }
  for (const name in options) {
    if (known.includes(name) || (options as Record<string, unknown>)[name] === undefined) continue;
    throw new UsageError('ERR_OPTION', `Unknown option ${name}; known are ${known.join(', ')}`, { option: name });
  }
  return list;
}
