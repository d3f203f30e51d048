// The lines that a browser has: WebSockets, its own. In the place of lines.ts there.
import { UnsupportedError } from '../errors.ts';
import { type NetAddress, netAddressText } from '../transport/network/address.ts';
import type { Line } from '../transport/network/line.ts';
import { type Client, dialWebSocket } from '../transport/network/web-socket-dial.ts';
import type { DialOptions } from './lines.ts';

/** @throws (rejects) as that of lines.ts */
export async function dialLine(to: NetAddress, { webSocket }: DialOptions, signal: AbortSignal): Promise<Line> {
  if (!('url' in to))
    throw new UnsupportedError(`Cannot connect to ${netAddressText(to)}: a browser reaches 'ws:' and 'wss:' alone`);
  const { WebSocket: Own } = globalThis as unknown as { WebSocket: Client };
  return await dialWebSocket(to.url, netAddressText(to), webSocket ?? ((url) => new Own(url)), signal);
}
