// The memory of frames: channels take turns in it, and none finds another one's in its own.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HEADER_BYTES, recordBytes } from '../../frame/header.ts';
import { FULL } from '../../ring/producer.ts';
import { FRAME_HEADER_BYTES, lengthOf } from './frames.ts';
import { StreamSink } from './sink.ts';

const WINDOW = 64 * 1024;

/** @param write what the medium does with a frame, which is its own only meanwhile */
function sinkOf(number: number, write: (frame: Uint8Array) => void): StreamSink {
  const sink = new StreamSink(WINDOW, { full: false, torn: false, gathers: () => false }, () => {}, write);
  sink.begin(number, WINDOW);
  return sink;
}
function claim(sink: StreamSink, length: number, fill: number): void {
  const offset = sink.tryClaim(length);
  assert.notEqual(offset, FULL);
  sink.views.bytes.fill(fill, offset, offset + length);
}
/** The payload of a frame with one record of `length` bytes. */
function payloadOf(frame: Uint8Array, length: number): Set<number> {
  const from = FRAME_HEADER_BYTES + HEADER_BYTES;
  return new Set(frame.subarray(from, from + length));
}

test('channels take turns in the memory of their frames', () => {
  const memories = new Set<ArrayBufferLike>();
  for (let i = 1; i <= 200; i++) {
    const sink = sinkOf(i, (frame) => memories.add(frame.buffer));
    claim(sink, 100, i);
    sink.commit(100, 1);
    // A claim that comes to nothing keeps none either.
    claim(sink, 100, i);
    sink.abort();
  }
  assert.equal(memories.size, 1);
});

test('records that are written at the same time have frames of their own', () => {
  const frames: Uint8Array[] = [];
  const keep = (frame: Uint8Array): void => void frames.push(frame.slice());
  const [outer, inner] = [sinkOf(1, keep), sinkOf(2, keep)];
  claim(outer, 100, 7);
  claim(inner, 100, 8);
  inner.commit(100, 1);
  outer.commit(100, 1);
  assert.deepEqual(
    frames.map((frame) => [...payloadOf(frame, 100)]),
    [[8], [7]],
  );
});

test('a frame stays as it is while it is written, whoever sends meanwhile', () => {
  const frames: number[][] = [];
  let depth = 0;
  const sinks: StreamSink[] = [];
  const write = (frame: Uint8Array): void => {
    const mine = ++depth;
    if (mine < 3) {
      for (const sink of sinks) {
        claim(sink, 100, mine + 10);
        sink.commit(100, 1);
      }
    }
    frames.push([...payloadOf(frame, 100)]);
  };
  sinks.push(sinkOf(1, write), sinkOf(2, write));
  const first = sinks[0] as StreamSink;
  claim(first, 100, 10);
  first.commit(100, 1);
  assert.deepEqual(frames, [[12], [12], [11], [11], [10]]);
});

test('memory in which a value is still being written is nobody else’s: its getter has ended the channel', () => {
  const frames: number[][] = [];
  const ending = sinkOf(1, () => {});
  const other = sinkOf(2, (frame) => frames.push([...payloadOf(frame, 100)]));
  ending.cork(() => {
    claim(ending, 100, 7);
    ending.commit(100, 1);
    const offset = ending.tryClaim(100);
    const { views } = ending;
    // The end of a channel lets out what has gathered.
    ending.publish();
    other.cork(() => {
      claim(other, 100, 8);
      other.commit(100, 1);
      claim(other, 100, 8);
      views.bytes.fill(9, 0, offset + 100);
      other.commit(100, 1);
    });
    ending.abort();
  });
  assert.deepEqual(frames, [[8]]);
});

test('what has gathered goes out in the middle of a value, which goes on where it is, as a frame of its own', () => {
  const frames: { readonly bytes: number; readonly first: number; readonly payload: number[] }[] = [];
  const write = (frame: Uint8Array): void => {
    const [head = 0, , first = 0] = new Int32Array(frame.slice(0, 12).buffer);
    frames.push({ bytes: lengthOf(head), first, payload: [...payloadOf(frame, first)] });
  };
  const [sink, other] = [sinkOf(1, write), sinkOf(2, () => {})];
  for (const length of [100, 7]) {
    sink.cork(() => {
      claim(sink, 50, 1);
      sink.commit(50, 1);
      const offset = sink.tryClaim(length);
      const { views } = sink;
      views.bytes.fill(2, offset, offset + 1);
      // A getter of the value waits for an answer to what went before it.
      sink.publish();
      sink.publish();
      claim(other, 500, 3);
      other.commit(500, 1);
      views.bytes.fill(2, offset + 1, offset + length);
      sink.commit(length, 1);
      claim(sink, 30, 4);
      sink.commit(30, 1);
    });
    assert.deepEqual(frames.splice(0), [
      { bytes: recordBytes(50), first: 50, payload: [1] },
      { bytes: recordBytes(length) + recordBytes(30), first: length, payload: [2] },
    ]);
  }
  // Nothing of it is left: there is as much room as ever.
  sink.cork(() => {
    claim(sink, 50, 1);
    sink.commit(50, 1);
    claim(sink, 50, 1);
    sink.publish();
    sink.abort();
  });
  assert.equal(sink.claimable(WINDOW), sink.maxPayload);
});
