// A pair of web streams over a port: what is written here is read there, and the other way round. Who reads gives credit up to its high-water mark; what ends one
// side's stream, with or without an error, ends the other's in the same way, and a port that ends in the middle is an error to both.
import { ClosedError } from '../errors.ts';
import { CALLS_WINDOW_DEFAULT, CALLS_WINDOW_MAX } from '../limits.ts';
import type { HostReadableStream, HostWritableStream } from '../platform/host-types.ts';
import { checkNames } from '../port/options.ts';
import { claimReading, type Port } from '../port/port.ts';
import { lostError } from './calls.ts';
import { failureOf, protocolError, thrownBy } from './failures.ts';
import { isNumber } from './messages.ts';
import { whole } from './options.ts';
import { Transferred } from './reference.ts';

export interface StreamsOptions {
  /** Values that may lie here before they are read; default 64. The other side's writer waits for room here. */
  readonly highWaterMark?: number | undefined;
}

/** `[CHUNK, value]`: one that there was credit for. The kinds of messages here are those of docs/protocol/calls.md, streams over a port. */
const CHUNK = 0;
/** `[END]`, or `[END, failure]`: of what is written. */
const END = 1;
/** `[CANCEL, failure]`: what is written is not read any more. */
const CANCEL = 2;
/** `[CREDIT, count]`. */
const CREDIT = 3;
/** `[TAKEN]`: the end has come, and all before it. */
const TAKEN = 4;

/**
 * A port as a pair of web streams: `writable` is read as the other side's `readable`. A writer is held back by who reads slowly, and by a port that is full. An
 * abort, a cancel, an error and the end go across; the port is closed when both streams are over, and a port that ends before is a ClosedError to both. From now on
 * what comes over the port is theirs; both sides call this.
 * ```ts
 * import { attach, channel } from 'millrace';
 * import { streams } from 'millrace/rpc';
 * const { port, remote } = channel();
 * const { readable } = streams<string>(attach(remote));   // in another thread
 * const { writable } = streams(port);
 * const writer = writable.getWriter();
 * void writer.write('hello');
 * const written = writer.close();                         // once the other side has read all of it
 * for await (const value of readable) console.log(value); // hello
 * await written;
 * port.close();
 * ```
 * @throws UsageError ERR_OPTION; ERR_BUSY if somebody else reads this port
 */
export function streams<In = unknown, Out = unknown>(
  port: Port,
  options: StreamsOptions = {},
): { readonly readable: HostReadableStream<In>; readonly writable: HostWritableStream<Out> } {
  checkNames(options, ['highWaterMark']);
  const highWaterMark = whole('highWaterMark', options.highWaterMark, CALLS_WINDOW_DEFAULT, 1, CALLS_WINDOW_MAX);
  const pair = new StreamPair(port, highWaterMark);
  return { readable: pair.readable as HostReadableStream<In>, writable: pair.writable as HostWritableStream<Out> };
}

class StreamPair {
  readonly readable: ReadableStream<unknown>;
  readonly writable: WritableStream<unknown>;
  readonly #port: Port;
  readonly #mark: number;
  #reads: ReadableStreamDefaultController<unknown> | undefined;
  #writes: WritableStreamDefaultController | undefined;
  /** Chunks that may come, by the credit that was given. */
  #coming = 0;
  /** Chunks that may go. */
  #credit = 0;
  /** A write that waits for credit. */
  #room: (() => void) | undefined;

  /** Who has closed what is written waits until that is heard there. */
  #taken: { resolve(): void; reject(error: unknown): void } | undefined;

