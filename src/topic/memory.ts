// The memory of a topic: made, checked, looked at. Between threads it is a SharedArrayBuffer; what two processes have mapped is
// an ArrayBuffer, and nothing here or in the ring asks which it is.
import { platformMemory } from '#platform';
import { LayoutError, UsageError } from '../errors.ts';
import { TOPIC_CAPACITY_MAX, TOPIC_CAPACITY_MIN, TOPIC_MESSAGE_SHARE, TOPIC_RELIABLE_MAX } from '../limits.ts';
import { type CommonMemory, checkSharedMemory, type Views, viewsOf } from '../memory/region.ts';
import type { BlockMemory } from '../platform/contract.ts';
import * as layout from './layout.ts';

/** What the ring of a topic needs to know of its memory. */
export interface TopicLane {
  readonly words: Int32Array;
  readonly blocks: Pick<BlockMemory, 'copyOut'>;
  /** Byte offset of the data area. */
  readonly data: number;
  /** Bytes in it; a power of two. */
  readonly capacity: number;
  /** Bytes of the longest message: a quarter of the capacity at the most (P3). */
  readonly messageMax: number;
  readonly seats: number;
}

export interface TopicMemory<M extends CommonMemory = CommonMemory> extends TopicLane {
  readonly memory: M;
  readonly views: Views;
}

/** Byte offset of the data area behind so many seats. */
function dataOf(seats: number): number {
  return (layout.SEAT_0 + seats * layout.SEAT_WORDS) * 4;
}

/** Bytes that the memory of a topic takes. */
export function topicBytes(capacity: number, seats: number): number {
  return dataOf(seats) + capacity;
}

/** @throws UsageError ERR_OPTION if so much memory cannot be had; UnsupportedError where threads share none */
export function allocateTopic(capacity: number, messageMax: number, seats: number): TopicMemory<SharedArrayBuffer> {
  checkSharedMemory('make a topic');
  let memory: SharedArrayBuffer;
  try {
    memory = platformMemory.sharedMemory(topicBytes(capacity, seats));
  } catch (cause) {
    throw new UsageError('ERR_OPTION', `Cannot allocate ${capacity} bytes of shared memory`, { cause });
  }
  writeTopicHeader(memory, capacity, messageMax, seats);
  return openTopic(memory);
}

/** Makes a topic of memory that is all zero: `topicBytes` of it. */
export function writeTopicHeader(memory: CommonMemory, capacity: number, messageMax: number, seats: number): void {
  const words = new Int32Array(memory, 0, layout.SEAT_0);
  // SYNC topic-header: MAGIC last, though a handle that is posted orders more than this; pairs with openTopic.
  Atomics.store(words, layout.VERSION, layout.LAYOUT_VERSION);
  Atomics.store(words, layout.CAPACITY, capacity);
  Atomics.store(words, layout.MESSAGE_MAX, messageMax);
  Atomics.store(words, layout.SEATS, seats);
  Atomics.store(words, layout.MAGIC, layout.LAYOUT_MAGIC);
}

/**
 * Checks memory that somebody handed over, and makes its views.
 * @throws LayoutError ERR_LAYOUT when magic, version, numbers or size do not fit
 */
export function openTopic<M extends CommonMemory>(memory: M): TopicMemory<M> {
  if (memory.byteLength < dataOf(0)) {
    throw new LayoutError(`Cannot open a topic in ${memory.byteLength} bytes: its header alone takes ${dataOf(0)}`, {
      length: memory.byteLength,
      limit: dataOf(0),
    });
  }
  const views = viewsOf(memory);
  const { words } = views;
  // SYNC topic-header: pairs with writeTopicHeader.
  const magic = Atomics.load(words, layout.MAGIC);
  const version = Atomics.load(words, layout.VERSION);
  if (magic !== layout.LAYOUT_MAGIC) {
    throw new LayoutError(`Cannot open a topic: its memory starts with ${magic}, not ${layout.LAYOUT_MAGIC}`, {
      value: magic,
    });
  }
  if (version !== layout.LAYOUT_VERSION) {
    throw new LayoutError(
      `Cannot open a topic of layout version ${version}: this copy of millrace speaks version ${layout.LAYOUT_VERSION}; load the same release in all threads`,
      { value: version, limit: layout.LAYOUT_VERSION },
    );
  }
  const capacity = Atomics.load(words, layout.CAPACITY);
  const messageMax = Atomics.load(words, layout.MESSAGE_MAX);
  const seats = Atomics.load(words, layout.SEATS);
  const numbersHold =
    isCapacity(capacity) &&
    messageMax > 0 &&
    messageMax <= capacity / TOPIC_MESSAGE_SHARE &&
    seats >= 0 &&
    seats <= TOPIC_RELIABLE_MAX;
  if (!numbersHold || memory.byteLength < topicBytes(capacity, seats)) {
    throw new LayoutError(
      `Cannot open a topic: capacity ${capacity}, longest message ${messageMax} and ${seats} seats do not fit ${memory.byteLength} bytes`,
      { length: memory.byteLength },
    );
  }
  return { memory, views, words, blocks: views.blocks, data: dataOf(seats), capacity, messageMax, seats };
}

function isCapacity(value: number): boolean {
  return value >= TOPIC_CAPACITY_MIN && value <= TOPIC_CAPACITY_MAX && (value & (value - 1)) === 0;
}
