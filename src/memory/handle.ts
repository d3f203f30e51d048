// What travels to the other thread for an end of a channel, and how it is checked on arrival.
import { platform } from '#platform';
import { LayoutError, UsageError } from '../errors.ts';
import { KNOWN_TEXT_BYTES_MAX, KNOWN_TEXTS_MAX } from '../limits.ts';
import type { NativePort } from '../platform/contract.ts';
import { ATTACHED, CLOSED, LAYOUT_VERSION } from './layout.ts';
import { isLifePage } from './life-page.ts';
import { type NativePair, renewedPair } from './native-pair.ts';
import { checkSharedMemory, MADE_ELSEWHERE, openRegion, type Region } from './region.ts';
import { blockOf, claimSide, NOT_TAKEN } from './sides.ts';

const HANDLE_TYPE = 'millrace';

/**
 * The other end of a channel, on its way to another thread: `worker.postMessage(remote, remote.transfer)`, then
 * `attach(remote)` over there. It may be part of a larger message.
 */
export interface RemoteHandle {
  readonly type: 'millrace';
  readonly version: number;
  /** The side of the channel that this handle takes. */
  readonly end: 0 | 1;
  readonly memory: SharedArrayBuffer;
  /** Native port: tells of the other thread's death, and rings for its event loop. */
  readonly tether: unknown;
  /** Native port: carries what only the native clone can. Nobody listens on it; it is read when a marker says so. */
  readonly side: unknown;
  /** Only where a native port cannot always be asked whether it is still here: moves along, and is empty where it was. */
  readonly pass?: ArrayBuffer | undefined;
  /** The page that speaks for the creating thread's life, if somebody watches it: life-page.ts. */
  readonly life: SharedArrayBuffer | null;
  /** What the creating thread tells of itself, if it has the other end. */
  readonly agent: unknown;
  /** What both ends remember of large texts. */
  readonly texts: TextBounds;
}

/** The handle of an end that was open, on its way in a message: with what the end has taken along. */
export interface MovingHandle extends RemoteHandle {
  /** Out of sight of who enumerates properties (Platform.walksMessages): under 0. */
  readonly luggage: ReadonlyMap<0, unknown>;
  /** The native ports in it, and what else has moved. */
  readonly moved: readonly unknown[];
  /** What stands in ATTACHED as long as nobody has taken the end: no other handle of it is good. */
  readonly ticket: number;
}

/** How many large texts each side remembers a direction, and how many bytes of them. */
export interface TextBounds {
  readonly count: number;
  readonly bytes: number;
}

/**
 * What must be transferred along with a handle: native ports. Typed so that the `postMessage` of Node's Worker, of the
 * web's and of `window` all take it, whichever of their declarations a program has.
 */
export type TransferList = never[];

/** The same for a channel of threads that have no memory in common: all of it goes over one native port. */
export interface NativeHandle {
  readonly type: 'millrace';
  readonly version: number;
  readonly end: 0 | 1;
  /** Native port. */
  readonly native: unknown;
  /** What is decided for both ends when the channel is made. */
  readonly shared: unknown;
  /** As in RemoteHandle. */
  readonly pass?: ArrayBuffer | undefined;
  /** What the other end has said before it was handed over. */
  readonly first?: Uint8Array | undefined;
}

/** A handle as its creator holds it: with the list that must be transferred along. Not cloned, hence not enumerable. */
export interface Remote extends RemoteHandle {
  readonly transfer: TransferList;
}

/** The native ports of a handle that is made, there when they are asked for. */
export interface HandleNatives {
  readonly far: NativePair;
}

/** @param texts kept as they are: copies of the handle share them, and its transfer list keeps them alive */
export function createHandle(
  region: Region<SharedArrayBuffer>,
  end: 0 | 1,
  natives: HandleNatives,
  life: SharedArrayBuffer | null,
  texts: TextBounds,
  agent: unknown,
): Remote {
  const pass = passOf();
  const handle = {
    type: HANDLE_TYPE,
    version: LAYOUT_VERSION,
    end,
    memory: region.memory,
    life,
    agent,
    texts,
    ...(pass && { pass }),
  };
  const born: Born = { natives, pass, texts, transfer: undefined };
  Object.defineProperty(handle, BORN, { value: born });
  return Object.defineProperties(handle, ASKED_FOR) as unknown as Remote;
}

