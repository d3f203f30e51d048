// The shared ring under the transport suite, in each way its event loop may sleep.
import { CODECS, codecOfName } from '../../src/codec/choose.ts';
import { createNatives } from '../../src/memory/native-pair.ts';
import { allocateRegion } from '../../src/memory/region.ts';
import { ThreadLink } from '../../src/transport/thread/thread-link.ts';
import { ThreadTransport } from '../../src/transport/thread/thread-ring.ts';
import { type TransportEnd, transportConformance } from './transport.ts';

for (const asyncPark of ['wait-async', 'doorbell'] as const) {
  transportConformance(`shared ring, ${asyncPark}`, () => {
    const region = allocateRegion(1024, 1024, 64 * 1024);
    const { near, far } = createNatives();
    const end = (side: 0 | 1, natives: typeof near): TransportEnd => {
      let woken = 0;
      const way = { first: new ThreadLink(natives), peerLife: null, life: null, peerEndTold: false };
      const options = {
        codec: codecOfName('packed'),
        codecs: CODECS,
        codecOptions: {},
        overflow: 'wait',
        highWaterMark: 4096,
        outboxLimit: 2 ** 20,
        spinUs: 0,
        asyncPark,
        livenessSliceMs: 5,
        startTimeoutMs: Number.POSITIVE_INFINITY,
        moving: { texts: { count: 0, bytes: 0 }, portOptions: {} },
      } as const;
      const transport = new ThreadTransport(region, side, way, options, {
        woken: () => void woken++,
        failed: () => {},
      });
      return { transport, woken: () => woken };
    };
    return [end(0, near), end(1, far)];
  });
}
