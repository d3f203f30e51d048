// The functions of the C library that the primitives are made of where there is no addon, what they need in memory, and their errors. Arguments
// that a function reads or fills lie in one piece of memory that a thread keeps, in places of their own; so no address is made of anything that moves.
import { constants } from 'node:os';
import { type Foreign, foreign as findForeign, LIBC, type Machine, machine as ownMachine } from './ffi-foreign.ts';

const FUNCTIONS = {
  __errno_location: ['', 'l'],
  __xpg_strerror_r: ['ill', 'i'],
  accept4: ['illi', 'i'],
  bind: ['ili', 'i'],
  close: ['i', 'i'],
  connect: ['ili', 'i'],
  eventfd: ['ii', 'i'],
  fallocate: ['iill', 'i'],
  fchmod: ['ii', 'i'],
  fcntl: ['iil', 'i'],
  fstatfs: ['il', 'i'],
  ftruncate: ['il', 'i'],
  getsockopt: ['iiill', 'i'],
  listen: ['ii', 'i'],
  memfd_create: ['li', 'i'],
  mmap: ['lliiil', 'l'],
  munmap: ['ll', 'i'],
  open: ['lii', 'i'],
  poll: ['lli', 'i'],
  read: ['ill', 'l'],
  readlink: ['lll', 'i'],
  recvmsg: ['ili', 'i'],
  sendmsg: ['ili', 'i'],
  socket: ['iii', 'i'],
  socketpair: ['iiil', 'i'],
  syscall: ['lllllll', 'i'],
  write: ['ill', 'i'],
} as const;
type Name = keyof typeof FUNCTIONS;

/** Byte offsets in the memory of arguments. */
export const MESSAGE = 0;
export const VECTOR = 64;
export const TIME = 80;
export const WORDS = 96;
export const SOCKET_ADDRESS = 128;
export const BESIDE = 256;
export const TEXT = 640;
export const POLLED = 1024;
export const DATA = 2048;
/** What one `send` or `receive` carries at the most. */
export const DATA_BYTES: number = 64 * 1024;
const TEXT_BYTES = 256;

const SAME_AS_OTHERS = ['EWOULDBLOCK', 'ENOTSUP', 'EDEADLOCK'];
const ERRNO_NAMES = new Map(
  Object.entries(constants.errno)
    .filter(([name]) => !SAME_AS_OTHERS.includes(name))
    .map(([name, number]) => [number, name]),
);
const { EINTR } = constants.errno;
constants.errno;

export class Libc {
  readonly call: Readonly<Record<Name, (...values: readonly number[]) => number>>;
  readonly foreign: Foreign;
  readonly machine: Machine;
  readonly bytes: Uint8Array = new Uint8Array(DATA + DATA_BYTES);
  readonly ints: Int32Array = new Int32Array(this.bytes.buffer);
  readonly #address: number;
  readonly #errno: Int32Array;
  readonly #decoder = new TextDecoder();
  readonly #encoder = new TextEncoder();

  /** @throws what the runtime says of a library that it cannot load */
  constructor(foreign: Foreign, machine: Machine) {
    this.foreign = foreign;
    this.machine = machine;
    this.call = foreign.open(LIBC, FUNCTIONS);
    this.#address = foreign.addressOf(this.bytes);
    // It is a thread's own, and stays where it is: asked for behind a call, it could be another call's by then.
    this.#errno = new Int32Array(foreign.bufferAt(this.call.__errno_location(), 4));
  }

  /** Of the last call that has failed. */
  get errno(): number {
    return Atomics.load(this.#errno, 0);
  }
  /** The address of a place in the memory of arguments. */
  at(offset: number): number {
    return this.#address + offset;
  }
  /** Puts a number of 64 bits, not below 0. */
  putLong(offset: number, value: number): void {
    this.ints[offset >> 2] = value;
    this.ints[(offset >> 2) + 1] = value / 2 ** 32;
  }
  getLong(offset: number): number {
    return ((this.ints[offset >> 2] as number) >>> 0) + (this.ints[(offset >> 2) + 1] as number) * 2 ** 32;
  }
  /** Puts what ends with a NUL; its address. */
  putText(text: string): number {
    const { written } = this.#encoder.encodeInto(text, this.bytes.subarray(TEXT, TEXT + TEXT_BYTES - 1));
    this.bytes[TEXT + written] = 0;
    return this.at(TEXT);
  }
  /** Reads what ends with a NUL, or has so many bytes. */
  getText(bytes: number = TEXT_BYTES): string {
    const text = this.bytes.subarray(TEXT, TEXT + bytes);
    const end = text.indexOf(0);
    return this.#decoder.decode(end < 0 ? text : text.subarray(0, end));
  }

  /** What a call has answered, which is below 0 if it has failed. @throws errno */
  checked(name: string, answer: number): number {
    if (answer < 0) throw this.failure(name);
    return answer;
  }
  /** The same for one that a signal may interrupt, which is called again then. */
  again(body: () => number): number {
    let answer = body();
    while (answer < 0 && this.errno === EINTR) answer = body();
    return answer;
  }
  failure(name: string, number: number = this.errno): Error {
    const code = ERRNO_NAMES.get(number) ?? `E${number}`;
    this.call.__xpg_strerror_r(number, this.at(TEXT), TEXT_BYTES);
    return Object.assign(new Error(`${code}: ${this.getText()}, ${name}`), { code, errno: -number, syscall: name });
  }
}

/** An Error of our own, by its code. */
export function coded(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}
export function badArgument(name: string, wanted: string): Error {
  return Object.assign(new TypeError(`${name} must be ${wanted}`), { code: 'ERR_ARGUMENT' });
}
/** @throws ERR_ARGUMENT */
export function checkWhole(value: number, name: string, least: number, most: number): void {
  if (typeof value !== 'number' || !(value >= least && value <= most))
    throw badArgument(name, `a number from ${least} to ${most}`);
  if (!Number.isInteger(value)) throw badArgument(name, 'a whole number');
}
/** @throws ERR_ARGUMENT */
export function checkDescriptor(value: number): void {
  checkWhole(value, 'descriptor', 0, 2 ** 31 - 1);
}

/** This thread's, or why there is none. */
export function libc(): Libc | string {
  const foreign = findForeign();
  if (foreign === undefined) return 'this runtime calls no functions of the system';
  if (ownMachine === undefined) return 'the system calls of this processor are not known';
  return new Libc(foreign, ownMachine);
}
