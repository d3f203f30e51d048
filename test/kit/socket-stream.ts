// The library's own byte stream over a socket, for processes that are to have more time at their end than an exit has.
import type { Socket } from 'node:net';
import { SocketStream as Shipped } from '../../src/transport/process/socket-stream.ts';

export class SocketStream extends Shipped {
  /** @param waitMs milliseconds to wait at the end at the least, for tests that must not depend on how busy a machine is */
  constructor(socket: Socket, waitMs = 0) {
    super(socket);
    const flush = this.flushSync;
    if (flush !== undefined) this.flushSync = (timeoutMs) => flush(Math.max(timeoutMs, waitMs));
  }
}
