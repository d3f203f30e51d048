// SABMessagePort: two pipes in one buffer, one each way, with the manners of a MessagePort. Side 'a' writes the first
// half and reads the second.
import { platform } from '#platform';
import type { TransferList } from '../../memory/handle.ts';
import { checkSharedMemory, viewsOf } from '../../memory/region.ts';
import type { NativePort } from '../../platform/contract.ts';
import type { HostMessagePort } from '../../platform/host-types.ts';
import { watchPeer } from '../peer-watch.ts';
import { End } from './end.ts';
import { documentedTransfer, type InitTarget, isInit } from './init-message.ts';
import { layOut } from './layout.ts';
import { Lifeline } from './lifeline.ts';
import type { OverflowCallback, Received } from './live-queue.ts';
import { type MessageHandler, SABPipe, type SharedEnd } from './sab-pipe.ts';

const KILOBYTE = 1024;

export interface SABMessagePortInit {
  type: string;
  buffer: SharedArrayBuffer;
  /** Beyond the original, from `postInit` to a Worker or MessagePort of Node's: see lifeline.ts. */
  lifeline?: HostMessagePort;
}

/**
 * One end of a two-way channel over one shared buffer.
 * @param side `'a'` made the buffer, `'b'` was handed it (`SABMessagePort.from`)
 * @param sabOrSizeKB kilobytes of a new buffer, half of it each way, or an existing one
 * @param queueLimit messages that may wait in each of this end's two queues; the oldest go first
 */
export class SABMessagePort {
  readonly #buffer: SharedArrayBuffer;
  readonly #end: End | null;
  readonly #writer: SABPipe;
  readonly #reader: SABPipe;
  #lifeline: NativePort | null = null;
  /** Who was sent the init message last. */
  #target: InitTarget | null = null;
  #unwatch: () => void = () => {};
  #closed = false;

