// The ring lane under the lane suite, once for each codec that carries all of its values.

import { CODECS, codecOfName, Decoders } from '../../src/codec/choose.ts';
import type { Codec, CodecOptions } from '../../src/codec/codec.ts';
import { LaneInbound } from '../../src/lane/inbound.ts';
import { LaneOutbound } from '../../src/lane/outbound.ts';
import { Outbox } from '../../src/lane/outbox.ts';
import { RingInboundNotes, RingOutboundNotes, RingSink, RingSource } from '../../src/lane/ring-records.ts';
import * as layout from '../../src/memory/layout.ts';
import { createNatives } from '../../src/memory/native-pair.ts';
import { allocateRegion } from '../../src/memory/region.ts';
import { tieOver } from '../kit/tie.ts';
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
  const sideOut = tieOver(near);
  const sideIn = tieOver(far);
  const relearn = layout.SIDE_1 + layout.RELEARN;
  const out = new LaneOutbound({
    sink: new RingSink(lane, region.views),
    notes: new RingOutboundNotes(lane, relearn),
    beside: sideOut.beside,
    leftOver: sideOut.leftOver,
    encoder: codec.createEncoder(CODEC_OPTIONS),
    kind: codec.kind,
    messageMax: MESSAGE_MAX,
    outbox: new Outbox(overflow, highWaterMark, outboxLimit),
    maySpin: false,
    failed: () => {},
  });
  const decoders = new Decoders(CODECS, CODEC_OPTIONS);
  const inbound = new LaneInbound({
    source: new RingSource(lane, region.views),
    notes: new RingInboundNotes(lane, relearn),
    beside: sideIn.beside,
    decoders,
    messageMax: MESSAGE_MAX,
  });
  return {
    out,
    in: inbound,
    spill() {
      const ring: unknown[] = [];
      while (inbound.stash()) ring.push(0);
      if (out.spill() > 0) inbound.takeLeftOver(sideIn.leftOver.takeSpill() ?? []);
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
