// Which tasks that were sent to a member have not begun there: the pool's side of the words that rpc/places.ts describes.
import { CLAIMS_LENGTH } from '../../limits.ts';

export class Claims {
  readonly memory: SharedArrayBuffer = new SharedArrayBuffer(CLAIMS_LENGTH * 4);
  readonly #words: Int32Array = new Int32Array(this.memory);

  /** Before it is sent: from now on the member has to take it before it begins it. Where two would share a word, the second cannot be taken back. */
  offer(id: number): void {
    const at = id % CLAIMS_LENGTH;
    if (Atomics.load(this.#words, at) === 0) Atomics.store(this.#words, at, id);
  }
  /** True: it has not begun, and will not. False: it has, or nobody can say. */
  takeBack(id: number): boolean {
    // SYNC claim: whoever is first has the call; pairs with Places.mayBegin.
    return Atomics.compareExchange(this.#words, id % CLAIMS_LENGTH, id, -id) === id;
  }
  /** It was taken back, and was not sent: nobody over there finds its word and frees it. */
  unsent(id: number): void {
    Atomics.compareExchange(this.#words, id % CLAIMS_LENGTH, -id, 0);
  }
  /** It was answered, or refused before it was sent. */
  over(id: number): void {
    Atomics.compareExchange(this.#words, id % CLAIMS_LENGTH, id, 0);
  }
}
