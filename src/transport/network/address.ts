// Where a listener of another machine is found.
import { AddressError, UsageError } from '../../errors.ts';

export type NetAddress =
  | { readonly kind: 'tcp' | 'tls'; readonly host: string; readonly port: number }
  | { readonly kind: 'ws' | 'wss'; readonly url: string };

const TAKES = "'ws://host:port/path', 'wss://host/path', 'tcp:host:port' or 'tls:host:port'";
const LOOPBACK = '127.0.0.1';

/**
 * Reads an address: `tcp:host:port` or `tls:host:port`, an IPv6 host in brackets, `tcp:port` on this machine; or the URL of a WebSocket.
 * @throws UsageError ERR_OPTION that names what was given and what can be
 */
export function parseNetAddress(text: unknown): NetAddress {
  const given = typeof text === 'string' || text instanceof URL ? String(text) : '';
  if (/^wss?:/.test(given)) return socketAddress(given);
  const [, kind, bracketed, plain, digits] =
    /^(tcp|tls):(?:(?:\[([^\]]+)\]|([^:[\]/]+)):)?(\d{1,5})$/.exec(given) ?? [];
  const port = Number(digits);
  if (digits === undefined || port > 65_535) throw noAddress(text, `expected ${TAKES}`);
  return { kind: kind as 'tcp' | 'tls', host: bracketed ?? plain ?? LOOPBACK, port };
}

/** The address as `connect` takes it; without a password, which may stand in a URL. */
export function netAddressText(address: NetAddress): string {
  if ('url' in address) {
    const url = new URL(address.url);
    url.username = '';
    url.password = '';
    url.search = '';
    return url.href;
  }
  const { kind, host, port } = address;
  return `${kind}:${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** What the system has said to who would listen there. */
export function cannotListen(address: string, cause: unknown): AddressError {
  const inUse = (cause as { code?: string }).code === 'EADDRINUSE';
  const text = `Cannot listen at ${address}: ${inUse ? 'somebody listens there' : (cause as Error).message}`;
  return new AddressError(inUse ? 'ERR_ADDRESS_IN_USE' : 'ERR_LISTEN', text, { address, cause });
}

function socketAddress(text: string): NetAddress {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw noAddress(text, 'it is no URL');
  }
  if (url.hash !== '') throw noAddress(text, "a WebSocket's URL has no fragment");
  return { kind: url.protocol === 'ws:' ? 'ws' : 'wss', url: url.href };
}

function noAddress(value: unknown, why: string): UsageError {
  // A user, a password and a token stand in no error.
  const plain =
    typeof value === 'string'
      ? value.replace(/^(\w+:(?:\/\/)?)[^@]*@/, '$1...@').replace(/[?#].*$/s, (rest) => `${rest[0]}...`)
      : value;
  const shown = typeof plain === 'string' ? JSON.stringify(plain) : String(plain);
  return new UsageError('ERR_OPTION', `Cannot use ${shown} as an address: ${why}`, { option: 'address', value: plain });
}
