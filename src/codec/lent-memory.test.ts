// What a codec was handed for one payload is garbage behind it: a quiet channel keeps none of the memory that others take turns in.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { viewsOf } from '../memory/region.ts';
import { TaughtTexts } from './packed/known-texts.ts';
import { PackedReader } from './packed/reader.ts';
import { PackedWriter } from './packed/writer.ts';
import { packed } from './packed.ts';

test('a reader forgets memory that is lent, and keeps what is its own channel\u2019s', () => {
  const reader = new PackedReader(new TaughtTexts(0, 0));
  for (const lent of [true, false]) {
    const memory = viewsOf(new ArrayBuffer(1024), lent);
    reader.begin(memory, false, 1);
    assert.equal(reader.words, memory.words);
    reader.finish(true);
    assert.equal(reader.memory === memory, !lent);
    assert.equal(reader.words === memory.words, !lent);
  }
});

test('a writer does the same, and what both have learned is as ever', () => {
  const writer = new PackedWriter(false, 0, 0, 0);
  for (const lent of [true, false]) {
    const memory = viewsOf(new ArrayBuffer(1024), lent);
    writer.begin(memory, 256, true);
    writer.finish();
    assert.equal(writer.memory === memory, !lent);
  }
  const encoder = packed.createEncoder({});
  const decoder = packed.createDecoder({});
  const lent = viewsOf(new ArrayBuffer(1024), true);
  for (let i = 0; i < 4; i++) {
    const memory = i % 2 === 0 ? lent : viewsOf(new ArrayBuffer(1024));
    const length = encoder.encodeInto({ number: i, text: 'text' }, memory, 0, 1024, true);
    assert.deepEqual(decoder.decode(memory, 0, length), { number: i, text: 'text' });
  }
});
