// Listens at an address: exactly one listener at a time has it, one that is dead leaves it to the next, one that lives keeps it.
//
// A unix socket is made in a folder of its own (mode 0700) and gets mode 0600 there, so at no moment may another user connect; then its
// address becomes a second name of it, by `link`, which fails where there is one. Where there is one whose listener is dead it goes first.
// O1: whoever takes such a name away has the lock of the address and has found it dead with the lock, and nobody else takes a name away
// but a listener its own, while it still listens. So what is found dead stays so until it is taken away.
import { createHash } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  linkSync,
  lstatSync,
  mkdtempSync,
  openSync,
  rmdirSync,
  rmSync,
  statSync,
  unlinkSync,
} from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { basename, dirname, join, resolve } from 'node:path';
import { platform as system } from 'node:process';
import { platform } from '#platform';
import { AddressError, MillraceError, UsageError } from '../../errors.ts';
import { PROBE_MS, TAKEOVER_MS, UNIX_PATH_BYTES_MAX } from '../../limits.ts';
import { native } from '../../native/load.ts';
import type { Primitives } from '../../native/primitives.ts';
import { type Address, addressText, isFile } from './address.ts';
import { isAllowed } from './peer.ts';
import { codeOf, refused } from './refused.ts';

export interface Bound {
  /** Where it is to be found, the port included that the system has chosen. */
  readonly address: Address;
  /** Nobody finds it any more, once this is done; who has connected is told of nothing. */
  close(): Promise<void> | undefined;
  /** Keeps the process alive, or lets it go. */
  hold(held: boolean): void;
}

/**
 * @param connected is told of each that connects, from the first moment on: a socket that is paused
 * @throws (rejects) AddressError ERR_ADDRESS_IN_USE where somebody listens, or lies what is no socket; ERR_LISTEN for whatever else the system
 *   says, its error as `cause`
 */
export async function bind(address: Address, connected: (socket: Socket) => void): Promise<Bound> {
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (socket) => {
    if (address.kind === 'tcp' || isAllowed(socket)) connected(socket);
    else socket.destroy();
  });
  try {
    if (address.kind === 'unix' && isFile(address)) {
      const path = resolve(address.path);
      await bindFile(server, address, path);
      const { ino } = lstatSync(path);
      return bound(server, { kind: 'unix', path }, () => closeFile(server, path, ino));
    }
    const at = address.kind === 'unix' ? { path: address.path } : { host: address.host, port: address.port };
    await listening(server, at);
    const found = address.kind === 'unix' ? address : { ...address, port: (server.address() as { port: number }).port };
    return bound(server, found, () => void server.close());
  } catch (error) {
    server.close();
    if (error instanceof MillraceError) throw error;
    const cause = error as Error;
    if (codeOf(error) === 'EADDRINUSE') throw inUse(address, 'somebody listens there', cause);
    throw refused('ERR_LISTEN', 'listen at', address, WHY, cause);
  }
}

function bound(server: Server, address: Address, close: () => void): Bound {
  return {
    address,
    close: () => {
      close();
      return undefined;
    },
    hold: (held) => {
      if (held) server.ref();
      else server.unref();
    },
  };
}

function listening(server: Server, at: { path: string } | { host: string; port: number }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ ...at, exclusive: true }, () => {
      server.off('error', reject);
      // A connection that could not be taken is the business of who tried.
      server.on('error', () => {});
      resolve();
    });
  });
}

// ---- a unix socket -----------------------------------------------------------------------------------------------

async function bindFile(server: Server, address: Address, path: string): Promise<void> {
  const folder = mkdtempSync(join(dirname(path), '.m'));
  const own = join(folder, 's');
  try {
    checkLength(address, own);
    await listening(server, { path: own });
    chmodSync(own, 0o600);
    const other = await occupant(own, path);
    if (other !== undefined) throw inUse(address, other);
  } finally {
    rmSync(own, { force: true });
    rmdirSync(folder);
  }
}

/** Gives it the name; who has it, if somebody does who is not dead. @throws what the system says */
async function occupant(own: string, path: string): Promise<string | undefined> {
  if (isNamed(own, path)) return undefined;
  let other = await whoIs(path);
  if (other !== undefined) return other;
  const unlock = await lock(path);
  try {
    // O1
    while (other === undefined && !isNamed(own, path)) {
      other = await whoIs(path);
      if (other === undefined) rmSync(path, { force: true });
    }
    return other;
  } finally {
    unlock();
  }
}
function isNamed(own: string, path: string): boolean {
  try {
    linkSync(own, path);
    return true;
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
    return false;
  }
}

