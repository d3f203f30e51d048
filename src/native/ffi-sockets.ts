// Unix sockets that descriptors come over, by calls of libc, as native/socket.c has them. No call here waits.
import { constants } from 'node:os';
import {
  BESIDE,
  badArgument,
  checkDescriptor,
  coded,
  DATA,
  DATA_BYTES,
  type Libc,
  MESSAGE,
  SOCKET_ADDRESS,
  VECTOR,
  WORDS,
} from './ffi-libc.ts';
import { DESCRIPTORS_MAX, type Primitives } from './primitives.ts';

const { EAGAIN, ECONNABORTED, EMFILE, ENAMETOOLONG } = constants.errno;
const AF_UNIX = 1;
const CLOEXEC_NONBLOCK = 0o2004000;
const STREAM: number = 1 | CLOEXEC_NONBLOCK;
const BACKLOG = 511;
const ONLY_OWNER = 0o600;
/** Bytes of an address: the family, and a path with its NUL. */
const PATH_BYTES = 108;
const ADDRESS_BYTES: number = 2 + PATH_BYTES;
const SOL_SOCKET = 1;
const SO_PEERCRED = 17;
const SCM_RIGHTS = 1;
const MSG_PEEK = 2;
const MSG_CTRUNC = 8;
const MSG_DONTWAIT = 0x40;
const MSG_NOSIGNAL = 0x4000;
const MSG_CMSG_CLOEXEC = 0x40000000;

// In struct msghdr, and in what lies beside: a header of 16 bytes for each kind, its length with itself.
const M_VECTOR: number = MESSAGE + 16;
const M_VECTORS: number = MESSAGE + 24;
const M_BESIDE: number = MESSAGE + 32;
const M_BESIDE_BYTES: number = MESSAGE + 40;
const M_FLAGS: number = MESSAGE + 48;
const HEADER_BYTES = 16;
const besideBytes = (count: number): number => HEADER_BYTES + Math.ceil(count / 2) * 8;

export type SocketCalls = Pick<
  Primitives,
  'listen' | 'accept' | 'connect' | 'socketPair' | 'send' | 'receive' | 'peerCredentials'
>;

