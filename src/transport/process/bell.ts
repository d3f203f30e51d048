// What wakes the event loop of another process: a descriptor that it watches and others have, too. Node watches an eventfd, by the addon; other runtimes
// cannot, other systems than Linux have none, and read a byte from a socket of their own. Whoever rings looks once which of them it is.
import { connect, Socket } from 'node:net';
import { platform as system } from 'node:process';
import { platform } from '#platform';
import { LayoutError } from '../../errors.ts';
import { BELL, EDGE, type Primitives, READABLE } from '../../native/primitives.ts';

/** This process's. */
export interface Bell {
  /** What the other side is to have. A descriptor of this process, which stays the bell's. */
  readonly theirs: number;
  /** Readable once it is rung, for a thread that waits without its event loop. This process's own. */
  readonly descriptor: number;
  /** Silences it, as a thread does that waits so; `over` if it will never ring again. */
  take(): 'rung' | 'silent' | 'over';
  close(): void;
}

/** @param heard called from the event loop, which does not stay for it */
export function makeBell(native: Primitives, heard: () => void): Bell {
  return platform.name === 'node' && system === 'linux'
    ? new WatchedBell(native, heard)
    : new SocketBell(native, heard);
}

/**
 * The event loop is told of each ring and does not silence the bell, so what it was told of ends the next sleep without it, for once: `take` is called behind
 * that sleep as ever. A ring that was taken there the event loop is not told of. The other side alone rings it: who fills the counter has silenced himself.
 */
class WatchedBell implements Bell {
  readonly theirs: number;
  readonly #native: Primitives;
  readonly #watch: number;

  constructor(native: Primitives, heard: () => void) {
    this.#native = native;
    this.theirs = native.createBell();
    try {
      this.#watch = native.watch(this.theirs, READABLE | BELL | EDGE, heard);
      native.holdLoop(this.#watch, false);
      native.keep(this.theirs);
    } catch (error) {
      native.close(this.theirs);
      throw error;
    }
  }
  get descriptor(): number {
    return this.theirs;
  }
  take(): 'rung' | 'silent' {
    return this.#native.drain(this.theirs) ? 'rung' : 'silent';
  }
  close(): void {
    this.#native.unwatch(this.#watch);
    this.#native.close(this.theirs);
  }
}

class SocketBell implements Bell {
  readonly theirs: number;
  /** Not the socket's own number, which is the runtime's to close. */
  readonly descriptor: number;
  readonly #native: Primitives;
  readonly #socket: Socket;

  constructor(native: Primitives, heard: () => void) {
    const ends = new Int32Array(2);
    native.socketPair(ends);
    const [here, theirs] = ends as unknown as [number, number];
    this.#native = native;
    this.theirs = theirs;
    try {
      this.descriptor = native.duplicate(here);
    } catch (error) {
      for (const each of ends) native.close(each);
      throw error;
    }
    const options = { fd: here, readable: true, writable: false };
    // On Bun a socket that is made of a descriptor delivers nothing, and one that connects to it does.
    this.#socket = platform.name === 'bun' ? connect(options as never) : new Socket(options);
    this.#socket.on('data', () => heard());
    this.#socket.on('error', () => {});
    this.#socket.unref();
    native.keep(theirs);
    native.keep(this.descriptor);
  }
  take(): 'rung' | 'silent' | 'over' {
    const length = this.#native.receive(this.descriptor, RINGS);
    return length > 0 ? 'rung' : length < 0 ? 'silent' : 'over';
  }
  close(): void {
    this.#socket.destroy();
    this.#native.close(this.descriptor);
    this.#native.close(this.theirs);
  }
}

const ONE = new Uint8Array(1);
/** Rings that one call takes; what is more ends the next sleep. */
const RINGS = new Uint8Array(256);

/** A bell that another process has handed over. */
export interface Ringer {
  readonly descriptor: number;
  ring(): void;
  close(): void;
}

/**
 * @param descriptor the ringer's from now on, unless this throws
 * @throws LayoutError if it is no bell: ringing a file would write into it
 */
export function ringerOf(native: Primitives, descriptor: number): Ringer {
  const ring = native.isBell(descriptor) ? () => native.ring(descriptor) : byteRinger(native, descriptor);
  native.keep(descriptor);
  return { descriptor, ring, close: () => native.close(descriptor) };
}

function byteRinger(native: Primitives, descriptor: number): () => void {
  try {
    native.send(descriptor, ONE);
  } catch (cause) {
    if ((cause as { code?: string }).code === 'ENOTSOCK')
      throw new LayoutError('Cannot ring what the other side has handed over: it is no bell', { cause });
  }
  return () => {
    try {
      native.send(descriptor, ONE);
    } catch {
      // Nobody listens any more.
    }
  };
}
