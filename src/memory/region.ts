// Allocates and checks regions, and makes every view over them: once, here. Rings and signals are handed views.
import { platformMemory, platformText } from '#platform';
import { LayoutError, UnsupportedError, UsageError } from '../errors.ts';
import { MESSAGE_BYTES_MAX, RING_CAPACITY_MAX, RING_CAPACITY_MIN } from '../limits.ts';
import type { BlockMemory, TextMemory } from '../platform/contract.ts';
import * as layout from './layout.ts';

/**
 * Views over one piece of memory, each made once. All cover the same bytes from offset 0, so that byte offset `o` is
 * `words[o >>> 2]`. `floats` covers the whole doubles.
 */
export interface Views {
  readonly words: Int32Array;
  readonly bytes: Uint8Array;
  readonly floats: Float64Array;
  readonly text: TextMemory;
  readonly blocks: BlockMemory;
  /** Had for a while only, and somebody else's behind it (scratch.ts): who is done with it forgets it. */
  readonly lent: boolean;
}

/** One direction of a region: what a Producer and a Consumer need to know. */
export interface LaneMemory {
  readonly words: Int32Array;
  readonly bytes: Uint8Array;
  /** Word index of the lane block. */
  readonly block: number;
  /** Byte offset of the data area. */
  readonly data: number;
  /** Bytes in the data area; a power of two. */
  readonly capacity: number;
}

/** The control words of a region, and which of them are this side's and the other one's. */
export interface SideWords {
  readonly words: Int32Array;
  /** Word indexes of the side blocks. */
  readonly here: number;
  readonly there: number;
}

/** Memory that agents have in common: threads what their runtime shares, processes what they have mapped, which looks like any other. */
export type CommonMemory = SharedArrayBuffer | ArrayBuffer;

/** A checked region. */
export interface Region<M extends CommonMemory = CommonMemory> {
  readonly memory: M;
  readonly views: Views;
  readonly lanes: readonly [LaneMemory, LaneMemory];
  readonly messageMax: number;
}

/**
 * The views that few messages need are made for the first that does: six of them take a kilobyte. All of them, also those
 * that platforms make, are told their length: without, a view follows memory that may grow, at several times the cost.
 */
class MemoryViews implements Views {
  readonly words: Int32Array;
  readonly bytes: Uint8Array;
  readonly lent: boolean;
  #floats: Float64Array | undefined;
  #text: TextMemory | undefined;
  #blocks: BlockMemory | undefined;

  constructor(memory: CommonMemory, lent: boolean) {
    this.lent = lent;
    this.words = new Int32Array(memory, 0, memory.byteLength >>> 2);
    this.bytes = new Uint8Array(memory, 0, memory.byteLength);
  }

  get floats(): Float64Array {
    this.#floats ??= new Float64Array(this.bytes.buffer, 0, this.bytes.length >>> 3);
    return this.#floats;
  }
  get text(): TextMemory {
    this.#text ??= platformText(this.bytes.buffer);
    return this.#text;
  }
  get blocks(): BlockMemory {
    this.#blocks ??= platformMemory.blockMemory(this.bytes.buffer);
    return this.#blocks;
  }
}

export function viewsOf(memory: CommonMemory, lent = false): Views {
  return new MemoryViews(memory, lent);
}

/** The smallest power of two that holds `bytes`. */
export function capacityFor(bytes: number, name = 'capacity'): number {
  if (!Number.isSafeInteger(bytes) || bytes < 1 || bytes > RING_CAPACITY_MAX) {
    throw new UsageError(
      'ERR_OPTION',
      `Cannot allocate a ring of ${bytes} bytes: ${name} must be a whole number from 1 to ${RING_CAPACITY_MAX}`,
      { option: name, value: bytes, limit: RING_CAPACITY_MAX },
    );
  }
  let capacity = RING_CAPACITY_MIN;
  while (capacity < bytes) capacity *= 2;
  return capacity;
}

