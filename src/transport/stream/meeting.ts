// Which channels of one name are the same one. A name is where two sides meet: who asks for one that the other side has opened
// gets that channel, and who asks for it while the other does, too, gets the same one, though each has sent OPEN before it saw
// the other's.
//
// Invariants:
// N1. Who has an opening of a name waiting takes it and opens none. So an OPEN that comes while one of ours of that name is
//     unanswered was sent by somebody who had not seen ours, and will see it: the two meet, here and there.
// N2. On both sides the first such OPEN meets the first, the second the second: each keeps its own in the order in which they were
//     sent, and answers come behind what was sent before them. One that was given up meanwhile meets all the same, so that both
//     sides count alike: whoever meets it learns that it was closed.
// N3. The initiator's number stays, and nothing is ever said about the other one: nothing was said before, but that it is over. Each
//     OPEN is the answer to the other, and no ACCEPT is sent.

interface Named {
  readonly name: string;
}

/** A queue for each name, of those that are in one. */
class ByName<T extends Named> {
  readonly #queues = new Map<string, Set<T>>();
  count = 0;

  add(one: T): void {
    const queue = this.#queues.get(one.name);
    if (queue === undefined) this.#queues.set(one.name, new Set([one]));
    else queue.add(one);
    this.count++;
  }
  first(name: string): T | undefined {
    return this.#queues.get(name)?.values().next().value;
  }
  delete(one: T): void {
    const queue = this.#queues.get(one.name);
    if (queue?.delete(one) !== true) return;
    this.count--;
    if (queue.size === 0) this.#queues.delete(one.name);
  }
  *[Symbol.iterator](): Generator<T> {
    for (const queue of this.#queues.values()) yield* queue;
  }
  clear(): void {
    this.#queues.clear();
    this.count = 0;
  }
}

export class Meeting<Ours extends Named, Theirs extends Named> {
  /** Opened by this side, and neither answered nor met. */
  readonly asked: ByName<Ours> = new ByName();
  /** Opened by the other side, and not accepted yet. */
  readonly waiting: ByName<Theirs> = new ByName();

  /** An OPEN of that name has come: ours that it is the same channel as, if there is one. */
  met(name: string): Ours | undefined {
    const ours = this.asked.first(name);
    if (ours !== undefined) this.asked.delete(ours);
    return ours;
  }
}
