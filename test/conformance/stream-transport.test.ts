// A channel of a byte stream under the transport suite, and its records under the lane suite.
import { CODECS, codecOfName } from '../../src/codec/choose.ts';
import { NOTHING_BESIDE } from '../../src/lane/beside.ts';
import { LaneInbound } from '../../src/lane/inbound.ts';
import { LaneOutbound } from '../../src/lane/outbound.ts';
import { Outbox } from '../../src/lane/outbox.ts';
import { StreamTransport } from '../../src/transport/stream/stream-transport.ts';
import { endOptions, streamPair } from '../kit/stream-pair.ts';
import { laneConformance } from './lane.ts';
import { type TransportEnd, transportConformance } from './transport.ts';

for (const chunkMax of [1, 9, 4096]) {
  transportConformance(`stream, chunks of ${chunkMax}`, () => {
    const { connections, channels } = streamPair({ capacityBytes: 1024, maxMessageBytes: 65536 }, { chunkMax });
    const [near, far] = channels();
    const end = (side: 0 | 1): TransportEnd => {
      let woken = 0;
      const transport = new StreamTransport(
        connections[side],
        side === 0 ? near : far,
        endOptions({ highWaterMarkBytes: 4096, outboxBytes: 2 ** 20 }),
        { woken: () => void woken++, failed: () => {} },
      );
      return { transport, woken: () => woken };
    };
    return [end(0), end(1)];
  });
}

for (const name of ['packed', 'json']) {
  laneConformance(`stream lane, ${name}`, ({ overflow = 'wait', highWaterMark = 1024, outboxLimit = 2 ** 20 } = {}) => {
    const messageMax = 64 * 1024;
    const [near, far] = streamPair({ capacityBytes: 1024, maxMessageBytes: messageMax }).channels();
    const codec = codecOfName(name);
    const out = new LaneOutbound({
      sink: near.sink,
      notes: near.outNotes,
      beside: NOTHING_BESIDE,
      encoder: codec.createEncoder({}),
      kind: codec.kind,
      messageMax,
      outbox: new Outbox(overflow, highWaterMark, outboxLimit),
      maySpin: false,
      failed: () => {},
    });
    const inbound = new LaneInbound({
      source: far.source,
      notes: far.inNotes,
      beside: NOTHING_BESIDE,
      decoders: new Map(CODECS.map((each) => [each.kind, each.createDecoder({})])),
      messageMax,
    });
    return {
      out,
      in: inbound,
      // Where nothing can be left over, what waits follows as it is read.
      spill() {
        while (out.backlog > 0) {
          while (inbound.stash());
          out.pump();
        }
      },
      close() {},
    };
  });
}
