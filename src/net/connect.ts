// Connects to a listener on another machine: a promise of a port.
import { UnsupportedError, UsageError } from '../errors.ts';
import type { AbortSignalLike } from '../port/events.ts';
import { checkSignal, checkYesNo } from '../port/link-choice.ts';
import { checkNames } from '../port/options.ts';
import type { LinkedPort } from '../port/port-link.ts';
import { type NetAddress, netAddressText, parseNetAddress } from '../transport/network/address.ts';
import type { ClientTls } from '../transport/network/tls.ts';
import type { MakeWebSocket } from '../transport/network/web-socket-dial.ts';
import { netCarrier } from './carrier.ts';
import { type Begin, byLines, connectBy } from './connecting.ts';
import { dialLine } from './lines.ts';
import {
  type BlockingChoice,
  checkFunction,
  checkToken,
  type NetChoice,
  resolveNetChoice,
  type TokenOption,
} from './options.ts';

export interface ConnectOptions extends NetChoice, BlockingChoice {
  /**
   * What the listener's `authorize` is to know this side by; it goes with the first words over each line, and stands in no URL. A function is asked for each line
   * anew, where a token is valid for a while only.
   */
  readonly token?: TokenOption;
  /**
   * Makes the WebSocket for an address of one, for each line anew: `(url) => new WebSocket(url, { headers })`, where the runtime's own is not to do as it is. Default: the
   * runtime's own; on Node 20, which has none, that of the package `ws`.
   */
  readonly webSocket?: MakeWebSocket | undefined;
  /** For `tls:`: whom to trust, and what to show who asks, as `node:tls` takes them. A certificate that is not good is an error, always. */
  readonly tls?: ClientTls | undefined;
  /** Gives up; the promise rejects with its reason. */
  readonly signal?: AbortSignalLike | undefined;
}

/**
 * Connects to whoever listens at the address with `listen` of millrace/net.
 *
 * The port is there when the listener has greeted; `port.link` has more channels over the same connection. A line that breaks ends nothing, unless `resume` is
 * false: another one is looked for, and both sides go on where they were, nothing lost or doubled; `port.link.status` tells, and what is posted meanwhile
 * waits, bounded as ever. The port ends as `lost` where there is none for `resumeMs`, or the listener has forgotten it, as one that was started anew.
 * ```ts
 * import { connect, listen } from 'millrace/net';
 * const server = await listen('tcp:127.0.0.1:0');   // on one machine
 * const port = await connect(server.address);       // on another one
 * port.postMessage('hello');
 * for await (const client of server) {
 *   console.log(await client.receiveAsync());       // hello
 *   break;
 * }
 * await server.close();
 * ```
 * @param address `ws://host:port/path`, `wss://host/path`, `tcp:host:port`, `tls:host:port`; in a browser the first two
 * @throws (rejects) UsageError ERR_OPTION; AddressError ERR_UNREACHABLE where nobody listens; TimeoutError; RefusedError where the listener has enough, or its `authorize`
 *   does not let this side in; LayoutError where what listens speaks something else, or another version; ClosedError where it went before it greeted; the signal's reason
 */
export async function connect<In = unknown, Out = unknown>(
  address: string,
  options: ConnectOptions = {},
): Promise<LinkedPort<In, Out>> {
  const to = parseNetAddress(address);
  const choice = resolveNetChoice(options, ['token', 'signal', 'webSocket', 'tls', 'blocking']);
  const webSocket = checkFunction('webSocket', options.webSocket);
  const tls = checkTls(to, options.tls);
  const token = checkToken(options.token);
  const blocking = checkYesNo('blocking', options.blocking, false);
  const where = netAddressText(to);
  const { timeoutMs, resumeMs, pingMs } = choice;
  const asked =
    webSocket !== undefined ? 'webSocket' : typeof token === 'function' ? 'a token that is a function' : undefined;
  if (blocking && asked !== undefined) {
    const text = `Cannot connect to ${where} with blocking and ${asked}: the thread that has the lines makes them, and no function of this one's gets there`;
    throw new UnsupportedError(text);
  }
  const begin: Begin = blocking
    ? (apart, signal) => netCarrier().connect({ to, tls, timeoutMs, resumeMs, pingMs }, apart, signal)
    : byLines((signal) => dialLine(to, { pingMs, webSocket, tls }, signal), token, choice);
  const port = await connectBy({
    ...choice,
    where,
    kind: to.kind,
    token,
    signal: checkSignal(options.signal),
    begin,
  });
  return port as LinkedPort<In, Out>;
}

/** Nothing that would take a certificate that is not good. */
const CLIENT_TLS: readonly (keyof ClientTls)[] = ['ca', 'key', 'cert', 'servername'];

/** @throws UsageError ERR_OPTION, which does not show it */
function checkTls(to: NetAddress, tls: ClientTls | undefined): ClientTls | undefined {
  if (tls === undefined) return undefined;
  if (typeof tls === 'object' && to.kind === 'tls') {
    checkNames(tls, CLIENT_TLS);
    return tls;
  }
  const why = 'url' in to ? '; what a WebSocket is to trust is its own business (option webSocket)' : '';
  const text = `Cannot connect to ${netAddressText(to)} with option tls: it is an object, for 'tls:' addresses${why}`;
  throw new UsageError('ERR_OPTION', text, { option: 'tls' });
}
