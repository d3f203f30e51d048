// Memory that two processes share, and sleeping on a word of it, by calls of libc. What must hold is said in native/memory.c: M1 and M2 there hold here.
import { constants } from 'node:os';
import { badArgument, checkDescriptor, checkWhole, coded, type Libc, TEXT, TIME, WORDS } from './ffi-libc.ts';
import {
  BLOCK_MS_MAX,
  type Mapping,
  MEMORY_BYTES_MAX,
  NOT_EQUAL,
  type Primitives,
  TIMED_OUT,
  WOKEN,
} from './primitives.ts';

const { EAGAIN, EINVAL, ETIMEDOUT, EINTR } = constants.errno;
const MFD_CLOEXEC_SEALING = 3;
const MFD_NOEXEC_SEAL = 8;
const F_ADD_SEALS = 1033;
const F_GET_SEALS = 1034;
/** Against being sealed further, shrinking and growing. */
const SEALS = 7;
const TMPFS = 0x01021994;
const S_IFMT = 0o170000;
const S_IFREG = 0o100000;
const STAT_SIZE = 48;
const PROT_READ_WRITE = 3;
const MAP_SHARED = 1;
const O_RDONLY_CLOEXEC = 0o2000000;
const STRICT = '2'.charCodeAt(0);
const FUTEX_WAIT = 0;
const FUTEX_WAKE = 1;
const PLACES_MAX = 2 ** 31 - 1;

interface Mapped {
  readonly address: number;
  readonly bytes: number;
  readonly buffer: WeakRef<ArrayBuffer>;
  /** The runtime does, with the buffer. */
  readonly unmaps: boolean;
}

export type MemoryCalls = Pick<Primitives, 'createMemory' | 'map' | 'unmap' | 'alias' | 'wait' | 'wake'>;

export function memoryCalls(libc: Libc): MemoryCalls {
  const mappings = new Mappings(libc);
  return {
    createMemory: (bytes) => createMemory(libc, bytes),
    map: (descriptor, bytes) => mappings.map(descriptor, bytes),
    unmap: (place) => mappings.unmap(place),
    alias: (bytes) => mappings.alias(bytes),
    wait: (place, index, expected, timeoutMs) => mappings.wait(place, index, expected, timeoutMs),
    wake: (place, index, count) => mappings.wake(place, index, count),
  };
}

function createMemory(libc: Libc, bytes: number): number {
  checkWhole(bytes, 'bytes', 1, MEMORY_BYTES_MAX);
  const { call } = libc;
  const name = libc.putText('millrace');
  let descriptor = call.memfd_create(name, MFD_CLOEXEC_SEALING | MFD_NOEXEC_SEAL);
  // Kernels before 6.3 don't know the last one.
  if (descriptor < 0 && libc.errno === EINVAL) descriptor = call.memfd_create(name, MFD_CLOEXEC_SEALING);
  libc.checked('memfd_create', descriptor);
  try {
    libc.checked('ftruncate', call.ftruncate(descriptor, bytes));
    const reserve = (): number => call.fallocate(descriptor, 0, 0, bytes);
    if (pagesMayBeRefused(libc)) libc.checked('fallocate', libc.again(reserve));
    libc.checked('fcntl', call.fcntl(descriptor, F_ADD_SEALS, SEALS));
  } catch (error) {
    call.close(descriptor);
    throw error;
  }
  return descriptor;
}

/** Whether a page may be refused when it is touched first, which is a SIGBUS. */
function pagesMayBeRefused(libc: Libc): boolean {
  const { call } = libc;
  const file = call.open(libc.putText('/proc/sys/vm/overcommit_memory'), O_RDONLY_CLOEXEC, 0);
  if (file < 0) return true;
  const read = call.read(file, libc.at(WORDS), 1);
  call.close(file);
  return read !== 1 || libc.bytes[WORDS] === STRICT;
}

/** Whether what came as a region may be mapped. Seals before size: once sealed, the size is final. @throws */
function checkSafe(libc: Libc, descriptor: number, bytes: number): void {
  const { call, machine } = libc;
  const seals = call.fcntl(descriptor, F_GET_SEALS, 0);
  if (seals < 0 && libc.errno !== EINVAL) throw libc.failure('fcntl');
  libc.checked('fstatfs', call.fstatfs(descriptor, libc.at(TEXT)));
  const isTmpfs = libc.getLong(TEXT) === TMPFS;
  libc.checked('fstat', call.syscall(machine.fstat, descriptor, libc.at(TEXT), 0, 0, 0, 0));
  const isFile = ((libc.ints[(TEXT + machine.mode) >> 2] as number) & S_IFMT) === S_IFREG;
  const size = libc.getLong(TEXT + STAT_SIZE);
  // Huge pages can be sealed as well, but a page that is punched out may be missing for ever, which is a SIGBUS.
  if (seals < 0 || (seals & SEALS) !== SEALS || !isTmpfs || !isFile)
    throw coded(
      'ERR_NOT_SEALED',
      `Cannot map descriptor ${descriptor}: it is no memory that is sealed against a change of its size`,
    );
  if (size !== bytes)
    throw coded('ERR_MEMORY_SIZE', `Cannot map descriptor ${descriptor}: it has ${size} bytes, expected were ${bytes}`);
}

