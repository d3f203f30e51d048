import assert from 'node:assert/strict';
import { test } from 'node:test';
import { viewsOf } from '../memory/region.ts';
import { CODECS, codecOfName, Decoders } from './choose.ts';
import { type Memory, NO_ROOM, REFUSED } from './codec.ts';

const buffer = new SharedArrayBuffer(65536);
const memory: Memory = viewsOf(buffer);

test('every codec is found by its name', () => {
  for (const codec of CODECS) assert.equal(codecOfName(codec.name), codec);
  assert.throws(() => codecOfName('yaml'), { code: 'ERR_OPTION' });
});

test('every codec carries what it is for, in exactly the room it needs', () => {
  const samples: Record<string, readonly unknown[]> = {
    packed: [{ a: 1 }, 'text', [1.5]],
    json: [null, 'λ', { a: ['é\ud83d\ude00', 1] }, ['漢'.repeat(50)]],
  };
  for (const codec of CODECS) {
    for (const value of samples[codec.name]!) {
      const encoder = codec.createEncoder();
      const decoder = codec.createDecoder();
      const length = encoder.encodeInto(value, memory, 8, 4096, false);
      for (let limit = 0; limit < length; limit++) {
        assert.equal(encoder.encodeInto(value, memory, 8, limit, false), NO_ROOM, `${codec.name} ${limit} ${length}`);
      }
      assert.equal(encoder.encodeInto(value, memory, 8, length, false), length);
      assert.deepEqual(decoder.decode(memory, 8, length), value);
    }
  }
});

test('codecs refuse what they are not for', () => {
  assert.equal(codecOfName('json').createEncoder().encodeInto(undefined, memory, 8, 4096, false), REFUSED);
  const loop: unknown[] = [];
  loop.push(loop);
  const write = (): unknown => codecOfName('json').createEncoder().encodeInto(loop, memory, 8, 4096, false);
  assert.throws(write, { code: 'ERR_DATA_CLONE', path: '$' });
});

test('damaged payloads are errors', () => {
  memory.bytes.set([9, 0, 0], 8);
  assert.throws(() => codecOfName('json').createDecoder().decode(memory, 8, 3), { code: 'ERR_DECODE' });
});

test('a decoder is made for the first payload of its kind, and stays', () => {
  const made: string[] = [];
  const codecs = CODECS.map((codec) => ({
    ...codec,
    createDecoder: () => {
      made.push(codec.name);
      return codec.createDecoder();
    },
  }));
  const decoders = new Decoders(codecs, {});
  assert.deepEqual(made, []);
  for (const kind of [0, 1, 63, 255, -1]) assert.equal(decoders.get(kind), undefined);
  const [packed, json] = CODECS.map((codec) => codec.kind) as [number, number];
  const first = decoders.get(packed);
  assert.ok(first !== undefined);
  const second = decoders.get(json);
  assert.notEqual(second, first);
  assert.equal(decoders.get(packed), first);
  assert.equal(decoders.get(json), second);
  assert.equal(decoders.get(77), undefined);
  assert.equal(decoders.get(json), second);
  assert.deepEqual(made, ['packed', 'json']);
});