function passOf(): ArrayBuffer | undefined {
  return platform.movesWhole && !platform.cloneKeepsPorts ? undefined : new ArrayBuffer(1);
}
function wasHandedOn(pass: unknown): boolean {
  return pass instanceof ArrayBuffer && pass.byteLength === 0;
}

/** What a handle is made of that its creator holds. */
interface Born {
  readonly natives: HandleNatives;
  readonly pass: unknown;
  readonly texts: TextBounds;
  transfer: TransferList | undefined;
}
const BORN: unique symbol = Symbol('born');

/**
 * What is made when it is asked for, by structured clone, too. The same functions for all handles: with some of its own each
 * would have a hidden class of its own, which V8 keeps, and all they lead to, much longer than an object that is dropped.
 */
const ASKED_FOR: PropertyDescriptorMap & ThisType<{ readonly [BORN]: Born }> = {
  tether: {
    enumerable: true,
    get() {
      return this[BORN].natives.far.tether;
    },
  },
  side: {
    enumerable: true,
    get() {
      return this[BORN].natives.far.side;
    },
  },
  transfer: {
    enumerable: false,
    get() {
      const born = this[BORN];
      born.transfer ??= Object.defineProperty(transferListOf(born.natives.far, born.pass), Symbol('handle'), {
        value: born.texts,
      });
      return born.transfer;
    },
  },
};

/** What stands in it is nobody's but the library's: to a program it is a handle as any other. */
export function createNativeHandle(end: 0 | 1, native: NativePort, shared: object, first?: Uint8Array): Remote {
  const pass = passOf();
  const handle = { type: HANDLE_TYPE, version: LAYOUT_VERSION, end, native, shared, first, ...(pass && { pass }) };
  // Copies of the handle share its `shared`, and its transfer list keeps it.
  const transfer = Object.defineProperty(pass ? [native, pass] : [native], Symbol('handle'), { value: shared });
  Object.defineProperty(handle, 'transfer', { value: transfer });
  droppedNatives.register(shared, { native, pass });
  return handle as unknown as Remote;
}
export function isNativeHandle(value: unknown): value is NativeHandle {
  return (value as Partial<NativeHandle> | null | undefined)?.type === HANDLE_TYPE && 'native' in (value as object);
}
/** Native ports that an end was made of in this thread. */
const attachedNatives: WeakSet<object> = /* @__PURE__ */ new WeakSet();
/** Those of handles that are garbage: native ports are none themselves. Not of handles that were handed on: WebKit closes a port where it has gone. */
const droppedNatives: FinalizationRegistry<{ readonly native: NativePort; readonly pass: unknown }> =
  /* @__PURE__ */ new FinalizationRegistry(({ native, pass }) => {
    if (!wasHandedOn(pass)) dropNative(native);
  });

/** Nobody will make an end of a handle's native port. Browsers do not tell of a close, so it is said that nothing follows (transport/native). */
export function dropNative(native: NativePort): void {
  if (attachedNatives.has(native)) return;
  native.postMessage(null);
  native.close();
}

/** @throws UsageError ERR_HANDLE if it is none, or an end was made of it here */
function nativeOf(native: unknown, action: string): NativePort {
  if (!platform.isNativePort(native)) throw lostNatives(action);
  if (attachedNatives.has(native as object)) throw attachedBefore(action);
  return native as NativePort;
}

/** @throws UsageError ERR_HANDLE, LayoutError as openHandle */
export function openNativeHandle({ version, end, native, shared, pass, first }: NativeHandle): {
  readonly native: NativePort;
  readonly end: 0 | 1;
  readonly shared: unknown;
  readonly first: Uint8Array | undefined;
} {
  if (version !== LAYOUT_VERSION) throw otherVersion(version);
  if (end !== 0 && end !== 1) throw noSuchEnd(end);
  const port = nativeOf(native, 'attach');
  if (wasHandedOn(pass)) throw handedOn();
  // To a new object, which is of the class that is listened to here; what was handed on does not move.
  const [own] = platform.movesWhole ? (platform.moveHere([port]) ?? []) : [port];
  if (own === undefined) throw handedOn();
  attachedNatives.add(port);
  return { native: own, end, shared, first: first instanceof Uint8Array ? first : undefined };
}

