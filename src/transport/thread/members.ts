// The ends of channels that a link serves, by their addresses. Most links are the first line of one channel and never serve
// another one.
import type { EndReason } from '../../outcome.ts';
import type { ThreadLink } from './thread-link.ts';

/** The founder's address, at both ends. */
export const FOUNDER = 0;

/** One end of a channel, as its link knows it. */
export interface Member {
  /** Something came for it: what stands behind the address. Called in the middle of some call. */
  accept(kind: unknown, message: readonly unknown[], link: ThreadLink): void;
  /** Something changed: look. Called from the event loop. */
  arrived(): void;
  /** The other thread is gone; `how` is undefined if only that is known. */
  gone(how: EndReason | undefined, error: unknown, link: ThreadLink): void;
}

/**
 * A list that lives long holds each of its entries in a box, which is emptied when the entry leaves: V8 keeps the tables that a Map
 * has outgrown, with all that has stood in them, until it collects old objects, and with them what has died young.
 */
interface Box {
  member: Member | undefined;
}

export class Members {
  #founder: Member | undefined;
  #others: Map<number, Box> | undefined;

  get size(): number {
    return (this.#founder === undefined ? 0 : 1) + (this.#others?.size ?? 0);
  }
  has(address: number): boolean {
    return address === FOUNDER ? this.#founder !== undefined : this.#others?.has(address) === true;
  }
  get(address: number): Member | undefined {
    return address === FOUNDER ? this.#founder : this.#others?.get(address)?.member;
  }
  set(address: number, member: Member): void {
    if (address === FOUNDER) this.#founder = member;
    else {
      this.delete(address);
      this.#others ??= new Map();
      this.#others.set(address, { member });
    }
  }
  delete(address: number): void {
    if (address === FOUNDER) {
      this.#founder = undefined;
      return;
    }
    const box = this.#others?.get(address);
    if (box === undefined) return;
    box.member = undefined;
    this.#others?.delete(address);
  }
  /** As they are now. */
  all(): Member[] {
    const others = this.#others === undefined ? [] : [...this.#others.values()].map((box) => box.member as Member);
    return this.#founder === undefined ? others : [this.#founder, ...others];
  }
}
