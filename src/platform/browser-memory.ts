// Memory in browsers. Apart from the rest of their platform, which asks when it is loaded what there is here (locks, blocking): a ring is
// loaded where there is none of it, in an AudioWorklet.
import type { BlockMemory, MemoryPlatform } from './contract.ts';
import { PlainBlockMemory } from './plain-blocks.ts';

export const platformMemory: MemoryPlatform = {
  // Memory that may grow comes sooner in Chromium (node-memory.ts), and is slower to use in WebKit (bun.ts).
  sharedMemory(bytes: number): SharedArrayBuffer {
    return new SharedArrayBuffer(bytes);
  },

  blockMemory(memory: SharedArrayBuffer | ArrayBuffer): BlockMemory {
    return new PlainBlockMemory(memory);
  },

  byteView(memory: SharedArrayBuffer | ArrayBuffer): Uint8Array {
    return new Uint8Array(memory, 0, memory.byteLength);
  },

  isPooled: (): boolean => false,
};
