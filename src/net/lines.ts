// The lines that servers' runtimes have, by the kind of an address; in a browser's build browser-lines.ts is in its place.
import { UsageError } from '../errors.ts';
import { checkNames } from '../port/options.ts';
import { type NetAddress, netAddressText } from '../transport/network/address.ts';
import type { Line } from '../transport/network/line.ts';
import { bindTls, type ClientTls, dialTls, type ServerTls } from '../transport/network/tls.ts';
import { NOTHING_SAID, subjectOf, type UpgradeRequest } from '../transport/network/upgrade-request.ts';
import { type Client, dialWebSocket, type MakeWebSocket } from '../transport/network/web-socket-dial.ts';
import { bindWebSockets } from '../transport/network/web-socket-server.ts';
import { packageOf } from '../transport/network/ws-package.ts';
import { bind } from '../transport/process/bind.ts';
import { dial } from '../transport/process/dial.ts';
import { SocketStream } from '../transport/process/socket-stream.ts';

export interface DialOptions {
  /** Milliseconds of silence after which the system asks for a sign of the other one. */
  readonly pingMs: number;
  readonly webSocket: MakeWebSocket | undefined;
  readonly tls: ClientTls | undefined;
}

/**
 * A line to whoever listens there.
 * @throws (rejects) AddressError ERR_UNREACHABLE, the signal's reason; UnsupportedError where this runtime has none of that kind
 */
export async function dialLine(to: NetAddress, options: DialOptions, signal: AbortSignal): Promise<Line> {
  if ('url' in to) {
    const where = netAddressText(to);
    return await dialWebSocket(to.url, where, options.webSocket ?? (await ownWebSocket(where)), signal);
  }
  const stream =
    to.kind === 'tls'
      ? new SocketStream(await dialTls(to, options.tls ?? {}, signal))
      : await dial({ ...to, kind: 'tcp' }, signal);
  stream.keepAlive(options.pingMs);
  return stream;
}
async function ownWebSocket(where: string): Promise<MakeWebSocket> {
  const { WebSocket: Own } = globalThis as { WebSocket?: Client };
  const Made = Own ?? (await packageOf(`connect to ${where}`)).WebSocket;
  return (url) => new Made(url);
}

export type Socket = ConstructorParameters<typeof SocketStream>[0];

/** Where lines come in. */
export interface BoundLines {
  readonly address: string;
  hold(held: boolean): void;
  close(): void | Promise<void>;
}
export interface BindOptions {
  /** Milliseconds of silence after which the system asks for a sign of the other one. */
  readonly pingMs: number;
  /** Milliseconds in which a line is to have said what it is for. */
  readonly timeoutMs: number;
  readonly tls: ServerTls | undefined;
  /** The status with which a request for a WebSocket is turned down, if it is. */
  refuses(request: UpgradeRequest): number | undefined;
}

const SERVER_TLS: readonly string[] = ['key', 'cert', 'ca', 'requestCert'];
/** @throws UsageError ERR_OPTION */
export function checkServerTls(at: NetAddress, tls: ServerTls | undefined): void {
  // One that is misspelt would leave a door open.
  if (tls !== undefined) checkNames(tls, SERVER_TLS);
  if (sealed(at) === (tls !== undefined)) return;
  const why = sealed(at)
    ? 'this address takes option tls, with a key and a certificate'
    : "option tls is for 'tls:' and 'wss:'";
  const text = `Cannot listen at ${netAddressText(at)}: ${why}`;
  throw new UsageError('ERR_OPTION', text, { option: 'tls', value: sealed(at) ? undefined : '{ ... }' });
}

/** @throws (rejects) AddressError ERR_ADDRESS_IN_USE, ERR_LISTEN; UsageError, UnsupportedError */
export async function bindLines(
  at: NetAddress,
  options: BindOptions,
  connected: (line: Line, request: UpgradeRequest) => void,
): Promise<BoundLines> {
  const { tls, pingMs, timeoutMs } = options;
  if ('url' in at) return await bindUrl(at, options, connected);
  const took = (socket: Socket): void => connected(...overSocket(socket, pingMs));
  if (tls !== undefined) {
    const { port, hold, close } = await bindTls(at, tls, timeoutMs, took);
    return { address: netAddressText({ ...at, port }), hold, close };
  }
  const bound = await bind({ ...at, kind: 'tcp' }, took);
  return {
    address: netAddressText(bound.address as NetAddress),
    hold: (held) => bound.hold(held),
    close: () => void bound.close(),
  };
}
/** What a socket of node:net carries, and who is behind it. */
export function overSocket(socket: Socket, pingMs: number): [Line, UpgradeRequest] {
  const line = new SocketStream(socket);
  line.keepAlive(pingMs);
  const { remoteAddress: from = '' } = socket;
  return [line, { ...NOTHING_SAID, from, subject: subjectOf(socket) }];
}
function sealed({ kind }: NetAddress): boolean {
  return kind === 'tls' || kind === 'wss';
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
