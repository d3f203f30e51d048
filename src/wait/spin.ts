// Whether to look again for a while before sleeping. A wake-up costs 5 to 50 microseconds on both sides; when the
// next message is likely to come sooner, looking for it is cheaper. When it is not, looking burns a core for nothing.
//
// So it adapts: each wait tells how long it lasted, and only a run of short waits makes the next one spin. A port
// that has gone quiet stops after two futile windows; an idle port never spins.

/** Waits in a row that decide. Two short ones start the spinning, two long ones end it. */
const CONFIDENCE_MAX = 3;
/** A wait up to this many windows long would have been, or nearly been, caught by spinning. */
const SHORT_WAIT_WINDOWS = 3;
/** Looks between two readings of the clock, which costs as much as several looks. */
const LOOKS_PER_CLOCK = 16;

const pause: (() => void) | undefined = (Atomics as { pause?: () => void }).pause;

export class Spin {
  /** Milliseconds of looking at the most. 0: never spin. */
  readonly windowMs: number;
  #confidence: number = CONFIDENCE_MAX - 1;

  constructor(windowUs: number) {
    this.windowMs = windowUs / 1000;
  }

  /** Whether the last waits were so short that spinning is likely to pay. */
  get worthwhile(): boolean {
    return this.windowMs > 0 && this.#confidence >= CONFIDENCE_MAX - 1;
  }

  /** Looks until `look` is true or the window has passed; says which. The thread does nothing else meanwhile. */
  until(look: () => boolean): boolean {
    const end = performance.now() + this.windowMs;
    do {
      for (let i = 0; i < LOOKS_PER_CLOCK; i++) {
        if (look()) return true;
        if (pause !== undefined) pause();
      }
    } while (performance.now() < end);
    return false;
  }

  /** Learns from a wait that has just ended, spinning and sleeping together. */
  learn(waitedMs: number): void {
    if (waitedMs <= this.windowMs * SHORT_WAIT_WINDOWS) {
      if (this.#confidence < CONFIDENCE_MAX) this.#confidence++;
    } else if (this.#confidence > 0) this.#confidence--;
  }
}
