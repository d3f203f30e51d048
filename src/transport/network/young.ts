// Sockets of which nobody knows yet who they are: they neither stay for long, nor hold a server that is closed.
import type { Duplex } from 'node:stream';

interface Entry {
  readonly socket: Duplex;
  readonly timer: ReturnType<typeof setTimeout>;
}

/** @template K what each is known by */
export class Young<K> {
  readonly #entries = new Map<K, Entry>();
  readonly #timeoutMs: number;

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }
  add(key: K, socket: Duplex): void {
    this.grown(key);
    const timer = setTimeout(() => {
      this.grown(key);
      socket.destroy();
    }, this.#timeoutMs);
    timer.unref();
    this.#entries.set(key, { socket, timer });
    socket.once('close', () => {
      if (this.#entries.get(key)?.socket === socket) this.grown(key);
    });
  }
  /** It is somebody, or gone: nothing here keeps it any more. */
  grown(key: K): void {
    clearTimeout(this.#entries.get(key)?.timer);
    this.#entries.delete(key);
  }
  destroy(): void {
    for (const { socket } of [...this.#entries.values()]) socket.destroy();
  }
}
