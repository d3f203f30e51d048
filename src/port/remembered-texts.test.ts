import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attach, channel } from './channels.ts';

const large = 'abc'.repeat(20_000);

test('a large string that repeats travels as a number both ways, whatever the options of the ends', () => {
  for (const rememberedTexts of [1, 16, 256]) {
    const { port, remote } = channel({ rememberedTexts, rememberedTextBytes: 1 << 20 });
    const other = attach(remote, { arrayProperties: 'always' });
    for (const [from, to] of [
      [port, other],
      [other, port],
    ] as const) {
      for (let i = 0; i < 4; i++) {
        from.postMessage({ large });
        assert.deepEqual(to.tryReceive(), { large });
      }
      const before = from.stats().sentBytes;
      from.postMessage({ large });
      assert.deepEqual(to.tryReceive(), { large });
      assert.ok(from.stats().sentBytes - before < 100);
    }
    port.close();
    other.close();
  }
});

test('a handle that does not say what its channel remembers is refused', () => {
  const { port, remote } = channel();
  for (const texts of [undefined, null, {}, { count: -1, bytes: 1 }, { count: 16, bytes: 2 ** 40 }]) {
    assert.throws(() => attach({ ...remote, texts }), { code: 'ERR_LAYOUT' });
  }
  port.close();
  attach(remote).close();
});
