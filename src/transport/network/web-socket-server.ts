// Takes WebSockets in: with `ws` on Node, with the runtime's own on Bun and Deno. Each comes as a line, once the upgrade that asked for it was let through.
import { createServer as createHttp, type IncomingMessage, type Server, STATUS_CODES } from 'node:http';
import { createServer as createHttps } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { platform } from '#platform';
import { MillraceError, UnsupportedError } from '../../errors.ts';
import { RESUME_LAST_HOLD_MS, WEB_SOCKET_MESSAGE_BYTES_MAX } from '../../limits.ts';
import { cannotListen } from './address.ts';
import type { Line } from './line.ts';
import { requestOfNode, requestOfWeb, type UpgradeRequest } from './upgrade-request.ts';
import { holding, type WebSocketEventLike, type WebSocketLike, WebSocketLine } from './web-socket-line.ts';
import { packageOf } from './ws-package.ts';
import { Young } from './young.ts';

export interface WebSocketPlace {
  readonly address: string;
  readonly host: string;
  readonly port: number;
  readonly path: string;
  /** Milliseconds of silence after which the system asks for a sign of the other one, where it can be told to. */
  readonly pingMs: number;
  /** Milliseconds in which whoever connects is to have asked for a WebSocket; on Bun and Deno that is their servers' own. */
  readonly timeoutMs: number;
  /** Certificates, as `node:tls` takes them, where it is `wss:`. */
  readonly tls: object | undefined;
  /** The status with which a request is turned down; undefined: it is let in. */
  refuses(request: UpgradeRequest): number | undefined;
}

export interface WebSocketsBound {
  readonly port: number;
  hold(held: boolean): void;
  /** Lets nobody in any more; lines that there are go on, on Deno for two seconds, for which this waits. */
  close(): void | Promise<void>;
}

type Connected = (line: Line, request: UpgradeRequest) => void;

/** @throws (rejects) AddressError ERR_ADDRESS_IN_USE, ERR_LISTEN; UnsupportedError where `ws` is not there */
export async function bindWebSockets(place: WebSocketPlace, connected: Connected): Promise<WebSocketsBound> {
  const server = { bun: onBun, deno: onDeno, node: onNode, browser: onNode }[platform.name];
  try {
    return await server(place, connected);
  } catch (error) {
    if (error instanceof MillraceError) throw error;
    throw cannotListen(place.address, error);
  }
}

/** No compression: what is small is not worth it, and what is large costs both sides more than the line. */
const WS_OPTIONS = {
  noServer: true,
  clientTracking: false,
  perMessageDeflate: false,
  maxPayload: WEB_SOCKET_MESSAGE_BYTES_MAX,
};
const BAD_REQUEST = 400;
const UPGRADE_REQUIRED = 426;
const FAILED = 500;
const UNAVAILABLE = 503;

async function onNode(place: WebSocketPlace, connected: Connected): Promise<WebSocketsBound> {
  const { WebSocketServer } = await packageOf(`listen at ${place.address}`);
  const upgrades = new WebSocketServer(WS_OPTIONS);
  const { tls, timeoutMs } = place;
  const server: Server = tls === undefined ? createHttp() : createHttps({ ...tls, handshakeTimeout: timeoutMs });
  const young = new Young(timeoutMs);
  server.on('connection', (socket: Socket) => young.add(socket));
  server.on('request', (_request, response) => {
    response.writeHead(UPGRADE_REQUIRED, { Connection: 'close', Upgrade: 'websocket' }).end();
  });
  server.on('upgrade', (request: IncomingMessage, duplex: Duplex, head: Uint8Array) => {
    const socket = duplex as Socket;
    socket.on('error', () => {});
    const asked = requestOfNode(request);
    const status = statusFor(place, asked);
    if (status !== undefined) {
      // Nobody waits until the other side has said its end.
      socket.once('finish', () => socket.destroy());
      socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
      return;
    }
    young.grown(socket);
    socket.setKeepAlive(true, place.pingMs);
    upgrades.handleUpgrade(request, socket, head, (webSocket) => {
      connected(new WebSocketLine(webSocket, holding(socket)), asked);
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host: place.host, port: place.port, exclusive: true }, () => {
      server.off('error', reject);
      server.on('error', () => {});
      resolve();
    });
  });
  return {
    port: (server.address() as { port: number }).port,
    hold: (held) => void (held ? server.ref() : server.unref()),
    close: () => {
      server.close();
      young.destroy();
    },
  };
}

/** `undefined` for what is no request, of a host that is none say. */
function askedBy(request: Request, from: string): UpgradeRequest | undefined {
  try {
    return requestOfWeb(request, from);
  } catch {
    return undefined;
  }
}

function statusFor(place: WebSocketPlace, request: UpgradeRequest): number | undefined {
  const [path] = request.url.split('?');
  return path === place.path ? place.refuses(request) : 404;
}

// ---- Bun ----------------------------------------------------------------------------------------------------------------

interface BunSocket {
  readonly data: BunWebSocket;
  readonly readyState: number;
  send(bytes: Uint8Array): number;
  close(code?: number, reason?: string): void;
  terminate(): void;
  getBufferedAmount(): number;
}
interface BunServer {
  readonly port: number;
  upgrade(request: Request, options: { data: BunWebSocket }): boolean;
  requestIP(request: Request): { address: string } | null;
  stop(): void;
  ref(): void;
  unref(): void;
}
type Listener = (event: WebSocketEventLike) => void;

