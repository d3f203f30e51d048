// A connection's bytes over a native message port, for two threads that have no memory in common: a page without the headers that isolate it, a SharedWorker, a
// frame of another origin. What is said in a turn goes as one message. Values that no codec carries go over the same port (native-values.ts), so that one
// is there before the record that keeps its place.
//
//     bytes (a Uint8Array)     frames of docs/protocol/stream.md
//     [number, value, ports]   a value beside them; native ports in it stand in the list
//     null                     nothing follows
import { platform } from '#platform';
import type { BesideValue } from '../../lane/beside.ts';
import { NATIVE_GATHER_FIRST, NATIVE_GONE_MS, NATIVE_MOVED_MIN, NATIVE_WHY_MS } from '../../limits.ts';
import type { EndReason } from '../../outcome.ts';
import type { NativePort } from '../../platform/contract.ts';
import type { ByteStream, StreamConnection } from '../stream/connection.ts';

/** Whom values that come are given to. */
export interface ValueTaker {
  arrived(number: number, value: BesideValue): void;
  /** One has come that cannot be made here: it is the next. */
  unreadable(): void;
}

export class NativeStream implements ByteStream {
  readonly port: NativePort;
  #gathered = new Uint8Array(NATIVE_GATHER_FIRST);
  #length = 0;
  #scheduled = false;
  /** To be asked what goes with the next message. */
  #say: (() => void) | undefined;
  #endSaid = false;
  #endCame = false;
  /** Something has come. */
  heard = false;
  /** Somebody will say how the thread at the other end has ended (`gone`). */
  endTold = false;
  #over: () => void = () => {};
  /** How it has. */
  #gone: { readonly reason: EndReason; readonly error: Error | undefined } | undefined;

  constructor(port: NativePort) {
    this.port = port;
  }

  /** From here on what comes goes to these. */
  connect(connection: Pick<StreamConnection, 'received' | 'closed'>, values: ValueTaker): void {
    const over = (): void => {
      if (this.#endCame) return;
      this.#endCame = true;
      // A thread that ends by itself says so before.
      const { reason, error } = this.#gone ?? { reason: 'terminated' };
      connection.closed(reason, error);
      this.#closeIfDone();
    };
    this.#over = over;
    platform.listen(this.port, {
      message: (message) => {
        this.heard = true;
        if (message instanceof Uint8Array) connection.received(message);
        else if (message === null) over();
        else if (isValue(message)) values.arrived(message[0], { value: message[1], ports: message[2] });
      },
      unreadable: () => values.unreadable(),
      closed: () => {
        if (this.endTold && this.#gone === undefined) platform.later(over, NATIVE_WHY_MS);
        else over();
      },
    });
  }

  /**
   * Whoever knows the thread at the other end has learned that it is gone. What it has said before comes first: its port's end says when that is over,
   * where the runtime tells of one.
   */
  gone(reason: EndReason, error: unknown): void {
    this.#gone ??= { reason, error: error instanceof Error ? error : undefined };
    platform.later(() => this.#over(), NATIVE_GONE_MS);
  }

  write(bytes: Uint8Array): boolean {
    const length = this.#length + bytes.length;
    if (length > this.#gathered.length) this.#grow(length);
    this.#gathered.set(bytes, this.#length);
    this.#length = length;
    this.#schedule();
    return true;
  }
  /** What was said since the last message: it goes another way. */
  takeGathered(): Uint8Array {
    const bytes = this.#gathered.slice(0, this.#length);
    this.#length = 0;
    return bytes;
  }
  beforeWrite(say: () => void): boolean {
    this.#say = say;
    this.#schedule();
    return true;
  }
  #grow(bytes: number): void {
    let size = this.#gathered.length;
    while (size < bytes) size *= 2;
    const gathered = new Uint8Array(size);
    gathered.set(this.#gathered.subarray(0, this.#length));
    this.#gathered = gathered;
  }
  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    queueMicrotask(() => {
      this.#scheduled = false;
      this.#post();
    });
  }
  #post(): void {
    const say = this.#say;
    this.#say = undefined;
    say?.();
    const length = this.#length;
    if (length === 0) return;
    this.#length = 0;
    const bytes = this.#gathered.slice(0, length);
    // Memory for what is seldom so much is not kept.
    if (this.#gathered.length > NATIVE_MOVED_MIN) this.#gathered = new Uint8Array(NATIVE_GATHER_FIRST);
    this.port.postMessage(bytes, length < NATIVE_MOVED_MIN ? undefined : [bytes.buffer]);
  }

  /** Some runtimes drop what a port has posted when it is closed: it stays until the other side has said its end, too, or is gone. */
  end(): void {
    if (this.#endSaid) return;
    this.#post();
    this.#endSaid = true;
    this.port.postMessage(null);
    this.#closeIfDone();
  }
  #closeIfDone(): void {
    if (this.#endSaid && this.#endCame) platform.turn(() => this.port.close());
  }
  hold(held: boolean): void {
    platform.hold(this.port, held);
  }
}

function isValue(message: unknown): message is [number: number, value: unknown, ports: readonly unknown[]] {
  return Array.isArray(message) && typeof message[0] === 'number' && Array.isArray(message[2]);
}
