// A connection's bytes over a socket of node:net, TCP, unix or pipe. What is said in a turn goes out with one write at its end. A thread that ends
// writes the rest with its own hands: on Node also behind a piece that the runtime has begun, since that tells how much of it is out; on Bun
// where it has none; not on Deno, whose descriptors are not the system's. There what waits holds the process.
import { readSync, writeSync } from 'node:fs';
import type { Socket } from 'node:net';
import { platform } from '#platform';
import { SOCKET_CLOSE_MS, SOCKET_PIECE_BYTES, SOCKET_WAITING_BYTES } from '../../limits.ts';
import type { EndReason } from '../../outcome.ts';
import type { ByteStream, StreamConnection } from '../stream/connection.ts';

/** Says why a line has ended without a goodbye, now or a little later. */
export type WhyGone = (tell: (reason: EndReason, error?: Error) => void) => void;
const LOST: WhyGone = (tell) => tell('lost');

/** What of a socket nobody promises; where it is absent, nothing is written with the thread. */
interface Handle {
  readonly fd?: number;
  readonly writeQueueSize?: number;
}

const nap: Int32Array = new Int32Array(new SharedArrayBuffer(4));

export class SocketStream implements ByteStream {
  flushSync?: (timeoutMs: number) => boolean;
  readonly #socket: Socket;
  /** What was said and is not with the runtime yet. */
  #waiting: Uint8Array[] = [];
  /** Bytes of it, and of the piece that is with the runtime. */
  #bytes = 0;
  #piece: Uint8Array | undefined;
  #scheduled = false;
  #full = false;
  /** The thread has begun to write with its own hands: the runtime is given nothing more. */
  #byHand = false;
  #held = false;
  #ended = false;
  #over = false;
  #connection: StreamConnection | undefined;
  #error: Error | undefined;

  /** @param socket connected or about to be, with `allowHalfOpen`, and paused until it has its connection */
  constructor(socket: Socket) {
    this.#socket = socket;
    socket.unref();
    socket.on('error', (error: Error) => {
      this.#error ??= error;
    });
    socket.setNoDelay?.(true);
    this.#findDescriptor();
    if (this.flushSync === undefined) socket.once('connect', () => this.#findDescriptor());
  }
  #findDescriptor(): void {
    const { fd } = this.#raw;
    if (fd !== undefined && fd >= 0 && platform.name !== 'deno')
      this.flushSync = (timeoutMs) => this.#writeOut(fd, performance.now() + timeoutMs);
  }

