// Listens at an address of this machine: an async iterable of ports, one for each who connects.
import {
  type Connected,
  LISTENER_COUNTS,
  LinkListener,
  type Listener,
  type ListenerCounts,
  resolveCounts,
} from '../port/link-listener.ts';
import { addressText, parseAddress } from '../transport/process/address.ts';
import { bind } from '../transport/process/bind.ts';
import type { CarriedStream } from '../transport/process/carried-stream.ts';
import { ownCarrier } from '../transport/process/carrier.ts';
import { SocketStream } from '../transport/process/socket-stream.ts';
import { memoryMedium } from './memory-medium.ts';
import { type ConnectionChoice, resolveChoice } from './options.ts';

export interface ListenOptions extends ConnectionChoice, ListenerCounts {}

/**
 * Listens at an address of this machine: `for await (const port of await listen(address))`. Each who connects comes as a port; `port.link` has what else
 * there is over the same connection.
 *
 * A unix socket is for this user alone (mode 0600); of two that listen at one address the second is refused; that of a listener that has died is
 * taken over. **Whoever can reach a TCP address can connect to it**: it is this machine's own unless a host says otherwise, and any of its users'.
 * @param address `unix:/run/app.sock`, a path with a slash in it, `tcp:host:port`, `tcp:port` for 127.0.0.1; port 0: any that is free
 * @throws (rejects) UsageError ERR_OPTION; AddressError ERR_ADDRESS_IN_USE, ERR_LISTEN
 */
export async function listen<In = unknown, Out = unknown>(
  address: string,
  options: ListenOptions = {},
): Promise<Listener<In, Out>> {
  const at = parseAddress(address);
  const { memory, blocking, ...choice } = resolveChoice(at, options, LISTENER_COUNTS);
  const bounds = { ...choice, ...resolveCounts(options) };
  let listener: LinkListener | undefined;
  const early: Connected[] = [];
  const take = (stream: SocketStream | CarriedStream): void => {
    const medium = memoryMedium({ ...memory, initiator: false });
    const connected: Connected = { stream, medium, connect: (link) => stream.connect(link.connection) };
    if (listener === undefined) early.push(connected);
    else listener.take(connected);
  };
  const bound = await (blocking ? ownCarrier().listen(at, take) : bind(at, (socket) => take(new SocketStream(socket))));
  const listening = {
    address: addressText(bound.address),
    hold: (held: boolean) => bound.hold(held),
    close: () => bound.close(),
  };
  listener = new LinkListener(listening, bounds);
  for (const connected of early) listener.take(connected);
  return listener as Listener as Listener<In, Out>;
}
