// Connects to a WebSocket: with the runtime's own client, or with one that the program makes.
import { AddressError, UnsupportedError, UsageError } from '../../errors.ts';
import { type Beneath, errorOf, holding, OPEN, type WebSocketLike, WebSocketLine } from './web-socket-line.ts';

/** Makes a WebSocket that is about to connect, or is. */
export type MakeWebSocket = (url: string) => WebSocketLike;

/**
 * @param make in place of the runtime's own
 * @throws (rejects) AddressError ERR_UNREACHABLE, the signal's reason, UnsupportedError where there is no client, UsageError where `make` makes none
 */
export async function dialWebSocket(
  url: string,
  where: string,
  make: MakeWebSocket | undefined,
  signal: AbortSignal,
): Promise<WebSocketLine> {
  const socket = make === undefined ? await ownWebSocket(url) : made(make(url));
  // That of `ws` shows what it goes over, and holds the process no longer than it is told to.
  let beneath: Beneath = {};
  socket.once?.('upgrade', ({ socket }) => {
    beneath = holding(socket);
  });
  return await new Promise((resolve, reject) => {
    const aborted = (): void => {
      reject(signal.reason);
      // Node's own says at once that it was closed before it was open.
      socket.close();
    };
    const opened = (): void => {
      signal.removeEventListener('abort', aborted);
      resolve(new WebSocketLine(socket, beneath));
    };
    const failed = (cause: Error): void => {
      signal.removeEventListener('abort', aborted);
      const text = `Cannot connect to ${where}: ${cause.message}; is a WebSocket server of millrace/net there, and does it let this origin in?`;
      reject(new AddressError('ERR_UNREACHABLE', text, { address: where, cause }));
    };
    // Node 22 says no more than the first where nobody listens.
    socket.addEventListener('error', (event) => failed(errorOf(event)));
    socket.addEventListener('close', ({ code }) => failed(new Error(`it was closed with ${code} before it was open`)));
    // Behind those: one that is given up before it is open says so as an error.
    if (signal.aborted) aborted();
    else signal.addEventListener('abort', aborted);
    if (socket.readyState === OPEN) opened();
    else socket.addEventListener('open', opened);
  });
}

function made(socket: WebSocketLike): WebSocketLike {
  if (typeof socket?.send === 'function' && typeof socket.addEventListener === 'function') return socket;
  const text = `Option webSocket has made ${String(socket)}: it is to make a WebSocket`;
  throw new UsageError('ERR_OPTION', text, { option: 'webSocket', value: socket });
}

type Client = new (url: string) => WebSocketLike;

async function ownWebSocket(url: string): Promise<WebSocketLike> {
  const { WebSocket: Own } = globalThis as { WebSocket?: Client };
  const Made = Own ?? (await packageOf(`connect to ${url.split('?')[0]}`)).WebSocket;
  return new Made(url);
}

export interface WsPackage {
  readonly WebSocket: Client;
  readonly WebSocketServer: new (options: object) => WsServer;
}
export interface WsServer {
  handleUpgrade(request: unknown, socket: unknown, head: unknown, done: (socket: WebSocketLike) => void): void;
  close(): void;
}

/** Where a bundler is not to look for it. */
const WS = 'ws';

/** @throws (rejects) UnsupportedError that names the package */
export async function packageOf(action: string): Promise<WsPackage> {
  try {
    const found = (await import(/* webpackIgnore: true */ /* @vite-ignore */ WS)) as WsPackage & {
      default?: WsPackage;
    };
    return found.WebSocketServer === undefined && found.default !== undefined ? found.default : found;
  } catch (cause) {
    const text = `Cannot ${action}: this runtime has no WebSocket of its own for that, and the package "ws" is not there; npm install ws`;
    throw new UnsupportedError(text, { cause });
  }
}
