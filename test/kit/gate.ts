// Gates between threads: words in shared memory that one thread opens and others pass. A test that needs an order of events
// makes it with gates, never with sleeping.
import { STEP_MS, until } from './watchdog.ts';

export class Gates {
  readonly memory: SharedArrayBuffer;
  readonly words: Int32Array;

  /** @param memory that of another thread's `Gates`; without it, new memory for 16 gates */
  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(64)) {
    this.memory = memory;
    this.words = new Int32Array(memory);
  }

  open(gate: number): void {
    this.set(gate, 1);
  }
  /** Gates may also carry a number. */
  set(gate: number, value: number): void {
    Atomics.store(this.words, gate, value);
    Atomics.notify(this.words, gate);
  }
  get(gate: number): number {
    return Atomics.load(this.words, gate);
  }
  add(gate: number): void {
    Atomics.add(this.words, gate, 1);
    Atomics.notify(this.words, gate);
  }

  /** Blocks this thread until the gate is open. */
  pass(gate: number): number {
    const value = this.get(gate);
    if (value !== 0) return value;
    if (Atomics.wait(this.words, gate, 0, STEP_MS) === 'timed-out') throw new Error(`hang: gate ${gate} stays shut`);
    return this.get(gate);
  }

  /** The same with the event loop. */
  async passAsync(gate: number): Promise<number> {
    await until(`gate ${gate} opens`, () => this.get(gate) !== 0);
    return this.get(gate);
  }
}
