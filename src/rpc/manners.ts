// What another door over the same engine has otherwise than millrace/rpc: how remotes look, what values travel as, and what may be asked
// of an object. Without it the rule is that of `expose`.
import type { Held } from './proxy.ts';

/** What is asked of an object: to call or read what a path leads to, or a word that the two doors know. */
export type Ask = 'call' | 'get' | (string & {});

/** An object or function that answers by a rule of its own, exposed or given away. */
export abstract class Answering {
  abstract readonly target: object;
  /** @throws what the program's code throws; UsageError ERR_NO_METHOD for what may not be asked */
  abstract answer(ask: Ask, path: readonly (string | number)[], values: unknown[]): unknown;
  /** The other side has been given it for the first time, or is not any more. */
  held(): void {}
  released(): void {}
}

/** A value in the form that a handler of the program's gave it; the handler of that name over there takes it. */
export class Handled {
  readonly name: string;
  readonly value: unknown;
  readonly list: readonly unknown[];
  constructor(name: string, value: unknown, list: readonly unknown[]) {
    this.name = name;
    this.value = value;
    this.list = list;
  }
}

export interface Manners {
  /** What a program holds of something over there. */
  remote(held: Held): object;
  /** How a function or object is given away of which nothing was said. */
  answering(value: object): Answering;
  /** What an argument or a result travels as: itself, or what stands for it. */
  carry(value: unknown): unknown;
  /** The same for what was thrown; `undefined`: as errors do. */
  carryThrown(thrown: unknown): Handled | undefined;
  /** What a `Handled` has come to. What this throws, the call has thrown. */
  arrived(name: string, value: unknown): unknown;
}
