// A connection's bytes over a WebSocket: any that does what a browser's does. What is said in a turn goes out with one message at its end, or some where it is much.
// A WebSocket that is closed hears nothing more, and says when it has sent everything only if it is asked.
import { platform } from '#platform';
import { UnsupportedError } from '../../errors.ts';
import {
  LINE_FIRST_BYTES,
  LINE_MESSAGE_BYTES,
  SCRATCH_BYTES_MIN,
  SOCKET_CLOSE_MS,
  SOCKET_LINGER_MS,
  SOCKET_MEMORY_FIRST,
  WEB_SOCKET_LOOK_MS,
  WEB_SOCKET_WAITING_BYTES,
} from '../../limits.ts';
import { pooled } from '../../memory/pooled.ts';
import type { Line, LineUser } from './line.ts';

/** The members of a WebSocket that are used. */
export interface WebSocketLike {
  readonly readyState: number;
  /** Bytes that were said and are not with the system yet. */
  readonly bufferedAmount: number;
  binaryType: string;
  /** @param sent called when less of it waits, by `ws` and by ours; no other one looks at it */
  send(bytes: Uint8Array<ArrayBuffer>, sent?: () => void): unknown;
  close(code?: number, reason?: string): void;
  /** What it is given to send it copies at once; of ours. */
  readonly copies?: true;
  /** Each runtime, and each package, has classes of events of its own: what is used of them is WebSocketEventLike. */
  // biome-ignore lint/suspicious/noExplicitAny: no type of one is that of another
  addEventListener(type: 'open' | 'message' | 'close' | 'error', listener: (event: any) => void): void;
  /** Ends it without a word; of servers', and of `ws`. */
  terminate?(): void;
  /** Of `ws` alone, also these: */
  pause?(): void;
  resume?(): void;
  once?(type: 'upgrade', listener: (response: { readonly socket: Holdable | null }) => void): void;
}
interface Holdable {
  ref(): unknown;
  unref(): unknown;
}
export interface WebSocketEventLike {
  readonly data?: unknown;
  readonly code?: number;
  readonly reason?: string;
  readonly message?: string;
  readonly error?: unknown;
}

/** What is known of the line below it. */
export interface Beneath {
  /** Bytes of a message at the most, where it is fewer than are said otherwise. */
  readonly maxBytes?: number;
  /** Keeps the process alive, or lets it go; nothing where nobody can say so, and an open WebSocket does what the runtime likes. */
  hold?(held: boolean): void;
}

/** @param socket that it goes over, where somebody knows: Bun's `ws` does not */
export function holding(socket: Partial<Holdable> | null | undefined): Beneath {
  if (typeof socket?.unref !== 'function') return {};
  return {
    hold: (held) => {
      if (held) socket.ref?.();
      else socket.unref?.();
    },
  };
}

export const OPEN = 1;
const NORMAL = 1000;
const NOT_BINARY = 1003;
const TOO_BIG = 1009;

function copyOf(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const copy = pooled(bytes.length);
  copy.set(bytes);
  return copy;
}

export class WebSocketLine implements Line {
  readonly #socket: WebSocketLike;
  readonly #beneath: Beneath;
  #user: LineUser | undefined;
  /** What came before anybody had it. */
  #early: Uint8Array[] | undefined = [];
  #gone: Parameters<LineUser['closed']> | undefined;
  #waiting: Uint8Array = new Uint8Array(0);
  #length = 0;
  /** Of the next message, at the most. */
  #messageBytes = LINE_FIRST_BYTES;
  #scheduled = false;
  #say: (() => void) | undefined;
  /** While it has enough: whether it still does. */
  #look: (() => void) | undefined;
  #ended = false;
  #cameLately = false;
  /** What it has said of itself; and what was said over it that makes no sense, from where on nothing is read. */
  #failure: Error | undefined;
  #spoilt = false;

