// The calls of a pool on the side that serves them: so many run at once, and the others wait here until one is over. Those that have not begun may be taken back
// meanwhile, also while this thread computes: whoever first writes its word for a call, has it.
//
//     word at id % CLAIMS_LENGTH   written by   meaning
//     id                           the pool     sent, and begins when it is its turn
//     0                            this side    has begun; or nothing is said of it
//     -id                          the pool     taken back: it does not begin

import { Fifo } from '../lane/fifo.ts';
import { CALLS_NAMES_KEPT, CALLS_QUICK_MS, CALLS_SLOW_RUNS, CLAIMS_LENGTH } from '../limits.ts';
import { isSharedMemory } from '../memory/region.ts';
import { protocolError } from './failures.ts';
import * as kinds from './messages.ts';
import { isNumber, type Message } from './messages.ts';

export class Places {
  #free: number;
  readonly #claims: Int32Array | undefined;
  readonly #waiting: Fifo<Message> = new Fifo();
  /** For each name that was called, how many more times it is not to take long, until that is believed of it. */
  readonly #slow: Map<string | number | undefined, number> = new Map();

  /** @throws CodecError ERR_PROTOCOL */
  constructor(places: unknown, memory: unknown) {
    const fits = isSharedMemory(memory) && memory.byteLength === CLAIMS_LENGTH * 4;
    if (!isNumber(places) || !(fits || memory === undefined)) throw protocolError('places of a pool');
    this.#free = places;
    this.#claims = fits ? new Int32Array(memory) : undefined;
  }

  /** Whether a call takes a place: one of what is exposed. Functions that were given away, and what a call comes to, are part of a call that has one. */
  static takes(message: Message): boolean {
    if (message[0] === kinds.CALL) return typeof message[2] === 'string';
    return (message[2] as { target?: unknown } | null | undefined)?.target === undefined;
  }

  /** Whether one that comes now may begin at once. */
  get isFree(): boolean {
    return this.#free > 0 && this.#waiting.length === 0;
  }
  get waiting(): number {
    return this.#waiting.length;
  }
  wait(message: Message): void {
    this.#waiting.push(message);
  }
  /** Whether the pool has not taken it back. From now on it cannot. */
  mayBegin(id: number): boolean {
    const claims = this.#claims;
    if (claims === undefined) return true;
    const at = id % CLAIMS_LENGTH;
    // SYNC claim: whoever is first has the call; pairs with Claims.takeBack.
    if (Atomics.compareExchange(claims, at, id, 0) !== -id) return true;
    Atomics.store(claims, at, 0);
    return false;
  }
  take(): void {
    this.#free--;
  }
  leave(): void {
    this.#free++;
  }
  /** The next one that may begin, if there is a place for it. */
  next(): Message | undefined {
    while (this.#free > 0) {
      const message = this.#waiting.shift();
      if (message === undefined || this.mayBegin(message[1] as number)) return message;
    }
    return undefined;
  }

  /** Whether calls of this name have not taken long of late. */
  isQuick(name: string | number | undefined): boolean {
    return this.#slow.get(name) === 0;
  }
  took(name: string | number | undefined, ms: number): void {
    const slow = this.#slow.get(name);
    if (slow === undefined && this.#slow.size >= CALLS_NAMES_KEPT) return;
    if (ms >= CALLS_QUICK_MS) this.#slow.set(name, CALLS_SLOW_RUNS);
    else if (slow === undefined) this.#slow.set(name, 0);
    else if (slow > 0) this.#slow.set(name, slow - 1);
  }

  waits(id: unknown): boolean {
    return this.#waiting.all().some((message) => message[1] === id);
  }
  /** It is not to begin any more; `undefined`: it does not wait. */
  forget(id: number): Message | undefined {
    const at = this.#waiting.all().findIndex((message) => message[1] === id);
    return at < 0 ? undefined : this.#waiting.remove(at, 1)[0];
  }
  end(): void {
    this.#waiting.takeAll();
  }
}
