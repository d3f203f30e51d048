// The port suite over a byte stream, cut into chunks at random: everything that needs neither shared memory nor another thread.
import { streamPair } from '../kit/stream-pair.ts';
import { OVER_A_STREAM, portConformance } from './port.ts';

for (const chunkMax of [7, 4096]) {
  portConformance({
    name: `stream, chunks of ${chunkMax} bytes at the most`,
    ...OVER_A_STREAM,
    pair: (options) => streamPair(options, { chunkMax }).ports(),
  });
}