export function socketCalls(libc: Libc): SocketCalls {
  const { call, ints } = libc;

  /** Puts the address; how many bytes of it count. */
  function putAddress(path: string): number {
    if (typeof path !== 'string') throw badArgument('path', 'a string');
    const text = new TextEncoder().encode(path);
    if (text.length >= PATH_BYTES) throw libc.failure('path', ENAMETOOLONG);
    const isFile = text.length > 0 && !text.includes(0);
    if (!isFile && !(text.length > 1 && text[0] === 0))
      throw badArgument('path', 'the path of a file, or a name behind a NUL');
    libc.bytes.fill(0, SOCKET_ADDRESS, SOCKET_ADDRESS + ADDRESS_BYTES);
    libc.bytes[SOCKET_ADDRESS] = AF_UNIX;
    libc.bytes.set(text, SOCKET_ADDRESS + 2);
    return isFile ? ADDRESS_BYTES : 2 + text.length;
  }
  /** A socket that is as `body` makes it, or is closed. */
  function made(body: (descriptor: number, address: number) => void): number {
    const descriptor = libc.checked('socket', call.socket(AF_UNIX, STREAM, 0));
    try {
      body(descriptor, libc.at(SOCKET_ADDRESS));
    } catch (error) {
      call.close(descriptor);
      throw error;
    }
    return descriptor;
  }
  function putMessage(bytes: number, besides: number): void {
    libc.bytes.fill(0, MESSAGE, VECTOR);
    libc.putLong(M_VECTOR, libc.at(VECTOR));
    libc.putLong(M_VECTORS, 1);
    libc.putLong(VECTOR, libc.at(DATA));
    libc.putLong(VECTOR + 8, bytes);
    if (besides === 0) return;
    libc.putLong(M_BESIDE, libc.at(BESIDE));
    libc.putLong(M_BESIDE_BYTES, besides);
  }
  /** Descriptors that came with a message, the caller's by now. */
  function came(): number[] {
    const all: number[] = [];
    const end = BESIDE + (ints[M_BESIDE_BYTES >> 2] as number);
    for (let at = BESIDE; at + HEADER_BYTES <= end; ) {
      const length = libc.getLong(at);
      if (length < HEADER_BYTES) break;
      const [level, type] = ints.subarray((at + 8) >> 2) as unknown as [number, number];
      if (level === SOL_SOCKET && type === SCM_RIGHTS)
        all.push(...ints.subarray((at + HEADER_BYTES) >> 2, (at + length) >> 2));
      at += Math.ceil(length / 8) * 8;
    }
    return all;
  }

  return {
    listen(path) {
      const size = putAddress(path);
      return made((descriptor, address) => {
        // Before it is bound: Linux makes the file with the mode of the socket, so there is no moment in which others may connect.
        libc.checked('fchmod', call.fchmod(descriptor, ONLY_OWNER));
        libc.checked('bind', call.bind(descriptor, address, size));
        libc.checked('listen', call.listen(descriptor, BACKLOG));
      });
    },
    accept(listener) {
      checkDescriptor(listener);
      let descriptor: number;
      do descriptor = libc.again(() => call.accept4(listener, 0, 0, CLOEXEC_NONBLOCK));
      while (descriptor < 0 && libc.errno === ECONNABORTED);
      return descriptor < 0 && libc.errno === EAGAIN ? -1 : libc.checked('accept4', descriptor);
    },
    connect(path) {
      const size = putAddress(path);
      return made((descriptor, address) => {
        const connected = libc.again(() => call.connect(descriptor, address, size));
        libc.checked('connect', connected);
      });
    },
    socketPair(ends) {
      if (!(ends instanceof Int32Array) || ends.length !== 2) throw badArgument('ends', 'an Int32Array of two');
      libc.checked('socketpair', call.socketpair(AF_UNIX, STREAM, 0, libc.at(WORDS)));
      ends.set(ints.subarray(WORDS >> 2, (WORDS >> 2) + 2));
    },
    send(descriptor, bytes, descriptors) {
      checkDescriptor(descriptor);
      checkBytes(bytes);
      const count = checkBeside(descriptors);
      const length = Math.min(bytes.length, DATA_BYTES);
      libc.bytes.set(length < bytes.length ? bytes.subarray(0, length) : bytes, DATA);
      putMessage(length, count === 0 ? 0 : besideBytes(count));
      if (descriptors !== undefined && count > 0) {
        libc.putLong(BESIDE, HEADER_BYTES + 4 * count);
        ints[(BESIDE + 8) >> 2] = SOL_SOCKET;
        ints[(BESIDE + 12) >> 2] = SCM_RIGHTS;
        ints.set(descriptors, (BESIDE + HEADER_BYTES) >> 2);
      }
      const sent = libc.again(() => call.sendmsg(descriptor, libc.at(MESSAGE), MSG_DONTWAIT | MSG_NOSIGNAL));
      return sent < 0 && libc.errno === EAGAIN ? -1 : libc.checked('sendmsg', sent);
    },
    receive(descriptor, bytes, descriptors) {
      checkDescriptor(descriptor);
      checkBytes(bytes);
      const count = checkBeside(descriptors);
      // What has no room here is closed by the kernel, which then says MSG_CTRUNC. Room is made for whole words: one more may come.
      const looks = count === 0 ? 0 : MSG_PEEK;
      const flags = MSG_DONTWAIT | MSG_CMSG_CLOEXEC;
      putMessage(Math.min(bytes.length, DATA_BYTES), besideBytes(count));
      const received = libc.again(() => call.recvmsg(descriptor, libc.at(MESSAGE), flags | looks));
      if (received < 0 && libc.errno !== EAGAIN) throw libc.failure('recvmsg');
      const all = received < 0 ? [] : came();
      const wasCut = (): boolean => ((ints[M_FLAGS >> 2] as number) & MSG_CTRUNC) !== 0;
      // What was looked at, which nobody else reads; whether descriptors lay beside it, which the kernel closes: those that were looked at are others.
      // Linux gives those of the message behind it where it has none of its own.
      const takeOff = (): boolean => {
        putMessage(received, 0);
        libc.again(() => call.recvmsg(descriptor, libc.at(MESSAGE), flags));
        return wasCut();
      };
      const cut = received >= 0 && wasCut();
      if (cut || all.length > count) {
        for (const each of all) call.close(each);
        if (all.length < count) throw libc.failure('recvmsg', EMFILE);
        if (looks === 0 || takeOff())
          throw coded('ERR_TOO_MANY_DESCRIPTORS', 'More descriptors came with a message than were expected');
        all.length = 0;
      } else if (looks !== 0 && received > 0 && !takeOff()) {
        for (const each of all.splice(0)) call.close(each);
      }
      descriptors?.fill(-1).set(all);
      if (received > 0) bytes.set(libc.bytes.subarray(DATA, DATA + received));
      return Math.max(received, -1);
    },
    peerCredentials(descriptor) {
      checkDescriptor(descriptor);
      const [length, peer] = [WORDS >> 2, (WORDS >> 2) + 1];
      ints[length] = 12;
      const [at, lengthAt] = [libc.at(4 * peer), libc.at(4 * length)];
      libc.checked('getsockopt', call.getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, at, lengthAt));
      const [pid, uid, gid] = ints.subarray(peer) as unknown as [number, number, number];
      return { pid, uid: uid >>> 0, gid: gid >>> 0 };
    },
  };
}

function checkBytes(bytes: Uint8Array): void {
  if (!(bytes instanceof Uint8Array)) throw badArgument('bytes', 'a Uint8Array');
  if (bytes.length === 0) throw badArgument('bytes', 'at least one');
}
/** How many there are. */
function checkBeside(descriptors: Int32Array | undefined): number {
  if (descriptors === undefined) return 0;
  if (!(descriptors instanceof Int32Array)) throw badArgument('descriptors', 'an Int32Array');
  if (descriptors.length > DESCRIPTORS_MAX) throw badArgument('descriptors', `no more than ${DESCRIPTORS_MAX}`);
  return descriptors.length;
}
