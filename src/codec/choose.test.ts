import assert from 'node:assert/strict';
import { test } from 'node:test';
import { viewsOf } from '../memory/region.ts';
import { CODECS, codecOfKind, codecOfName } from './choose.ts';
import { type Memory, NO_ROOM, REFUSED } from './codec.ts';

const buffer = new SharedArrayBuffer(65536);
const memory: Memory = viewsOf(buffer);

test('every codec is found by its number and by its name', () => {
  for (const codec of CODECS) {
    assert.equal(codecOfKind(codec.kind), codec);
    assert.equal(codecOfName(codec.name), codec);
  }
  assert.throws(() => codecOfKind(0), { code: 'ERR_DECODE' });
  assert.throws(() => codecOfName('yaml'), { code: 'ERR_OPTION' });
});

test('every codec carries what it is for, in exactly the room it needs', () => {
  const samples: Record<string, readonly unknown[]> = {
    packed: [{ a: 1 }, 'text', [1.5]],
    bytes: [new Uint8Array(), new Uint8Array([1, 2, 3])],
    text: ['', 'a', 'ascii only', 'é'.repeat(9), 'λx', '\ud800', '\ud83d\ude00'.repeat(5)],
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
  assert.equal(codecOfName('bytes').createEncoder().encodeInto('text', memory, 8, 4096, false), REFUSED);
  assert.equal(codecOfName('text').createEncoder().encodeInto(1, memory, 8, 4096, false), REFUSED);
  assert.equal(codecOfName('json').createEncoder().encodeInto(undefined, memory, 8, 4096, false), REFUSED);
  const loop: unknown[] = [];
  loop.push(loop);
  const write = (): unknown => codecOfName('json').createEncoder().encodeInto(loop, memory, 8, 4096, false);
  assert.throws(write, { code: 'ERR_DATA_CLONE', path: '$' });
});

test('damaged payloads are errors', () => {
  memory.bytes.set([9, 0, 0], 8);
  assert.throws(() => codecOfName('text').createDecoder().decode(memory, 8, 3), { code: 'ERR_DECODE' });
  assert.throws(() => codecOfName('json').createDecoder().decode(memory, 8, 3), { code: 'ERR_DECODE' });
  assert.throws(
    () =>
      codecOfName('bytes')
        .createDecoder()
        .decode(memory, 8, 1 << 20),
    { code: 'ERR_DECODE' },
  );
});
