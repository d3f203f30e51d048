// A stand-in, not the package: our own code for the documented design of sab-message-port 1.0.4, SABMessagePort and
// MWChannel. See sab-pipe.ts. One correction is made so that it runs at all: the shared buffer is not put into the
// transfer list when a target is given (every runtime refuses that).
import { type MessageHandler, StandInPipe } from './sab-pipe.ts';

type Target = { postMessage(message: unknown, transfer?: never): unknown };

export class StandInMessagePort {
  readonly buffer: SharedArrayBuffer;
  readonly #writer: StandInPipe;
  readonly #reader: StandInPipe;

  constructor(side: 'a' | 'b' = 'a', sabOrSizeKB: SharedArrayBuffer | number = 256) {
    if (side !== 'a' && side !== 'b') throw new Error("side must be 'a' or 'b'");
    this.buffer = typeof sabOrSizeKB === 'number' ? new SharedArrayBuffer(sabOrSizeKB * 1024) : sabOrSizeKB;
    const half = this.buffer.byteLength / 2;
    this.#writer = new StandInPipe('w', this.buffer, side === 'a' ? 0 : half, half);
    this.#reader = new StandInPipe('r', this.buffer, side === 'a' ? half : 0, half);
  }
  static from(initMessage: { type: string; buffer: SharedArrayBuffer }): StandInMessagePort {
    if (initMessage?.type !== 'SABMessagePort') throw new Error('Not a SABMessagePort init message');
    return new StandInMessagePort('b', initMessage.buffer);
  }
  postInit(target: Target | null = null, extraProps: object = {}): unknown {
    const message = { type: 'SABMessagePort', buffer: this.buffer, ...extraProps };
    if (target === null) return [message, [this.buffer]];
    target.postMessage(message);
    return undefined;
  }
  postMessage(message: unknown): Promise<void> {
    return this.#writer.postMessage(message);
  }
  get onmessage(): MessageHandler {
    return this.#reader.onmessage;
  }
  set onmessage(handler: MessageHandler) {
    this.#reader.onmessage = handler;
  }
  // A thread that never returns to its event loop must still get its answers out: reading flushes first.
  read(timeout: number = Infinity, blocking = true, max = 1): unknown {
    this.#writer.flushSync(blocking);
    return this.#reader.read(timeout, blocking, max);
  }
  tryRead(max = 1): unknown {
    this.#writer.flushSync(false);
    return this.#reader.tryRead(max);
  }
  asyncRead(timeout: number = Infinity, max = 1): Promise<unknown> {
    return this.#reader.asyncRead(timeout, max);
  }
  close(): void {
    this.#writer.close();
    this.#reader.close();
  }
}

/** Worker to main over a native port, main to worker over a pipe; either side may switch to native both ways. */
export class StandInChannel {
  readonly buffer: SharedArrayBuffer;
  readonly #pipe: StandInPipe;
  readonly #port: MessagePort;
  readonly #remotePort: MessagePort | null = null;
  readonly #main: boolean;
  #blocking = true;

  constructor(side: 'm' | 'w', sabSizeKB = 128, init?: { buffer: SharedArrayBuffer; port: MessagePort }) {
    if (side !== 'm' && side !== 'w') throw new Error("side must be 'm' or 'w'");
    this.#main = side === 'm';
    if (init === undefined) {
      const { port1, port2 } = new MessageChannel();
      this.#port = port1;
      this.#remotePort = port2;
      this.#pipe = new StandInPipe('w', sabSizeKB * 1024);
    } else {
      this.#port = init.port;
      this.#pipe = new StandInPipe('r', init.buffer);
    }
    this.buffer = this.#pipe.buffer;
  }
  static from(initMessage: { type: string; buffer: SharedArrayBuffer; port: MessagePort }): StandInChannel {
    if (initMessage?.type !== 'MWChannel') throw new Error('Not a MWChannel init message');
    return new StandInChannel('w', 0, initMessage);
  }
  postInit(target: Target | null = null, extraProps: object = {}): unknown {
    const message = { type: 'MWChannel', buffer: this.buffer, port: this.#remotePort, ...extraProps };
    const transfer = [this.#remotePort];
    if (target === null) return [message, transfer];
    target.postMessage(message, transfer as never);
    return undefined;
  }
  postMessage(message: unknown): Promise<void> | undefined {
    if (this.#main && this.#blocking) return this.#pipe.postMessage(message);
    this.#port.postMessage(message);
    return undefined;
  }
  set onmessage(handler: ((event: MessageEvent) => void) | null) {
    if (!this.#main && this.#blocking) {
      throw new Error('Cannot set onmessage in blocking mode — use read()/tryRead()');
    }
    this.#port.onmessage = handler;
  }
  read(timeout: number = Infinity, blocking = true, max = 1): unknown {
    return this.#pipe.read(timeout, blocking, max);
  }
  tryRead(max = 1): unknown {
    return this.#pipe.tryRead(max);
  }
  asyncRead(timeout: number = Infinity, max = 1): Promise<unknown> {
    return this.#pipe.asyncRead(timeout, max);
  }
  setMode(mode: 'blocking' | 'nonblocking'): void {
    this.#blocking = mode === 'blocking';
    if (!this.#main && this.#blocking) this.#port.onmessage = null;
  }
  close(): void {
    this.#pipe.close();
    this.#port.close();
  }
}
