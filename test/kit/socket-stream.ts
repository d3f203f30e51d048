// A byte stream over a socket of node:net, TCP or unix, as a medium has to be: it takes what comes while its writes do not go out, hands
// over the last words of a peer that is gone, and on Node writes with the thread when that ends; elsewhere it holds the process while it has
// something to write. What the library's own will be for processes and networks knows more; this one proves that nothing is missing.
import { readSync, writeSync } from 'node:fs';
import type { Socket } from 'node:net';
import type { ByteStream, StreamConnection } from '../../src/transport/stream/connection.ts';

/** Bytes with the runtime at a time: of one piece it can be known how much of it is out. */
const PIECE = 64 * 1024;
/** Bytes that wait behind it from which on it is enough. */
const ENOUGH = 256 * 1024;

interface Handle {
  readonly fd?: number;
  readonly writeQueueSize?: number;
}

export class SocketStream implements ByteStream {
  readonly flushSync?: (timeoutMs: number) => boolean;
  readonly #socket: Socket;
  readonly #waitMs: number;
  readonly #queue: Uint8Array[] = [];
  #queued = 0;
  #piece: Uint8Array | undefined;
  #full = false;
  #byHand = false;
  #held = false;
  #ended = false;
  #over = false;
  #connection: StreamConnection | undefined;

  /**
   * @param socket connected, with `allowHalfOpen`
   * @param waitMs milliseconds to wait at the end at the least, for tests that must not depend on how busy a machine is
   */
  constructor(socket: Socket, waitMs = 0) {
    this.#socket = socket;
    this.#waitMs = waitMs;
    socket.unref();
    socket.setNoDelay?.(true);
    const { fd, writeQueueSize } = this.#handle;
    // Who cannot tell how much of a piece is out must not go on behind it: Bun and Deno have descriptors, and no more.
    if (fd !== undefined && fd >= 0 && writeQueueSize !== undefined)
      this.flushSync = (timeoutMs) => this.#writeOut(fd, timeoutMs);
  }

  /** What comes goes to `connection`. */
  connect(connection: StreamConnection): void {
    this.#connection = connection;
    let error: Error | undefined;
    const closed = (): void => {
      if (this.#over) return;
      this.#over = true;
      connection.closed('lost', error);
      if (this.#ended) this.#socket.destroy();
    };
    this.#socket.on('data', (bytes: Uint8Array) => connection.received(bytes));
    this.#socket.on('error', (it: Error) => {
      error ??= it;
    });
    this.#socket.on('end', closed);
    this.#socket.on('close', closed);
  }

  write(bytes: Uint8Array): boolean {
    if (this.#over) return true;
    this.#queue.push(bytes.slice());
    this.#queued += bytes.length;
    this.#next();
    this.#hold();
    this.#full ||= this.#queued > ENOUGH;
    return !this.#full;
  }
  end(): void {
    this.#ended = true;
    this.#next();
    // A peer that never ends its side is not waited for.
    setTimeout(() => this.#socket.destroy(), 1000).unref();
  }
  hold(held: boolean): void {
    this.#held = held;
    this.#hold();
  }

  get #handle(): Handle {
    return (this.#socket as unknown as { _handle?: Handle })._handle ?? {};
  }
  /** What lies here goes with the process, where nothing can be written at its end. */
  #hold(): void {
    const held = this.#held || (this.flushSync === undefined && this.#queued > 0 && !this.#over);
    if (held) this.#socket.ref();
    else this.#socket.unref();
  }

  #next(): void {
    if (this.#piece !== undefined || this.#byHand) return;
    const parts: Uint8Array[] = [];
    let length = 0;
    for (let part = this.#queue.shift(); part !== undefined; part = length < PIECE ? this.#queue.shift() : undefined) {
      parts.push(part);
      length += part.length;
    }
    if (length === 0) {
      if (this.#ended) this.#socket.end();
      return;
    }
    const piece = new Uint8Array(length);
    let at = 0;
    for (const part of parts) {
      piece.set(part, at);
      at += part.length;
    }
    this.#piece = piece;
    this.#socket.write(piece, (error) => {
      if (error) {
        this.#hearOut();
        return;
      }
      this.#piece = undefined;
      this.#queued -= length;
      this.#next();
      this.#hold();
      if (this.#full && this.#queued <= ENOUGH / 2) {
        this.#full = false;
        this.#connection?.drained();
      }
    });
  }

  /** A write has failed, upon which the runtime drops its socket: what the peer has said before it went still lies there. */
  #hearOut(): void {
    const { fd, writeQueueSize } = this.#handle;
    if (fd === undefined || fd < 0 || writeQueueSize === undefined || this.#over) return;
    const bytes = new Uint8Array(PIECE);
    try {
      for (let read = readSync(fd, bytes); read > 0; read = readSync(fd, bytes))
        this.#connection?.received(bytes.subarray(0, read));
    } catch {
      // There is no more.
    }
  }

  /** Writes with the thread what the runtime has not, and what it was not given. */
  #writeOut(fd: number, timeoutMs: number): boolean {
    const until = performance.now() + Math.max(timeoutMs, this.#waitMs);
    const left = this.#byHand ? 0 : (this.#handle.writeQueueSize ?? 0);
    if (this.#piece !== undefined) this.#queue.unshift(this.#piece.subarray(this.#piece.length - left));
    this.#piece = undefined;
    // The runtime goes on with nothing from here: it would write its piece again.
    this.#byHand = true;
    for (let part = this.#queue.shift(); part !== undefined; part = this.#queue.shift()) {
      try {
        const written = writeSync(fd, part);
        if (written < part.length) this.#queue.unshift(part.subarray(written));
      } catch (error) {
        this.#queue.unshift(part);
        if ((error as { code?: string }).code !== 'EAGAIN' || performance.now() >= until) return false;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
      }
    }
    this.#queued = 0;
    this.#full = false;
    return !this.#ended || this.#readOut(fd, until);
  }

  /** A TCP socket that goes with something unread takes back what it has sent: until the other side has ended its own. */
  #readOut(fd: number, until: number): boolean {
    const bytes = new Uint8Array(PIECE);
    for (;;) {
      try {
        if (readSync(fd, bytes) === 0) return true;
      } catch (error) {
        // A line that has broken takes nothing back any more.
        if ((error as { code?: string }).code !== 'EAGAIN') return true;
        if (performance.now() >= until) return false;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
      }
    }
  }
}