  /** From here on what comes goes to `connection`. */
  connect(connection: StreamConnection, whyGone: WhyGone = LOST): void {
    this.#connection = connection;
    const socket = this.#socket;
    const closed = (): void => {
      if (this.#over) return;
      this.#over = true;
      whyGone((reason, error) => connection.closed(reason, error ?? this.#error));
      if (this.#ended) socket.destroy();
      else this.end();
    };
    socket.on('data', (bytes: Uint8Array) => connection.received(bytes));
    socket.on('end', closed);
    socket.on('close', closed);
    if (socket.destroyed) closed();
    else socket.resume();
  }

  write(bytes: Uint8Array): boolean {
    if (this.#over) return true;
    this.#waiting.push(bytes.slice());
    this.#bytes += bytes.length;
    this.#schedule();
    this.#full ||= this.#bytes > SOCKET_WAITING_BYTES;
    return !this.#full;
  }
  end(): void {
    this.#ended = true;
    this.#schedule();
    this.#hold();
    // A peer that never ends its side is not waited for.
    setTimeout(() => this.#socket.destroy(), SOCKET_CLOSE_MS).unref();
  }
  /** Ends it at once; what has come and was not taken in yet is lost. */
  destroy(): void {
    this.#socket.destroy();
  }
  hold(held: boolean): void {
    this.#held = held;
    this.#hold();
  }

  get #raw(): Handle {
    return (this.#socket as unknown as { _handle?: Handle })._handle ?? {};
  }
  /** Whether the runtime tells how much of a piece is out. */
  get #tellsRest(): boolean {
    return this.#raw.writeQueueSize !== undefined;
  }
  #hold(): void {
    // What lies here would go with the process, and may be more than is written at its end; and a line whose other side has not ended takes
    // back what it has sent.
    const busy = !this.#tellsRest && !this.#over && (this.#bytes > 0 || this.#ended);
    if (this.#held || busy) this.#socket.ref();
    else this.#socket.unref();
  }

  #schedule(): void {
    if (this.#scheduled || this.#piece !== undefined) return;
    queueMicrotask(() => {
      this.#scheduled = false;
      this.#next();
    });
    // Not before: where the stack has ended it is to be tried again.
    this.#scheduled = true;
  }
  #next(): void {
    if (this.#piece !== undefined || this.#byHand) return;
    const piece = this.#takePiece();
    if (piece === undefined) {
      if (this.#ended) this.#socket.end();
      return;
    }
    this.#piece = piece;
    this.#hold();
    this.#socket.write(piece, (error) => {
      if (error) this.#hearOut();
      else this.#written(piece.length);
    });
  }
  #takePiece(): Uint8Array | undefined {
    const waiting = this.#waiting;
    if (waiting.length <= 1) return waiting.pop();
    let count = 0;
    let length = 0;
    while (count < waiting.length && length < SOCKET_PIECE_BYTES) length += (waiting[count++] as Uint8Array).length;
    const parts = waiting.splice(0, count);
    const piece = new Uint8Array(length);
    let at = 0;
    for (const part of parts) {
      piece.set(part, at);
      at += part.length;
    }
    return piece;
  }
  #written(length: number): void {
    if (this.#byHand) return;
    this.#piece = undefined;
    this.#bytes -= length;
    this.#next();
    this.#hold();
    if (!this.#full || this.#bytes > SOCKET_WAITING_BYTES / 2) return;
    this.#full = false;
    this.#connection?.drained();
  }

  /** A write has failed, upon which the runtime drops its socket: what the peer has said before it went still lies there. */
  #hearOut(): void {
    const { fd } = this.#raw;
    if (!this.#tellsRest || fd === undefined || fd < 0 || this.#over) return;
    const bytes = new Uint8Array(SOCKET_PIECE_BYTES);
    try {
      for (let read = readSync(fd, bytes); read > 0; read = readSync(fd, bytes))
        this.#connection?.received(bytes.subarray(0, read));
    } catch {
      // There is no more.
    }
  }

  /** Writes with the thread what the runtime has not, and what it was not given. */
  #writeOut(fd: number, untilMs: number): boolean {
    if (this.#over) return true;
    // Nobody knows where to go on.
    if (this.#piece !== undefined && !this.#tellsRest) return false;
    const left = this.#byHand ? 0 : (this.#raw.writeQueueSize ?? 0);
    const waiting = this.#waiting;
    if (this.#piece !== undefined) waiting.unshift(this.#piece.subarray(this.#piece.length - left));
    this.#piece = undefined;
    this.#byHand = true;
    for (let part = waiting.shift(); part !== undefined; part = waiting.shift()) {
      try {
        const written = writeSync(fd, part);
        if (written < part.length) waiting.unshift(part.subarray(written));
      } catch (error) {
        waiting.unshift(part);
        if (!isBusy(error) || performance.now() >= untilMs) return false;
        Atomics.wait(nap, 0, 0, 1);
      }
    }
    this.#bytes = 0;
    this.#full = false;
    return !this.#ended || readOut(fd, untilMs);
  }
}

/** A TCP socket that goes with something unread takes back what it has sent: until the other side has ended its own. */
function readOut(fd: number, untilMs: number): boolean {
  const bytes = new Uint8Array(SOCKET_PIECE_BYTES);
  for (;;) {
    try {
      if (readSync(fd, bytes) === 0) return true;
    } catch (error) {
      // A line that has broken takes nothing back any more.
      if (!isBusy(error)) return true;
      if (performance.now() >= untilMs) return false;
      Atomics.wait(nap, 0, 0, 1);
    }
  }
}

function isBusy(error: unknown): boolean {
  return (error as { code?: string }).code === 'EAGAIN';
}
