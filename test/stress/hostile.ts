// A peer that scribbles over shared memory (G10). Three ways to try it: the lanes of a region in this thread, fast; whole
// ports in this thread; and a thread that scribbles while we work. Only typed errors may come out.
import assert from 'node:assert/strict';
import { CODECS, Decoders } from '../../src/codec/choose.ts';
import { EMPTY, MillraceError } from '../../src/index.ts';
import { LaneInbound } from '../../src/lane/inbound.ts';
import { RingInboundNotes, RingSource } from '../../src/lane/ring-records.ts';
import * as layout from '../../src/memory/layout.ts';
import { allocateRegion, type Region, viewsOf } from '../../src/memory/region.ts';
import { FULL, Producer } from '../../src/ring/producer.ts';
import type { Random } from '../kit/prng.ts';
import { randomValue } from '../kit/values.ts';

/** Bytes of the longest message: a reader that allocates more than this for one was deceived. */
const MESSAGE_MAX = 4096;
const KINDS = [1, 2, 3, 4, 5, 6, 7, 63, 64, 200, 255, 0x101, 0x104, 0x105, 0x1ff, 0x7fffffff, -1];
const LENGTHS = [-1, -2147483648, 2147483647, 0, 7, 8, 0x40000000, 65536];

interface Payload {
  readonly kind: number;
  readonly bytes: Uint8Array;
}

/** Honest payloads of every codec, to be damaged. */
export function honestPayloads(random: Random, count: number): readonly Payload[] {
  const scratch = viewsOf(new ArrayBuffer(8192));
  const payloads: Payload[] = [];
  while (payloads.length < count) {
    const codec = random.pick(CODECS);
    const value = randomValue(random, { budget: 20, large: 200, causes: false });
    try {
      const length = codec.createEncoder().encodeInto(value, scratch, 0, 4000, true);
      if (length >= 0) payloads.push({ kind: codec.kind, bytes: scratch.bytes.slice(0, length) });
    } catch {
      // JSON does not carry everything.
    }
  }
  return payloads;
}

/** Changes one thing in a region, most often where it hurts. */
export function scribble(random: Random, region: Region, lane: 0 | 1): void {
  const { words, bytes } = region.views;
  const { block, data, capacity } = region.lanes[lane];
  const anyWord = (): number => random.pick([random.bits() | 0, random.int(-9, 9), 1 << random.int(0, 31)]);
  const near = (word: number): number =>
    ((words[word] as number) + random.pick([-8, 8, 1, capacity, -capacity, 64])) | 0;
  const record = (data + random.int(0, capacity / 8 - 1) * 8) >>> 2;
  switch (random.int(0, 9)) {
    case 0:
      words[block + layout.TAIL] = random.chance(0.5) ? near(block + layout.TAIL) : anyWord();
      break;
    case 1:
      words[block + layout.HEAD] = random.chance(0.5) ? near(block + layout.HEAD) : anyWord();
      break;
    case 2:
      words[record] = random.chance(0.5) ? random.pick(LENGTHS) : random.int(0, capacity);
      break;
    case 3:
      words[record + 1] = random.pick(KINDS);
      break;
    case 4:
      // A pad that claims to be one.
      words[record] = random.pick([capacity, capacity - ((record * 4 - data) & (capacity - 1)), 8]);
      words[record + 1] = 0xff;
      break;
    case 5:
    case 6:
      for (let i = random.int(1, 8); i > 0; i--) bytes[data + random.int(0, capacity - 1)] = random.bits();
      break;
    case 7:
      for (let i = 0; i < capacity / 4; i++) words[(data >>> 2) + i] = random.bits();
      break;
    case 8:
      words[block + layout.LATEST] = random.chance(0.8) ? random.int(0, 7) : anyWord();
      break;
    default:
      words[random.int(0, words.length - 1)] = anyWord();
  }
}

const STUB = { take: () => undefined, pull: () => {} };

/** One case on one lane: an honest producer and an honest consumer, and somebody who writes in between. */
export function hostileLane(random: Random, payloads: readonly Payload[]): void {
  const region = allocateRegion(1 << random.int(7, 11), 64, MESSAGE_MAX);
  const [lane] = region.lanes;
  const { words, bytes } = region.views;
  const start = random.pick([0, 0x7fffff80 | 0, -128, random.bits() & -8]);
  words[lane.block + layout.TAIL] = start;
  words[lane.block + layout.HEAD] = start;
  const producer = new Producer(lane);
  const decoders = new Decoders(CODECS, {});
  const relearn = layout.SIDE_1 + layout.RELEARN;
  const inbound = new LaneInbound({
    source: new RingSource(lane, region.views),
    notes: new RingInboundNotes(lane, relearn),
    beside: STUB as never,
    decoders,
    messageMax: MESSAGE_MAX,
  });
  // What is not the lane's: behind its data area.
  const foreign = bytes.length - 64;
  let producing = true;
  let consuming = true;
  for (let step = random.int(10, 60); step > 0 && (producing || consuming); step--) {
    if (random.chance(0.25)) scribble(random, region, 0);
    bytes.fill(0xa5, foreign);
    if (producing && random.chance(0.6)) {
      producing = typed(() => {
        const { kind, bytes: payload } = random.pick(payloads);
        if (payload.length > producer.maxPayload) return;
        const offset = producer.tryClaim(payload.length);
        if (offset === FULL) return;
        assert.ok(
          offset >= lane.data && offset + payload.length <= lane.data + lane.capacity,
          'a claim within the lane',
        );
        bytes.set(payload, offset);
        producer.commit(payload.length, random.chance(0.1) ? kind | 0x100 : kind);
      });
    }
    if (consuming) {
      consuming = typed(() => {
        for (let i = 0; i < 40; i++) if (inbound.tryReceive() === EMPTY) break;
      });
    }
    for (let i = foreign; i < bytes.length; i++) assert.equal(bytes[i], 0xa5, 'nothing is written outside the lane');
  }
}

/** Runs `body`; whether it can go on after it. Anything thrown must be ours. */
export function typed(body: () => void): boolean {
  try {
    body();
    return true;
  } catch (error) {
    if (error instanceof MillraceError) return error.code !== 'ERR_LAYOUT';
    throw error;
  }
}

export function checkPrototypes(): void {
  assert.deepEqual(Reflect.ownKeys(Object.prototype).sort(), OBJECT_KEYS);
  assert.deepEqual(Reflect.ownKeys(Array.prototype).length, ARRAY_KEYS);
}
const OBJECT_KEYS: readonly PropertyKey[] = Reflect.ownKeys(Object.prototype).sort();
const ARRAY_KEYS: number = Reflect.ownKeys(Array.prototype).length;