  constructor(side: 'a' | 'b' = 'a', sabOrSizeKB: SharedArrayBuffer | number = 256, queueLimit: number | null = null) {
    if (side !== 'a' && side !== 'b') throw new Error("side must be 'a' or 'b'");
    checkSharedMemory('make a SABMessagePort');
    this.#buffer = typeof sabOrSizeKB === 'number' ? new SharedArrayBuffer(sabOrSizeKB * KILOBYTE) : sabOrSizeKB;
    const half = this.#buffer.byteLength / 2;
    const out = side === 'a' ? 0 : half;
    const into = side === 'a' ? half : 0;
    const views = viewsOf(this.#buffer);
    const outMemory = layOut(views, out, half);
    const inMemory = layOut(views, into, half);
    let shared: ((memory: typeof outMemory) => SharedEnd) | undefined;
    this.#end = null;
    if (outMemory !== null && inMemory !== null) {
      // A thread sleeps on one word, so each side has one for both directions: that of the pipe it reads.
      const end = new End(views.words, {
        park: inMemory.readerPark,
        sleeps: inMemory.readerSleeps,
        peerPark: outMemory.readerPark,
        statuses: [outMemory.status, inMemory.status],
        life: [outMemory.writerLife, inMemory.readerLife],
        peerLife: [outMemory.readerLife, inMemory.writerLife],
      });
      shared = (memory) => ({ views, memory, end });
      this.#end = end;
    }
    this.#writer = new SABPipe('w', this.#buffer, out, half, queueLimit, shared?.(outMemory));
    this.#reader = new SABPipe('r', this.#buffer, into, half, queueLimit, shared?.(inMemory));
  }

  /**
   * The other side, from the message that `postInit` sent.
   * @throws Error if it is none
   */
  static from(initMsg: SABMessagePortInit, queueLimit: number | null = null): SABMessagePort {
    if (!isInit(initMsg, 'SABMessagePort')) throw new Error('Not a SABMessagePort init message');
    const port = new SABMessagePort('b', initMsg.buffer, queueLimit);
    if (platform.canProbe() && initMsg.lifeline !== undefined) port.#hold(initMsg.lifeline as unknown as NativePort);
    return port;
  }
  #hold(port: NativePort): void {
    this.#lifeline = port;
    const lifeline = new Lifeline(port, () => {});
    // It speaks once, and only of the thread that it leads to: not of one that has taken its place.
    const end = (): boolean => {
      if (this.#lifeline !== port) return false;
      this.#lifeline = null;
      return true;
    };
    this.#end?.side.askForPeer(() => this.#lifeline === port && lifeline.gone() && end());
    const closed = (): void => {
      if (end()) this.#end?.peerLost();
    };
    platform.listen(port, { message: () => {}, closed });
  }

  /**
   * Sends the buffer to `target`, or returns `[message, transferList]` for sending it by hand. A `target` that tells
   * of its end (a Worker, a port) also tells this port that its peer is gone. Called again, it hands the place of the
   * thread that was there to another one; what the former one left unread is the new one's.
   */
  postInit(target: InitTarget, extraProps?: object): void;
  postInit(target?: null, extraProps?: object): [SABMessagePortInit & Record<string, unknown>, TransferList];
  postInit(target: InitTarget | null = null, extraProps: object = {}): unknown {
    const message = { type: 'SABMessagePort', buffer: this.#buffer, ...extraProps };
    // Asking for the message again, or sending it again to the same thread, is no reason to give its place away.
    if (this.#end?.side.alone === true || (target !== null && target !== this.#target)) {
      // Not closed: a thread that is there still would take that for our end.
      this.#lifeline = null;
      this.#unwatch();
      this.#end?.expectPeer();
    }
    if (target === null) return [message, documentedTransfer(this.#buffer, [])];
    // Shared memory is shared by being sent; the original also listed it for transfer, which every runtime refuses.
    if (platform.canProbe() && (platform.isWorker(target) || platform.isNativePort(target))) {
      const [near, far] = platform.messageChannel();
      target.postMessage({ ...message, lifeline: far }, [far]);
      this.#hold(near);
    } else target.postMessage(message);
    this.#target = target;
    this.#unwatch();
    this.#unwatch = watchPeer(target, () => this.#end?.peerLost());
    return undefined;
  }

  postMessage(msg: unknown): Promise<void> {
    return this.#writer.postMessage(msg);
  }
  get onmessage(): MessageHandler {
    return this.#reader.onmessage;
  }
  set onmessage(handler: MessageHandler) {
    this.#reader.onmessage = handler;
  }
  /** Beyond the original: is given what cannot be read, see SABPipe. */
  get onmessageerror(): MessageHandler {
    return this.#reader.onmessageerror;
  }
  set onmessageerror(handler: MessageHandler) {
    this.#reader.onmessageerror = handler;
  }
  read(timeout: number = Number.POSITIVE_INFINITY, blocking = true, maxMessages = 1): Received {
    return this.#reader.read(timeout, blocking, maxMessages);
  }
  asyncRead(timeout: number = Number.POSITIVE_INFINITY, maxMessages = 1): Promise<Received> {
    return this.#reader.asyncRead(timeout, maxMessages);
  }
  tryRead(maxMessages = 1): Received {
    return this.#reader.tryRead(maxMessages);
  }
  tryPeek(): Received {
    return this.#reader.tryPeek();
  }

  get queueLimit(): number | null {
    return this.#writer.queueLimit;
  }
  set queueLimit(limit: number | null) {
    this.#writer.queueLimit = limit;
    this.#reader.queueLimit = limit;
  }
  get onQueueOverflow(): OverflowCallback {
    return this.#writer.onQueueOverflow;
  }
  set onQueueOverflow(callback: OverflowCallback) {
    this.#writer.onQueueOverflow = callback;
    this.#reader.onQueueOverflow = callback;
  }
  get buffer(): SharedArrayBuffer {
    return this.#buffer;
  }

  /** Ends both directions for both sides. Whoever waits is settled. Idempotent. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#unwatch();
    this.#writer.destroy();
    this.#reader.destroy();
    this.#lifeline?.close();
  }

  // ---- beyond the original ------------------------------------------------------------------------------------

  /** Whether a listener or something pending keeps the process alive; `unref` says that it shall not. */
  hasRef(): boolean {
    return this.#reader.hasRef() || this.#writer.hasRef();
  }
  ref(): this {
    this.#reader.ref();
    this.#writer.ref();
    return this;
  }
  unref(): this {
    this.#reader.unref();
    this.#writer.unref();
    return this;
  }
}
