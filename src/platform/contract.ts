// What a runtime offers. platform/ is the only room that knows where it runs; everybody else asks this object.
import type { EndWords } from './bootstrap.ts';
import type { Href } from './host-types.ts';
import type { StartInbox } from './start-inbox.ts';

/**
 * Text access to one piece of memory (shared or not). Offsets and lengths are bytes from the start of the memory.
 * Writers return bytes written. A write never passes `maxLength`. One-byte text is latin1, two-byte text is UTF-16
 * in the machine's order (little-endian), lone surrogates included; it begins at an even offset.
 */
export interface TextMemory {
  /** Whether `latin1Write` beats `utf8Write` by more than it costs to find out that a text is one-byte. */
  readonly latin1First: boolean;
  /** Characters up to which storing them one by one beats any call below. */
  readonly loopMax: number;
  /** Writes the low byte of every code unit; the caller knows that the text is one-byte. */
  latin1Write(text: string, offset: number, maxLength: number): number;
  latin1Slice(start: number, end: number): string;
  /** Writes UTF-8 and stops before a code point that does not fit; a lone surrogate becomes U+FFFD. */
  utf8Write(text: string, offset: number, maxLength: number): number;
  utf8Slice(start: number, end: number): string;
  utf16Write(text: string, offset: number, maxLength: number): number;
  utf16Slice(start: number, end: number): string;
}

/** Block copies to and from one piece of memory (shared or not), the fastest way this runtime has. */
export interface BlockMemory {
  /** Copies all of `source` to byte `offset`. */
  copyIn(source: Uint8Array, offset: number): void;
  /** Copies `length` bytes from byte `start` on to the beginning of `target`, or to byte `at` of it. */
  copyOut(target: Uint8Array, start: number, length: number, at?: number): void;
}

/** The few members of a native MessagePort that the tether needs, the same on every runtime. */
export interface NativePort {
  postMessage(value: unknown, transfer?: readonly unknown[]): unknown;
  close(): void;
}

export interface TetherHandlers {
  message(value: unknown): void;
  closed(): void;
  /** A message came that cannot be made here: the place of one. */
  unreadable?(): void;
}

export interface SyncAnswer {
  readonly status: number;
  /** Whether it has the header ANSWER_HEADER: a server may answer anything. */
  readonly ours: boolean;
  readonly bytes: Uint8Array;
}

export type ThreadEnd = 'exit' | 'crash';

/** What a thread that is being started is given. */
export interface Start {
  /** What waits for `parentPort()`. */
  readonly data: unknown;
  /** Native ports in it. */
  readonly transfer: readonly unknown[];
  /** Where the thread says that it has ended without opening its end of the channel. */
  readonly end: EndWords;
}

/**
 * Told by the event loop how another thread ended; `how` is undefined if it was killed, or ended in a way that cannot be
 * told from it, and `error` if none is known.
 */
export type ThreadEnded = (how: ThreadEnd | undefined, error: unknown) => void;

/**
 * Gives the end of the channel that a thread was to open to nobody, so that it never will; false, and nothing happens, if it
 * has opened it.
 */
export type Forsake = () => boolean;

/** What a runtime makes of memory. Apart from the rest, because a ring needs nothing else. */
export interface MemoryPlatform {
  /**
   * New shared memory, all zero. Where the runtime can be brought to it, no page of it exists before it is touched.
   * @throws RangeError
   */
  sharedMemory(bytes: number): SharedArrayBuffer;
  blockMemory(memory: SharedArrayBuffer | ArrayBuffer): BlockMemory;
  /** The runtime's richest view over all bytes of `memory`: a Buffer where there are Buffers. */
  byteView(memory: SharedArrayBuffer | ArrayBuffer): Uint8Array;
  /** Whether a view of `bytes` lies in memory (`bufferBytes`) that the runtime shares out among small buffers of many owners. */
  isPooled(view: ArrayBufferView, bytes: number, bufferBytes: number): boolean;
}

/** Access to texts in a piece of memory. Apart from the rest, because a ring carries bytes only. */
export type TextPlatform = (memory: SharedArrayBuffer | ArrayBuffer) => TextMemory;

