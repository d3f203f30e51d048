// What a request for a WebSocket says, of whichever server it came to.
import type { PeerCertificate, TLSSocket } from 'node:tls';
import { UsageError } from '../../errors.ts';
import { kindOf } from '../kind-of.ts';

/** What a request for a WebSocket says, and from where it comes. */
export interface UpgradeRequest {
  readonly from: string;
  /** Of the page that asks, where a browser does. */
  readonly origin: string | undefined;
  /** Path and query. */
  readonly url: string;
  /** The common name in the certificate that it has shown, where one is asked for over TLS; Bun's own server does not say. */
  readonly subject?: string | undefined;
  /** What it has said beside that, by names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  /** One of these, by its name in whatever case. */
  header(name: string): string | undefined;
}

/** The same, as it goes to another thread. */
export type ToldRequest = Omit<UpgradeRequest, 'header'>;

export function toldRequest({ from, origin, url, subject, headers }: UpgradeRequest): ToldRequest {
  return { from, origin, url, subject, headers };
}
export function requestTold(told: ToldRequest): UpgradeRequest {
  return { ...told, header: (name) => told.headers.get(name.toLowerCase()) };
}
/** Of a line that began with none. */
export const NOTHING_SAID: UpgradeRequest = requestTold({ from: '', origin: undefined, url: '', headers: new Map() });

/** The members of a node:http request that are used. */
export interface NodeRequest {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly url?: string | undefined;
  readonly socket: object;
}
/** The members of a `Request` that are used. */
export interface WebRequest {
  readonly headers: { get(name: string): string | null };
  readonly url: string;
}

export function requestOfNode({ headers, socket, url = '/' }: NodeRequest): UpgradeRequest {
  const said = new Map<string, string>();
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined) said.set(name, typeof value === 'string' ? value : value.join(', '));
  const { remoteAddress: from = '' } = socket as { remoteAddress?: string };
  return requestTold({ from, origin: said.get('origin'), url, subject: subjectOf(socket), headers: said });
}
/** The name that its certificate proves, of a socket that is sealed and was asked for one. */
export function subjectOf(socket: object): string | undefined {
  const { encrypted, authorized } = socket as Partial<TLSSocket>;
  if (encrypted !== true || authorized !== true) return undefined;
  const { subject } = (socket as TLSSocket).getPeerCertificate() as Partial<PeerCertificate>;
  // Of more than one nobody knows which is meant.
  return typeof subject?.CN === 'string' ? subject.CN : undefined;
}
export function requestOfWeb(request: WebRequest, from: string): UpgradeRequest {
  const { pathname, search } = new URL(request.url);
  // Deno's have nothing to say any more once they are upgraded.
  const headers = new Map(new Headers(request.headers as Headers));
  return requestTold({ from, origin: headers.get('origin'), url: pathname + search, headers });
}

/** @throws UsageError ERR_OPTION for what is no request */
export function requestOfEither(request: unknown): UpgradeRequest {
  const { headers, url, socket } = Object(request) as Partial<NodeRequest & WebRequest>;
  if (typeof headers === 'object' && typeof socket === 'object') return requestOfNode({ headers, url, socket });
  if (typeof headers?.get === 'function' && URL.canParse(String(url))) return readOf(request as WebRequest);

  const text = `Cannot accept a WebSocket with ${kindOf(request)} for its request: it is the one that asked for the WebSocket, of node:http, or a Request`;
  throw new UsageError('ERR_OPTION', text, { option: 'request' });
}

/** @throws UsageError ERR_OPTION for one that has nothing to say any more */
function readOf(request: WebRequest): UpgradeRequest {
  try {
    return requestOfWeb(request, '');
  } catch (cause) {
    const text = `Cannot accept a WebSocket whose request says nothing any more (${(cause as Error).message}): on Deno copy what it says before Deno.upgradeWebSocket, { url: request.url, headers: new Headers(request.headers) }`;
    throw new UsageError('ERR_OPTION', text, { option: 'request', cause });
  }
}