/** What is missing where browsers hide shared memory, and what brings it. */
export const NO_SHARED_MEMORY: string =
  'there is no SharedArrayBuffer here, because the page is not cross-origin isolated; serve it with the headers Cross-Origin-Opener-Policy: same-origin and Cross-Origin-Embedder-Policy: require-corp (or credentialless), or have a service worker help: isolate() or enableBlocking() of millrace/browser/service-worker';

/** What else helps where somebody else has made the channel: no header isolates a thread with an origin of its own, as that of a data: worker. */
export const MADE_ELSEWHERE = '; or make the channel with memory: false';

/**
 * Browsers hide shared memory from pages that are not isolated: the name itself is missing there.
 * @param remedy what else there is to do
 * @throws UnsupportedError that names the remedy
 */
export function checkSharedMemory(action: string, remedy = ''): void {
  if (typeof SharedArrayBuffer !== 'undefined') return;
  throw new UnsupportedError(`Cannot ${action}: ${NO_SHARED_MEMORY}${remedy}`, { feature: 'SharedArrayBuffer' });
}

/** Bytes that a region with these capacities takes. */
export function regionBytes(capacity0: number, capacity1: number): number {
  return layout.DATA * 4 + capacity0 + capacity1;
}

/** Allocates a region whose lanes hold at least the given bytes, and writes its header. `bytes1` 0: one-way. */
export function allocateRegion(bytes0: number, bytes1: number, messageMax: number): Region<SharedArrayBuffer> {
  return openRegion(allocateMemory(bytes0, bytes1, messageMax));
}

/** The memory of such a region. */
export function allocateMemory(bytes0: number, bytes1: number, messageMax: number): SharedArrayBuffer {
  const capacity0 = capacityFor(bytes0);
  const capacity1 = bytes1 === 0 ? 0 : capacityFor(bytes1);
  checkSharedMemory('make a channel');
  let memory: SharedArrayBuffer;
  try {
    const bytes = regionBytes(capacity0, capacity1);
    // Over a one-way ring lie views that users have, and hand to whom they like: not everybody takes memory that may grow.
    memory = capacity1 === 0 ? new SharedArrayBuffer(bytes) : platformMemory.sharedMemory(bytes);
  } catch (cause) {
    throw new UsageError('ERR_OPTION', `Cannot allocate ${capacity0 + capacity1} bytes of shared memory`, { cause });
  }
  writeHeader(memory, capacity0, capacity1, messageMax);
  return memory;
}

/**
 * Makes a region of memory that is all zero: `regionBytes` of it.
 * @param capacity0 as `capacityFor` has it
 */
export function writeHeader(memory: CommonMemory, capacity0: number, capacity1: number, messageMax: number): void {
  const words = new Int32Array(memory, 0, layout.DATA);
  Atomics.store(words, layout.VERSION, layout.LAYOUT_VERSION);
  Atomics.store(words, layout.CAPACITY_0, capacity0 | 0);
  Atomics.store(words, layout.CAPACITY_1, capacity1 | 0);
  Atomics.store(words, layout.MESSAGE_MAX, messageMax);
  Atomics.store(words, layout.MAGIC, layout.LAYOUT_MAGIC);
}

/** Whether this came as memory that another thread looks at, too, of so many bytes at least. */
export function isSharedMemory(value: unknown, bytes = 0): value is SharedArrayBuffer {
  const shared =
    typeof SharedArrayBuffer === 'undefined'
      ? // A scope may lack the name, and be handed such memory all the same.
        Object.prototype.toString.call(value) === '[object SharedArrayBuffer]'
      : value instanceof SharedArrayBuffer;
  return shared && (value as SharedArrayBuffer).byteLength >= bytes;
}

/**
 * Checks the header of a region that another thread has handed over, and makes its views.
 * @throws UnsupportedError where there is no shared memory; LayoutError ERR_LAYOUT when magic, version, capacities or size do not fit
 */
export function openRegion(memory: SharedArrayBuffer): Region<SharedArrayBuffer> {
  checkShared(memory);
  return checked(memory, viewsOf);
}