/** What is at this path, if it is not a socket at which nobody listens, or has gone meanwhile. */
async function whoIs(path: string): Promise<string | undefined> {
  try {
    if (!lstatSync(path).isSocket()) return 'what lies there is no socket';
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
  // Without one nobody can ask.
  takeDescriptor();
  const answer = await ask(path);
  takeDescriptor();
  return answer === 'ECONNREFUSED' || answer === 'ENOENT' ? undefined : 'somebody listens there';
}
/**
 * What the system says to somebody who connects there. Bun calls libc itself for that, where it may: its sockets say ECONNREFUSED also of who lives and has
 * no room for another one that waits.
 */
function ask(path: string): Promise<string | undefined> {
  const { primitives } = native();
  if (platform.name === 'bun' && primitives !== undefined) return Promise.resolve(askNow(primitives, path));
  return new Promise((resolve) => {
    const socket = connect({ path });
    const answer = (code: string | undefined): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(code);
    };
    const timer = setTimeout(() => answer(undefined), PROBE_MS);
    socket.once('connect', () => answer(undefined));
    socket.on('error', (error) => answer(codeOf(error)));
  });
}
function askNow(primitives: Primitives, path: string): string | undefined {
  try {
    primitives.close(primitives.connect(path));
    return undefined;
  } catch (error) {
    return codeOf(error);
  }
}
/** Bun says ECONNREFUSED where there is no descriptor left, also of who listens. @throws what the system says to that */
function takeDescriptor(): void {
  closeSync(openSync('/dev/null', 'r'));
}

/**
 * The lock of an address, which goes with its holder however that ends: an abstract socket (Linux), for whose name the folder counts and not
 * how somebody calls it. It is given up on after a while, since anybody on this machine may hold it and no listener is to wait for that; then
 * and on other systems two that take over at once might both think that they have the address.
 */
async function lock(path: string): Promise<() => void> {
  if (system !== 'linux') return () => {};
  const { dev, ino } = statSync(dirname(path));
  const digest = createHash('sha256')
    .update(`${dev}:${ino}:${basename(path)}`)
    .digest('hex')
    .slice(0, 32);
  for (const untilMs = performance.now() + TAKEOVER_MS; performance.now() < untilMs; ) {
    const holder = createServer();
    try {
      await listening(holder, { path: `\0millrace-${digest}` });
      return () => void holder.close();
    } catch (error) {
      holder.close();
      takeDescriptor();
      if (codeOf(error) !== 'EADDRINUSE') break;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }
  return () => {};
}

/** Its name goes first: as long as it listens nobody takes that for dead, so what stands there is ours, or whose took ours away by hand. */
function closeFile(server: Server, path: string, ino: number): void {
  try {
    if (lstatSync(path).ino === ino) unlinkSync(path);
  } catch {
    // Somebody has taken it away.
  }
  server.close();
}

/** The system would cut it. @throws UsageError ERR_OPTION */
function checkLength(address: Address, own: string): void {
  const { length } = new TextEncoder().encode(own);
  if (length <= UNIX_PATH_BYTES_MAX) return;
  const where = addressText(address);
  const most = UNIX_PATH_BYTES_MAX - (length - new TextEncoder().encode(dirname(dirname(own))).length);
  throw new UsageError('ERR_OPTION', `Cannot listen at ${where}: its folder's path takes ${most} bytes at the most`, {
    option: 'address',
    value: where,
  });
}

// ---- what goes wrong ---------------------------------------------------------------------------------------------

function inUse(address: Address, why: string, cause?: Error): AddressError {
  const where = addressText(address);
  const text = `Cannot listen at ${where}: ${why}; stop that, or take another address`;
  return new AddressError('ERR_ADDRESS_IN_USE', text, { address: where, cause });
}

const WHY: Readonly<Record<string, string>> = {
  ENOENT: 'its folder does not exist; make it first',
  EACCES: 'this user may not (EACCES)',
  EPERM: 'this file system has no hard links (EPERM): take a path on another one, like /run or /tmp',
  EADDRNOTAVAIL: 'this machine does not have that host address',
  ENOSPC: 'its file system is full (ENOSPC)',
};
