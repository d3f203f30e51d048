// What a call has come to, on its way to who waits for it.
import { DataCloneError } from '../errors.ts';
import type { Connection } from './connection.ts';
import type { Outgoing } from './envelopes.ts';
import { failureOf } from './failures.ts';
import type { Message, Ref } from './messages.ts';
import * as kinds from './messages.ts';
import { ofResult } from './pending.ts';
import type { Packed } from './values.ts';

/** A result or an error on its way. */
export class Answer implements Outgoing {
  message: Message;
  readonly #connection: Connection;
  /** What was thrown, of an error. */
  #thrown: unknown;
  #packed: Packed | undefined;
  readonly #still: boolean;
  #tries = 0;

  constructor(
    connection: Connection,
    message: Message,
    packed: Packed | undefined,
    { thrown, still = false }: { readonly thrown?: unknown; readonly still?: boolean } = {},
  ) {
    this.#connection = connection;
    this.message = message;
    this.#packed = packed;
    this.#still = still;
    this.#thrown = thrown;
  }
  get transfer(): readonly unknown[] | undefined {
    return this.#packed?.transfer;
  }
  set transfer(list: readonly unknown[] | undefined) {
    if (this.#packed !== undefined) this.#packed.transfer = list;
  }

  refused(error: unknown): boolean {
    const [kind, id] = this.message as [number, number];
    const { values, options } = this.#connection;
    const first = this.#tries++ === 0 && error instanceof DataCloneError;
    let why = error;
    if (kind === kinds.FAILED) {
      // Its fields hold what cannot be cloned: it goes without them. Or it is too long: that is what is told.
      if (first) why = this.#thrown;
      else if (this.#tries > 4) return false;
    } else if (first) {
      try {
        const value = [this.message.at(-1)];
        const deep = values.pack(value, true, false, this.#still);
        if (deep?.refs !== undefined) {
          const before = kind === kinds.RESULT_WITH ? (this.message[2] as readonly Ref[]) : [];
          this.#packed = deep.with(this.#packed);
          this.message = [kinds.RESULT_WITH, id, [...deep.refs, ...before], value[0]];
          return true;
        }
      } catch (limit) {
        why = limit;
      }
    }
    if (kind !== kinds.FAILED && why === error && error instanceof DataCloneError && this.#packed?.simplify() === true)
      return true;
    this.#packed?.undo();
    this.#packed = undefined;
    this.message = [kinds.FAILED, id, failureOf(kind === kinds.FAILED ? why : ofResult(why), true, options.stacks)];
    return true;
  }
}
