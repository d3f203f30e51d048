// A line between two sides that a test cuts, stops and closes: TCP in front of a listener on this machine. Bytes never change their order.
import { connect, createServer, type Server, type Socket } from 'node:net';
import { within } from './watchdog.ts';

export class CuttingProxy {
  /** Lines that were cut. */
  cuts = 0;
  /** Lines there have been. */
  lines = 0;
  /** The port of the listener; that of another one for lines to come. */
  to: number;
  /** Whether lines to come are stalled, too. */
  stallNew = true;
  /** Bytes from who connects after which a line is cut. */
  most: number = Number.POSITIVE_INFINITY;
  readonly #server: Server;
  readonly #open = new Set<readonly [Socket, Socket]>();
  /** Those that were cut, too, until they are closed. */
  readonly #sockets = new Set<Socket>();
  #stalled = false;

  private constructor(to: number) {
    this.to = to;
    this.#server = createServer((near) => this.#join(near));
    this.#server.unref();
  }

  /** @param to the port of the listener */
  static async to(to: number): Promise<CuttingProxy> {
    const proxy = new CuttingProxy(to);
    await proxy.open();
    return proxy;
  }

  get port(): number {
    return this.#port;
  }
  /** The address of the listener behind it, as it is connected to through it. */
  inFrontOf(address: string): string {
    return address.replace(`:${portIn(address)}`, `:${this.#port}`);
  }
  #port = 0;

  /** Lets lines in, at the same port as before. */
  async open(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(this.#port, '127.0.0.1', resolve));
    this.#port = (this.#server.address() as { port: number }).port;
  }
  /** Lets none in, and ends all lines. */
  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.cut();
    // One that was cut as if it had ended may have a side that never ends.
    for (const socket of this.#sockets) socket.destroy();
    // Nothing of it holds the process.
    await within('the proxy to close', closed);
  }
  /** Ends all lines, with what is under way. @param how `reset` by RST, `end` as if the other side had ended it */
  cut(how: 'reset' | 'end' = 'reset'): void {
    for (const pair of this.#open) {
      this.cuts++;
      for (const socket of pair) {
        if (how === 'end') socket.end();
        // Node 26 never ends where one is reset that has said its end (seen in 26.10).
        else if (socket.writableEnded || socket.resetAndDestroy === undefined) socket.destroy();
        else socket.resetAndDestroy();
      }
    }
    this.#open.clear();
  }
  /** Whether nothing goes over the lines that there are, which stay. */
  stall(stalled: boolean): void {
    this.#stalled = stalled;
    for (const pair of this.#open) for (const socket of pair) stalled ? socket.pause() : socket.resume();
  }

  #join(near: Socket): void {
    this.lines++;
    const far = connect(this.to, '127.0.0.1');
    const pair = [near, far] as const;
    this.#open.add(pair);
    for (const [one, other] of [pair, [far, near]] as const) {
      one.setNoDelay(true);
      one.unref();
      this.#sockets.add(one);
      one.on('data', (bytes) => {
        const most = one === near ? this.most - (near.bytesRead - bytes.length) : bytes.length;
        other.write(bytes.subarray(0, Math.max(0, most)));
        if (bytes.length > most) near.destroy();
      });
      one.on('end', () => other.end());
      one.on('error', () => other.destroy());
      one.on('close', () => {
        this.#open.delete(pair);
        this.#sockets.delete(one);
        other.end();
      });
      if (this.#stalled && this.stallNew) one.pause();
    }
  }
}

/** The port in an address of `millrace/net`. */
export function portIn(address: string): number {
  return Number(/:(\d+)(\/|$)/.exec(address)?.[1]);
}
