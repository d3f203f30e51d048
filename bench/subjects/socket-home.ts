// A server of plain sockets, and who connects to it.
import { rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join as joinPath } from 'node:path';
import type { Home } from '../process-subject.ts';

let socketCount = 0;

function unixPath(): string {
  const name = `millrace-bench-${process.pid}-${socketCount++}`;
  return process.platform === 'win32' ? `\\\\.\\pipe\\${name}` : joinPath(tmpdir(), `${name}.sock`);
}

/** @param opened called with each socket that comes */
export async function serveSockets(kind: 'unix' | 'tcp', opened: (socket: Socket) => void): Promise<Home> {
  const sockets = new Set<Socket>();
  const server: Server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    opened(socket);
  });
  const path = unixPath();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    if (kind === 'unix') server.listen(path, resolve);
    else server.listen(0, '127.0.0.1', resolve);
  });
  return {
    address: kind === 'unix' ? path : (server.address() as AddressInfo).port,
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      if (kind === 'unix') rmSync(path, { force: true });
    },
  };
}

/** @param address of a home */
export async function connectTo(address: unknown): Promise<Socket> {
  const socket = typeof address === 'string' ? connect(address) : connect(address as number, '127.0.0.1');
  socket.setNoDelay(true);
  await new Promise((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('error', reject);
  });
  socket.on('error', () => {});
  return socket;
}
