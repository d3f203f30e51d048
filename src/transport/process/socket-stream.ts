// A connection's bytes over a socket of node:net, TCP, unix or pipe. What is said in a turn goes out with one write at its end. A thread that ends
// writes the rest with its own hands: on Node also behind a piece that the runtime has begun, since that tells how much of it is out; on Bun
// where it has none; not on Deno, whose descriptors are not the system's. Where it does not tell, what waits holds the process.
import { readSync, writeSync } from 'node:fs';
import { connect, Socket } from 'node:net';
import { nextTick } from 'node:process';
import { clearTimeout, setTimeout } from 'node:timers';
import { platform } from '#platform';
import {
  SCRATCH_BYTES_MIN,
  SOCKET_CLOSE_MS,
  SOCKET_HEAR_MS,
  SOCKET_LINGER_MS,
  SOCKET_MEMORY_FIRST,
  SOCKET_READ_BYTES,
  SOCKET_WAITING_BYTES,
} from '../../limits.ts';
import { type Views, viewsOf } from '../../memory/region.ts';
import { scratch } from '../../memory/scratch.ts';
import type { EndReason } from '../../outcome.ts';
import type { ByteStream, StreamConnection } from '../stream/connection.ts';

/** Who has a socket: a connection, or what carries its bytes on to one. */
export interface SocketUser extends Pick<StreamConnection, 'received' | 'drained' | 'closed'> {
  /** All that was said is out. */
  idle?(): void;
}

/** Says why a line has ended without a goodbye, now or a little later. */
export interface WhyGone {
  (tell: (reason: EndReason) => void): void;
  /** The same at once, for who asks with its thread blocked. */
  readonly now?: () => EndReason;
}
const LOST: WhyGone = (tell) => tell('lost');

/** What of a socket nobody promises; where it is absent, nothing is written with the thread. */
interface Handle {
  readonly fd?: number;
  readonly writeQueueSize?: number;
}

const NOTHING: Uint8Array = new Uint8Array(0);
const NO_MEMORY: Views = viewsOf(new ArrayBuffer(0));
/** Where a runtime writes what the system takes within the call, and says so. */
const WRITES_AT_ONCE: boolean = platform.name === 'node';
const nap: Int32Array = new Int32Array(new SharedArrayBuffer(4));

/**
 * Where a socket is asked to read to, as it is made, and who is handed that. Node then reads into memory that all such sockets of a thread have
 * together, in place of 64 KiB for each read; sockets that a runtime makes itself, and other runtimes, know no such thing.
 */
export class ReadPlace {
  readonly options: { readonly onread?: { buffer: Uint8Array; callback(bytes: number, buffer: Uint8Array): boolean } };
  stream: SocketStream | undefined;

  constructor() {
    const callback = (bytes: number, buffer: Uint8Array): boolean => {
      this.stream?.take(buffer.subarray(0, bytes));
      return true;
    };
    this.options = platform.name === 'node' ? { onread: { buffer: readInto(), callback } } : {};
  }
}
let place: Uint8Array | undefined;
function readInto(): Uint8Array {
  place ??= new Uint8Array(SOCKET_READ_BYTES);
  return place;
}

/** A socket that somebody else has made, by its descriptor; paused. */
export function ofDescriptor(fd: number): SocketStream {
  const place = new ReadPlace();
  const options = { fd, readable: true, writable: true, allowHalfOpen: true, ...place.options };
  // On Bun a socket that is made of a descriptor delivers nothing, and one that connects to it does.
  const socket = platform.name === 'bun' ? connect(options as never) : new Socket(options);
  socket.pause();
  return new SocketStream(socket, place);
}