/**
 * Objects of classes of the runtime's in parts that a codec writes, where the runtime's own way does not do. Apart from the rest,
 * because few runtimes need it.
 */
export interface HostForms {
  /** The number of the object's class, and its parts; `undefined` if there is no form for it, or it only looks like one. */
  of(object: object): readonly [number: number, parts: unknown[]] | undefined;
  /** The object again. @throws if the parts make no sense, or there is no such class here */
  make(number: number, parts: readonly unknown[]): object;
}

/** What tells of the end of agents where no native port does. */
export interface AgentLocks {
  /** Whether there are any here; else all requests are denied. */
  readonly available: boolean;
  /** Whether this agent can end in silence, so that it must hold one. */
  readonly mortal: boolean;
  /** Whether it outlives documents, of which some end without a word. */
  readonly outlives: boolean;
  /**
   * Asks for a lock that this agent alone has, until the returned function is called or the agent is gone.
   * @param held it has it
   * @param denied there are none here after all
   */
  hold(name: string, held: () => void, denied: () => void): () => void;
  /** Calls `granted` once nobody holds it, unless the returned function was called before. Never throws. */
  await(name: string, granted: () => void): () => void;
  /** Calls `then` with the names of all that are held or asked for now, by anybody, or with none where there are none to be had. Never throws. */
  names(then: (names: readonly string[]) => void): void;
}

/** How threads start, and get their names. Apart from the rest, because only a front door needs it. */
export interface StartPlatform {
  /** So many words that nobody can guess: at most RANDOM_WORDS of limits.ts. */
  randomWords(count: number): Uint32Array;
  /**
   * Starts a worker thread that runs the module at `url`, with `options` for the runtime's own Worker, which is returned.
   */
  spawn(url: Href, start: Start, options: object, ended: ThreadEnded): unknown;
  /** Whether a Worker that the user made tells of the end of its thread, however it comes; `undefined` if this is no Worker. */
  tellsEnd(worker: unknown): boolean | undefined;
  /**
   * Hands start data to a Worker that the user made, and tells what it tells.
   * @param forsake asked where an error may mean that the worker never began
   */
  adopt(worker: unknown, data: unknown, transfer: readonly unknown[], ended: ThreadEnded, forsake: Forsake): void;
  /** In a thread that somebody's `new Worker` started: where start data arrives. Once in a thread, as early as can be. */
  openInbox(): StartInbox | undefined;
  /** In a thread started by `spawn` from a URL: the data. `undefined` in any other thread. */
  readonly data: unknown;
}

/**
 * How an event loop sleeps: on the word, for a message on a native port, or for whichever comes first, where wake-ups of the word may
 * stay behind (docs/decisions/0058).
 */
export type LoopWay = 'wait-async' | 'doorbell' | 'both';

