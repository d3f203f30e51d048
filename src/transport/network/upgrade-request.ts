// What a request for a WebSocket says, of whichever server it came to.
import { UsageError } from '../../errors.ts';

/** What a request for a WebSocket says, and from where it comes. */
export interface UpgradeRequest {
  readonly from: string;
  /** Of the page that asks, where a browser does. */
  readonly origin: string | undefined;
  /** Path and query. */
  readonly url: string;
  /** The common name in the certificate that it has shown, where one is asked for over TLS. */
  readonly subject?: string | undefined;
  header(name: string): string | undefined;
}

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
  const header = (name: string): string | undefined => {
    const value = headers[name.toLowerCase()];
    return typeof value === 'object' ? value.join(', ') : value;
  };
  const { remoteAddress: from = '' } = socket as { remoteAddress?: string };
  return { from, origin: header('origin'), url, header };
}
export function requestOfWeb(request: WebRequest, from: string): UpgradeRequest {
  const { pathname, search } = new URL(request.url);
  // Deno's have nothing to say any more once they are upgraded.
  const headers = new Headers(request.headers as Headers);
  const header = (name: string): string | undefined => headers.get(name) ?? undefined;
  return { from, origin: header('origin'), url: pathname + search, header };
}

/** @throws UsageError ERR_OPTION for what is no request */
export function requestOfEither(request: unknown): UpgradeRequest {
  const { headers, url, socket } = Object(request) as Partial<NodeRequest & WebRequest>;
  if (typeof headers === 'object' && typeof socket === 'object') return requestOfNode({ headers, url, socket });
  if (typeof headers?.get === 'function' && URL.canParse(String(url))) return readOf(request as WebRequest);

  const text = `Cannot accept a WebSocket with ${request === null ? 'null' : `a ${typeof request}`} for its request: it is the one that asked for the WebSocket, of node:http, or a Request`;
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
