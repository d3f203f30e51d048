import type { Platform, TextMemory } from './contract.ts';
import { BufferTextMemory, nodePlatform } from './node.ts';

class BunTextMemory extends BufferTextMemory {
  // utf8Write is as fast as latin1Write here, and a look at the text costs a nanosecond a character.
  override readonly latin1First: boolean = false;
}

export const platform: Platform = {
  ...nodePlatform,
  name: 'bun',
  textMemory: (memory: SharedArrayBuffer | ArrayBuffer): TextMemory => new BunTextMemory(memory),
  asyncPark: 'wait-async',
  canProbe: false,
  probeGone: () => false,
};
