// Where a listener is found: as people write it, and as the system wants it.
import { platform as system } from 'node:process';
import { UsageError } from '../../errors.ts';
import { UNIX_PATH_BYTES_MAX } from '../../limits.ts';

export type Address =
  /** A unix socket, or a named pipe on Windows. */
  | { readonly kind: 'unix'; readonly path: string }
  /** TCP. Port 0, for a listener: any that is free. */
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number };

const TAKES = "'unix:/run/app.sock', a path with a slash in it, or 'tcp:127.0.0.1:4000'";
const LOOPBACK = '127.0.0.1';

/**
 * Reads an address: a path (`/run/app.sock`, `./app.sock`) or `unix:` and a path; `tcp:host:port`, `tcp:port` on this machine, an IPv6 host in
 * brackets.
 * @throws UsageError ERR_OPTION that names what was given and what can be
 */
export function parseAddress(text: unknown): Address {
  if (typeof text !== 'string' || text === '') throw noAddress(text, `expected ${TAKES}`);
  if (text.startsWith('tcp:')) return parseTcp(text);
  if (text.startsWith('unix:')) return unixAddress(text, text.slice('unix:'.length));
  if (text.startsWith('pipe:')) {
    throw noAddress(
      text,
      "nobody listens at a pipe: both sides connect, to 'pipe:3', with a descriptor from 3 on, or to a socket",
    );
  }
  if (/[\\/]/.test(text)) return unixAddress(text, text);
  throw noAddress(text, `expected ${TAKES}`);
}

/** The address as `connect` takes it. */
export function addressText(address: Address): string {
  if (address.kind === 'unix') return `unix:${address.path}`;
  const { host, port } = address;
  return `tcp:${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** A pipe of Windows is no file: it goes with its listener, and nobody else can have its name. */
export function isFile({ path }: { readonly path: string }): boolean {
  return !/^\\\\[.?]\\pipe\\/i.test(path);
}

function parseTcp(text: string): Address {
  const [, bracketed, plain, port] = /^tcp:(?:(?:\[([^\]]+)\]|([^:[\]]+)):)?(\d{1,5})$/.exec(text) ?? [];
  const number = Number(port);
  if (port === undefined || number > 65_535) {
    throw noAddress(text, "a TCP address is 'tcp:host:port' with a port of 0 to 65535, 'tcp:[::1]:4000' with IPv6");
  }
  return { kind: 'tcp', host: bracketed ?? plain ?? LOOPBACK, port: number };
}

function unixAddress(text: string, path: string): Address {
  if (path === '') throw noAddress(text, 'it lacks the path');
  if (path.includes('\0')) throw noAddress(text, 'a path cannot have a NUL in it');
  const address = { kind: 'unix', path } as const;
  if (system === 'win32' && isFile(address)) {
    throw noAddress(text, "on Windows a local address is a pipe, like '\\\\.\\pipe\\app', or TCP");
  }
  const { length } = new TextEncoder().encode(path);
  if (isFile(address) && length > UNIX_PATH_BYTES_MAX) {
    throw noAddress(text, `its path has ${length} bytes, and a unix socket's takes ${UNIX_PATH_BYTES_MAX}`);
  }
  return address;
}

function noAddress(value: unknown, why: string): UsageError {
  const shown = typeof value === 'string' ? JSON.stringify(value) : String(value);
  return new UsageError('ERR_OPTION', `Cannot use ${shown} as an address: ${why}`, { option: 'address', value });
}