  /** @param socket that is open, and of which nobody has heard anything yet */
  constructor(socket: WebSocketLike, beneath: Beneath = {}) {
    this.#socket = socket;
    this.#beneath = beneath;
    // `ws` has it without a copy.
    socket.binaryType = socket.once === undefined ? 'arraybuffer' : 'nodebuffer';
    beneath.hold?.(false);
    socket.addEventListener('message', ({ data }) => this.#came(data));
    socket.addEventListener('error', (event) => {
      this.#failure ??= errorOf(event);
    });
    socket.addEventListener('close', ({ code, reason }) => {
      const failure = this.#failure;
      this.#closed(code === TOO_BIG || tooBig(failure) ? noRoom() : (failure ?? closedWith(code, reason)));
    });
  }

  connect(user: LineUser): void {
    this.#user = user;
    const early = this.#early ?? [];
    this.#early = undefined;
    for (const bytes of early) user.received(bytes);
    if (this.#gone !== undefined) user.closed(...this.#gone);
  }
  #came(data: unknown): void {
    if (this.#spoilt) return;
    this.#cameLately = true;
    const bytes =
      data instanceof ArrayBuffer
        ? new Uint8Array(data)
        : ArrayBuffer.isView(data)
          ? new Uint8Array(data.buffer as ArrayBuffer, data.byteOffset, data.byteLength)
          : undefined;
    if (bytes === undefined && this.#ended) return;
    if (bytes === undefined) this.#spoil(new Error('a text has come over the WebSocket, where only bytes do'));
    else if (this.#early !== undefined) this.#early.push(bytes);
    else if (this.#gone === undefined) this.#user?.received(bytes);
  }
  /** It is there until it is closed, as one that has ended is. */
  #spoil(failure: Error): void {
    this.#spoilt = true;
    this.#failure = failure;
    this.#close(NOT_BINARY);
  }
  #closed(error: Error | undefined): void {
    if (this.#gone !== undefined) return;
    this.#gone = ['lost', error];
    this.#user?.closed(...this.#gone);
  }

  write(bytes: Uint8Array): boolean {
    if (this.#gone !== undefined || this.#ended) return true;
    const length = this.#length + bytes.length;
    if (length > this.#waiting.length) this.#grow(length);
    this.#waiting.set(bytes, this.#length);
    this.#length = length;
    this.#schedule();
    if (length + this.#socket.bufferedAmount > WEB_SOCKET_WAITING_BYTES) this.#fill();
    return this.#look === undefined;
  }
  #grow(bytes: number): void {
    let size = SOCKET_MEMORY_FIRST;
    while (size < bytes) size *= 2;
    const memory = new Uint8Array(size);
    memory.set(this.#waiting.subarray(0, this.#length));
    this.#waiting = memory;
  }
  beforeWrite(say: () => void): boolean {
    if (this.#gone !== undefined || this.#ended) return false;
    this.#schedule();
    this.#say = say;
    return true;
  }
  #schedule(): void {
    if (this.#scheduled) return;
    platform.endOfTurn(() => {
      try {
        this.#sayRest();
      } finally {
        this.#scheduled = false;
      }
      this.#sendAll();
    });
    // Not before: where the stack has ended it is to be tried again.
    this.#scheduled = true;
  }
  #sayRest(): void {
    const say = this.#say;
    this.#say = undefined;
    say?.();
  }
  #sendAll(): void {
    const length = this.#length;
    this.#length = 0;
    if (this.#socket.readyState !== OPEN) return;
    // Who has room is not to be told of it in the middle of this.
    const sent = this.#look === undefined ? undefined : () => queueMicrotask(() => this.#look?.());
    const { maxBytes = LINE_MESSAGE_BYTES } = this.#beneath;
    for (let at = 0; at < length; ) {
      const end = Math.min(length, at + this.#messageBytes);
      this.#messageBytes = Math.min(LINE_MESSAGE_BYTES, maxBytes);
      this.#socket.send(this.#piece(at, end), sent);
      at = end;
    }
    if (this.#waiting.length > SCRATCH_BYTES_MIN) this.#waiting = new Uint8Array(0);
  }

  #piece(from: number, end: number): Uint8Array<ArrayBuffer> {
    const piece = this.#waiting.subarray(from, end) as Uint8Array<ArrayBuffer>;
    // Some send it in a turn to come.
    return this.#socket.copies === true ? piece : copyOf(piece);
  }

  /** It has enough. Most tell of room by nothing: it is looked at now and then, and when one has said that it has sent something. */
  #fill(): void {
    if (this.#look !== undefined) return;
    this.#look = () => {
      const left = this.#length + this.#socket.bufferedAmount;
      if (this.#gone === undefined && !this.#ended && left > WEB_SOCKET_WAITING_BYTES / 2) return;
      clearInterval(timer);
      this.#look = undefined;
      if (this.#gone === undefined && !this.#ended) this.#user?.drained();
    };
    const timer = setInterval(this.#look, WEB_SOCKET_LOOK_MS);
    // What is with a WebSocket holds the process by itself, or nothing does.
    (timer as { unref?(): void }).unref?.();
  }

  end(): void {
    if (this.#ended) return;
    this.#sayRest();
    this.#sendAll();
    this.#close(NORMAL);
  }
  #close(code: number): void {
    this.#ended = true;
    // One that is paused would never hear the answer.
    this.flow(true);
    this.#socket.close(code);
    this.#linger(0, 0);
  }
  /** Who never answers that is not waited for; who has not taken all yet is, as long as it takes some now and then. */
  #linger(before: number, stuckMs: number): void {
    const left = this.#socket.bufferedAmount;
    // Who says something is there, and may be about to take what is on its way: one that is gone would have the system take that back.
    const stillMs = left === before && !this.#cameLately ? stuckMs : 0;
    this.#cameLately = false;
    if (stillMs >= (left > 0 ? SOCKET_LINGER_MS : 2 * SOCKET_CLOSE_MS)) this.destroy();
    else
      platform.later(() => {
        if (this.#gone === undefined) this.#linger(left, stillMs + SOCKET_CLOSE_MS);
      }, SOCKET_CLOSE_MS);
  }
  destroy(): void {
    this.#ended = true;
    if (this.#socket.terminate !== undefined) this.#socket.terminate();
    else {
      this.#socket.close();
      // Until the other side answers, which may be never, it says nothing itself.
      queueMicrotask(() => this.#closed(this.#failure));
    }
  }
  hold(held: boolean): void {
    this.#beneath.hold?.(held);
  }
  flow(flows: boolean): void {
    if (flows) this.#socket.resume?.();
    else this.#socket.pause?.();
  }
}

function closedWith(code: number | undefined, reason: string | undefined): Error | undefined {
  const said = reason === undefined || reason === '' ? '' : ` (${JSON.stringify(reason)})`;
  return code === NORMAL ? undefined : new Error(`the WebSocket was closed with ${code}${said}`);
}
/** Whether `ws` has turned down a message for its size. */
function tooBig(failure: Error | undefined): boolean {
  return (failure as { code?: unknown } | undefined)?.code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH';
}
function noRoom(): UnsupportedError {
  const text = `the WebSocket was closed with ${TOO_BIG}: a message was too big for a server, or for a proxy on the way, which has to take ${LINE_MESSAGE_BYTES} bytes (maxPayload)`;
  return new UnsupportedError(text);
}
export function errorOf({ error, message }: WebSocketEventLike): Error {
  // Node's own has an error without a text, of several others, or of another one.
  const { errors, cause } = Object(error) as { errors?: unknown[]; cause?: unknown };
  for (const each of [error, cause, errors?.[0], (Object(cause) as { errors?: unknown[] }).errors?.[0]])
    if (each instanceof Error && each.message !== '') return each;
  return new Error(message === undefined || message === '' ? 'the WebSocket has failed' : message);
}
