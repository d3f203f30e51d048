// Ours, the zero-copy door: records written and read in place.
import { Buffer } from 'node:buffer';
import type { BlockMemory, Consumer, Producer } from '../../src/ring/index.ts';
import { doorUrl, openDoor } from '../doors.ts';
import { type Load, type Tally, weighBytes } from '../loads.ts';
import type { End, ThreadSubject } from '../subject.ts';
import { SpinWatch } from './spin-watch.ts';

type Door = typeof import('../../src/ring/index.ts');
export const door: Door = await openDoor<Door>('./ring');
const { FULL, allocate, open } = door;

const CAPACITY_MIN = 1 << 20;
/** Bytes published together. Less wastes atomic stores, more leaves the other core without work. */
const PUBLISH_BYTES = 16 << 10;

// Buffer has these on every runtime; the types don't say so.
type TextBuffer = Buffer & {
  latin1Write(text: string, offset: number, length: number): number;
  latin1Slice(start: number, end: number): string;
};

function textOf(memory: SharedArrayBuffer): TextBuffer {
  return Buffer.from(memory as unknown as ArrayBuffer) as TextBuffer;
}

function claim(producer: Producer, size: number, watch: SpinWatch): number {
  let offset = producer.tryClaim(size);
  for (let turns = 0; offset === FULL; turns++) {
    // The reader must see what is written before it can make room.
    if (turns === 0) producer.publish();
    watch.turn(turns);
    offset = producer.tryClaim(size);
  }
  return offset;
}

/** Bytes in place, published by 16 KiB. */
export function sendBytes(producer: Producer, blocks: BlockMemory, load: Load, count: number, from: number): void {
  const { items, mask, spec } = load;
  const watch = new SpinWatch();
  producer.gather(PUBLISH_BYTES);
  for (let i = 0; i < count; i++) {
    const offset = claim(producer, spec.size, watch);
    blocks.copyIn(items[(from + i) & mask] as Uint8Array, offset);
    producer.commit();
  }
  producer.publish();
}

function sendTexts(producer: Producer, text: TextBuffer, load: Load, count: number, from: number): void {
  const { items, mask, spec } = load;
  const watch = new SpinWatch();
  producer.gather(PUBLISH_BYTES);
  for (let i = 0; i < count; i++) {
    const offset = claim(producer, spec.size, watch);
    text.latin1Write(items[(from + i) & mask] as string, offset, spec.size);
    producer.commit();
  }
  producer.publish();
}

/** The same, read where they lie. */
export function receiveBytes(consumer: Consumer, load: Load, count: number): Tally {
  const { stride } = load;
  const watch = new SpinWatch();
  let sum = 0;
  const take = (bytes: Uint8Array, offset: number, length: number): void => {
    sum = (sum + weighBytes(bytes, offset, length, stride)) | 0;
  };
  for (let seen = 0, turns = 0; seen < count; turns++) {
    const got = consumer.drain(take, count - seen);
    if (got === 0) watch.turn(turns);
    else turns = 0;
    seen += got;
  }
  return { count, sum };
}

function receiveTexts(consumer: Consumer, text: TextBuffer, load: Load, count: number): Tally {
  const { weigh } = load;
  const watch = new SpinWatch();
  let sum = 0;
  const take = (_bytes: Uint8Array, offset: number, length: number): void => {
    sum = (sum + weigh(text.latin1Slice(offset, offset + length))) | 0;
  };
  for (let seen = 0, turns = 0; seen < count; turns++) {
    const got = consumer.drain(take, count - seen);
    if (got === 0) watch.turn(turns);
    else turns = 0;
    seen += got;
  }
  return { count, sum };
}

export const subjects: readonly ThreadSubject[] = [
  {
    name: 'millrace-ring',
    label: 'Millrace ring, zero copy',
    use: '1 MiB (four messages, if they are larger); tryClaim, write in place, commit, published by 16 KiB (gather); the reader drains and reads in place; both spin when they have to wait. Strings are written and read as latin1.',
    forms: ['bytes', 'string'],
    waits: [],
    streamWait: 'loop/block',
    imports: () => [doorUrl('./ring')],
    connect: ({ load }) => {
      // A record takes at most half the ring; four of them keep both threads busy.
      const memory = allocate(Math.max(CAPACITY_MIN, load.sizeBytes * 4));
      const ring = open(memory);
      const producer = new door.Producer(ring);
      const text = textOf(memory);
      const end: End = {
        send: (load, count, _progress, from) =>
          load.spec.form === 'bytes'
            ? sendBytes(producer, ring.blocks, load, count, from)
            : sendTexts(producer, text, load, count, from),
        close: () => {},
      };
      return { end, data: memory };
    },
    attach: ({ data }) => {
      const memory = data as SharedArrayBuffer;
      const consumer = new door.Consumer(open(memory));
      const text = textOf(memory);
      return {
        receive: (load, count) =>
          load.spec.form === 'bytes' ? receiveBytes(consumer, load, count) : receiveTexts(consumer, text, load, count),
        close: () => {},
      };
    },
  },
];
