// Bells and descriptors of any kind, by calls of libc, as native/bell.c and native/descriptor.c have them. Event loops cannot be
// reached from here: Bun and Deno are woken by sockets.
import { constants } from 'node:os';
import { badArgument, checkDescriptor, checkWhole, coded, type Libc, POLLED, TEXT, VECTOR, WORDS } from './ffi-libc.ts';
import type { MemoryCalls } from './ffi-memory.ts';
import type { SocketCalls } from './ffi-sockets.ts';
import { BLOCK_MS_MAX, DESCRIPTORS_MAX, type Primitives } from './primitives.ts';

const { EAGAIN, EBADF, EINTR } = constants.errno;
const EFD_CLOEXEC_NONBLOCK = 0o2004000;
const BELL_LINK = 'anon_inode:[eventfd]';
const RWF_NOWAIT = 8;
const F_DUPFD_CLOEXEC = 1030;

export function descriptorCalls(libc: Libc): Omit<Primitives, keyof MemoryCalls | keyof SocketCalls> {
  const { call, ints, machine } = libc;

  const noLoop = (): never => {
    throw coded('ERR_NO_EVENT_LOOP', 'Descriptors are watched by the event loop of Node only');
  };

  return {
    createBell: () => libc.checked('eventfd', call.eventfd(0, EFD_CLOEXEC_NONBLOCK)),
    isBell(descriptor) {
      checkDescriptor(descriptor);
      const path = libc.putText(`/proc/self/fd/${descriptor}`);
      // The kernel has read the path before it writes where that lies.
      const length = call.readlink(path, libc.at(TEXT), BELL_LINK.length + 1);
      return length === BELL_LINK.length && libc.getText(length) === BELL_LINK;
    },
    ring(descriptor) {
      checkDescriptor(descriptor);
      libc.putLong(WORDS, 1);
      const written = libc.again(() => call.write(descriptor, libc.at(WORDS), 8));
      // A bell that is full has been rung.
      if (written < 0 && libc.errno !== EAGAIN) throw libc.failure('write');
    },
    drain(descriptor) {
      checkDescriptor(descriptor);
      libc.putLong(VECTOR, libc.at(WORDS));
      libc.putLong(VECTOR + 8, 8);
      const read = call.syscall(machine.preadv2, descriptor, libc.at(VECTOR), 1, -1, -1, RWF_NOWAIT);
      if (read < 0 && libc.errno !== EAGAIN && libc.errno !== EINTR) throw libc.failure('preadv2');
      return read >= 0;
    },

    watch: noLoop,
    rewatch: noLoop,
    holdLoop: noLoop,
    unwatch: () => false,

    poll(table, count, timeoutMs) {
      if (!(table instanceof Int32Array)) throw badArgument('table', 'an Int32Array');
      checkWhole(count, 'count', 0, Math.min(Math.floor(table.length / 3), DESCRIPTORS_MAX));
      if (!(timeoutMs >= 0 && timeoutMs <= BLOCK_MS_MAX))
        throw badArgument('timeoutMs', `a number from 0 to ${BLOCK_MS_MAX}`);
      const at = POLLED >> 2;
      for (let i = 0; i < count; i++) {
        ints[at + 2 * i] = table[3 * i] as number;
        ints[at + 2 * i + 1] = (table[3 * i + 1] as number) & 0xffff;
      }
      const ready = call.poll(libc.at(POLLED), count, Math.floor(timeoutMs));
      if (ready < 0 && libc.errno !== EINTR) throw libc.failure('poll');
      for (let i = 0; i < count; i++) table[3 * i + 2] = ready < 0 ? 0 : (ints[at + 2 * i + 1] as number) >> 16;
      return Math.max(ready, 0);
    },
    duplicate(descriptor) {
      checkDescriptor(descriptor);
      return libc.checked('fcntl', call.fcntl(descriptor, F_DUPFD_CLOEXEC, 3));
    },
    // Nothing here is called when a thread ends.
    keep: checkDescriptor,
    keepsToProcess: true,
    close(descriptor) {
      checkDescriptor(descriptor);
      // On Linux it is closed whatever close(2) answers, unless there was none.
      if (call.close(descriptor) < 0 && libc.errno === EBADF) throw libc.failure('close');
    },
  };
}
