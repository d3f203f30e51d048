// A byte stream over a native message port, and values beside it that no codec carries: what a page without SharedArrayBuffer will have. Bytes and values
// go over one port, so a value is there before its marker is. Its manners are those of threads (src/transport/beside/).
import { platform } from '#platform';
import { UsageError } from '../../src/errors.ts';
import type { Beside, BesideValue, HeldValue } from '../../src/lane/beside.ts';
import { cloneForLater, refusal } from '../../src/transport/beside/clone-for-later.ts';
import { letGoOf } from '../../src/transport/beside/lost-values.ts';
import { isMovingEnd } from '../../src/transport/beside/moving-end.ts';
import { checkTransfer } from '../../src/transport/beside/transfer-list.ts';
import type { StreamChannel } from '../../src/transport/stream/channel.ts';
import type { ByteStream, StreamConnection } from '../../src/transport/stream/connection.ts';

type Posted = readonly [channel: number, number: number, value: unknown, ports: readonly unknown[]];

export class NativeStream implements ByteStream {
  readonly port: MessagePort;
  readonly #besides: StreamBeside[] = [];
  readonly #gathered: Uint8Array[] = [];

  constructor(port: MessagePort) {
    this.port = port;
  }

  connect(connection: StreamConnection): void {
    this.port.onmessage = ({ data }: MessageEvent<Uint8Array | Posted | null>) => {
      if (data === null) connection.closed('lost');
      else if (data instanceof Uint8Array) connection.received(data);
      // A channel's number is what it is by now: one that has crossed another has changed it.
      else this.#besides.find(({ channel }) => channel.number === data[0])?.accept(data);
    };
    this.hold(false);
  }
  beside(channel: StreamChannel): Beside {
    const beside = new StreamBeside(this, channel);
    this.#besides.push(beside);
    return beside;
  }

  /** One message a turn: a runtime hands over as many as wait, one by one, before anything else has its own turn. */
  write(bytes: Uint8Array): boolean {
    if (this.#gathered.push(bytes.slice()) === 1) queueMicrotask(() => this.flushSync());
    return true;
  }
  flushSync(): boolean {
    const parts = this.#gathered.splice(0);
    const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const part of parts) {
      all.set(part, at);
      at += part.length;
    }
    if (at > 0) this.port.postMessage(all);
    return true;
  }
  end(): void {
    this.flushSync();
    this.port.postMessage(null);
    setTimeout(() => this.port.close(), 0);
  }
  hold(held: boolean): void {
    const port = this.port as { ref?(): void; unref?(): void };
    if (held) port.ref?.();
    else port.unref?.();
  }
}

class StreamBeside implements Beside {
  readonly textMin: number = Number.POSITIVE_INFINITY;
  readonly late = false;
  readonly atWill = false;
  readonly postedWhere = 0;
  posted = 0;
  readonly channel: StreamChannel;
  readonly letGo: Beside['letGo'] = letGoOf;
  readonly #stream: NativeStream;
  readonly #came = new Map<number, BesideValue>();

  constructor(stream: NativeStream, channel: StreamChannel) {
    this.#stream = stream;
    this.channel = channel;
  }
  post(value: unknown, transfer: readonly unknown[]): number {
    const { port } = this.#stream;
    this.#check(transfer);
    const ports = transfer.filter((item) => platform.isNativePort(item));
    try {
      port.postMessage([this.channel.number, this.posted, value, ports], transfer as Transferable[]);
    } catch (cause) {
      throw refusal(value, transfer, cause);
    }
    return this.posted++;
  }
  holdBack(value: unknown, transfer: readonly unknown[]): HeldValue {
    this.#check(transfer);
    return cloneForLater(value, transfer);
  }
  #check(transfer: readonly unknown[]): void {
    checkTransfer(transfer, [this.#stream.port]);
    if (transfer.some(isMovingEnd)) throw new UsageError('ERR_TRANSFER', 'Cannot transfer a Port over this connection');
  }
  accept([, number, value, ports]: Posted): void {
    this.#came.set(number, { value, ports });
  }
  peerOver(): void {}
  take(number: number): BesideValue | undefined {
    const found = this.#came.get(number);
    this.#came.delete(number);
    return found;
  }
  has(number: number): boolean {
    return this.#came.has(number);
  }
  letGoBefore(end: number): void {
    for (const [number, { value, ports }] of this.#came) {
      if (number >= end) continue;
      this.#came.delete(number);
      letGoOf(value, ports);
    }
  }
  movesOn(value: unknown, transfer: readonly unknown[]): HeldValue {
    return { value, transfer };
  }
  opened(value: unknown, ports: readonly unknown[]): BesideValue {
    return { value, ports };
  }
}
