// TCP, sealed: sockets of node:tls, to where a name is proved by a certificate.
import { Buffer } from 'node:buffer';
import type { Socket } from 'node:net';
import { type ConnectionOptions, connect, createServer, type Server, type TLSSocket } from 'node:tls';
import { AddressError, UsageError } from '../../errors.ts';
import { cannotListen, type NetAddress, netAddressText } from './address.ts';
import { Young } from './young.ts';

type TlsAddress = Extract<NetAddress, { host: string }>;

/** Who it is that listens, and whom it lets in: as `node:tls` takes them. */
export interface ServerTls {
  readonly key: string | Uint8Array;
  readonly cert: string | Uint8Array;
  /** Whose certificates are good ones; by default those of whom the runtime trusts. */
  readonly ca?: string | Uint8Array | readonly (string | Uint8Array)[] | undefined;
  /** Whether who connects has to show a good certificate, too. Default false. */
  readonly requestCert?: boolean | undefined;
}
/** What is asked of who listens, and what is shown to it: as `node:tls` takes them. */
export interface ClientTls {
  /** Whose certificates are good ones; by default those of whom the runtime trusts. */
  readonly ca?: ServerTls['ca'];
  readonly key?: string | Uint8Array | undefined;
  readonly cert?: string | Uint8Array | undefined;
  /** The name that its certificate is to have; default: the address's host. */
  readonly servername?: string | undefined;
}

/**
 * A socket that is sealed, and paused.
 * @throws (rejects) AddressError ERR_UNREACHABLE, whose `cause` is what node:tls says; UsageError ERR_OPTION for what makes no key or certificate; the
 *   signal's reason
 */
export function dialTls(to: TlsAddress, tls: ClientTls, signal: AbortSignal): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(signal.reason);
      return;
    }
    const { host, port } = to;
    const socket = withTls(to, tls, () =>
      connect({ ...said(tls), host, port, allowHalfOpen: true } as ConnectionOptions),
    );
    const failed = (cause: Error): void => {
      signal.removeEventListener('abort', aborted);
      const where = netAddressText(to);
      // What OpenSSL says has lines.
      const text = `Cannot connect to ${where}: ${WHY[codeOf(cause)] ?? cause.message.trim().replace(/\s+/g, ' ')}`;
      reject(new AddressError('ERR_UNREACHABLE', text, { address: where, cause }));
    };
    const aborted = (): void => {
      socket.destroy();
      reject(signal.reason);
    };
    signal.addEventListener('abort', aborted);
    // Also for what is said of it when nobody waits for it any more.
    socket.on('error', failed);
    socket.once('close', () => failed(new Error('it was closed before it was sealed')));
    socket.once('secureConnect', () => {
      signal.removeEventListener('abort', aborted);
      socket.pause();
      resolve(socket);
    });
  });
}
const OTHER_CA = 'its certificate is of nobody whom this runtime trusts: say whom to trust by tls: { ca }';
const WHY: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nobody listens there',
  DEPTH_ZERO_SELF_SIGNED_CERT: OTHER_CA,
  SELF_SIGNED_CERT_IN_CHAIN: OTHER_CA,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: OTHER_CA,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: OTHER_CA,
};

/** @throws UsageError ERR_OPTION, which shows nothing of what was given */
function withTls<T>(address: TlsAddress, { key, cert }: Pick<ClientTls, 'key' | 'cert'>, make: () => T): T {
  try {
    // Deno looks at them only when somebody connects.
    for (const pem of [key, cert])
      if (pem !== undefined && !Buffer.from(pem).includes('-----BEGIN ')) throw new Error('there is no PEM in it');
    return make();
  } catch (cause) {
    const text = `Cannot use option tls for ${netAddressText(address)}: ${(cause as Error).message}; keys and certificates are PEM`;
    throw new UsageError('ERR_OPTION', text, { option: 'tls', cause });
  }
}

/** Without what was not said, which some runtimes take for something. */
function said<T extends object>(tls: T): T {
  return Object.fromEntries(Object.entries(tls).filter(([, value]) => value !== undefined)) as T;
}

/** Where sealed lines come in. */
export interface TlsBound {
  readonly port: number;
  hold(held: boolean): void;
  close(): void;
}

/**
 * @param connected is told of each that is sealed
 * @param timeoutMs in which who connects is to be sealed
 * @throws (rejects) AddressError ERR_ADDRESS_IN_USE, ERR_LISTEN; UsageError ERR_OPTION for what makes no key or certificate
 */
export async function bindTls(
  at: TlsAddress,
  { key, cert, ca, requestCert }: ServerTls,
  timeoutMs: number,
  connected: (socket: TLSSocket) => void,
): Promise<TlsBound> {
  const options = {
    ...said({ key, cert, ca, requestCert }),
    handshakeTimeout: timeoutMs,
    allowHalfOpen: true,
  } as object;
  const young = new Young(timeoutMs);
  const server = withTls(at, { key, cert }, () =>
    createServer(options, (socket) => {
      young.grown(socket);
      socket.pause();
      connected(socket);
    }),
  );
  server.on('connection', (socket: Socket) => young.add(socket));
  // Who cannot be sealed is closed, and nobody else's business.
  server.on('tlsClientError', (_error, socket) => void socket.destroy());
  try {
    await listening(server, at.host, at.port);
  } catch (cause) {
    throw cannotListen(netAddressText(at), cause);
  }
  return {
    port: (server.address() as { port: number }).port,
    hold: (held) => void (held ? server.ref() : server.unref()),
    close: () => {
      server.close();
      young.destroy();
    },
  };
}
function listening(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port, exclusive: true }, () => {
      server.off('error', reject);
      server.on('error', () => {});
      resolve();
    });
  });
}
function codeOf(error: unknown): string {
  return String((error as { code?: unknown }).code);
}
