// A byte stream in memory, for tests: cuts what is written into chunks as a script says, delivers at once or later, and breaks
// where it is told to. Nothing of what it carries is known to it.
import type { CloseReason } from '../../src/index.ts';
import { Fifo } from '../../src/lane/fifo.ts';
import type { ByteStream } from '../../src/transport/stream/connection.ts';
import type { Random } from './prng.ts';

/** Who is given what arrives: a connection. */
export interface Receiver {
  received(bytes: Uint8Array): void;
  closed(reason: CloseReason, error?: Error): void;
  drained(): void;
}

export interface WireScript {
  readonly random: Random;
  /** Bytes of a chunk at the most; each is cut where the generator says. */
  readonly chunkMax: number;
  /** Bytes on their way in a direction from which on a writer is told that it is enough; none by default. */
  readonly bufferBytes?: number;
  /**
   * Whether what is written lies with the medium in the writer's process until that has a turn (`step`), as with a socket: it is lost with the
   * process, but for a medium that writes it out at the end.
   */
  readonly queues?: 'lost at the end' | 'written at the end';
  /** Bytes that the line between the processes holds of a direction until its reader takes some; any by default. */
  readonly lineBytes?: number;
  /** Bytes, both directions counted, after which the wire is cut; none by default. */
  readonly cutAfter?: number;
}

export class Wire {
  readonly ends: readonly [ByteStream, ByteStream];
  /** Whether what is written waits for `step`. */
  delayed = false;
  /** May change bytes on their way to side `to`; they are a copy. */
  spoil: ((bytes: Uint8Array, to: 0 | 1) => void) | undefined;
  /** How many ends want the process to live. */
  held = 0;
  /** Sides that read nothing while the other one writes out what it has. */
  readonly stopped: [boolean, boolean] = [false, false];
  /** Milliseconds for which the medium was allowed to wait, each time that it was asked to write out. */
  readonly flushes: number[] = [];
  /** Bytes delivered. */
  carried = 0;
  readonly #script: WireScript;
  readonly #receivers: [Receiver | undefined, Receiver | undefined] = [undefined, undefined];
  /** What is on its way to each side. */
  readonly #under: [Fifo<Uint8Array>, Fifo<Uint8Array>] = [new Fifo(), new Fifo()];
  /** What each side has written, where that lies with it for a while. */
  readonly #queued: [Uint8Array[], Uint8Array[]] = [[], []];
  readonly #underBytes = [0, 0];
  /** Whether who writes to each side was told that it is enough. */
  readonly #full = [false, false];
  /** A chunk is with its receiver: what comes meanwhile comes behind it. */
  readonly #delivering = [false, false];
  #cut = false;
  #ended = [false, false];

