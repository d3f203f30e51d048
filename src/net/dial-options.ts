// What a line to somebody is made with, whatever kind it is.
import type { MakeWebSocket } from '../transport/network/web-socket-dial.ts';

export interface DialOptions {
  /** Milliseconds of silence after which the system asks for a sign of the other one. */
  readonly pingMs: number;
  readonly webSocket: MakeWebSocket | undefined;
}
