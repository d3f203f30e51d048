// Listens for other machines: an async iterable of ports, one for each who connects.
import { UsageError } from '../errors.ts';
import * as limits from '../limits.ts';
import {
  LISTENER_COUNTS,
  LinkListener,
  type Listener,
  type ListenerCounts,
  resolveCounts,
} from '../port/link-listener.ts';
import { checked, type NumberRule } from '../port/options.ts';
import { parseNetAddress } from '../transport/network/address.ts';
import type { Line } from '../transport/network/line.ts';
import type { ServerTls } from '../transport/network/tls.ts';
import type { UpgradeRequest } from '../transport/network/web-socket-server.ts';
import { type Authorize, Hall } from './hall.ts';
import { bindLines } from './lines.ts';
import { checkFunction, type NetChoice, resolveNetChoice } from './options.ts';
import { Sessions } from './sessions.ts';

export interface ListenOptions extends NetChoice, ListenerCounts {
  /**
   * Who may connect; by default all who reach the address. It is asked before a port comes out of the iteration, for each line anew, also for those that go on
   * with a connection; what it throws, or rejects with, is reported, and lets nobody in. `port.link.identity` is what it has said.
   */
  readonly authorize?: Authorize | undefined;
  /**
   * Whose pages may connect by a WebSocket beside those of this address itself: `['https://app.example']`, or `'any'`. By default none: any page that a user opens may try. Who is no
   * browser says no origin, or one as it likes.
   */
  readonly origins?: readonly string[] | 'any' | undefined;
  /** For `tls:` and `wss:`: key and certificate, and whose certificates who connects has to show, as `node:tls` takes them. */
  readonly tls?: ServerTls | undefined;
  /** Connections without a line that are kept; default 256. The one that has waited longest ends as `lost` for a further one. */
  readonly maxParkedSessions?: number | undefined;
  /** Bytes that those keep together, of what was said and is not known to have been heard; default 64 MiB. */
  readonly maxParkedBytes?: number | undefined;
}

const BOUNDS: Readonly<Record<'maxParkedSessions' | 'maxParkedBytes', NumberRule>> = {
  maxParkedSessions: { fallback: limits.SESSIONS_PARKED_DEFAULT, min: 0, max: 1_000_000 },
  maxParkedBytes: { fallback: limits.SESSIONS_PARKED_BYTES_DEFAULT, min: 0, max: Number.MAX_SAFE_INTEGER },
};

/**
 * Listens at an address: `for await (const port of await listen(address))`. Each who connects comes as a port; `port.link` has what else there is over the
 * same connection. **Whoever can reach the address can connect to it**, unless `authorize` says otherwise; it is this machine's own unless a host says otherwise.
 * @param address `ws://127.0.0.1:8080/path`, `tcp:host:port`, `tls:host:port`, without a host for 127.0.0.1; port 0: any that is free. On Node a WebSocket server takes the package `ws`
 * @throws (rejects) UsageError ERR_OPTION; AddressError ERR_ADDRESS_IN_USE, ERR_LISTEN
 */
export async function listen(address: string, options: ListenOptions = {}): Promise<Listener> {
  const at = parseNetAddress(address);
  const choice = resolveNetChoice(at, options, [
    'authorize',
    'origins',
    'tls',
    ...Object.keys(BOUNDS),
    ...LISTENER_COUNTS,
  ]);
  const bounds = { ...choice, ...resolveCounts(options) };
  const of = (name: keyof typeof BOUNDS): number => checked(name, options[name], BOUNDS[name]) as number;
  const sessions = new Sessions({ maxParked: of('maxParkedSessions'), maxParkedBytes: of('maxParkedBytes') });
  const authorize = checkFunction('authorize', options.authorize);
  const origins = checkOrigins(options.origins);
  let hall: Hall | undefined;
  const early: [Line, UpgradeRequest][] = [];
  const how = {
    pingMs: choice.pingMs,
    timeoutMs: choice.timeoutMs,
    tls: options.tls,
    refuses: (request: UpgradeRequest) => refuses(request, origins),
  };
  const bound = await bindLines(at, how, (line, request) => {
    if (hall === undefined) early.push([line, request]);
    else hall.enter(line, request);
  });
  const listener: LinkListener = new LinkListener(
    {
      address: bound.address,
      hold: (held) => bound.hold(held),
      // Who has lost its line is to find back as long as it may say what it has to say.
      close: (over) =>
        over.then(() => {
          bound.close();
          hall?.close();
        }),
    },
    bounds,
  );
  hall = new Hall(listener, sessions, { ...bounds, authorize });
  for (const [line, request] of early) hall.enter(line, request);
  return listener;
}

/** @throws UsageError ERR_OPTION */
function checkOrigins(origins: ListenOptions['origins']): ListenOptions['origins'] {
  if (origins === undefined || origins === 'any') return origins;
  const wrong = Array.isArray(origins) ? origins.find((each) => originOf(each) !== each) : origins;
  if (Array.isArray(origins) && wrong === undefined) return origins;
  const text = `Option origins cannot be ${String(wrong)}: it takes a list of origins, each like 'https://app.example' and no more, or 'any'`;
  throw new UsageError('ERR_OPTION', text, { option: 'origins', value: origins });
}
function originOf(text: unknown): string | undefined {
  try {
    return new URL(String(text)).origin;
  } catch {
    return undefined;
  }
}

const FORBIDDEN = 403;

/** The pages of another origin than the one that was asked may come where the program has named them. */
function refuses({ origin, header }: UpgradeRequest, origins: ListenOptions['origins']): number | undefined {
  if (origin === undefined || origins === 'any' || origins?.includes(origin)) return undefined;
  return originOf(origin) !== undefined && new URL(origin).host === header('host') ? undefined : FORBIDDEN;
}