/** One of Bun's server, which tells its server what happens, as others do. */
class BunWebSocket implements WebSocketLike {
  readonly request: UpgradeRequest;
  binaryType = '';
  raw: BunSocket | undefined;
  /** What is called when it has sent what waited. */
  sent: (() => void) | undefined;
  readonly #listeners = new Map<string, Listener>();

  constructor(request: UpgradeRequest) {
    this.request = request;
  }
  get readyState(): number {
    return this.raw?.readyState ?? 0;
  }
  get bufferedAmount(): number {
    return this.raw?.getBufferedAmount() ?? 0;
  }
  send(bytes: Uint8Array, sent?: () => void): void {
    this.sent = sent;
    // What it has dropped is missing in the stream: another line brings it.
    if (this.raw?.send(bytes) === 0) this.raw.terminate();
  }
  close(code?: number, reason?: string): void {
    this.raw?.close(code, reason);
  }
  terminate(): void {
    this.raw?.terminate();
  }
  addEventListener(type: string, listener: Listener): void {
    this.#listeners.set(type, listener);
  }
  tell(type: string, event: WebSocketEventLike): void {
    this.#listeners.get(type)?.(event);
  }
}

async function onBun(place: WebSocketPlace, connected: Connected): Promise<WebSocketsBound> {
  const { Bun } = globalThis as unknown as { Bun: { serve(options: object): BunServer } };
  const server = Bun.serve({
    hostname: place.host,
    port: place.port,
    ...(place.tls && { tls: place.tls }),
    // Its own page of an error would show this program.
    error: (): Response => new Response(null, { status: FAILED }),
    fetch(request: Request, server: BunServer): Response | undefined {
      const asked = askedBy(request, server.requestIP(request)?.address ?? '');
      if (asked === undefined) return new Response(null, { status: BAD_REQUEST });
      const status = request.headers.get('upgrade') === null ? UPGRADE_REQUIRED : statusFor(place, asked);
      if (status === undefined && server.upgrade(request, { data: new BunWebSocket(asked) })) return undefined;
      return new Response(null, { status: status ?? UPGRADE_REQUIRED });
    },
    websocket: {
      maxPayloadLength: WEB_SOCKET_MESSAGE_BYTES_MAX,
      // What is too much is ours to say, and silence ends nothing.
      backpressureLimit: 0,
      idleTimeout: 0,
      open(raw: BunSocket): void {
        raw.data.raw = raw;
        connected(new WebSocketLine(raw.data), raw.data.request);
      },
      message: ({ data: socket }: BunSocket, data: unknown): void => socket.tell('message', { data }),
      drain: ({ data: socket }: BunSocket): void => socket.sent?.(),
      close: ({ data: socket }: BunSocket, code: number, reason: string): void =>
        socket.tell('close', { code, reason }),
    },
  });
  return {
    port: server.port,
    hold: (held) => (held ? server.ref() : server.unref()),
    // It says when all its WebSockets are gone, which may be long.
    close: () => void server.stop(),
  };
}

// ---- Deno ---------------------------------------------------------------------------------------------------------------

interface DenoServer {
  readonly addr: { readonly port: number };
  shutdown(): Promise<void>;
  ref(): void;
  unref(): void;
}
interface DenoHost {
  serve(
    options: object,
    handler: (request: Request, info: { remoteAddr: { hostname: string } }) => Response,
  ): DenoServer;
  upgradeWebSocket(request: Request, options: object): { socket: WebSocketLike; response: Response };
}

async function onDeno(place: WebSocketPlace, connected: Connected): Promise<WebSocketsBound> {
  const { Deno } = globalThis as unknown as { Deno: DenoHost };
  const { host: hostname, port, tls } = place;
  if ((tls as { requestCert?: boolean } | undefined)?.requestCert === true) {
    const text = `Cannot listen at ${place.address} with tls.requestCert: Deno's server of WebSockets asks nobody for a certificate; tls: does, and so do Node and Bun`;
    throw new UnsupportedError(text);
  }
  const open = new Set<WebSocketLike>();
  let closing = false;
  let allGone = (): void => {};
  const server = Deno.serve({ hostname, port, ...tls, onListen() {} }, (request, { remoteAddr }) => {
    const asked = askedBy(request, remoteAddr.hostname);
    if (asked === undefined) return new Response(null, { status: BAD_REQUEST });
    const status = request.headers.get('upgrade') === null ? UPGRADE_REQUIRED : statusFor(place, asked);
    if (closing) return new Response(null, { status: UNAVAILABLE });
    if (status !== undefined) return new Response(null, { status });
    const { socket, response } = Deno.upgradeWebSocket(request, { idleTimeout: 0 });
    socket.addEventListener('open', () => {
      open.add(socket);
      connected(new WebSocketLine(socket), asked);
    });
    socket.addEventListener('close', () => {
      open.delete(socket);
      if (open.size === 0) allGone();
    });
    return response;
  });
  return {
    port: server.addr.port,
    hold: (held) => (held ? server.ref() : server.unref()),
    close: async () => {
      closing = true;
      // A server of Deno that is shut down takes its WebSockets along, with what was said on them last (seen in 2.9).
      if (open.size > 0) {
        await new Promise<void>((resolve) => {
          allGone = resolve;
          platform.later(resolve, RESUME_LAST_HOLD_MS);
        });
      }
      void server.shutdown();
    },
  };
}
