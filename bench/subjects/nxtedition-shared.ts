// Seed 001. Used through its documented names only, the same for the original and for the stand-in.
import type { Buffer } from 'node:buffer';
import type { BenchOptions } from '../contest.ts';
import { doorUrl, openDoor } from '../doors.ts';
import { type Load, type Tally, weighBytes } from '../loads.ts';
import type { End, ThreadSubject } from '../subject.ts';
import { loadOriginal, missingOriginal, originalUrl } from './originals.ts';
import { SpinWatch } from './spin-watch.ts';

interface Region {
  readonly buffer: Buffer;
  readonly offset: number;
  readonly length: number;
}

interface Buffers {
  readonly sharedState: SharedArrayBuffer;
  readonly sharedBuffer: SharedArrayBuffer;
}

interface Package {
  alloc(size: number): Buffers;
  reader(buffers: Buffers): { readSome<U>(next: (data: Region, opaque: U) => undefined | boolean, opaque: U): number };
  writer(buffers: Buffers): {
    writeSync<U>(length: number, fn: (data: Region, opaque: U) => number, opaque: U): void;
    flushSync(): void;
  };
}

/** As in the seed's own benchmark. */
const CAPACITY = 8 << 20;

// Buffer has these on every Node; the types don't say so.
type TextBuffer = Buffer & {
  latin1Write(text: string, offset: number, length: number): number;
  latin1Slice(start: number, end: number): string;
};

function writeBytes(data: Region, bytes: Uint8Array): number {
  data.buffer.set(bytes, data.offset);
  return data.offset + bytes.length;
}

function writeText(data: Region, text: string): number {
  return data.offset + (data.buffer as TextBuffer).latin1Write(text, data.offset, text.length);
}

type Loader = (options: BenchOptions) => Promise<Package>;

function makeWriter(made: Package, buffers: Buffers): End {
  const writer = made.writer(buffers);
  return {
    send: (load, count, _progress, from) => {
      const { items, mask, spec } = load;
      if (spec.form === 'bytes') {
        for (let i = 0; i < count; i++) writer.writeSync(spec.size, writeBytes, items[(from + i) & mask] as Uint8Array);
      } else {
        for (let i = 0; i < count; i++) writer.writeSync(spec.size, writeText, items[(from + i) & mask] as string);
      }
      writer.flushSync();
    },
    close: () => {},
  };
}

interface Count {
  sum: number;
  stride: number;
  weigh(value: unknown): number;
}

function takeBytes(data: Region, count: Count): undefined {
  count.sum = (count.sum + weighBytes(data.buffer, data.offset, data.length, count.stride)) | 0;
}

function takeText(data: Region, count: Count): undefined {
  const text = (data.buffer as TextBuffer).latin1Slice(data.offset, data.offset + data.length);
  count.sum = (count.sum + count.weigh(text)) | 0;
}

function makeReader(made: Package, buffers: Buffers): End {
  const reader = made.reader(buffers);
  return {
    receive: (load: Load, count: number): Tally => {
      const watch = new SpinWatch();
      const total: Count = { sum: 0, stride: load.stride, weigh: load.weigh };
      const take = load.spec.form === 'bytes' ? takeBytes : takeText;
      for (let seen = 0, turns = 0; seen < count; turns++) {
        const got = reader.readSome(take, total);
        if (got === 0) watch.turn(turns);
        else turns = 0;
        seen += got;
      }
      return { count, sum: total.sum };
    },
    close: () => {},
  };
}

function subject(
  parts: Pick<ThreadSubject, 'name' | 'label' | 'use' | 'absent' | 'standIn' | 'onlyIn' | 'imports'>,
  load: Loader,
): ThreadSubject {
  return {
    ...parts,
    forms: ['bytes', 'string'],
    waits: [],
    streamWait: 'loop/block',
    connect: async ({ options }) => {
      const made = await load(options);
      const buffers = made.alloc(CAPACITY);
      return { end: makeWriter(made, buffers), data: buffers };
    },
    attach: async ({ data, options }) => makeReader(await load(options), data as Buffers),
  };
}

export const subjects: readonly ThreadSubject[] = [
  subject(
    {
      name: 'nxtedition-shared',
      label: '@nxtedition/shared',
      use: '8 MiB as in its own benchmark; writeSync with a function that never changes, its automatic publication left on and flushSync at the end; the reader calls readSome without pause and reads in place. Strings go through latin1, the fastest way on every runtime.',
      imports: (options) => [originalUrl(options.nxteditionShared, 'nxtedition-shared')],
      absent: async (options) => missingOriginal(options.nxteditionShared, 'nxtedition-shared', '--nxtedition-shared'),
      standIn: (options) => options.nxteditionShared === undefined,
    },
    (options) => loadOriginal<Package>(options.nxteditionShared, 'nxtedition-shared'),
  ),
  subject(
    {
      name: 'millrace-shared',
      label: 'millrace/compat/nxtedition-shared',
      use: 'The same code with one import changed: our ring behind the names of @nxtedition/shared.',
      imports: () => [doorUrl('./compat/nxtedition-shared')],
      onlyIn: ['shared-', 'startup'],
    },
    () => openDoor<Package>('./compat/nxtedition-shared'),
  ),
];
