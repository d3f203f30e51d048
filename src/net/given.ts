// What a socket is that a program gives: a line of which kind, and who asked for it.
import { platform } from '#platform';
import { UsageError } from '../errors.ts';
import { SOCKET_CLOSE_MS } from '../limits.ts';
import { kindOf } from '../transport/kind-of.ts';
import type { Line } from '../transport/network/line.ts';
import { requestOfEither, type UpgradeRequest } from '../transport/network/upgrade-request.ts';
import { holding, OPEN, type WebSocketLike, WebSocketLine } from '../transport/network/web-socket-line.ts';
import { overSocket, type Socket } from './lines.ts';

export interface Given {
  readonly kind: 'ws' | 'tcp' | 'tls';
  /** Undefined: nobody knows. */
  readonly request: UpgradeRequest | undefined;
  /** Gives the line, as soon as it is one. */
  open(opened: (line: Line) => void): void;
  refuse(): void;
}

/** Those that were given once. */
const known = new WeakSet<object>();

/**
 * @param anyone whether pages of any origin may come, so that nobody asks for the request
 * @throws UsageError ERR_OPTION for what is no socket, or was given before, or no request
 */
export function givenLine(socket: unknown, request: unknown, pingMs: number, anyone: boolean): Given {
  const given: Readonly<Record<string, unknown>> = Object(socket);
  if (known.has(given)) {
    const text = 'Cannot accept a socket twice: it was accepted before';
    throw new UsageError('ERR_OPTION', text, { option: 'socket' });
  }
  const line = lineOf(socket, given, request, pingMs);
  if (line.request === undefined && !anyone) {
    const text =
      "Cannot accept a WebSocket without the request that asked for it: accept(socket, request), or origins: 'any' where pages of any origin may come";
    throw new UsageError('ERR_OPTION', text, { option: 'request' });
  }
  known.add(given);
  return line;
}
function lineOf(socket: unknown, given: Readonly<Record<string, unknown>>, request: unknown, pingMs: number): Given {
  if (typeof given['addEventListener'] === 'function' && typeof given['send'] === 'function')
    return givenWebSocket(socket as WebSocketLike, request, pingMs);
  if (['setKeepAlive', 'write', 'unref', 'on'].every((name) => typeof given[name] === 'function')) {
    // What is behind may say its end before this side has.
    (socket as { allowHalfOpen: boolean }).allowHalfOpen = true;
    const [line, said] = overSocket(socket as Socket, pingMs);
    const kind = given['encrypted'] === true ? 'tls' : 'tcp';
    return { kind, request: said, open: (opened) => opened(line), refuse: () => line.destroy() };
  }
  const text = `Cannot accept ${kindOf(socket)} that is no socket: it takes a WebSocket with addEventListener (of the package ws, also on Bun, or of Deno's upgradeWebSocket) or a socket of node:net`;
  throw new UsageError('ERR_OPTION', text, { option: 'socket' });
}

const NOT_ALLOWED = 1008;
const CONNECTING = 0;

function givenWebSocket(socket: WebSocketLike, request: unknown, pingMs: number): Given {
  const asked = request === undefined ? undefined : requestOfEither(request);
  const { socket: below } = Object(request) as { socket?: Socket };
  below?.setKeepAlive?.(true, pingMs);
  const beneath = holding(below);
  // What a stranger says wrongly is told as an error, also of one that is let in by nobody.
  socket.addEventListener('error', () => {});
  return {
    kind: 'ws',
    request: asked,
    open(opened) {
      // One that is over already is nobody's.
      if (socket.readyState === OPEN) opened(new WebSocketLine(socket, beneath));
      else socket.addEventListener('open', () => opened(new WebSocketLine(socket, beneath)));
    },
    refuse() {
      const refuse = (): void => {
        socket.close(NOT_ALLOWED, 'pages of this origin are not let in');
        // Who never answers that is not waited for.
        platform.later(() => socket.terminate?.(), SOCKET_CLOSE_MS);
      };
      // Deno's are given out before they are open, and cannot be closed then.
      if (socket.readyState === CONNECTING) socket.addEventListener('open', refuse);
      else refuse();
    },
  };
}
