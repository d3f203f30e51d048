// Tasks that wait for a member, oldest first. Those that a member gave back go before the others; what was given up leaves at once.
import { Fifo } from '../../lane/fifo.ts';
import { POOL_DEAD_MAX } from '../../limits.ts';

export interface Queued {
  /** It is not to be sent any more. */
  readonly settled: boolean;
}

export class TaskQueue<T extends Queued> {
  #fresh: Fifo<T> = new Fifo();
  #again: Fifo<T> = new Fifo();
  #length = 0;
  /** Those that were given up, and still stand in the line. */
  #dead = 0;

  get length(): number {
    return this.#length;
  }
  push(task: T): void {
    this.#fresh.push(task);
    this.#length++;
  }
  /** @param tasks oldest first */
  giveBack(tasks: readonly T[]): void {
    this.#again = lineOf([...tasks, ...this.#again.takeAll()]);
    this.#length += tasks.length;
  }
  /** The next one, which stays. */
  get first(): T | undefined {
    return this.#firstOf(this.#again) ?? this.#firstOf(this.#fresh);
  }
  #firstOf(tasks: Fifo<T>): T | undefined {
    while (tasks.first?.settled === true) {
      tasks.shift();
      this.#dead--;
    }
    return tasks.first;
  }
  /** Takes what `first` gave. */
  shift(): void {
    this.#length--;
    if (this.#again.length > 0) this.#again.shift();
    else this.#fresh.shift();
  }
  /** One of those that wait was given up, and says that it is settled. */
  left(): void {
    this.#length--;
    if (++this.#dead <= this.#length + POOL_DEAD_MAX) return;
    this.#dead = 0;
    this.#again = lineOf(living(this.#again));
    this.#fresh = lineOf(living(this.#fresh));
  }
  takeAll(): T[] {
    const all = [...living(this.#again), ...living(this.#fresh)];
    this.#again = new Fifo();
    this.#fresh = new Fifo();
    this.#length = 0;
    this.#dead = 0;
    return all;
  }
}

function living<T extends Queued>(tasks: Fifo<T>): T[] {
  return tasks.all().filter(({ settled }) => !settled);
}
function lineOf<T>(tasks: readonly T[]): Fifo<T> {
  const line = new Fifo<T>();
  for (const task of tasks) line.push(task);
  return line;
}
