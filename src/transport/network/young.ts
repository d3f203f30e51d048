// Sockets of which nobody knows yet who they are: they neither stay for long, nor hold a server that is closed.
import type { Socket } from 'node:net';
import { YOUNG_SOCKETS_MAX } from '../../limits.ts';

interface Entry {
  readonly socket: Socket;
  readonly timer: ReturnType<typeof setTimeout>;
}

export class Young {
  /** By where each comes from, which is the same before and after it is sealed; the oldest first. */
  readonly #entries = new Map<string, Entry>();
  readonly #timeoutMs: number;

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }
  add(socket: Socket): void {
    const key = nameOf(socket);
    this.#forget(key);
    const [oldest] = this.#entries.size >= YOUNG_SOCKETS_MAX ? this.#entries : [];
    if (oldest !== undefined) {
      this.#forget(oldest[0]);
      oldest[1].socket.destroy();
    }
    const timer = setTimeout(() => {
      this.#forget(key);
      socket.destroy();
    }, this.#timeoutMs);
    timer.unref();
    this.#entries.set(key, { socket, timer });
    socket.once('close', () => {
      if (this.#entries.get(key)?.socket === socket) this.#forget(key);
    });
  }
  /** It is somebody, or gone: nothing here keeps it any more. */
  grown(socket: Socket): void {
    this.#forget(nameOf(socket));
  }
  #forget(key: string): void {
    clearTimeout(this.#entries.get(key)?.timer);
    this.#entries.delete(key);
  }
  destroy(): void {
    for (const { socket } of [...this.#entries.values()]) socket.destroy();
  }
}
function nameOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress}:${remotePort}`;
}
