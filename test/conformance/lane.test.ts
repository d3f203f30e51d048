// The ring lane under the lane suite, once for each codec that carries all of its values.

import { CODECS, codecOfName, Decoders } from '../../src/codec/choose.ts';
import type { Codec, CodecOptions } from '../../src/codec/codec.ts';
import { Outbox } from '../../src/lane/outbox.ts';
import { RingInbound } from '../../src/lane/ring-inbound.ts';
import { RingOutbound } from '../../src/lane/ring-outbound.ts';
import { SideChannel } from '../../src/lane/side-channel.ts';
import { createNatives } from '../../src/memory/handshake.ts';
import * as layout from '../../src/memory/layout.ts';
import { allocateRegion } from '../../src/memory/region.ts';
import { Consumer } from '../../src/ring/consumer.ts';
import { Producer } from '../../src/ring/producer.ts';
import { type LaneBench, type LaneOptions, laneConformance } from './lane.ts';

const MESSAGE_MAX = 64 * 1024;
const CODEC_OPTIONS: CodecOptions = {};

function ringLane(
  codec: Codec,
  { overflow = 'wait', highWaterMark = 1024, outboxLimit = 2 ** 20 }: LaneOptions,
): LaneBench {
  const region = allocateRegion(1024, 1024, MESSAGE_MAX);
  const [lane] = region.lanes;
  const { near, far } = createNatives();
  const nobody = { arrived: () => {}, closed: () => {} };
  const sideOut = new SideChannel(near, nobody);
  const sideIn = new SideChannel(far, nobody);
  const out = new RingOutbound(
    region.views,
    lane,
    new Producer(lane),
    codec.createEncoder(CODEC_OPTIONS),
    codec.kind,
    sideOut,
    MESSAGE_MAX,
    new Outbox(overflow, highWaterMark, outboxLimit),
    false,
    layout.SIDE_1 + layout.RELEARN,
    () => {},
  );
  const decoders = new Decoders(CODECS, CODEC_OPTIONS);
  const relearn = layout.SIDE_1 + layout.RELEARN;
  const inbound = new RingInbound(region.views, lane, new Consumer(lane), decoders, sideIn, MESSAGE_MAX, relearn);
  return {
    out,
    in: inbound,
    spill() {
      const ring: unknown[] = [];
      while (inbound.stash()) ring.push(0);
      if (out.spill() > 0) inbound.takeLeftOver(sideIn.takeSpill() ?? []);
    },
    close() {
      sideOut.close(true);
      sideIn.close(true);
    },
  };
}

for (const name of ['packed', 'json']) {
  laneConformance(`ring lane, ${name}`, (options = {}) => ringLane(codecOfName(name), options));
}