/** @param life the page that speaks for the life of the thread at the other end */
export function createMovingHandle(
  { memory }: Region,
  end: 0 | 1,
  { tether, side }: NativePair,
  life: SharedArrayBuffer | null,
  texts: TextBounds,
  luggage: unknown,
  moved: readonly unknown[],
  ticket: number,
): MovingHandle {
  const pass = platform.movesWhole ? undefined : new ArrayBuffer(1);
  return {
    type: HANDLE_TYPE,
    version: LAYOUT_VERSION,
    end,
    memory: memory as SharedArrayBuffer,
    life,
    agent: null,
    texts,
    tether,
    side,
    luggage: new Map([[0, luggage]]),
    moved,
    ticket,
    ...(pass && { pass }),
  };
}

function transferListOf({ tether, side }: NativePair, pass: unknown): TransferList {
  return (pass instanceof ArrayBuffer ? [tether, side, pass] : [tether, side]) as unknown as TransferList;
}

export interface OpenedHandle {
  readonly end: 0 | 1;
  readonly region: Region<SharedArrayBuffer>;
  /** None where the handle has never left the thread that made it. */
  readonly natives: NativePair | undefined;
  readonly life: SharedArrayBuffer | null;
  readonly texts: TextBounds;
  readonly agent: unknown;
  /** Of an end that was open before; unchecked. */
  readonly luggage: unknown;
}

/**
 * Checks a handle that arrived in this thread and claims its end of the channel.
 * @param by as in `claimSide`
 * @param isOwn whether this thread has made it, and never handed it on
 * @throws UsageError ERR_HANDLE if it is no handle, has lost its native ports, was handed on, or was attached before;
 *   nothing was claimed then, so that the rightful receiver still can
 * @throws LayoutError if it comes from another version of the layout, or its memory is damaged
 */
export function openHandle(value: unknown, by: 1 | 2 = 1, isOwn = false): OpenedHandle {
  checkSharedMemory('attach', MADE_ELSEWHERE);
  const handle = handleOf(value, 'attach');
  if (handle.version !== LAYOUT_VERSION) {
    throw otherVersion(handle.version);
  }
  const natives = isOwn ? undefined : nativesOf(handle, 'attach');
  const texts = textBoundsOf(handle.texts);
  const region = openRegion(handle.memory);
  if (region.lanes[1].capacity === 0) throw new LayoutError('Cannot attach: the region is a one-way ring');
  const { end } = handle;
  if (end !== 0 && end !== 1) throw noSuchEnd(end);
  const { words } = region.views;
  const { luggage, ticket } = handle as Partial<MovingHandle>;
  const taken = luggage instanceof Map ? (luggage.get(0) as unknown) : undefined;
  const free = taken === undefined ? NOT_TAKEN : (ticket as number);
  if (Atomics.load(words, blockOf(end) + ATTACHED) !== free) throw attachedBefore();
  // Who holds the native ports holds the handle: moved to new objects they are ours, and of no use in the old ones.
  const moved = natives && movedHere(natives, handle.pass);
  // A handle outlives the other side; then its native ports may be closed, and what was sent can be read all the same. Nor does the
  // thread of the other side say so when it is terminated; but who has a ticket is the only one.
  const otherEnded = Atomics.load(words, blockOf(end === 0 ? 1 : 0) + CLOSED) !== 0;
  if (natives !== undefined && moved === undefined && !otherEnded && taken === undefined) throw handedOn();
  if (!claimSide(words, end, by, free)) throw attachedBefore();
  const life = isLifePage(handle.life) ? handle.life : null;
  return {
    end,
    region,
    natives: moved ?? (natives && renewedPair(natives)),
    life,
    texts,
    agent: handle.agent,
    luggage: taken,
  };
}

function movedHere({ tether, side }: NativePair, pass: unknown): NativePair | undefined {
  if (wasHandedOn(pass)) return undefined;
  const own = [tether, side];
  const [movedTether, movedSide] = (platform.movesWhole ? platform.moveHere(own) : own) ?? [];
  return movedTether && movedSide && { tether: movedTether, side: movedSide };
}

/**
 * What must be transferred along with a handle that goes on from this thread to another one. The `transfer` list of the
 * handle's creator does not travel; its native ports do.
 * ```ts
 * import { attach, channel, transferOf } from 'millrace';
 * const { port, remote } = channel();                                // made in some thread
 * const here = channel();
 * here.port.postMessage(remote, remote.transfer);
 * const passing = attach(here.remote).receive();                     // arrived here, on its way to another thread
 * const there = channel();
 * there.port.postMessage(passing, transferOf(passing));
 * attach(attach(there.remote).receive()).postMessage('direct');
 * console.log(port.receive());                                       // direct
 * for (const each of [port, here.port, there.port]) each.close();
 * ```
 * @param remote a handle, as its creator holds it or as it arrived
 * @throws UsageError ERR_HANDLE if it is none, came without its transfer list, or, where it is one without memory, was attached here
 */
