// MWChannel: main thread and worker, each direction by the way that suits it.
//
//     main -> worker, blocking mode      SABPipe over `buffer`, JSON, readable without the event loop
//     main -> worker, nonblocking mode   the native port carries the value; a record in the pipe keeps its place, so
//                                        that there is one order whatever the modes and however they change
//     worker -> main                     a port of ours (structured clone, no native message each); its remote is the
//                                        first thing that lies in the native port when the worker gets it
//
// Where the runtime cannot take from a native port at will (browsers), the worker's messages go over the native port
// until that remote has arrived; the word RING then says that everything after it comes through our port.
import { platform } from '#platform';
import type { Beside } from '../../lane/beside.ts';
import type { TransferList } from '../../memory/handle.ts';
import { checkSharedMemory, viewsOf } from '../../memory/region.ts';
import type { NativePort } from '../../platform/contract.ts';
import type { HostMessagePort } from '../../platform/host-types.ts';
import { memoryAttach as attach, memoryChannel as channel } from '../../port/channel.ts';
import type { Port } from '../../port/port.ts';
import { watchPeer } from '../peer-watch.ts';
import { BesideValues } from './beside-values.ts';
import { End } from './end.ts';
import { pipePlaces } from './end-places.ts';
import { type InitTarget, isInit } from './init-message.ts';
import { layOut } from './layout.ts';
import { Lifeline } from './lifeline.ts';
import type { OverflowCallback, Received } from './live-queue.ts';
import { disposedError } from './read-line.ts';
import { type MessageHandler, SABPipe, type SharedEnd } from './sab-pipe.ts';

const KILOBYTE = 1024;
/** Worker to main, over the native port: from here on look into our port. */
const RING = 'ring';
/** A native port's queue has no bound, so neither has what takes its place. */
const OPTIONS = { outboxBytes: Number.MAX_SAFE_INTEGER } as const;

export interface MWChannelInit {
  type: string;
  buffer: SharedArrayBuffer;
  port: HostMessagePort;
}
type Mode = 'blocking' | 'nonblocking';

/**
 * One end of a channel between a main thread, which never blocks, and a worker, which may.
 * @param side `'m'` makes the channel; the worker's side comes from `MWChannel.from`
 * @param sabSizeKB kilobytes of the buffer towards the worker
 * @param queueLimit messages that may wait in this end's queue; the oldest go first
 */
export class MWChannel {
  readonly #main: boolean;
  readonly #buffer: SharedArrayBuffer;
  readonly #pipe: SABPipe;
  readonly #end: End;
  #native: NativePort;
  /** Main: the worker's end of the native port, and whether it was sent. */
  #farNative: NativePort | null = null;
  #sent = false;
  #port: Port | null = null;
  #mode: Mode = 'blocking';
  #handler: MessageHandler = null;
  #closed = false;
  /** Main: who was sent the init message last. */
  #target: InitTarget | null = null;
  #unwatch: () => void = () => {};
  /** Main: values sent over the native port so far. */
  #besideCount = 0;
  /** Worker: the ones that came. */
  readonly #values = new BesideValues(() => this.#takeNative());
  /** Main: whether everything that came over the native port was handed out, and our port may follow. */
  #ringOpen = false;
  /** Main: what came over the native port before anybody listened. */
  #early: unknown[] = [];