  constructor(port: Port, mark: number) {
    claimReading(port, 'streams');
    this.#port = port;
    this.#mark = mark;
    this.readable = new ReadableStream(
      {
        start: (controller) => {
          this.#reads = controller;
        },
        pull: () => this.#grant(),
        cancel: (reason) => {
          this.#reads = undefined;
          this.#say(CANCEL, failureOf(reason, true, true));
          this.#overIfBoth();
        },
      },
      { highWaterMark: mark },
    );
    this.writable = new WritableStream({
      start: (controller) => {
        this.#writes = controller;
      },
      write: (chunk) => this.#write(chunk),
      close: () => {
        this.#say(END);
        return new Promise((resolve, reject) => {
          this.#taken = { resolve, reject };
        });
      },
      abort: (reason) => {
        this.#say(END, failureOf(reason, true, true));
        this.#ended();
      },
    });
    port.on('message', (message) => this.#hear(message));
    port.on('messageerror', () => this.#fail(lostError()));
    port.on('close', (reason) => {
      const cause = port.error;
      this.#fail(
        new ClosedError(`A stream was cut off: its port has ended (${String(reason)})`, String(reason), cause),
      );
    });
  }

  #say(...message: unknown[]): void {
    this.#port.postMessage(message);
  }

  // ---- reading ------------------------------------------------------------------------------------------------

  /** As much as there is room for; by halves, so that not every chunk is answered. */
  #grant(): void {
    const room = Math.max(0, this.#reads?.desiredSize ?? 0) - this.#coming;
    if (room < 1 || (this.#coming > 0 && room * 2 < this.#mark)) return;
    this.#coming += room;
    this.#say(CREDIT, room);
  }

  // ---- writing ------------------------------------------------------------------------------------------------

  async #write(chunk: unknown): Promise<void> {
    while (this.#credit === 0) {
      // `fail` and CANCEL let it go, and what it returns is not asked for then.
      await new Promise<void>((resolve) => {
        this.#room = resolve;
      });
      if (this.#writes === undefined) return;
    }
    if (this.#port.full) await this.#port.drained();
    this.#credit--;
    const moves = chunk instanceof Transferred;
    try {
      this.#port.postMessage([CHUNK, moves ? chunk.value : chunk], moves ? chunk.list : undefined);
    } catch (error) {
      this.#say(END, failureOf(error, true, true));
      this.#ended();
      throw error;
    }
  }
  #letGo(): void {
    const go = this.#room;
    this.#room = undefined;
    go?.();
  }
  #ended(): void {
    this.#writes = undefined;
    this.#taken = undefined;
    this.#letGo();
    this.#overIfBoth();
  }

  // ---- what comes ---------------------------------------------------------------------------------------------

  #hear(message: unknown): void {
    try {
      if (!Array.isArray(message)) throw protocolError('a message');
      const [kind, what] = message as unknown[];
      if (kind === CHUNK) this.#take(what);
      else if (kind === END) this.#end(message.length > 1 ? { error: thrownBy(what) } : undefined);
      else if (kind === TAKEN) {
        this.#taken?.resolve();
        this.#ended();
      } else if (kind === CANCEL) this.#cancelled(thrownBy(what));
      else if (kind === CREDIT && isNumber(what) && this.#credit + what <= CALLS_WINDOW_MAX) {
        this.#credit += what;
        this.#letGo();
      } else throw protocolError('a message');
    } catch (error) {
      this.#fail(error);
    }
  }
  #take(chunk: unknown): void {
    if (this.#coming === 0) throw protocolError('more of a stream than there was credit for');
    this.#coming--;
    this.#reads?.enqueue(chunk);
  }
  #end(failed: { readonly error: unknown } | undefined): void {
    const reads = this.#reads;
    this.#reads = undefined;
    if (failed === undefined) reads?.close();
    else reads?.error(failed.error);
    if (failed === undefined) this.#say(TAKEN);
    this.#overIfBoth();
  }
  #cancelled(reason: unknown): void {
    this.#writes?.error(reason);
    this.#taken?.reject(reason);
    this.#ended();
  }
  #fail(error: unknown): void {
    this.#reads?.error(error);
    this.#reads = undefined;
    this.#writes?.error(error);
    this.#taken?.reject(error);
    this.#ended();
  }
  #overIfBoth(): void {
    if (this.#reads === undefined && this.#writes === undefined) this.#port.close();
  }
}
