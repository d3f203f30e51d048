// Listens for other machines: an async iterable of ports, one for each who connects.
import { checkYesNo } from '../port/link-choice.ts';
import { type Connected, LinkListener, type Listener } from '../port/link-listener.ts';
import { type NetAddress, parseNetAddress } from '../transport/network/address.ts';
import type { Line } from '../transport/network/line.ts';
import type { ServerTls } from '../transport/network/tls.ts';
import type { UpgradeRequest } from '../transport/network/upgrade-request.ts';
import { netCarrier } from './carrier.ts';
import { Entrance, type EntranceOptions } from './entrance.ts';
import type { Hall } from './hall.ts';
import { bindLines, checkServerTls } from './lines.ts';
import type { BlockingChoice } from './options.ts';
import { refusedFor } from './origins.ts';
import { resumingMedium } from './resuming-medium.ts';

export interface ListenOptions extends EntranceOptions, BlockingChoice {
  /** For `tls:` and `wss:`: key and certificate, and whose certificates who connects has to show, as `node:tls` takes them. */
  readonly tls?: ServerTls | undefined;
}

/**
 * Listens at an address: `for await (const port of await listen(address))`. Each who connects comes as a port; `port.link` has what else there is over the
 * same connection. **Whoever can reach the address can connect to it**, unless `authorize` says otherwise; it is this machine's own unless a host says otherwise.
 * @param address `ws://127.0.0.1:8080/path`, `tcp:host:port`, `tls:host:port`, without a host for 127.0.0.1; port 0: any that is free. On Node a WebSocket server takes the package `ws`
 * @throws (rejects) UsageError ERR_OPTION; AddressError ERR_ADDRESS_IN_USE, ERR_LISTEN
 */
export async function listen<In = unknown, Out = unknown>(
  address: string,
  options: ListenOptions = {},
): Promise<Listener<In, Out>> {
  const at = parseNetAddress(address);
  const entrance = new Entrance(options, ['origins', 'tls', 'blocking']);
  checkServerTls(at, options.tls);
  const listens = checkYesNo('blocking', options.blocking, false) ? listenCarried : listenHere;
  return (await listens(at, entrance, options.tls)) as Listener<In, Out>;
}

async function listenHere(at: NetAddress, entrance: Entrance, tls: ServerTls | undefined): Promise<Listener> {
  const { pingMs, timeoutMs } = entrance.hall;
  let hall: Hall | undefined;
  const early: [Line, UpgradeRequest][] = [];
  const refuses = (request: UpgradeRequest): number | undefined => refusedFor(entrance.origins, request);
  const bound = await bindLines(at, { pingMs, timeoutMs, tls, refuses }, (line, request) => {
    if (hall === undefined) early.push([line, request]);
    else hall.enter(line, at.kind, request);
  });
  const behind = entrance.behind(bound);
  hall = behind.hall;
  for (const [line, request] of early) hall.enter(line, at.kind, request);
  return behind.listener;
}

/** In the thread that has the lines, where this one blocks. */
async function listenCarried(at: NetAddress, entrance: Entrance, tls: ServerTls | undefined): Promise<Listener> {
  const { origins, hall, doorkeeper, choice } = entrance;
  let listener: LinkListener | undefined;
  const early: Connected[] = [];
  const bound = await netCarrier().listen({ at, tls, origins, hall }, doorkeeper, (guest) => {
    const connected: Connected = {
      stream: guest.stream,
      medium: resumingMedium(() => {}, choice.resume),
      options: { way: { name: guest.kind }, answer: (peer) => guest.answer(peer) },
      connect: (link) => guest.connect(link),
    };
    if (listener === undefined) early.push(connected);
    else listener.take(connected);
  });
  listener = new LinkListener(
    { address: bound.address, hold: bound.hold, close: (over) => over.then(() => bound.close()) },
    entrance.listener,
  );
  for (const connected of early) listener.take(connected);
  return listener;
}