export interface Platform {
  readonly name: 'node' | 'bun' | 'deno' | 'browser';
  /** Whether this thread may block in Atomics.wait. */
  readonly canBlock: boolean;
  /** How an event loop sleeps best here; docs/decisions/0004 has the measurements. */
  readonly asyncPark: LoopWay;
  /**
   * Where a wake-up of Atomics.waitAsync may stay behind until the event loop turns for another reason: gives it reasons as long as that
   * promise is pending. For those who have no doorbell; undefined elsewhere.
   */
  readonly turnWhileAsleep: ((sleep: Promise<unknown>) => void) | undefined;
  /**
   * Characters from which on a string that is sent for the first time goes quicker over a native port than through
   * shared memory. Infinity where that is never so.
   */
  readonly nativeTextMin: number;
  /** The same for a string in an object of nothing but primitives. */
  readonly nativeMemberTextMin: number;
  /**
   * Characters from which on either of them goes quicker over a native port if it is not ASCII, which is known once ASCII was tried in
   * vain; what the two above say holds for all strings.
   */
  readonly nativeWideTextMin: number;
  /** Whether `value` is a Proxy, which no native clone takes; false where that cannot be known. */
  isProxy(value: object): boolean;
  /** A pair of entangled native ports. */
  messageChannel(): readonly [NativePort, NativePort];
  isNativePort(value: unknown): boolean;
  /**
   * Moves native ports to new objects in this thread, with what waits in them. `undefined`, and nothing has moved, when
   * one of them is not here any more: it has moved to another thread, or is closed.
   */
  moveHere(ports: readonly NativePort[]): readonly NativePort[] | undefined;
  /** As structuredClone with a transfer list: what is in it has left its old objects then. */
  cloneMoving(value: unknown, transfer: readonly unknown[]): unknown;
  /** Whether a port that was moved is as good as before, at once; else what is said over it may even be lost. */
  readonly movesWhole: boolean;
  /** Whether structuredClone leaves native ports of its transfer list where they were, too. */
  readonly cloneKeepsPorts: boolean;
  /** Whether `value` is the runtime's own handle of another thread. */
  isWorker(value: unknown): boolean;
  /**
   * Starts a thread of the library's own, which keeps nothing alive and is over with this one: `task` is the text of a function that is called with
   * `data`. `lost` is called should it end by an error. False where no thread can be started of a text.
   */
  startOwn(name: string, task: string, data: unknown, lost: () => void): boolean;
  /** Starts delivery on a native port: messages and the death of the other side. Does not keep the process alive. */
  listen(port: NativePort, handlers: TetherHandlers): void;
  /** Whether `takeMessage` sees a message as soon as the other side has posted it. */
  readonly canTake: boolean;
  /** Takes one message off the port's queue without the event loop; `undefined` when there is none. */
  takeMessage(port: NativePort): { readonly message: unknown } | undefined;
  /** Whether closing a port takes from the other end, in the same thread, what was posted and not yet taken. */
  readonly closeDropsPosted: boolean;
  /**
   * Whether a native port that takes a message enumerates all properties in it, in search of ports: the elements of a
   * typed array, too, 0.3 us each.
   */
  readonly walksMessages: boolean;
  /** Whether `probeGone` can know. Tried out when first asked. */
  canProbe(): boolean;
  /**
   * Whether the other side of a port of which everything was taken is gone, asked without the event loop; false when it
   * cannot be known. Leaves nothing at the other side.
   */
  probeGone(port: NativePort): boolean;
  /** Where threads end without a word: what is heard of it. `undefined` where native ports tell. */
  readonly agentLocks: AgentLocks | undefined;
  /** Holds or releases the process for this port. */
  hold(port: NativePort, held: boolean): void;
  /** Threads that can run at the same time, as far as the runtime tells. */
  readonly parallelism: number;
  /** Where a thread may wait for an answer over HTTP: a browser's worker. `undefined`: none came. */
  readonly fetchSync?: ((url: string) => SyncAnswer | undefined) | undefined;
  /** Whether a turn costs more than to be woken: event loops sleep at once, then, and do not look again turn by turn. */
  readonly turnsAreDear: boolean;
  /** Runs `task` in a later turn of the event loop, after pending I/O had its chance. */
  turn(task: () => void): void;
  /** Runs `task` in this turn, once the microtasks have run: so that what a handler after the other says goes out together. Browsers have no such place, and wait for some of them. */
  endOfTurn(task: () => void): void;
  /** Runs `task` after so many milliseconds, unless the process has ended before, which it does not keep alive. */
  later(task: () => void, ms: number): void;
  /** Classes and functions of the runtime's that are on no global object, as far as they are loaded. */
  runtimeClasses(): ReadonlySet<unknown>;
  /** Reports an exception that no handler took, the way the runtime reports uncaught ones. */
  reportError(error: unknown): void;
  /**
   * Calls `task` when this thread ends by itself (normal end, exit, uncaught error), never when it is killed; with its exit
   * status where that is known.
   */
  onThreadEnd(task: (how: ThreadEnd, code?: number) => void): void;
  /** Calls `task` with the error that ends this thread, before the tasks of `onThreadEnd`. */
  onCrash(task: (error: unknown) => void): void;
}
