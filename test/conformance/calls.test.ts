// The suite of calls over ports between threads, over a byte stream, and over memory that is only mapped.
// watchdog: 180 s
import { streamPair } from '../kit/stream-pair.ts';
import { callsConformance } from './calls.ts';
import { OVER_A_STREAM } from './port.ts';
import { threadWorld } from './thread-world.ts';

callsConformance(threadWorld('thread', {}));
callsConformance({
  name: 'stream',
  ...OVER_A_STREAM,
  pair: (options) => streamPair(options, { chunkMax: 4096 }).ports(),
});