class Mappings {
  readonly #libc: Libc;
  readonly #mapped = new Map<number, Mapped>();
  /** Buffers that were collected without having been unmapped. A view keeps its buffer, so nobody looks any more. */
  readonly #collected = new FinalizationRegistry<number>((place) => this.#drop(place));
  /** The memory that lies under an alias. */
  readonly #aliased = new WeakMap<ArrayBuffer, SharedArrayBuffer>();
  #places = 0;

  constructor(libc: Libc) {
    this.#libc = libc;
  }

  map(descriptor: number, bytes: number): Mapping {
    checkDescriptor(descriptor);
    checkWhole(bytes, 'bytes', 1, MEMORY_BYTES_MAX);
    const libc = this.#libc;
    checkSafe(libc, descriptor, bytes);
    const address = libc.call.mmap(0, bytes, PROT_READ_WRITE, MAP_SHARED, descriptor, 0);
    libc.checked('mmap', address);
    const { buffer, unmaps } = libc.foreign.mapped(address, bytes);
    const place = this.#newPlace();
    this.#mapped.set(place, { address, bytes, buffer: new WeakRef(buffer), unmaps });
    this.#collected.register(buffer, place, buffer);
    return { buffer, place };
  }
  #newPlace(): number {
    do this.#places = (this.#places % PLACES_MAX) + 1;
    while (this.#mapped.has(this.#places));
    return this.#places;
  }
  unmap(place: number): boolean {
    checkWhole(place, 'place', -(2 ** 31), 2 ** 31 - 1);
    const buffer = this.#bufferOf(place);
    if (buffer === undefined) return false;
    this.#collected.unregister(buffer);
    buffer.transfer(0);
    this.#drop(place);
    return true;
  }
  #drop(place: number): void {
    const mapped = this.#mapped.get(place);
    this.#mapped.delete(place);
    if (mapped !== undefined && !mapped.unmaps) this.#libc.call.munmap(mapped.address, mapped.bytes);
  }
  /** Undefined if it is not mapped any more. */
  #bufferOf(place: number): ArrayBuffer | undefined {
    const buffer = this.#mapped.get(place)?.buffer.deref();
    return buffer === undefined || buffer.byteLength === 0 ? undefined : buffer;
  }

  alias(bytes: Uint8Array<SharedArrayBuffer>): ArrayBuffer {
    if (!(bytes instanceof Uint8Array) || !(bytes.buffer instanceof SharedArrayBuffer) || bytes.length === 0)
      throw badArgument('bytes', 'a Uint8Array over a SharedArrayBuffer that is not empty');
    const { foreign } = this.#libc;
    const alias = foreign.bufferAt(foreign.addressOf(bytes), bytes.length);
    this.#aliased.set(alias, bytes.buffer);
    return alias;
  }

  wait(place: number, index: number, expected: number, timeoutMs: number): 0 | 1 | 2 {
    const address = this.#word(place, index);
    checkWhole(expected, 'expected', -(2 ** 31), 2 ** 32 - 1);
    if (!(timeoutMs >= 0 && timeoutMs <= BLOCK_MS_MAX))
      throw badArgument('timeoutMs', `a number from 0 to ${BLOCK_MS_MAX}`);
    const libc = this.#libc;
    const seconds = Math.floor(timeoutMs / 1000);
    libc.putLong(TIME, seconds);
    libc.putLong(TIME + 8, Math.floor((timeoutMs - seconds * 1000) * 1e6));
    const answer = libc.call.syscall(libc.machine.futex, address, FUTEX_WAIT, expected | 0, libc.at(TIME), 0, 0);
    if (answer === 0) return WOKEN;
    const { errno } = libc;
    if (errno === EINTR) return WOKEN;
    if (errno === EAGAIN) return NOT_EQUAL;
    if (errno === ETIMEDOUT) return TIMED_OUT;
    throw libc.failure('futex', errno);
  }
  wake(place: number, index: number, count: number): number {
    const address = this.#word(place, index);
    checkWhole(count, 'count', 0, 2 ** 31 - 1);
    const { call, machine } = this.#libc;
    return this.#libc.checked('futex', call.syscall(machine.futex, address, FUTEX_WAKE, count, 0, 0, 0));
  }
  #word(place: number, index: number): number {
    checkWhole(place, 'place', -(2 ** 31), 2 ** 31 - 1);
    const mapped = this.#mapped.get(place);
    if (mapped === undefined || this.#bufferOf(place) === undefined)
      throw coded('ERR_UNMAPPED', 'The memory is not mapped any more');
    checkWhole(index, 'index', 0, (mapped.bytes >> 2) - 1);
    return mapped.address + 4 * index;
  }
}