export function transferOf(remote: unknown): TransferList {
  const handle = handleOf(remote, 'pass on');
  if (isNativeHandle(handle)) {
    const native = nativeOf(handle.native, 'pass on');
    return (handle.pass instanceof ArrayBuffer ? [native, handle.pass] : [native]) as unknown as TransferList;
  }
  return transferListOf(nativesOf(handle, 'pass on'), handle.pass);
}

/** Whether a value that could not be cloned is a handle, or an object around one, whose native ports are not in the list. */
export function lacksTransfer(value: unknown, transfer: readonly unknown[]): boolean {
  if (typeof value !== 'object' || value === null) return false;
  try {
    // What a getter would give is left alone: it is user code.
    const inner = Object.values(Object.getOwnPropertyDescriptors(value)).map((property): unknown => property.value);
    return [value, ...inner].some((each) => {
      const handle = each as Partial<RemoteHandle> | null | undefined;
      if (isNativeHandle(each)) return !transfer.includes(each.native);
      return handle?.type === HANDLE_TYPE && !(transfer.includes(handle.tether) && transfer.includes(handle.side));
    });
  } catch {
    // A Proxy, whose traps are.
    return false;
  }
}

function attachedBefore(action = 'attach'): UsageError {
  return new UsageError('ERR_HANDLE', `Cannot ${action}: this handle was attached before; a channel has two ends`);
}

function otherVersion(version: unknown): LayoutError {
  return new LayoutError(
    `Cannot attach a handle of layout version ${String(version)}: this copy of millrace speaks version ${LAYOUT_VERSION}; load the same release in both threads`,
    { value: version, limit: LAYOUT_VERSION },
  );
}
function noSuchEnd(end: unknown): LayoutError {
  return new LayoutError(`Cannot attach: a channel has no end ${String(end)}`, { value: end });
}
function handedOn(): UsageError {
  return new UsageError(
    'ERR_HANDLE',
    'Cannot attach: this handle was handed on already: attach it where it arrives; or the other end was let go, or terminated',
  );
}

function handleOf(value: unknown, action: string): RemoteHandle {
  if (typeof value === 'object' && (value as RemoteHandle | null)?.type === HANDLE_TYPE) return value as RemoteHandle;
  throw new UsageError(
    'ERR_HANDLE',
    `Cannot ${action} ${describe(value)}: expected the \`remote\` of a channel, as it arrived in this thread`,
  );
}

function nativesOf({ tether, side }: RemoteHandle, action: string): NativePair {
  if (platform.isNativePort(tether) && platform.isNativePort(side)) return { tether, side } as NativePair;
  throw lostNatives(action);
}
function lostNatives(action: string): UsageError {
  return new UsageError(
    'ERR_HANDLE',
    `Cannot ${action}: the handle has lost its native ports; pass \`remote.transfer\`, or \`transferOf(remote)\` for one that arrived, as transfer list when you post \`remote\``,
  );
}

function textBoundsOf(value: unknown): TextBounds {
  const { count, bytes } = (value ?? {}) as Partial<TextBounds>;
  if (isBound(count, KNOWN_TEXTS_MAX) && isBound(bytes, KNOWN_TEXT_BYTES_MAX)) return { count, bytes };
  throw new LayoutError('Cannot attach: the handle does not say how many texts its channel remembers');
}

function isBound(value: unknown, max: number): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= max;
}

function describe(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  for (const member of ['remote', 'data']) {
    // What `channel()` returns, a message around it, or the event that brought it.
    const inner = typeof value === 'object' ? (value as Record<string, unknown>)[member] : undefined;
    if ((inner as Partial<RemoteHandle> | null | undefined)?.type === HANDLE_TYPE) {
      return `the object around a handle, which is its \`${member}\``;
    }
  }
  return typeof value === 'object'
    ? `an object ${(value as { constructor?: { name?: string } }).constructor?.name ?? ''}`.trim()
    : `a ${typeof value}`;
}
