// Connects to an address.
import { connect, type NetConnectOpts } from 'node:net';
import type { Address } from './address.ts';
import { refused } from './refused.ts';
import { ReadPlace, SocketStream } from './socket-stream.ts';

/**
 * @param signal gives up; its reason is thrown
 * @throws (rejects) AddressError ERR_UNREACHABLE, whose `cause` is the system's error
 */
export function dial(address: Address, signal?: AbortSignal): Promise<SocketStream> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason);
      return;
    }
    const to = address.kind === 'unix' ? { path: address.path } : { host: address.host, port: address.port };
    const place = new ReadPlace();
    const socket = connect({ ...to, ...place.options, allowHalfOpen: true } as NetConnectOpts);
    const connected = (): void => {
      signal?.removeEventListener('abort', aborted);
      socket.pause();
      resolve(new SocketStream(socket, place));
    };
    const aborted = (): void => {
      socket.off('connect', connected);
      socket.destroy();
      reject(signal?.reason);
    };
    signal?.addEventListener('abort', aborted);
    socket.once('connect', connected);
    // Also for what the system says of it when nobody waits for it any more.
    socket.on('error', (cause: Error) => {
      signal?.removeEventListener('abort', aborted);
      reject(refused('ERR_UNREACHABLE', 'connect to', address, WHY, cause));
    });
  });
}

const WHY: Readonly<Record<string, string>> = {
  ENOENT: 'nobody listens there (no such socket)',
  ECONNREFUSED: 'nobody listens there',
  EACCES: 'this user may not (EACCES): a listener is for its own user',
  EAGAIN: 'its listener has more connections waiting than the system keeps (EAGAIN): try later',
};
