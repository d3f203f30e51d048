// What goes between a process that is to be killed and the one that survives it: messages by number, each of which shows whether it is whole,
// from both sides written and read in the same way.
import { openSync, readFileSync, writeSync } from 'node:fs';
import type { Port } from '../../src/process/index.ts';

/** How a channel goes on which a message counts as said once it is published, and not only when it is acknowledged. */
export const PUBLISHING: ReadonlySet<string> = new Set(['memory']);
/** Messages a turn, and messages between two questions of what is acknowledged. */
const BATCH = 20;
const ASKED_EVERY = 100;

interface Message {
  readonly n: number;
  readonly bytes: Uint8Array;
  readonly tail: string;
}

const LARGE = 60_000;
const PATTERN: Uint8Array = Uint8Array.from({ length: LARGE + 256 }, (_, i) => i & 255);

/** A few in a hundred go in several records, or beside a ring. */
function lengthOf(n: number): number {
  if (n % 97 === 96) return LARGE;
  return n % 7 === 6 ? 3000 : n % 100;
}
function messageOf(n: number): Message {
  return { n, bytes: PATTERN.slice(n & 255, (n & 255) + lengthOf(n)), tail: `the end of ${n}` };
}
function isWhole({ n, bytes, tail }: Message): boolean {
  const first = n & 255;
  return (
    bytes instanceof Uint8Array &&
    bytes.length === lengthOf(n) &&
    bytes.every((byte, i) => byte === ((first + i) & 255)) &&
    tail === `the end of ${n}`
  );
}

/** What may not be, by what the records call it. */
export type Finding = 'lost' | 'duplicated' | 'torn' | 'hung' | 'broken' | 'reason' | 'way' | 'left' | 'uncounted';

/** Numbers in a file: what a process has written there outlives it, at once and however it ends. */
export class Ledger {
  readonly #path: string;
  #file: number | undefined;
  readonly #cell = new Float64Array(1);

  constructor(path: string) {
    this.#path = path;
  }
  write(name: keyof typeof CELLS, value: number): void {
    this.#file ??= openSync(this.#path, 'w');
    this.#cell[0] = value;
    writeSync(this.#file, new Uint8Array(this.#cell.buffer), 0, 8, CELLS[name] * 8);
  }
  /** 0 where nothing was written. Of who is gone. */
  read(name: keyof typeof CELLS): number {
    const bytes = new Uint8Array(8 * Object.keys(CELLS).length);
    try {
      bytes.set(readFileSync(this.#path));
    } catch {
      // There was nothing to be written.
    }
    return new Float64Array(bytes.buffer)[CELLS[name]] as number;
  }
}
const CELLS = { read: 0, certain: 1 } as const;

/** What is read: in order, each once, whole. */
export class Reading {
  count = 0;

  /** @returns what is wrong with it */
  take(value: unknown): Finding | undefined {
    const message = value as Message;
    const { n } = message;
    if (n !== this.count) return n < this.count ? 'duplicated' : 'lost';
    this.count++;
    return isWhole(message) ? undefined : 'torn';
  }
}

/** What is written, until the channel ends. */
export class Writing {
  posted = 0;
  /** Of these, as many as the other side has taken over. */
  acknowledged = 0;
  /** As many as are not lost with this side any more. */
  certain = 0;
  readonly #port: Port;
  readonly #tell: (certain: number) => void;
  readonly #publishes: boolean;

  /** @param tell is called as `certain` grows */
  constructor(port: Port, tell: (certain: number) => void = () => {}) {
    this.#port = port;
    this.#tell = tell;
    this.#publishes = PUBLISHING.has(port.stats().way?.name ?? '');
  }

  /** @returns when the channel has ended, and whoever waited for something has been told */
  async run(): Promise<void> {
    const port = this.#port;
    const asked: Promise<void>[] = [];
    while (port.reason === undefined) {
      for (let i = 0; i < BATCH; i++) port.postMessage(messageOf(this.posted++));
      if (this.#publishes) this.#grow(port.stats().sent);
      if (this.posted % ASKED_EVERY === 0) asked.push(this.#ask(this.posted));
      await port.drained().catch(() => {});
      await new Promise((resolve) => setImmediate(resolve));
    }
    await Promise.all(asked);
  }
  async #ask(count: number): Promise<void> {
    await this.#port.flush().then(
      () => {
        this.acknowledged = Math.max(this.acknowledged, count);
        this.#grow(count);
      },
      () => {},
    );
  }
  #grow(count: number): void {
    if (count <= this.certain) return;
    this.certain = count;
    this.#tell(count);
  }
}