/** The same for one that this process has mapped. @throws LayoutError as openRegion */
export function openMapped(memory: ArrayBuffer): Region<ArrayBuffer> {
  return checked(memory, viewsOf);
}

/**
 * The lane of a one-way ring, without the views that only a channel needs.
 * @throws as openRegion
 */
export function openLane(memory: SharedArrayBuffer): LaneMemory {
  checkShared(memory);
  return checked(memory, bytesOf).lanes[0];
}

type ByteViews = Pick<Views, 'words' | 'bytes'>;

/** What came as a region from another thread: is it memory that both look at? */
function checkShared(memory: unknown): void {
  if (isSharedMemory(memory)) return;
  checkSharedMemory('open a region');
  throw new LayoutError('Cannot open a region: the memory handed over is not a SharedArrayBuffer');
}

function bytesOf(memory: CommonMemory): ByteViews {
  return {
    words: new Int32Array(memory, 0, memory.byteLength >>> 2),
    bytes: new Uint8Array(memory, 0, memory.byteLength),
  };
}

function checked<M extends CommonMemory, V extends ByteViews>(
  memory: M,
  view: (memory: M) => V,
): Omit<Region<M>, 'views'> & { readonly views: V } {
  if (memory.byteLength < layout.DATA * 4) {
    throw new LayoutError(`Cannot open a region of ${memory.byteLength} bytes: the header alone takes 1024`, {
      length: memory.byteLength,
      limit: layout.DATA * 4,
    });
  }
  const views = view(memory);
  const { words, bytes } = views;
  const magic = Atomics.load(words, layout.MAGIC);
  if (magic !== layout.LAYOUT_MAGIC) {
    throw new LayoutError(`Cannot open a region: it starts with ${hex(magic)}, not ${hex(layout.LAYOUT_MAGIC)}`, {
      value: magic,
    });
  }
  const version = Atomics.load(words, layout.VERSION);
  if (version !== layout.LAYOUT_VERSION) {
    throw new LayoutError(
      `Cannot open a region of layout version ${version}: this copy of millrace speaks version ${layout.LAYOUT_VERSION}; load the same release in both threads`,
      { value: version, limit: layout.LAYOUT_VERSION },
    );
  }
  const capacity0 = Atomics.load(words, layout.CAPACITY_0) >>> 0;
  const capacity1 = Atomics.load(words, layout.CAPACITY_1) >>> 0;
  if (!isCapacity(capacity0) || !(capacity1 === 0 || isCapacity(capacity1))) {
    throw new LayoutError(`Cannot open a region: capacities ${capacity0} and ${capacity1} are not powers of two`);
  }
  const claimed = regionBytes(capacity0, capacity1);
  if (memory.byteLength < claimed) {
    throw new LayoutError(`Cannot open a region of ${memory.byteLength} bytes: its header claims ${claimed}`, {
      length: memory.byteLength,
      limit: claimed,
    });
  }
  const messageMax = Atomics.load(words, layout.MESSAGE_MAX);
  if (messageMax < 1 || messageMax > MESSAGE_BYTES_MAX) {
    throw new LayoutError(`Cannot open a region: its message limit ${messageMax} is not 1 to ${MESSAGE_BYTES_MAX}`, {
      value: messageMax,
      limit: MESSAGE_BYTES_MAX,
    });
  }
  const data = layout.DATA * 4;
  return {
    memory,
    views,
    messageMax,
    lanes: [
      { words, bytes, block: layout.LANE_0, data, capacity: capacity0 },
      { words, bytes, block: layout.LANE_1, data: data + capacity0, capacity: capacity1 },
    ],
  };
}

function isCapacity(value: number): boolean {
  return value >= RING_CAPACITY_MIN && value <= RING_CAPACITY_MAX && Number.isInteger(Math.log2(value));
}

function hex(value: number): string {
  return `0x${(value >>> 0).toString(16)}`;
}
