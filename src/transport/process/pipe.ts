// A pipe that somebody else has made: an extra descriptor that this process was started with, or a child's that it has started itself. Nobody
// listens there, so both sides connect, and toss for who is the initiator of the stream protocol: each sends 16 bytes, MARK and a
// number, and the higher number is.
import { randomBytes } from 'node:crypto';
import { fstatSync, type Stats, statSync } from 'node:fs';
import { connect, Socket } from 'node:net';
import { platform } from '#platform';
import { AddressError, ClosedError, LayoutError, UsageError } from '../../errors.ts';
import { joined } from '../stream/joined.ts';
import { codeOf } from './refused.ts';
import { SocketStream } from './socket-stream.ts';

/** An end of a pipe that the program has: `child.stdio[3]` of who was started with `stdio: [..., 'pipe']`; also another socket that is connected. */
export interface PipeEnd {
  readonly destroyed: boolean;
  destroy(error?: Error): unknown;
}

/** A pipe by the number of its descriptor, or as a socket. */
export interface PipeAddress {
  readonly kind: 'pipe';
  readonly end: number | PipeEnd;
}

export interface OpenPipe {
  readonly stream: SocketStream;
  readonly initiator: boolean;
}

const MARK: Uint8Array = new TextEncoder().encode('mlr.pipe');
const TOSS_BYTES = 16;
/** What the system says of a line whose other side has gone. */
const GONE: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE']);
/** Of this thread, those that a connection has. */
const taken = new Set<number>();
const known = new WeakSet<object>();

/** What `connect` was given, if that is a pipe: 'pipe:3', with a descriptor that is none of the standard ones, or a socket. */
export function pipeAddress(given: unknown): PipeAddress | undefined {
  if (typeof given === 'string') {
    const [, descriptor] = /^pipe:([3-9]|[1-9]\d{1,6})$/.exec(given) ?? [];
    return descriptor === undefined ? undefined : { kind: 'pipe', end: Number(descriptor) };
  }
  const { write, unshift, unref } = (given ?? {}) as Partial<Record<string, unknown>>;
  const isSocket = [write, unshift, unref].every((it) => typeof it === 'function');
  return isSocket ? { kind: 'pipe', end: given as PipeEnd } : undefined;
}
export function pipeText({ end }: PipeAddress): string {
  return typeof end === 'number' ? `pipe:${end}` : 'pipe:socket';
}

/**
 * @param signal gives up; its reason is thrown
 * @throws (rejects) AddressError ERR_UNREACHABLE where there is no such pipe, UsageError ERR_HANDLE for one that is in use; ClosedError where the
 *   other side ends it, LayoutError where it says something else
 */
export async function openPipe(address: PipeAddress, signal: AbortSignal): Promise<OpenPipe> {
  const { end } = address;
  const socket = typeof end === 'number' ? socketAt(end) : givenSocket(end);
  const initiator = await toss(socket, pipeText(address), signal);
  return { stream: new SocketStream(socket), initiator };
}

// ---- whose it is -------------------------------------------------------------------------------------------------

function socketAt(descriptor: number): Socket {
  const where = `pipe:${descriptor}`;
  if (taken.has(descriptor)) throw inUse(where, 'this thread has connected to it');
  checkPipe(descriptor, where);
  let socket: Socket;
  try {
    const options = { fd: descriptor, readable: true, writable: true, allowHalfOpen: true };
    // On Bun a socket that is made of a descriptor delivers nothing, and one that connects to it does.
    socket = platform.name === 'bun' ? connect(options as never) : new Socket(options);
  } catch (error) {
    throw unreachable(where, `the system does not take descriptor ${descriptor} for a pipe`, error as Error);
  }
  claimDescriptor(descriptor);
  socket.once('close', () => taken.delete(descriptor));
  return socket;
}

/** This thread has it. */
export function claimDescriptor(descriptor: number): void {
  taken.add(descriptor);
}

