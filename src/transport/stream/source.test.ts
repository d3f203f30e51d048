import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HEADER_BYTES } from '../../frame/header.ts';
import type { Views } from '../../memory/region.ts';
import { scratch } from '../../memory/scratch.ts';
import { NONE } from '../../ring/consumer.ts';
import { StreamSource } from './source.ts';

const WINDOW = 256 * 1024;
const KIND = 7;

/** A frame of one record whose payload is `length` times `fill`. */
function frameOf(length: number, fill: number): Uint8Array {
  const frame = new Uint8Array(HEADER_BYTES + length).fill(fill);
  new Int32Array(frame.buffer, 0, 2).set([length, KIND]);
  return frame;
}

class Bench {
  readonly source = new StreamSource(WINDOW, () => {});
  limit = WINDOW;

  begin(frame: Uint8Array): void {
    this.source.begin(frame.length, this.limit);
  }
  come(length: number, fill: number): void {
    const frame = frameOf(length, fill);
    this.begin(frame);
    this.source.add(frame, 0, frame.length);
  }
  /** The record at hand must be so; it is given back. */
  read(length: number, fill: number): Views {
    const offset = this.source.peek();
    assert.notEqual(offset, NONE);
    assert.equal(this.source.length, length);
    const { views } = this.source;
    assert.ok(views.bytes.subarray(offset, offset + length).every((byte) => byte === fill));
    this.source.advance();
    this.source.release();
    this.limit = this.source.taken + WINDOW;
    return views;
  }
}

test('large memory is given back when all is read, and the next one has it', () => {
  const benches = Array.from({ length: 20 }, () => new Bench());
  const memories = new Set<Views>();
  for (const [i, bench] of benches.entries()) {
    bench.come(64 * 1024, i + 1);
    memories.add(bench.read(64 * 1024, i + 1));
    assert.ok(bench.source.endsWhole);
  }
  assert.equal(memories.size, 1);
});

test('what is read goes on behind memory that was given back', () => {
  const bench = new Bench();
  for (let i = 1; i < 50; i++) {
    bench.come(i * 1024, i);
    bench.come(8 * i, i + 1);
    bench.read(i * 1024, i);
    bench.read(8 * i, i + 1);
    assert.equal(bench.source.peek(), NONE);
    bench.source.release();
  }
  assert.ok(bench.source.readOut);
});

test('memory stays while a frame is under way', () => {
  const bench = new Bench();
  const first = frameOf(64 * 1024, 1);
  const second = frameOf(64 * 1024, 2);
  const frame = new Uint8Array(first.length + second.length);
  frame.set(first);
  frame.set(second, first.length);
  bench.begin(frame);
  bench.source.add(frame, 0, first.length);
  bench.read(64 * 1024, 1);
  // Read as far as it has come, and what was promised still comes.
  const taken = scratch.take(64 * 1024);
  taken.bytes.fill(99);
  bench.source.add(frame, first.length, frame.length);
  bench.read(64 * 1024, 2);
});

test('no memory is had that is larger than twice the credit', () => {
  scratch.give(scratch.take(8 * 1024 * 1024), 8 * 1024 * 1024);
  const bench = new Bench();
  bench.come(100 * 1024, 1);
  assert.ok(bench.source.views.bytes.length <= 2 * WINDOW);
  bench.read(100 * 1024, 1);
});