  constructor(script: WireScript) {
    this.#script = script;
    this.ends = [this.#end(0), this.#end(1)];
  }

  /** What arrives at `side` goes to `receiver`; also what has arrived already. */
  connect(side: 0 | 1, receiver: Receiver): void {
    this.#receivers[side] = receiver;
    if (!this.delayed) this.#deliverAll(side);
  }

  get idle(): boolean {
    return this.#under[0].length === 0 && this.#under[1].length === 0;
  }

  /** Delivers one chunk, to a side that the generator picks; false when there is none. */
  step(): boolean {
    for (const side of [0, 1] as const) this.#move(side);
    const to = this.#script.random.int(0, 1) as 0 | 1;
    return this.#deliver(to) || this.#deliver(to === 0 ? 1 : 0);
  }

  /** Breaks it: what is under way is lost, and both sides learn that it has ended. */
  cut(): void {
    if (this.#cut) return;
    this.#cut = true;
    for (const side of [0, 1] as const) {
      this.#under[side].takeAll();
      this.#receivers[side]?.closed('terminated');
    }
  }

  /** The process of a side is gone, with what lay with its medium. */
  die(side: 0 | 1): void {
    this.#queued[side].length = 0;
    this.#receivers[side] = undefined;
    this.#ended[side] = true;
  }

  /** What lies with a side's medium goes on the line, as far as that has room; whether all of it did. */
  #move(side: 0 | 1): boolean {
    const to = side === 0 ? 1 : 0;
    const { random, chunkMax, lineBytes = Number.POSITIVE_INFINITY } = this.#script;
    const queue = this.#queued[side];
    for (let bytes = queue.shift(); bytes !== undefined; bytes = queue.shift()) {
      const onLine = this.#under[to].all().reduce((sum, each) => sum + each.length, 0);
      const end = Math.min(bytes.length, random.int(1, chunkMax), lineBytes - onLine);
      if (end > 0) this.#under[to].push(bytes.subarray(0, end));
      if (end < bytes.length) queue.unshift(bytes.subarray(end));
      if (end <= 0) return false;
    }
    return true;
  }

  /** Writes out what lies with a side's medium, while the other side's process goes on. */
  #flush(side: 0 | 1, timeoutMs: number): boolean {
    this.flushes.push(timeoutMs);
    const to = side === 0 ? 1 : 0;
    while (!this.#move(side)) {
      if (timeoutMs > 0 && !this.stopped[to] && this.#deliver(to)) continue;
      // Nobody reads: a medium waits all of its time for that.
      if (timeoutMs > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, timeoutMs);
      return false;
    }
    // It has taken all of it, and says so by its answer alone.
    this.#underBytes[to] = 0;
    this.#full[to] = false;
    return true;
  }

  #end(side: 0 | 1): ByteStream {
    const to = side === 0 ? 1 : 0;
    return {
      ...(this.#script.queues === 'written at the end'
        ? { flushSync: (timeoutMs: number) => this.#flush(side, timeoutMs) }
        : {}),
      write: (bytes) => {
        if (this.#cut || this.#ended[side]) return true;
        const { random, chunkMax, bufferBytes = Number.POSITIVE_INFINITY, queues } = this.#script;
        this.#underBytes[to] = (this.#underBytes[to] as number) + bytes.length;
        if (queues !== undefined) this.#queued[side].push(bytes.slice());
        else
          for (let at = 0; at < bytes.length; ) {
            const end = Math.min(bytes.length, at + random.int(1, chunkMax));
            this.#under[to].push(bytes.slice(at, end));
            at = end;
          }
        this.#full[to] ||= (this.#underBytes[to] as number) >= bufferBytes;
        const full = this.#full[to] === true;
        if (!this.delayed) this.#deliverAll(to);
        return !full;
      },
      end: () => {
        this.#ended[side] = true;
        if (!this.delayed) this.#deliverAll(to);
      },
      hold: (held) => {
        this.held += held ? 1 : -1;
      },
    };
  }

  #deliverAll(to: 0 | 1): void {
    while (!this.#delivering[to] && this.#receivers[to] !== undefined && this.#deliver(to));
  }

  #deliver(to: 0 | 1): boolean {
    const receiver = this.#receivers[to];
    if (receiver === undefined) return false;
    const chunk = this.#under[to].shift();
    if (chunk === undefined) {
      if (!this.#ended[to === 0 ? 1 : 0]) return false;
      this.#ended[to === 0 ? 1 : 0] = false;
      receiver.closed('terminated');
      return true;
    }
    const { cutAfter = Number.POSITIVE_INFINITY } = this.#script;
    const left = cutAfter - this.carried;
    this.spoil?.(chunk, to);
    this.carried += chunk.length;
    this.#underBytes[to] = (this.#underBytes[to] as number) - chunk.length;
    this.#delivering[to] = true;
    receiver.received(left < chunk.length ? chunk.subarray(0, left) : chunk);
    this.#delivering[to] = false;
    if (left <= chunk.length) this.cut();
    else if (this.#full[to] && (this.#underBytes[to] as number) * 2 <= (this.#script.bufferBytes as number)) {
      this.#full[to] = false;
      // In a turn of its own, as a socket does.
      queueMicrotask(() => this.#receivers[to === 0 ? 1 : 0]?.drained());
    }
    return true;
  }
}