  constructor(side: 'm' | 'w', sabSizeKB = 128, queueLimit: number | null = null, init?: MWChannelInit) {
    if (side !== 'm' && side !== 'w') throw new Error("side must be 'm' or 'w'");
    if (side === 'w' && init === undefined) throw new TypeError('The worker side is made by MWChannel.from(initMsg)');
    checkSharedMemory('make an MWChannel');
    this.#main = side === 'm';
    this.#buffer = init?.buffer ?? new SharedArrayBuffer(sabSizeKB * KILOBYTE);
    const role = this.#main ? 'w' : 'r';
    const { pipe, end } = openPipe(role, this.#buffer, queueLimit, this.#values.beside);
    this.#pipe = pipe;
    this.#end = end;
    if (init === undefined) {
      this.#native = this.#connect();
    } else {
      this.#native = init.port as unknown as NativePort;
      const lifeline = new Lifeline(this.#native, (message) => this.#fromMain(message));
      let gone = false;
      // What a blocked thread cannot take off a port it would ask for in vain.
      if (platform.canTake) end.side.askForPeer(() => !gone && (gone = lifeline.gone()));
      end.elsewhere = () => this.#port === null || this.#port.moveOutbox();
      if (!this.#takeNative())
        platform.listen(this.#native, { message: (message) => this.#fromMain(message), closed: () => {} });
    }
  }

  /**
   * The worker's side, from the message that `postInit` sent. It starts in blocking mode.
   * @throws Error if it is none
   */
  static from(initMsg: MWChannelInit, queueLimit: number | null = null): MWChannel {
    if (!isInit(initMsg, 'MWChannel')) throw new Error('Not a MWChannel init message');
    return new MWChannel('w', 0, queueLimit, initMsg);
  }

  /**
   * Sends the buffer and a native port to `target`, or returns `[message, transferList]` for sending them by hand. Beyond
   * the original, it may be called again for another worker, which takes the former one's place.
   */
  postInit(target: InitTarget, extraProps?: object): void;
  postInit(target?: null, extraProps?: object): [MWChannelInit & Record<string, unknown>, TransferList];
  postInit(target: InitTarget | null = null, extraProps: object = {}): unknown {
    if (!this.#main) throw new Error('postInit is only for main side');
    const handed = this.#sent || this.#ringOpen;
    if (handed && (this.#end.side.alone || (target !== null && target !== this.#target))) {
      this.#unwatch();
      this.#native = this.#connect();
      this.#end.expectPeer();
      platform.hold(this.#native, this.#handler !== null);
    }
    const port = this.#farNative as unknown as HostMessagePort;
    const message = { type: 'MWChannel', buffer: this.#buffer, port, ...extraProps };
    if (target === null) return [message, [port]];
    target.postMessage(message, [port]);
    this.#sent = true;
    this.#target = target;
    this.#unwatch();
    this.#unwatch = watchPeer(target, () => this.#end.peerLost());
    return undefined;
  }

  /** Main, blocking mode: a promise, as SABPipe. Else undefined. */
  postMessage(msg: unknown): Promise<void> | undefined {
    this.#checkOpen();
    if (!this.#main) {
      if (this.#port === null) this.#native.postMessage([msg]);
      else this.#port.postMessage(msg);
      return undefined;
    }
    if (this.#mode === 'blocking') return this.#pipe.postMessage(msg);
    const number = this.#besideCount;
    this.#native.postMessage([number, msg]);
    this.#besideCount = (number + 1) | 0;
    this.#end.sender!.postBeside(msg, number);
    return undefined;
  }

  get onmessage(): MessageHandler {
    return this.#handler;
  }
  set onmessage(handler: MessageHandler) {
    if (!this.#main && this.#mode === 'blocking') {
      throw new Error('Cannot set onmessage in blocking mode — use read()/tryRead()');
    }
    this.#handler = handler ?? null;
    if (this.#closed) return;
    if (!this.#main) this.#pipe.onmessage = this.#handler;
    else if (this.#ringOpen) this.#listen();
    else {
      platform.hold(this.#native, this.#handler !== null);
      if (this.#handler !== null && this.#early.length > 0) queueMicrotask(() => this.#handEarly());
    }
  }

  read(timeout: number = Number.POSITIVE_INFINITY, blocking = true, maxMessages = 1): Received {
    this.#checkRead('read');
    return this.#pipe.read(timeout, blocking, maxMessages);
  }
  tryRead(maxMessages = 1): Received {
    this.#checkRead('tryRead');
    return this.#pipe.tryRead(maxMessages);
  }
  tryPeek(): Received {
    this.#checkRead('tryPeek');
    return this.#pipe.tryPeek();
  }
  /** Its checks throw at once, as in the original, and do not reject. */
  asyncRead(timeout: number = Number.POSITIVE_INFINITY, maxMessages = 1): Promise<Received> {
    this.#checkRead('asyncRead');
    return this.#pipe.asyncRead(timeout, maxMessages);
  }

  /** Main: how it sends. Worker: how it receives. Nothing is lost or reordered, whatever the other side does. */
  setMode(mode: Mode): void {
    if (mode !== 'blocking' && mode !== 'nonblocking') throw new Error("mode must be 'blocking' or 'nonblocking'");
    if (mode === this.#mode) return;
    this.#checkOpen();
    this.#mode = mode;
    if (this.#main) return;
    if (mode === 'nonblocking') this.#end.receiver!.fill();
    else {
      this.#handler = null;
      this.#pipe.onmessage = null;
    }
  }

  get queueLimit(): number | null {
    return this.#pipe.queueLimit;
  }
  set queueLimit(limit: number | null) {
    this.#pipe.queueLimit = limit;
  }
  get onQueueOverflow(): OverflowCallback {
    return this.#pipe.onQueueOverflow;
  }
  set onQueueOverflow(callback: OverflowCallback) {
    this.#pipe.onQueueOverflow = callback;
  }
  get buffer(): SharedArrayBuffer {
    return this.#buffer;
  }
  /** Named in the original's document: the pipe under the main side, and under the worker's. */
  get _sabWriter(): SABPipe | null {
    return this.#main ? this.#pipe : null;
  }
  get _sabReader(): SABPipe | null {
    return this.#main ? null : this.#pipe;
  }

  /** Ends the channel for both sides. Everything after it throws. Idempotent. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#handler = null;
    this.#unwatch();
    this.#pipe.destroy();
    this.#port?.close();
    this.#native.close();
  }

  // ---- beyond the original ------------------------------------------------------------------------------------

  /** Whether a listener or something pending keeps the process alive; `unref` says that it shall not. */
  hasRef(): boolean {
    return this.#pipe.hasRef() || this.#port?.hasRef() === true;
  }
  ref(): this {
    this.#pipe.ref();
    this.#port?.ref();
    return this;
  }
  unref(): this {
    this.#pipe.unref();
    this.#port?.unref();
    return this;
  }

  // ---- inside -------------------------------------------------------------------------------------------------

  #checkOpen(): void {
    if (this.#closed) throw disposedError();
  }
  #checkRead(name: string): void {
    if (this.#main) throw new Error(`${name}() is only for worker side`);
    if (this.#mode !== 'blocking') throw new Error(`${name}() only available in blocking mode`);
  }

  /** Main: a native port and a port of ours for the worker that is to come. What the former one sent still arrives. */
  #connect(): NativePort {
    const [near, far] = platform.messageChannel();
    const { port, remote } = channel(OPTIONS);
    near.postMessage([RING, remote], remote.transfer);
    this.#farNative = far;
    this.#port = port;
    this.#sent = false;
    this.#ringOpen = false;
    platform.listen(near, { message: (message) => this.#fromWorker(message, near), closed: () => {} });
    this.#watch(port);
    return near;
  }

  #watch(port: Port): void {
    void port.closed.then(() => {
      if (this.#port === port) this.#end.peerLost();
    });
  }

  /** Main: something came over the native port. */
  #fromWorker(message: unknown, native: NativePort): void {
    if (Array.isArray(message)) {
      this.#early.push(message[0]);
      if (this.#handler !== null) this.#handEarly();
    } else if (message === RING && native === this.#native) {
      this.#ringOpen = true;
      platform.hold(this.#native, false);
      if (this.#early.length === 0) this.#listen();
    }
  }
  #handEarly(): void {
    while (this.#handler !== null && this.#early.length > 0) {
      const data = this.#early.shift();
      try {
        this.#handler({ data });
      } catch (error) {
        platform.reportError(error);
      }
    }
    if (this.#ringOpen && this.#early.length === 0) this.#listen();
  }
  #listen(): void {
    (this.#port as Port).onmessage = this.#handler;
  }

  /** Worker: takes in what comes next over the native port; false if there is nothing, or only the event loop can. */
  #takeNative(): boolean {
    const next = platform.canTake ? platform.takeMessage(this.#native) : undefined;
    if (next !== undefined) this.#fromMain(next.message);
    return next !== undefined;
  }
  /** Worker: the remote of our port, or a value whose place is in the pipe. */
  #fromMain(message: unknown): void {
    if (!Array.isArray(message)) return;
    const [what, value] = message as [unknown, unknown];
    if (what === RING) {
      this.#native.postMessage(RING);
      this.#port = attach(value, OPTIONS);
      this.#watch(this.#port);
    } else if (typeof what === 'number') {
      if (this.#values.add(what, value)) return;
      this.#end.receiver!.push(value);
      this.#end.kick();
    }
  }
}

function openPipe(
  role: 'w' | 'r',
  buffer: SharedArrayBuffer,
  queueLimit: number | null,
  beside: Beside,
): { pipe: SABPipe; end: End } {
  const views = viewsOf(buffer);
  const memory = layOut(views, 0, buffer.byteLength);
  if (memory === null) throw new RangeError(`A channel needs more than ${buffer.byteLength} bytes`);
  const end = new End(views.words, pipePlaces(role, memory));
  const shared: SharedEnd = { views, memory, end, beside };
  return { pipe: new SABPipe(role, buffer, 0, null, queueLimit, shared), end };
}
