// The package `ws`, for what a runtime has not by itself.
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
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
let from: string | undefined;

/** A module in whose place it is looked for: for one that has no place of its own. */
export function lookForPackagesFrom(module: string): void {
  from = module;
}
function place(): string {
  try {
    return from === undefined ? WS : pathToFileURL(createRequire(from).resolve(WS)).href;
  } catch {
    return WS;
  }
}

/** @throws (rejects) UnsupportedError that names the package */
export async function packageOf(action: string): Promise<WsPackage> {
  try {
    const found = (await import(/* webpackIgnore: true */ /* @vite-ignore */ place())) as WsPackage & {
      default?: WsPackage;
    };
    return found.WebSocketServer === undefined && found.default !== undefined ? found.default : found;
  } catch (cause) {
    const text = `Cannot ${action}: this runtime has no WebSocket of its own for that, and the package "ws" is not there; npm install ws`;
    throw new UnsupportedError(text, { cause });
  }
}
