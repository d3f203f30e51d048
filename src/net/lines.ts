// The lines that this runtime has, by the kind of an address.
import type { NetAddress } from '../transport/network/address.ts';
import { netAddressText } from '../transport/network/address.ts';
import type { Line } from '../transport/network/line.ts';
import { bind } from '../transport/process/bind.ts';
import { dial } from '../transport/process/dial.ts';
import { SocketStream } from '../transport/process/socket-stream.ts';

/**
 * A line to whoever listens there.
 * @param pingMs of silence after which the system asks for a sign of the other one
 * @throws (rejects) AddressError ERR_UNREACHABLE, the signal's reason
 */
export async function dialLine(to: NetAddress, pingMs: number, signal: AbortSignal): Promise<Line> {
  if ('url' in to || to.kind === 'tls') throw new Error('to come');
  const stream = await dial({ ...to, kind: 'tcp' }, signal);
  stream.keepAlive(pingMs);
  return stream;
}

/** Where lines come in. */
export interface BoundLines {
  readonly address: string;
  hold(held: boolean): void;
  close(): void;
}

/** @throws (rejects) AddressError ERR_ADDRESS_IN_USE, ERR_LISTEN */
export async function bindLines(
  at: NetAddress,
  pingMs: number,
  connected: (line: Line, from: string) => void,
): Promise<BoundLines> {
  if ('url' in at || at.kind === 'tls') throw new Error('to come');
  const bound = await bind({ ...at, kind: 'tcp' }, (socket) => {
    const line = new SocketStream(socket);
    line.keepAlive(pingMs);
    connected(line, socket.remoteAddress ?? '');
  });
  return {
    address: netAddressText(bound.address as NetAddress),
    hold: (held) => bound.hold(held),
    close: () => void bound.close(),
  };
}
