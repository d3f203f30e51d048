// The package `ws`, for what a runtime has not by itself.
import { UnsupportedError } from '../../errors.ts';
import type { Client } from './web-socket-dial.ts';
import type { WebSocketLike } from './web-socket-line.ts';

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
