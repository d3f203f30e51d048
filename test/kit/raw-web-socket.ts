// A client's side of a WebSocket over a socket of TCP, byte by byte: it may say what no client would.
import type { Socket } from 'node:net';
import { joined } from '../../src/transport/stream/joined.ts';
import { within } from './watchdog.ts';

/** What asks for one. */
export function upgradeRequest(path: string, host = 'x', more: readonly string[] = []): string {
  const lines = [
    `GET ${path} HTTP/1.1`,
    `Host: ${host}`,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    ...more,
    'Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==',
  ];
  return `${lines.join('\r\n')}\r\n\r\n`;
}

/** Asks for one, and has been answered, or turned away. */
export async function upgraded(socket: Socket, path = '/path'): Promise<void> {
  socket.write(upgradeRequest(path));
  const answered = new Promise<void>((resolve) => {
    for (const type of ['data', 'close']) socket.once(type, () => resolve());
  });
  await within('the upgrade', answered);
}

/** A binary message of a client's, of less than 64 KiB, whose mask is 0. */
export function masked(bytes: Uint8Array): Uint8Array {
  const head = bytes.length < 126 ? [0x82, 0x80 | bytes.length] : [0x82, 0xfe, bytes.length >> 8, bytes.length & 0xff];
  return Uint8Array.from([...head, 0, 0, 0, 0, ...bytes]);
}

/** Reads the messages of a server, which masks none. */
export class Unmasked {
  readonly #told: (payload: Uint8Array) => void;
  #rest: Uint8Array = new Uint8Array(0);

  constructor(told: (payload: Uint8Array) => void) {
    this.#told = told;
  }
  feed(bytes: Uint8Array): void {
    const all = joined([this.#rest, bytes]);
    const view = new DataView(all.buffer, all.byteOffset, all.byteLength);
    let at = 0;
    while (at + 2 <= all.length) {
      const short = (all[at + 1] as number) & 0x7f;
      const head = short < 126 ? 2 : short === 126 ? 4 : 10;
      if (at + head > all.length) break;
      const length = head === 2 ? short : head === 4 ? view.getUint16(at + 2) : Number(view.getBigUint64(at + 2));
      if (at + head + length > all.length) break;
      // What is no binary message is between the two WebSockets: a ping, or the end.
      if (((all[at] as number) & 15) === 2) this.#told(all.subarray(at + head, at + head + length));
      at += head + length;
    }
    this.#rest = all.slice(at);
  }
}
