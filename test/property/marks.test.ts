// Marks in a lane's stream against an array, around the places where its positions wrap: 60,000 operations in CI. The seed is
// printed; SEED and CASE repeat one.
// asked for: node-22, node-26
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CODECS, codecOfName, Decoders } from '../../src/codec/choose.ts';
import { LaneInbound } from '../../src/lane/inbound.ts';
import { LaneOutbound } from '../../src/lane/outbound.ts';
import { Outbox, type OverflowPolicy } from '../../src/lane/outbox.ts';
import { RingInboundNotes, RingOutboundNotes, RingSink, RingSource } from '../../src/lane/ring-records.ts';
import * as layout from '../../src/memory/layout.ts';
import { createNatives } from '../../src/memory/native-pair.ts';
import { allocateRegion } from '../../src/memory/region.ts';
import { EMPTY } from '../../src/outcome.ts';
import { cases, eachCase, type Random, seed } from '../kit/prng.ts';
import { tieOver } from '../kit/tie.ts';

const OPERATIONS_A_CASE = 200;
const CASES = cases(300, 20_000);
const { LANE_0, TAIL, HEAD, TAKEN, SIDE_1, RELEARN } = layout;

interface Lane {
  readonly out: LaneOutbound;
  readonly inbound: LaneInbound;
  close(): void;
}

function lane(random: Random, overflow: OverflowPolicy): Lane {
  const region = allocateRegion(1 << random.int(7, 11), 64, 1 << 16);
  const { words } = region.views;
  const start = random.pick([0, 2 ** 31 - 8 * random.int(1, 60), -8 * random.int(1, 60), random.bits() & -8]) | 0;
  for (const word of [TAIL, HEAD, TAKEN]) words[LANE_0 + word] = start;
  const { near, far } = createNatives();
  const sideOut = tieOver(near);
  const sideIn = tieOver(far);
  const codec = codecOfName('packed');
  const [memory] = region.lanes;
  const out = new LaneOutbound({
    sink: new RingSink(memory, region.views),
    notes: new RingOutboundNotes(memory, SIDE_1 + RELEARN),
    beside: sideOut.beside,
    leftOver: sideOut.leftOver,
    encoder: codec.createEncoder({}),
    kind: codec.kind,
    messageMax: 1 << 16,
    outbox: new Outbox(overflow, 3000, 1 << 20),
    maySpin: false,
    failed: () => {},
  });
  const decoders = new Decoders(CODECS, {});
  const inbound = new LaneInbound({
    source: new RingSource(memory, region.views),
    notes: new RingInboundNotes(memory, SIDE_1 + RELEARN),
    beside: sideIn.beside,
    decoders,
    messageMax: 1 << 16,
  });
  const close = (): void => {
    sideOut.close(true);
    sideIn.close(true);
  };
  return { out, inbound, close };
}

function play(random: Random): void {
  const overflow = random.pick(['wait', 'wait', 'drop-oldest', 'drop-newest'] as const);
  const { out, inbound, close } = lane(random, overflow);
  let next = 1;
  let taken = 0;
  // The last number that was accepted before each mark.
  const marks: { readonly mark: ReturnType<LaneOutbound['mark']>; readonly upTo: number }[] = [];
  for (let step = 0; step < OPERATIONS_A_CASE; step++) {
    const what = random.int(0, 9);
    if (what < 5) {
      const text = 'x'.repeat(random.chance(0.05) ? 3000 : random.skewed(100));
      const before = out.accepted;
      if (random.chance(0.5)) out.post([next, text]);
      else out.trySend([next, text]);
      if (out.accepted > before) next++;
    } else if (what < 8) {
      const value = random.chance(0.8) ? inbound.tryReceive() : out.pump() && EMPTY;
      if (Array.isArray(value)) taken = value[0];
    } else if (marks.length < 20) marks.push({ mark: out.mark(), upTo: next - 1 });
    for (const { mark, upTo } of marks) {
      const is = out.isTaken(mark);
      if (overflow === 'wait') assert.equal(is, taken >= upTo, `step ${step}: ${taken} taken, mark behind ${upTo}`);
      // What was dropped is waited for no longer; what was not, is.
      else assert.ok(is || taken <= next, `step ${step}`);
    }
    while (marks.length > 0 && out.isTaken(marks[0]!.mark)) marks.shift();
  }
  for (let idle = 0; idle < 2; idle++) {
    while (!out.pump()) inbound.tryReceive();
    while (inbound.tryReceive() !== EMPTY) idle = 0;
  }
  for (const { mark } of marks) assert.equal(out.isTaken(mark), true);
  close();
}

test(`marks in a lane against an array, ${CASES * OPERATIONS_A_CASE} operations (SEED=${seed})`, () => {
  eachCase(0, CASES, play);
});
