// Who hears what: seats by subject and by pattern, in which `*` stands for one part and `>` at the end for all that follow.

/** All who listen for one subject, or one pattern. */
class Seats<S> {
  readonly all = new Set<S>();
  /** Of these each message reaches one: whose turn it is goes to the end. */
  readonly together = new Set<S>();

  get empty(): boolean {
    return this.all.size + this.together.size === 0;
  }
}
/** @param others whether another one may do: then one that would have to wait for it is passed over */
type Hear<S> = (seat: S, together: boolean, others: boolean) => boolean;

class Branch<S> {
  readonly children = new Map<string, Branch<S>>();
  seats: Seats<S> | undefined;
}

export class Subjects<S> {
  readonly #exact = new Map<string, Seats<S>>();
  readonly #patterns = new Branch<S>();
  #patternCount = 0;

  add(subject: string, seat: S, together: boolean): void {
    let seats: Seats<S>;
    if (isPattern(subject)) {
      let branch = this.#patterns;
      for (const part of subject.split('.')) {
        const next = branch.children.get(part) ?? new Branch<S>();
        branch.children.set(part, next);
        branch = next;
      }
      seats = branch.seats ??= new Seats<S>();
      this.#patternCount++;
    } else {
      seats = this.#exact.get(subject) ?? new Seats<S>();
      this.#exact.set(subject, seats);
    }
    (together ? seats.together : seats.all).add(seat);
  }

  remove(subject: string, seat: S): void {
    if (isPattern(subject)) {
      if (this.#removeBelow(this.#patterns, subject.split('.'), 0, seat)) this.#patternCount--;
      return;
    }
    const seats = this.#exact.get(subject);
    if (seats === undefined) return;
    leave(seats, seat);
    if (seats.empty) this.#exact.delete(subject);
  }
  #removeBelow(branch: Branch<S>, parts: readonly string[], depth: number, seat: S): boolean {
    if (depth === parts.length) {
      if (branch.seats === undefined) return false;
      const was = leave(branch.seats, seat);
      if (branch.seats.empty) branch.seats = undefined;
      return was;
    }
    const part = parts[depth] as string;
    const child = branch.children.get(part);
    if (child === undefined) return false;
    const was = this.#removeBelow(child, parts, depth + 1, seat);
    if (child.seats === undefined && child.children.size === 0) branch.children.delete(part);
    return was;
  }

  /**
   * @param subject no pattern
   * @param hear gives it to a seat; whether that takes it; whether another one would do
   * @returns how many there are, one of those who have it together
   */
  each(subject: string, hear: Hear<S>): number {
    const exact = this.#exact.get(subject);
    let heard = exact === undefined ? 0 : tell(exact, hear);
    if (this.#patternCount > 0) heard += this.#below(this.#patterns, subject.split('.'), 0, hear);
    return heard;
  }
  #below(branch: Branch<S>, parts: readonly string[], depth: number, hear: Hear<S>): number {
    if (depth === parts.length) return branch.seats === undefined ? 0 : tell(branch.seats, hear);
    const rest = branch.children.get('>')?.seats;
    let heard = rest === undefined ? 0 : tell(rest, hear);
    for (const name of [parts[depth] as string, '*']) {
      const child = branch.children.get(name);
      if (child !== undefined) heard += this.#below(child, parts, depth + 1, hear);
    }
    return heard;
  }
}

export function isPattern(subject: string): boolean {
  return subject.includes('*') || subject.endsWith('>');
}
function leave<S>(seats: Seats<S>, seat: S): boolean {
  return seats.all.delete(seat) || seats.together.delete(seat);
}
function tell<S>({ all, together }: Seats<S>, hear: Hear<S>): number {
  let heard = 0;
  for (const seat of all) {
    hear(seat, false, false);
    heard++;
  }
  // One that has enough is passed over.
  for (const others of [true, false]) {
    for (const seat of together) {
      if (!hear(seat, true, others)) continue;
      together.delete(seat);
      together.add(seat);
      return heard + 1;
    }
  }
  return heard;
}
