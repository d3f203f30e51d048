// The port suite over a byte stream, cut into chunks at random: everything that needs neither shared memory nor another thread.
import { streamPair } from '../kit/stream-pair.ts';
import { portConformance } from './port.ts';

for (const chunkMax of [7, 4096]) {
  portConformance({
    name: `stream, chunks of ${chunkMax} bytes at the most`,
    sharesMemory: false,
    blocks: false,
    moves: false,
    threads: false,
    latest: false,
    pair: (options) => streamPair(options, { chunkMax }).ports(),
    far: () => {
      throw new Error('there is no other thread');
    },
  });
}
