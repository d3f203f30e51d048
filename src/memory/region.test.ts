import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LayoutError, UsageError } from '../errors.ts';
import * as layout from './layout.ts';
import { allocateRegion, capacityFor, openMapped, openRegion, regionBytes, viewsOf, writeHeader } from './region.ts';

const layoutError = (error: unknown): boolean => error instanceof LayoutError && error.code === 'ERR_LAYOUT';

test('capacityFor() gives the smallest power of two that holds so many bytes', () => {
  const pairs = [
    [1, 64],
    [64, 64],
    [65, 128],
    [1000, 1024],
    [2 ** 30 + 1, 2 ** 31],
    [2 ** 31, 2 ** 31],
  ] as const;
  for (const [bytes, capacity] of pairs) assert.equal(capacityFor(bytes), capacity);
  for (const bytes of [0, -1, 2 ** 31 + 1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '64' as never]) {
    assert.throws(
      () => capacityFor(bytes),
      (error) => error instanceof UsageError && error.code === 'ERR_OPTION',
      String(bytes),
    );
  }
});

test('a region that was allocated opens in another place with the same lanes', () => {
  const made = allocateRegion(1000, 2000, 5000);
  const opened = openRegion(made.memory);
  assert.equal(opened.messageMax, 5000);
  assert.deepEqual(
    opened.lanes.map(({ block, data, capacity }) => ({ block, data, capacity })),
    [
      { block: layout.LANE_0, data: 1024, capacity: 1024 },
      { block: layout.LANE_1, data: 2048, capacity: 2048 },
    ],
  );
  assert.equal(made.memory.byteLength, regionBytes(1024, 2048));
});

test('memory that a process has mapped is a region like any other, and is checked like any other', () => {
  const memory = new ArrayBuffer(regionBytes(1024, 64));
  assert.throws(() => openMapped(memory), layoutError, 'without a header');
  writeHeader(memory, 1024, 64, 5000);
  const { lanes, messageMax, views } = openMapped(memory);
  assert.deepEqual(
    lanes.map(({ data, capacity }) => [data, capacity]),
    [
      [1024, 1024],
      [2048, 64],
    ],
  );
  assert.equal(messageMax, 5000);
  views.blocks.copyIn(Uint8Array.of(1, 2, 3), 1030);
  assert.deepEqual([...new Uint8Array(memory, 1030, 3)], [1, 2, 3]);
  assert.throws(() => openMapped(memory.slice(0, -8)), layoutError, 'shorter than its header claims');
  // From another thread it would be a copy.
  assert.throws(() => openRegion(memory as never), layoutError);
});

test('memory that is no region, too small or misaligned in size is a LayoutError', () => {
  for (const memory of [
    new ArrayBuffer(4096),
    undefined,
    null,
    {},
    new SharedArrayBuffer(0),
    new SharedArrayBuffer(1020),
    new SharedArrayBuffer(4096),
  ]) {
    assert.throws(() => openRegion(memory as never), layoutError);
  }
  const { memory } = allocateRegion(64, 64, 100);
  for (const length of [memory.byteLength - 1, memory.byteLength - 64, 1024, 1027]) {
    const cut = new SharedArrayBuffer(length);
    new Uint8Array(cut).set(new Uint8Array(memory, 0, length));
    assert.throws(() => openRegion(cut), layoutError, `${length} bytes`);
  }
});

const DAMAGES: readonly (readonly [word: number, values: readonly number[]])[] = [
  [layout.MAGIC, [0, 1, 0x4d524345]],
  [layout.VERSION, [0, 2, -1]],
  [layout.CAPACITY_0, [0, 32, 65, -64, 96, 1 << 30]],
  [layout.CAPACITY_1, [1, 63, -1, 1 << 30]],
  [layout.MESSAGE_MAX, [0, -1, -(2 ** 31), 2 ** 31 - 1]],
];
for (const [word, values] of DAMAGES) {
  test(`a header whose word ${word} is wrong is a LayoutError`, () => {
    for (const value of values) {
      const { memory } = allocateRegion(64, 64, 100);
      new Int32Array(memory)[word] = value;
      assert.throws(() => openRegion(memory), layoutError, `word ${word} is ${value}`);
    }
  });
}

test('views are made when they are first asked for, once, over the same bytes', () => {
  const views = viewsOf(new SharedArrayBuffer(20));
  assert.deepEqual([views.words.length, views.bytes.length, views.floats.length], [5, 20, 2]);
  for (const name of ['words', 'bytes', 'floats', 'text', 'blocks'] as const) assert.equal(views[name], views[name]);
  views.floats[1] = -2;
  assert.equal(views.bytes[15], 0xc0);
  views.blocks.copyIn(new Uint8Array([65, 66]), 17);
  assert.equal(views.text.latin1Slice(17, 19), 'AB');
});

test('views keep their length when the memory grows under them', () => {
  const memory = new SharedArrayBuffer(64, { maxByteLength: 128 });
  const { words, bytes, floats } = viewsOf(memory);
  memory.grow(128);
  assert.deepEqual([words.length, bytes.length, floats.length], [16, 64, 8]);
});
