// `listen` and `connect` of `millrace/net` for tests: at a `tls:` address with a certificate that is for tests alone.
import { readFileSync } from 'node:fs';
import * as net from '../../src/net/index.ts';

const pem = (name: string): Uint8Array =>
  readFileSync(new URL(`../../../test/network/fixtures/only-for-tests-${name}.pem`, import.meta.url));
export const CERTIFICATE: net.ServerTls = { key: pem('key'), cert: pem('cert') };

export function listen(address: string, options: net.ListenOptions = {}): Promise<net.Listener> {
  return net.listen(address, isSealed(address) ? { tls: CERTIFICATE, ...options } : options);
}
export function connect<In = unknown, Out = unknown>(
  address: string,
  options: net.ConnectOptions = {},
): Promise<net.LinkedPort<In, Out>> {
  return net.connect(address, isSealed(address) ? { tls: { ca: CERTIFICATE.cert }, ...options } : options);
}

/** Also of what is no address. */
const isSealed = (address: unknown): boolean => String(address).startsWith('tls:');