/** @throws AddressError for what is none, as far as the system tells */
function checkPipe(descriptor: number, where: string): void {
  let found: Stats;
  try {
    // Deno's own numbers of files are others than the system's, in which descriptors come.
    found = platform.name === 'deno' ? statSync(`/proc/self/fd/${descriptor}`) : fstatSync(descriptor);
  } catch (error) {
    const code = codeOf(error);
    // Deno without the permission, or on another system: it is seen when it is used.
    if (code !== 'EBADF' && (code !== 'ENOENT' || !isLinux())) return;
    const remedy =
      "who starts it gives it one, as `stdio: ['inherit', 'inherit', 'inherit', 'pipe']` of child_process.spawn does";
    throw unreachable(where, `this process has no descriptor ${descriptor}: ${remedy}`, error as Error);
  }
  if (found.isSocket()) return;
  const what = found.isFIFO() ? 'a pipe of one direction' : found.isFile() ? 'a file' : 'something else';
  throw unreachable(where, `descriptor ${descriptor} is ${what}, and no pipe that goes both ways`);
}
function isLinux(): boolean {
  try {
    return statSync('/proc/self/fd').isDirectory();
  } catch {
    return false;
  }
}

function givenSocket(end: PipeEnd): Socket {
  const where = 'pipe:socket';
  const socket = end as Socket;
  if (socket.destroyed) throw unreachable(where, 'it has ended');
  const isRead = socket.listenerCount('data') > 0 || socket.listenerCount('readable') > 0 || socket.readableEncoding;
  if (known.has(socket) || isRead) throw inUse(where, 'somebody reads it');
  known.add(socket);
  socket.allowHalfOpen = true;
  return socket;
}

// ---- who is the initiator ----------------------------------------------------------------------------------------

/** Keeps the process alive until then. */
function toss(socket: Socket, where: string, signal: AbortSignal): Promise<boolean> {
  const own = randomBytes(TOSS_BYTES);
  own.set(MARK);
  let heard: Uint8Array = new Uint8Array(0);
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      socket.pause();
      socket.off('data', hear).off('end', closed).off('close', closed).off('error', failed);
      signal.removeEventListener('abort', aborted);
    };
    const giveUp = (error: unknown): void => {
      stop();
      // What is said of it from here on is nobody's.
      socket.on('error', () => {});
      socket.destroy();
      reject(error);
    };
    const hear = (chunk: Uint8Array): void => {
      heard = joined([heard, chunk]);
      if (!heard.subarray(0, MARK.length).every((byte, i) => byte === MARK[i])) {
        giveUp(
          new LayoutError(
            `Cannot connect to ${where}: what is at its other end does not connect to a pipe, as \`connect\` does`,
          ),
        );
        return;
      }
      if (heard.length < TOSS_BYTES) return;
      const order = own.compare(heard.subarray(0, TOSS_BYTES));
      if (order === 0) {
        giveUp(new LayoutError(`Cannot connect to ${where}: it says what it has heard, so that nobody else is there`));
        return;
      }
      stop();
      if (heard.length > TOSS_BYTES) socket.unshift(heard.subarray(TOSS_BYTES));
      resolve(order > 0);
    };
    const ended = (cause?: Error): void => {
      const text = `Cannot connect to ${where}: its other side has ended without a greeting`;
      giveUp(new ClosedError(text, 'lost', cause));
    };
    const closed = (): void => ended();
    const failed = (error: Error): void => {
      if (GONE.has(codeOf(error) ?? '')) ended(error);
      else giveUp(unreachable(where, error.message, error));
    };
    const aborted = (): void => giveUp(signal.reason);
    socket.on('data', hear).on('end', closed).on('close', closed).on('error', failed);
    signal.addEventListener('abort', aborted);
    if (signal.aborted) aborted();
    else socket.resume().write(own);
  });
}

// ---- what goes wrong ---------------------------------------------------------------------------------------------

function unreachable(where: string, why: string, cause?: Error): AddressError {
  return new AddressError('ERR_UNREACHABLE', `Cannot connect to ${where}: ${why}`, { address: where, cause });
}
function inUse(where: string, why: string): UsageError {
  return new UsageError('ERR_HANDLE', `Cannot connect to ${where}: ${why} already`);
}
