// A channel of a byte stream under the transport suite, and its records under the lane suite; and beside them what only a medium
// that clones could carry.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CODECS, codecOfName } from '../../src/codec/choose.ts';
import { type Beside, NOTHING_BESIDE } from '../../src/lane/beside.ts';
import { LaneInbound } from '../../src/lane/inbound.ts';
import { LaneOutbound } from '../../src/lane/outbound.ts';
import { Outbox } from '../../src/lane/outbox.ts';
import { CLOSED, EMPTY } from '../../src/outcome.ts';
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

/** A medium that carries values, too: as a native message port would, each under its number. */
function besides(): readonly [Beside, Beside] {
  const under: readonly [unknown[], unknown[]] = [[], []];
  const side = (i: 0 | 1): Beside => ({
    ...NOTHING_BESIDE,
    get posted() {
      return under[i].length;
    },
    post: (value) => under[i].push(value) - 1,
    holdBack: (value) => ({ value, transfer: [] }),
    take: (number) => ({ value: under[i === 0 ? 1 : 0][number], ports: [] }),
    has: () => true,
  });
  return [side(0), side(1)];
}

function besidePair(
  capacityBytes: number,
  failed: (error: unknown) => void = () => {},
): readonly [StreamTransport, StreamTransport] {
  const { connections, channels } = streamPair({ capacityBytes });
  const ends = channels();
  const [a, b] = besides();
  const over = (side: 0 | 1, beside: Beside): StreamTransport =>
    new StreamTransport(connections[side], ends[side], { ...endOptions({}), beside }, { woken() {}, failed });
  return [over(0, a), over(1, b)];
}

test('values that a medium carries beside the records come in order with them, a bounded number at a time', () => {
  const [near, far] = besidePair(64 * 1024);
  const value = (i: number): unknown => (i % 2 === 0 ? i : new WebAssembly.Module(MODULE));
  let [sent, read] = [0, 0];
  while (near.out.trySend(value(sent))) sent++;
  assert.equal(sent, 2 * 256 + 1, 'the next would be one too many');
  for (; read < 1000; read++) {
    while (sent < 1000 && near.out.trySend(value(sent))) sent++;
    const got = far.in.tryReceive();
    if (read % 2 === 0) assert.equal(got, read);
    else assert.ok(got instanceof WebAssembly.Module, `${read}`);
  }
  assert.deepEqual([sent, near.inspect().stats().undelivered], [1000, 0]);
});

test('a value beside the records that waits when its side closes is followed out as the others are', () => {
  const failures: unknown[] = [];
  const [near, far] = besidePair(1024, (error) => void failures.push(error));
  near.out.post('a'.repeat(20_000));
  near.out.post(new WebAssembly.Module(MODULE));
  near.out.post('last');
  near.close('closed');
  const got: unknown[] = [];
  for (let i = 0; i < 1000 && got.at(-1) !== CLOSED; i++) {
    near.out.pump();
    const value = far.in.tryReceive();
    if (value !== EMPTY) got.push(value);
  }
  assert.deepEqual(failures, []);
  assert.equal(got.length, 4);
  assert.ok(got[1] instanceof WebAssembly.Module);
  assert.deepEqual([got[2], got[3]], ['last', CLOSED]);
});
const MODULE = Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0);
