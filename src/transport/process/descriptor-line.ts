// A unix socket of two processes beside their connection, over which descriptors go: memory, bells. Each message is 32 bytes, and goes whole
// or not at all. Nothing here waits, and what has come can be taken at any time, also by a thread that is blocked: no event loop reads it.
// A process that has no descriptor left goes on: the line keeps some in reserve, and gives one up for what needs one for a moment.
import { platform } from '#platform';
import { LayoutError } from '../../errors.ts';
import { DESCRIPTOR_LINE_AGAIN_MS, DESCRIPTOR_LINE_SHORT_MS, DESCRIPTOR_LINE_UNSENT_MAX } from '../../limits.ts';
import type { Primitives } from '../../native/primitives.ts';

const WORDS = 8;
const NO_WORDS: readonly number[] = [];
const NO_DESCRIPTORS: readonly number[] = [];
const NOBODY = (): void => {};
/** In one message. */
const DESCRIPTORS_MAX = 2;

export interface Said {
  readonly kind: number;
  /** Of a channel, or 0. */
  readonly number: number;
  readonly words: readonly number[];
  /** The taker's from now on. */
  readonly descriptors: readonly number[];
}

/** What the system says while all processes of this user together have too many descriptors on their way, or while it has no memory. */
const AGAIN: ReadonlySet<string | undefined> = new Set(['ETOOMANYREFS', 'ENOBUFS', 'ENOMEM']);

function hasNone(error: unknown): boolean {
  return (error as { code?: string }).code === 'EMFILE';
}

interface Unsent {
  readonly bytes: Uint8Array;
  readonly descriptors: Int32Array | undefined;
  readonly out: () => void;
}

export class DescriptorLine {
  /** Nothing comes any more, and what came was taken. */
  over = false;
  /** Why it is, where that was not the other side's doing. */
  error: Error | undefined;
  /** Called when a message is out. */
  sent: () => void = () => {};
  readonly #native: Primitives;
  readonly #descriptor: number;
  readonly #words = new Int32Array(WORDS);
  readonly #bytes = new Uint8Array(this.#words.buffer);
  readonly #came = new Int32Array(DESCRIPTORS_MAX);
  readonly #unsent: Unsent[] = [];
  readonly #reserve: number[] = [];
  #reserved = 0;
  #short: { readonly error: Error; readonly sinceMs: number } | undefined;
  #tryDue = false;
  #closed = false;

  /** @param descriptor of a connected unix socket, which is the line's from now on */
  constructor(native: Primitives, descriptor: number) {
    this.#native = native;
    this.#descriptor = descriptor;
    native.keep(descriptor);
  }

  /**
   * @param descriptors the line's from now on; the other side has its own then
   * @param out called once it can be taken over there, or nobody is there any more
   */
  say(
    kind: number,
    number: number,
    words: readonly number[] = NO_WORDS,
    descriptors: readonly number[] = NO_DESCRIPTORS,
    out: () => void = NOBODY,
  ): void {
    const bytes = new Uint8Array(Int32Array.of(kind, number, ...words, 0, 0, 0, 0, 0, 0).buffer, 0, WORDS * 4);
    const unsent = { bytes, descriptors: descriptors.length === 0 ? undefined : Int32Array.from(descriptors), out };
    if (this.#closed) {
      this.#letGo(unsent);
      out();
      return;
    }
    this.#unsent.push(unsent);
    if (this.#unsent.length > DESCRIPTOR_LINE_UNSENT_MAX && this.error === undefined) {
      this.over = true;
      this.error = new LayoutError(`The other side has left ${this.#unsent.length} messages untaken`);
    }
    this.#send();
  }
  /** What the socket has no room for waits: until it has, or the line is closed. */
  #send(): void {
    for (let next = this.#unsent[0]; next !== undefined; next = this.#unsent[0]) {
      try {
        if (this.#closed || this.#native.send(this.#descriptor, next.bytes, next.descriptors) < 0) break;
      } catch (error) {
        if (AGAIN.has((error as { code?: string }).code)) break;
        // Nobody is there any more.
      }
      this.#unsent.shift();
      this.#letGo(next);
      this.sent();
      next.out();
    }
    if (this.#unsent.length === 0 || this.#tryDue || this.#closed) return;
    this.#tryDue = true;
    platform.later(() => {
      this.#tryDue = false;
      this.#send();
    }, DESCRIPTOR_LINE_AGAIN_MS);
  }
  /** Messages that wait for room. */
  get unsent(): number {
    return this.#unsent.length;
  }
  /** Tries again what had no room; whether all is out. */
  flush(): boolean {
    this.#send();
    return this.#unsent.length === 0;
  }

  /** Keeps so many descriptors, and no more, from now on. @throws EMFILE */
  reserve(count: number): void {
    this.#reserved = count;
    for (const each of this.#reserve.splice(count)) this.#native.close(each);
    while (this.#reserve.length < count) {
      const one = this.#native.duplicate(this.#descriptor);
      this.#native.keep(one);
      this.#reserve.push(one);
    }
  }
  /** Whether all are there that are to be kept; those that were given up are, once there are any to be had. */
  refill(): boolean {
    try {
      if (!this.#closed && this.#reserve.length < this.#reserved) this.reserve(this.#reserved);
      return true;
    } catch {
      return false;
    }
  }
  /** What `call` returns, which takes descriptors: where there is none left, in the place of some that were kept. @throws what it throws */
  withReserve<T>(call: () => T): T {
    for (;;) {
      try {
        return call();
      } catch (error) {
        const one = hasNone(error) ? this.#reserve.pop() : undefined;
        if (one === undefined) throw error;
        this.#native.close(one);
      }
    }
  }
  /** Why what has come cannot be taken just now: there is no descriptor for it, and none in reserve. */
  get short(): Error | undefined {
    return this.#short?.error;
  }

  take(): Said | undefined {
    if (this.over) return undefined;
    const came = this.#came;
    try {
      this.refill();
      const length = this.withReserve(() => this.#native.receive(this.#descriptor, this.#bytes, came));
      this.#short = undefined;
      if (length < 0) return undefined;
      if (length === 0) {
        this.over = true;
        return undefined;
      }
      const descriptors = [...came].filter((each) => each >= 0);
      if (length < WORDS * 4) {
        for (const each of descriptors) this.#native.close(each);
        throw new LayoutError(`Cannot take descriptors: ${length} bytes came with them`, { length });
      }
      const [kind, number, ...words] = this.#words as unknown as [number, number, ...number[]];
      return { kind, number, words, descriptors };
    } catch (error) {
      if (hasNone(error) && this.#mayWait(error as Error)) return undefined;
      // That was taken off the line, and cannot be had again; or nobody waits for it any longer.
      this.over = true;
      if ((error as { code?: string }).code !== 'ECONNRESET') this.error = error as Error;
      return undefined;
    }
  }

  /** What has come stays on the line, until there is a descriptor for it or nobody waits any longer. */
  #mayWait(error: Error): boolean {
    const nowMs = performance.now();
    this.#short ??= { error, sinceMs: nowMs };
    return nowMs - this.#short.sinceMs < DESCRIPTOR_LINE_SHORT_MS;
  }

  close(): void {
    if (this.#closed) return;
    this.flush();
    this.reserve(0);
    this.#closed = true;
    this.over = true;
    for (const each of this.#unsent.splice(0)) this.#letGo(each);
    this.#native.close(this.#descriptor);
  }
  #letGo({ descriptors }: Unsent): void {
    for (const each of descriptors ?? []) this.#native.close(each);
    this.refill();
  }
}
