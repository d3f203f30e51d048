// The lines that this runtime has, by the kind of an address.
import { UsageError } from '../errors.ts';
import { type NetAddress, netAddressText } from '../transport/network/address.ts';
import type { Line } from '../transport/network/line.ts';
import { dialWebSocket, type MakeWebSocket } from '../transport/network/web-socket-dial.ts';
import { bindWebSockets, type UpgradeRequest } from '../transport/network/web-socket-server.ts';
import { bind } from '../transport/process/bind.ts';
import { dial } from '../transport/process/dial.ts';
import { SocketStream } from '../transport/process/socket-stream.ts';

export interface DialOptions {
  /** Milliseconds of silence after which the system asks for a sign of the other one. */
  readonly pingMs: number;
  readonly webSocket: MakeWebSocket | undefined;
}

/**
 * A line to whoever listens there.
 * @throws (rejects) AddressError ERR_UNREACHABLE, the signal's reason; UnsupportedError where this runtime has none of that kind
 */
export async function dialLine(to: NetAddress, { pingMs, webSocket }: DialOptions, signal: AbortSignal): Promise<Line> {
  if ('url' in to) return await dialWebSocket(to.url, netAddressText(to), webSocket, signal);
  const stream = await dial(to, signal);
  stream.keepAlive(pingMs);
  return stream;
}

/** Where lines come in. */
export interface BoundLines {
  readonly address: string;
  hold(held: boolean): void;
  close(): void;
}
export interface BindOptions {
  /** Milliseconds of silence after which the system asks for a sign of the other one. */
  readonly pingMs: number;
  /** Milliseconds in which a line is to have said what it is for. */
  readonly timeoutMs: number;
  readonly tls: object | undefined;
  /** The status with which a request for a WebSocket is turned down, if it is. */
  refuses(request: UpgradeRequest): number | undefined;
}

/** @throws (rejects) AddressError ERR_ADDRESS_IN_USE, ERR_LISTEN; UsageError, UnsupportedError */
export async function bindLines(
  at: NetAddress,
  options: BindOptions,
  connected: (line: Line, request: UpgradeRequest) => void,
): Promise<BoundLines> {
  if ((at.kind === 'wss') !== (options.tls !== undefined)) {
    const why =
      at.kind === 'wss' ? 'this address takes option tls, with a key and a certificate' : "option tls is for 'wss:'";
    const text = `Cannot listen at ${netAddressText(at)}: ${why}`;
    throw new UsageError('ERR_OPTION', text, { option: 'tls', value: options.tls });
  }
  if ('url' in at) return await bindUrl(at, options, connected);
  const bound = await bind(at, (socket) => {
    const line = new SocketStream(socket);
    line.keepAlive(options.pingMs);
    connected(line, { from: socket.remoteAddress ?? '', origin: undefined, url: '', header: () => undefined });
  });
  return {
    address: netAddressText(bound.address as NetAddress),
    hold: (held) => bound.hold(held),
    close: () => void bound.close(),
  };
}

async function bindUrl(
  at: Extract<NetAddress, { url: string }>,
  options: BindOptions,
  connected: (line: Line, request: UpgradeRequest) => void,
): Promise<BoundLines> {
  const url = new URL(at.url);
  const address = netAddressText(at);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  // A URL leaves out the port that is usual for it.
  const port = url.port === '' ? (at.kind === 'ws' ? 80 : 443) : Number(url.port);
  const place = { address, host, port, path: url.pathname, ...options };
  const { port: found, hold, close } = await bindWebSockets(place, connected);
  url.port = String(found);
  return { address: netAddressText({ kind: at.kind, url: url.href }), hold, close };
}
