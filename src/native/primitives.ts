// What processes share takes a few calls of the system that no runtime has: memory, futexes, bells, descriptors. The addon (native/)
// offers them. Descriptors, places and watches are numbers. Nothing here waits unless it says so; nothing allocates in `wait`, `wake`,
// `ring`, `poll`, `send` and `receive`, once there is an error aside.
//
// Errors have a `code`: the name of errno with `errno` and `syscall`, as Node's own have; ERR_ARGUMENT (a TypeError); or one that is
// named below. Where it is built and how it behaves on which runtime: docs/decisions/0040-native-primitives.md.

/** WOKEN also for no reason: look at the word again. */
export const WOKEN = 0;
export const NOT_EQUAL = 1;
export const TIMED_OUT = 2;

/** Of `watch`. */
export const READABLE = 1;
export const WRITABLE = 2;
/** Asked together with READABLE: a bell, which is drained before the function is called. */
export const BELL = 4;
/**
 * Asked beside BELL: a ring costs no read where the system tells of each by itself. The bell is not silent then: whoever drains it as well finds what was told of,
 * too, and a ring that he takes before the loop looks is not told. Full (2^64 - 2 rings that nobody has drained) it rings no more.
 */
export const EDGE = 16;
/** Told: something is wrong with the descriptor, and the watch is silent from now on. */
export const OVER = 8;

/** Milliseconds that one call may block; more is refused. */
export const BLOCK_MS_MAX = 1000;
export const DESCRIPTORS_MAX = 64;
export const MEMORY_BYTES_MAX: number = 2 ** 31;

export interface Mapping {
  /** Never to be transferred: another thread maps for itself. */
  readonly buffer: ArrayBuffer;
  readonly place: number;
}

export interface Primitives {
  /**
   * The descriptor of a region of zeros that can neither grow nor shrink. A page of it takes memory once it is touched; where the system may refuse that
   * (vm.overcommit_memory 2) all are there now: ENOSPC or ENOMEM.
   */
  createMemory(bytes: number): number;
  /**
   * Maps a region that has these bytes. The descriptor may be closed afterwards.
   * @throws ERR_NOT_SEALED what is no such region, or could be made smaller under us
   * @throws ERR_MEMORY_SIZE it has another size
   * @throws ERR_NO_EXTERNAL_BUFFERS the runtime can't have an ArrayBuffer there
   */
  map(descriptor: number, bytes: number): Mapping;
  /** Detaches the buffer, and from now on refuses its place; false if that was so before. Whoever drops the buffer need not call it. */
  unmap(place: number): boolean;
  /** A plain ArrayBuffer over the bytes of a view of a SharedArrayBuffer, which it keeps. Never to be transferred. */
  alias(bytes: Uint8Array<SharedArrayBuffer>): ArrayBuffer;

  /**
   * Blocks the thread while the int32 at `index` of the mapping is `expected`, at most `timeoutMs` (up to BLOCK_MS_MAX). Whoever loops
   * calls a function of JavaScript's for each slice, or `worker.terminate()` does not get through.
   * @throws ERR_UNMAPPED
   */
  wait(place: number, index: number, expected: number, timeoutMs: number): 0 | 1 | 2;
  /** Wakes up to `count` that wait there, in any process; how many. @throws ERR_UNMAPPED */
  wake(place: number, index: number, count: number): number;

  /** The descriptor of an eventfd. @throws ENOTSUP elsewhere than on Linux */
  createBell(): number;
  /** To be asked once of each bell that another process has sent. */
  isBell(descriptor: number): boolean;
  ring(descriptor: number): void;
  /** Whether it was rung since the last time. */
  drain(descriptor: number): boolean;

  /**
   * Calls `called` with what the descriptor is ready for, from Node's event loop, which stays for it. The descriptor may be closed
   * meanwhile: the watch has one of its own. What `called` throws is an uncaught exception.
   * @throws ERR_NO_EVENT_LOOP elsewhere than on Node
   */
  watch(descriptor: number, events: number, called: (events: number) => void): number;
  /** 0 makes it pause. @throws ERR_WATCH_CLOSED */
  rewatch(watch: number, events: number): void;
  /** Whether the loop stays for it. @throws ERR_WATCH_CLOSED */
  holdLoop(watch: number, held: boolean): void;
  /** False if it was closed before. */
  unwatch(watch: number): boolean;

  /**
   * A listening socket that only this user can connect to. EADDRINUSE: something is at the path. What begins with U+0000 is a name without a file, which
   * anybody on the machine can connect to: who does is to be asked for `peerCredentials`.
   */
  listen(path: string): number;
  /** A connection, or -1: nobody waits. */
  accept(descriptor: number): number;
  /** A connection. ENOENT, ECONNREFUSED: nobody listens; EAGAIN: too many wait there just now. */
  connect(path: string): number;
  /** Two ends of a connection. */
  socketPair(ends: Int32Array): void;
  /** How many bytes went, the descriptors with the first of them; -1: no room. EPIPE, ECONNRESET: the peer is gone. */
  send(descriptor: number, bytes: Uint8Array, descriptors?: Int32Array): number;
  /**
   * How many bytes came; 0: the end; -1: none yet. `descriptors` is filled from the front, the rest is -1.
   * @throws ERR_TOO_MANY_DESCRIPTORS more came than were asked for; all are closed, and the bytes are lost
   * @throws EMFILE this process can't have so many, of those that are asked for: all of it is still to come (elsewhere than on Linux: ERR_TOO_MANY_DESCRIPTORS)
   */
  receive(descriptor: number, bytes: Uint8Array, descriptors?: Int32Array): number;
  peerCredentials(descriptor: number): { pid: number; uid: number; gid: number };
  /** poll(2) over an Int32Array of descriptor, asked, answered; blocks up to `timeoutMs` (up to BLOCK_MS_MAX); how many are ready. */
  poll(table: Int32Array, count: number, timeoutMs: number): number;
  duplicate(descriptor: number): number;
  /**
   * Closes it with this thread, however that ends, unless `close` was called before: whoever is at its other end waits for that. By calls of libc it does
   * so only with the process, and `keepsToProcess` says so.
   */
  keep(descriptor: number): void;
  readonly keepsToProcess?: true;
  close(descriptor: number): void;
}