export class SocketStream implements ByteStream {
  flushSync?: (timeoutMs: number) => boolean;
  readonly #socket: Socket;
  /** What was said and is not with the runtime yet: so many bytes of this memory. */
  #waiting: Views = NO_MEMORY;
  #length = 0;
  /** What is with the runtime. */
  #piece: Uint8Array | undefined;
  /** Memory for what is said next, while that is. */
  #spare: Views | undefined;
  #scheduled = false;
  /** To be asked what goes with the next write. */
  #say: (() => void) | undefined;
  #full = false;
  /** The thread has begun to write with its own hands: the runtime is given nothing more. Of what waits, so many bytes are out. */
  #byHand = false;
  #out = 0;
  #held = false;
  /** The runtime's word for it: with each piece it would be a call into the runtime. */
  #holds = false;
  #ended = false;
  #over = false;
  #giveUp: NodeJS.Timeout | undefined;
  #connection: SocketUser | undefined;
  #error: Error | undefined;

  /**
   * @param socket connected or about to be, with `allowHalfOpen`, and paused until it has its connection
   * @param place made with its options
   */
  constructor(socket: Socket, place?: ReadPlace) {
    this.#socket = socket;
    if (place !== undefined) place.stream = this;
    socket.unref();
    socket.on('error', (error: Error) => {
      this.#error ??= error;
      // One that is sealed tells of damage, or of a last word, by nothing else.
      if (this.#sealed) socket.destroy();
    });
    socket.setNoDelay?.(true);
    this.#findDescriptor();
    if (this.flushSync === undefined) socket.once('connect', () => this.#findDescriptor());
  }
  #findDescriptor(): void {
    if (this.#descriptor >= 0) this.flushSync = (timeoutMs) => this.#writeOut(performance.now() + timeoutMs);
  }
  /** The system's number of the line while it has one, and where what is written there is what the other side reads; else -1. */
  get #descriptor(): number {
    return platform.name === 'deno' || this.#sealed ? -1 : (this.#raw.fd ?? -1);
  }
  get #sealed(): boolean {
    return (this.#socket as { readonly encrypted?: boolean }).encrypted === true;
  }

  /** From here on what comes goes to `connection`. */
  connect(connection: SocketUser, whyGone: WhyGone = LOST): void {
    this.#connection = connection;
    const socket = this.#socket;
    const closed = (): void => {
      if (this.#over) return;
      this.#over = true;
      // Where it is known how the peer has ended, what the line says of it is no news.
      whyGone((reason) => connection.closed(reason, reason === 'lost' ? this.#error : undefined));
      if (this.#ended) socket.destroy();
      else this.end();
    };
    socket.on('data', (bytes: Uint8Array) => this.take(bytes));
    socket.on('end', closed);
    socket.on('close', () => {
      closed();
      // What waits for a socket that is closed keeps the connection, and the memory that goes with it.
      clearTimeout(this.#giveUp);
    });
    if (socket.destroyed) closed();
    else socket.resume();
  }

  /** Has the system ask for a sign of the other side's system after so many milliseconds of silence: it ends a line whose machine is gone. */
  keepAlive(ms: number): void {
    this.#socket.setKeepAlive?.(true, ms);
  }

  /** Whether more may come; what the runtime has read by then comes all the same. */
  flow(flows: boolean): void {
    if (flows) this.#socket.resume();
    else this.#socket.pause();
  }

  /** Something has come; it is the caller's again when it returns. */
  take(bytes: Uint8Array): void {
    this.#connection?.received(bytes);
  }

  write(bytes: Uint8Array): boolean {
    if (this.#over) return true;
    this.#append(bytes);
    this.#schedule();
    this.#full ||= this.#bytes > SOCKET_WAITING_BYTES;
    return !this.#full;
  }
  beforeWrite(say: () => void): boolean {
    if (this.#over || this.#byHand) return false;
    this.#schedule();
    this.#say = say;
    return true;
  }
  #append(bytes: Uint8Array): void {
    const length = this.#length + bytes.length;
    if (length > this.#waiting.bytes.length) this.#grow(length);
    this.#waiting.bytes.set(bytes, this.#length);
    this.#length = length;
  }
  #grow(bytes: number): void {
    let size = SOCKET_MEMORY_FIRST;
    while (size < bytes) size *= 2;
    const before = this.#waiting;
    const memory = size < SCRATCH_BYTES_MIN ? viewsOf(new ArrayBuffer(size)) : scratch.take(size);
    memory.bytes.set(before.bytes.subarray(0, this.#length));
    this.#waiting = memory;
    giveBack(before, this.#length);
  }
  /** Bytes that were said and are not out. */
  get #bytes(): number {
    return this.#length + (this.#piece?.length ?? 0);
  }
  end(): void {
    this.#ended = true;
    this.#schedule();
    this.#hold();
    this.#linger();
  }
  /** A peer that never ends its side is not waited for; one that has not taken all yet is, as long as it takes some now and then. */
  #linger(): void {
    clearTimeout(this.#giveUp);
    const waitMs = this.#bytes > 0 && !this.#over ? SOCKET_LINGER_MS : SOCKET_CLOSE_MS;
    this.#giveUp = setTimeout(() => this.#socket.destroy(), waitMs);
    this.#giveUp.unref();
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
  /** Whether the runtime tells how much of a piece is out, where somebody else can write the rest. */
  get #tellsRest(): boolean {
    return !this.#sealed && this.#raw.writeQueueSize !== undefined;
  }
  #hold(): void {
    // What lies here would go with the process, and may be more than is written at its end; and a line whose other side has not ended takes
    // back what it has sent.
    const holds = this.#held || (!this.#over && (this.#bytes > 0 || this.#ended) && !this.#tellsRest);
    if (holds === this.#holds) return;
    this.#holds = holds;
    if (holds) this.#socket.ref();
    else this.#socket.unref();
  }

  #schedule(): void {
    if (this.#scheduled || this.#piece !== undefined) return;
    nextTick(() => {
      try {
        this.#sayRest();
      } finally {
        this.#scheduled = false;
      }
      this.#next();
    });
    // Not before: where the stack has ended it is to be tried again.
    this.#scheduled = true;
  }
  /** What was to go with the next write. */
  #sayRest(): void {
    const say = this.#say;
    this.#say = undefined;
    say?.();
  }
  #next(): void {
    if (this.#piece !== undefined || this.#byHand) return;
    this.#sayRest();
    const bytes = this.#length;
    if (bytes === 0) {
      if (this.#ended) this.#socket.end();
      return;
    }
    const out = WRITES_AT_ONCE ? this.#writeNow() : 0;
    const memory = this.#waiting;
    this.#waiting = this.#spare ?? NO_MEMORY;
    this.#spare = undefined;
    this.#length = 0;
    if (out === bytes) {
      this.#keep(memory, bytes);
      if (this.#ended) this.#socket.end();
      this.#wentOut();
      return;
    }
    const piece = memory.bytes.subarray(out, bytes);
    this.#piece = piece;
    this.#hold();
    this.#give(piece, memory);
  }
  /**
   * Writes what the system takes at once, past the runtime, whose own write makes several objects each time: nothing of ours is with it now. How much that
   * was; what has failed fails once more where the runtime hears of it.
   */
  #writeNow(): number {
    const fd = this.#descriptor;
    if (fd < 0) return 0;
    try {
      return writeSync(fd, this.#waiting.bytes, 0, this.#length);
    } catch {
      return 0;
    }
  }
  /** The runtime is given a piece, which lies in `memory`. */
  #give(piece: Uint8Array, memory: Views): void {
    const socket = this.#socket;
    const out = (error: unknown): void => {
      if (error) this.#hearOut();
      else this.#written(memory);
    };
    if (!WRITES_AT_ONCE) {
      socket.write(piece, out);
      return;
    }
    // A call that is told of each piece costs a turn of the runtime's own, though nearly every piece is out when `write` returns. Where one is
    // not, nothing at all goes behind it, and who is told of that is told then.
    socket.write(piece);
    if (socket.destroyed || socket.errored !== null) this.#hearOut();
    else if (socket.writableLength > 0) socket.write(NOTHING, out);
    else this.#written(memory);
  }
  #written(memory: Views): void {
    if (this.#byHand) return;
    const bytes = this.#piece?.length ?? 0;
    this.#piece = undefined;
    this.#keep(memory, bytes);
    this.#next();
    this.#hold();
    this.#wentOut();
  }
  /** A thousand connections that have said much once are not to keep large memory each. */
  #keep(memory: Views, used: number): void {
    if (giveBack(memory, used)) return;
    if (this.#length === 0) this.#waiting = memory;
    else this.#spare = memory;
  }
  /** All that the runtime had, and what could go behind it. */
  #wentOut(): void {
    if (this.#ended) this.#linger();
    if (this.#bytes === 0) this.#connection?.idle?.();
    if (!this.#full || this.#bytes > SOCKET_WAITING_BYTES / 2) return;
    this.#full = false;
    this.#connection?.drained();
  }

  /** A write has failed, upon which the runtime drops its socket: what the peer has said before it went still lies there. */
  #hearOut(): void {
    const fd = this.#descriptor;
    if (this.#over) return;
    this.#hearRuntime();
    if (fd < 0) return;
    const bytes = new Uint8Array(SOCKET_READ_BYTES);
    const untilMs = performance.now() + SOCKET_HEAR_MS;
    try {
      for (let read = readSync(fd, bytes); read > 0; read = readSync(fd, bytes)) {
        this.take(bytes.subarray(0, read));
        // Who still writes has closed its ears alone.
        if (performance.now() >= untilMs) return;
      }
    } catch {
      // There is no more.
    }
  }

  /** What the runtime has of one that was told to stop comes before that; with an error it hands out no more by itself. */
  #hearRuntime(): void {
    const socket = this.#socket;
    if (socket.readableLength === 0) return;
    socket.removeAllListeners('data');
    for (let bytes = socket.read(); bytes !== null; bytes = socket.read()) this.take(bytes);
  }

  /** Writes with the thread what the runtime has not, and what it was not given. */
  #writeOut(untilMs: number): boolean {
    if (this.#over) return true;
    const fd = this.#descriptor;
    if (fd < 0) return false;
    // Nobody knows where to go on.
    if (this.#piece !== undefined && !this.#tellsRest) return false;
    if (!this.#byHand) {
      const left = this.#raw.writeQueueSize ?? 0;
      const piece = this.#piece ?? NOTHING;
      this.#piece = undefined;
      // Before what was said behind it; the runtime goes on with nothing from here, and would write its piece again.
      this.#byHand = true;
      const rest = piece.subarray(piece.length - left);
      const waiting = this.#waiting.bytes.slice(0, this.#length);
      this.#length = 0;
      for (const part of [rest, waiting]) this.#append(part);
    }
    while (this.#out < this.#length) {
      try {
        this.#out += writeSync(fd, this.#waiting.bytes, this.#out, this.#length - this.#out);
      } catch (error) {
        if (!isBusy(error) || performance.now() >= untilMs) return false;
        Atomics.wait(nap, 0, 0, 1);
      }
    }
    this.#length = 0;
    this.#out = 0;
    this.#full = false;
    return !this.#ended || readOut(fd, untilMs);
  }
}

/** Large memory is the thread's, of which `used` bytes were needed; whether it is. */
function giveBack(memory: Views, used: number): boolean {
  if (memory.bytes.length < SCRATCH_BYTES_MIN) return false;
  scratch.give(memory, used);
  return true;
}

/** A TCP socket that goes with something unread takes back what it has sent: until the other side has ended its own. */
function readOut(fd: number, untilMs: number): boolean {
  const bytes = new Uint8Array(SOCKET_READ_BYTES);
  for (;;) {
    try {
      if (readSync(fd, bytes) === 0) return true;
    } catch (error) {
      // A line that has broken takes nothing back any more.
      if (!isBusy(error)) return true;
      if (performance.now() < untilMs) Atomics.wait(nap, 0, 0, 1);
    }
    // Also where more comes all the time.
    if (performance.now() >= untilMs) return false;
  }
}

function isBusy(error: unknown): boolean {
  return (error as { code?: string }).code === 'EAGAIN';
}
