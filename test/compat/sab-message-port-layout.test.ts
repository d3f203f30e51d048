// Both ends of a pipe lay it out from offset and size alone, so the places must never depend on anything else.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { layOut, type PipeMemory } from '../../src/compat/sab-message-port/layout.ts';
import { viewsOf } from '../../src/memory/region.ts';

const source = readFileSync(new URL('../../../src/compat/sab-message-port/layout.ts', import.meta.url), 'utf8');

/** Rows `word byte NAME` of each table in the file's head. */
const tables = source
  .split('//   word  byte   name')
  .slice(1)
  .map(
    (text) =>
      new Map(
        [...text.split('import ')[0]!.matchAll(/^\/\/ {3}(\d+) +(\d+) +([A-Z_]+)/gm)].map(([, word, byte, name]) => [
          name as string,
          [Number(word), Number(byte)] as const,
        ]),
      ),
  );

const places = (memory: PipeMemory): Record<string, number> => ({
  STATUS: memory.status,
  WRITER_LIFE: memory.writerLife,
  READER_LIFE: memory.readerLife,
  LANE: memory.lane.block,
  READER_PARK: memory.readerPark,
  READER_SLEEPS: memory.readerSleeps,
  WRITER_PARK: memory.writerPark,
  WRITER_SLEEPS: memory.writerSleeps,
  LOG_USED: memory.log.used,
  DATA: memory.lane.data >>> 2,
});

test('the tables in layout.ts give the places of a wide and of a narrow section', () => {
  const sizes = [4096, 512];
  assert.equal(tables.length, 2);
  for (const [index, table] of tables.entries()) {
    const memory = layOut(viewsOf(new SharedArrayBuffer(4096)), 0, sizes[index]!) as PipeMemory;
    const found = places(memory);
    assert.deepEqual([...table.keys()].sort(), Object.keys(found).sort());
    for (const [name, [word, byte]] of table) {
      assert.equal(found[name], word, name);
      assert.equal(byte, word * 4, name);
    }
  }
});

test('no two places of a section overlap, and the ring ends inside it', () => {
  const views = viewsOf(new SharedArrayBuffer(300_000));
  for (const offset of [0, 4, 8, 1004]) {
    for (const size of [140, 144, 200, 1020, 1024, 1028, 5000, 131072, 262144]) {
      const memory = layOut(views, offset, size);
      if (memory === null) {
        assert.ok(size < 144, `${size} bytes at ${offset} should be enough`);
        continue;
      }
      const { LANE, DATA, ...words } = places(memory);
      const all = [...Object.values(words), LANE!, LANE! + 16];
      assert.equal(new Set(all).size, all.length);
      for (const word of all) assert.ok(word * 4 >= offset && word < DATA!);
      assert.equal(memory.lane.data % 8, 0);
      assert.equal(memory.log.data, memory.lane.data + memory.lane.capacity);
      assert.equal(memory.log.data % 8, 0);
      assert.ok(memory.log.capacity >= 0 && memory.log.data + memory.log.capacity <= offset + size);
      assert.ok(Number.isInteger(Math.log2(memory.lane.capacity)));
    }
  }
});
