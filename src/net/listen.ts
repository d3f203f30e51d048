// Listens for other machines: an async iterable of ports, one for each who connects.
import type { Listener } from '../port/link-listener.ts';
import { parseNetAddress } from '../transport/network/address.ts';
import type { Line } from '../transport/network/line.ts';
import type { ServerTls } from '../transport/network/tls.ts';
import type { UpgradeRequest } from '../transport/network/upgrade-request.ts';
import { Entrance, type EntranceOptions } from './entrance.ts';
import type { Hall } from './hall.ts';
import { bindLines } from './lines.ts';

export interface ListenOptions extends EntranceOptions {
  /** For `tls:` and `wss:`: key and certificate, and whose certificates who connects has to show, as `node:tls` takes them. */
  readonly tls?: ServerTls | undefined;
}

/**
 * Listens at an address: `for await (const port of await listen(address))`. Each who connects comes as a port; `port.link` has what else there is over the
 * same connection. **Whoever can reach the address can connect to it**, unless `authorize` says otherwise; it is this machine's own unless a host says otherwise.
 * @param address `ws://127.0.0.1:8080/path`, `tcp:host:port`, `tls:host:port`, without a host for 127.0.0.1; port 0: any that is free. On Node a WebSocket server takes the package `ws`
 * @throws (rejects) UsageError ERR_OPTION; AddressError ERR_ADDRESS_IN_USE, ERR_LISTEN
 */
export async function listen(address: string, options: ListenOptions = {}): Promise<Listener> {
  const at = parseNetAddress(address);
  const entrance = new Entrance(options, ['origins', 'tls']);
  const { pingMs, timeoutMs } = entrance.options;
  let hall: Hall | undefined;
  const early: [Line, UpgradeRequest][] = [];
  const refuses = (request: UpgradeRequest): number | undefined => entrance.refuses(request);
  const bound = await bindLines(at, { pingMs, timeoutMs, tls: options.tls, refuses }, (line, request) => {
    if (hall === undefined) early.push([line, request]);
    else hall.enter(line, at.kind, request);
  });
  const behind = entrance.behind(bound);
  hall = behind.hall;
  for (const [line, request] of early) hall.enter(line, at.kind, request);
  return behind.listener;
}
