// ringbuf.js: a wait-free ring of array elements for audio threads.
import { weighBytes } from '../loads.ts';
import type { End, ThreadSubject } from '../subject.ts';
import { loadRival, missingRival, rivalUrl } from './rival.ts';
import { SpinWatch } from './spin-watch.ts';

interface RingBuffer {
  push(elements: Uint8Array, length?: number): number;
  pop(elements: Uint8Array, length?: number): number;
  available_read(): number;
  available_write(): number;
}

interface Package {
  RingBuffer: {
    new (memory: SharedArrayBuffer, type: typeof Uint8Array): RingBuffer;
    getStorageForCapacity(capacity: number, type: typeof Uint8Array): SharedArrayBuffer;
  };
}

const FILE = 'dist/index.mjs';
const CAPACITY = 1 << 20;

function wrap(ring: RingBuffer): End {
  return {
    send: (load, count, _progress, from) => {
      const { items, mask, spec } = load;
      const watch = new SpinWatch();
      for (let i = 0; i < count; i++) {
        for (let turns = 0; ring.available_write() < spec.size; turns++) watch.turn(turns);
        ring.push(items[(from + i) & mask] as Uint8Array);
      }
    },
    receive: (load, count) => {
      const { stride, spec } = load;
      const bytes = new Uint8Array(spec.size);
      const watch = new SpinWatch();
      let sum = 0;
      for (let i = 0; i < count; i++) {
        for (let turns = 0; ring.available_read() < spec.size; turns++) watch.turn(turns);
        ring.pop(bytes);
        sum = (sum + weighBytes(bytes, 0, spec.size, stride)) | 0;
      }
      return { count, sum };
    },
    close: () => {},
  };
}

export const subjects: readonly ThreadSubject[] = [
  {
    name: 'ringbuf',
    label: 'ringbuf.js',
    use: 'RingBuffer over Uint8Array, 1 MiB, push and pop of whole messages into one reused array; it knows neither lengths nor waiting, so messages have one size and both threads spin, which favours it.',
    forms: ['bytes'],
    waits: [],
    streamWait: 'loop/block',
    imports: () => [rivalUrl('ringbuf.js', FILE)!],
    absent: async () => missingRival('ringbuf.js', FILE),
    connect: async () => {
      const { RingBuffer } = await loadRival<Package>('ringbuf.js', FILE);
      const memory = RingBuffer.getStorageForCapacity(CAPACITY, Uint8Array);
      return { end: wrap(new RingBuffer(memory, Uint8Array)), data: memory };
    },
    attach: async ({ data }) => {
      const { RingBuffer } = await loadRival<Package>('ringbuf.js', FILE);
      return wrap(new RingBuffer(data as SharedArrayBuffer, Uint8Array));
    },
  },
];
