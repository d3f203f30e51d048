// Connects to a WebSocket: with whatever client makes it.
import { AddressError, UsageError } from '../../errors.ts';
import { type Beneath, errorOf, holding, OPEN, type WebSocketLike, WebSocketLine } from './web-socket-line.ts';

/** Makes a WebSocket that is about to connect, or is. */
export type MakeWebSocket = (url: string) => WebSocketLike;
export type Client = new (url: string) => WebSocketLike;

/**
 * @throws (rejects) AddressError ERR_UNREACHABLE, the signal's reason, UsageError where `make` makes none, what `make` throws
 */
export async function dialWebSocket(
  url: string,
  where: string,
  make: MakeWebSocket,
  signal: AbortSignal,
): Promise<WebSocketLine> {
  const socket = made(make(url));
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
    const failed = (said: Error): void => {
      signal.removeEventListener('abort', aborted);
      const cause = withoutQuery(said, url, where);
      const text = `Cannot connect to ${where}: ${cause.message}${hint(cause)}`;
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

/** Bun says all of the address, in which a token may stand. */
function withoutQuery(said: Error, url: string, where: string): Error {
  const { search, username } = new URL(url);
  if ((search === '' && username === '') || !said.message.includes(url)) return said;
  return Object.assign(new Error(said.message.replaceAll(url, where)), { code: (said as { code?: unknown }).code });
}
/** What the system says is said; the rest is guessed at. */
function hint(cause: Error): string {
  const { code = '' } = cause as { code?: string };
  if (/ALERT.*CERTIFICATE/.test(code))
    return '; it wants a certificate of this side, and takes no other: webSocket: (url) => new WebSocket(url, { key, cert }), of the package ws';
  if (/CERT|SELF_SIGNED|UNABLE_TO_/.test(code))
    return '; its certificate is of nobody whom this runtime trusts: say whom to trust by webSocket: (url) => new WebSocket(url, { ca }), of the package ws';
  if (/^E[A-Z]+$/.test(code)) return '';
  return '; is a WebSocket server of millrace/net there, and does it let this origin in?';
}

function made(socket: WebSocketLike): WebSocketLike {
  if (typeof socket?.send === 'function' && typeof socket.addEventListener === 'function') return socket;
  const text = `Option webSocket has made ${String(socket)}: it is to make a WebSocket`;
  throw new UsageError('ERR_OPTION', text, { option: 'webSocket', value: socket });
}
