// By what the other side knows that a thread of ours has ended, where its descriptors outlive it: by calls of libc nobody closes them as it is terminated
// (primitives.ts, `keep`). What the runtime has made itself, it closes: so one end of a socket is the runtime's, and the other side is given the other one. On Deno
// it takes --allow-net; without it such a thread is noticed when its process ends.
import { randomBytes } from 'node:crypto';
import { createServer, type Socket } from 'node:net';
import { isMainThread } from 'node:worker_threads';
import { MEMORY_TICKET_BYTES } from '../../limits.ts';
import { may } from '../../native/load.ts';
import type { Primitives } from '../../native/primitives.ts';

/** Of poll(2): the other end of a socket is closed. */
const POLLHUP = 0x10;

/**
 * @returns the end that the other side is to have, the caller's from now on, and what lets go of this one, which ends with the thread if that is not called;
 *   undefined where nobody needs one, or there can be none
 */
export function makeTether(native: Primitives): { readonly theirs: number; readonly close: () => void } | undefined {
  const ownProcess = isMainThread && !('WorkerGlobalScope' in globalThis);
  if (native.keepsToProcess !== true || ownProcess || !may({ name: 'net' })) return undefined;
  const secret = randomBytes(2 * MEMORY_TICKET_BYTES);
  const ticket = secret.subarray(0, MEMORY_TICKET_BYTES);
  const path = `\0millrace-${secret.toString('hex', MEMORY_TICKET_BYTES)}`;
  let ours: Socket | undefined;
  // Anybody on the machine may come, and knows no ticket.
  const server = createServer((socket) => {
    socket.unref();
    socket.on('error', () => {});
    socket.once('data', (bytes: Uint8Array) => {
      if (ours !== undefined || !ticket.equals(bytes)) {
        socket.destroy();
        return;
      }
      ours = socket;
      server.close();
    });
  });
  const close = (): void => {
    server.close();
    ours?.destroy();
  };
  server.on('error', () => {});
  try {
    server.listen({ path });
    server.unref();
    // It is known before this thread does anything else, and so before it can be terminated.
    const theirs = native.connect(path);
    native.send(theirs, ticket);
    return { theirs, close };
  } catch {
    // There are no descriptors to be had: then without.
    close();
    return undefined;
  }
}

/** The end of a tether that the other side has given. */
export class PeerTether {
  readonly #native: Primitives;
  readonly #descriptor: number;
  readonly #asked: Int32Array;

  /** @param descriptor its own from now on; whatever it is, nothing is read from it nor written to it */
  constructor(native: Primitives, descriptor: number) {
    this.#native = native;
    this.#descriptor = descriptor;
    this.#asked = Int32Array.of(descriptor, 0, 0);
    native.keep(descriptor);
  }
  /** Whether the thread over there has ended. */
  get gone(): boolean {
    return this.#native.poll(this.#asked, 1, 0) > 0 && ((this.#asked[2] as number) & POLLHUP) !== 0;
  }
  close(): void {
    this.#native.close(this.#descriptor);
  }
}
