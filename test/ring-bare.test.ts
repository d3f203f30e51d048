// The browser's ring door where there is hardly anything: a context that has the language and nothing of the web or of Node, not even the
// name SharedArrayBuffer, as the scope of an AudioWorklet may be.
// runtimes: once
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import vm from 'node:vm';

type Door = typeof import('../src/ring/index.ts');
const file = fileURLToPath(new URL('../browser/ring.js', import.meta.url));

/** Its exports, made a property of the context: a script has no exports. */
function bareDoor(): Door {
  const context = vm.createContext({});
  vm.runInContext('delete globalThis.SharedArrayBuffer', context);
  const missing = [
    'performance',
    'setTimeout',
    'TextDecoder',
    'TextEncoder',
    'MessageChannel',
    'URL',
    'SharedArrayBuffer',
  ];
  for (const name of missing) assert.equal(vm.runInContext(`typeof ${name}`, context), 'undefined', name);
  const text = readFileSync(file, 'utf8').replace(/^export \{/m, 'globalThis.door = {');
  vm.runInContext(text, context);
  return vm.runInContext('door', context) as Door;
}

test('the ring door opens in a bare context, and carries records from there and to it', async () => {
  const outside = await import('../src/ring/index.ts');
  const inside = bareDoor();
  const memory = outside.allocate(1024);
  for (const [from, to] of [
    [inside, outside],
    [outside, inside],
  ] as const) {
    const producer = new from.Producer(from.open(memory));
    const consumer = new to.Consumer(to.open(memory));
    for (let i = 0; i < 100; i++) {
      const offset = producer.tryClaim(4);
      assert.notEqual(offset, from.FULL);
      producer.words[offset >>> 2] = i;
      producer.commit();
      const at = consumer.tryNext();
      assert.equal(consumer.words[at >>> 2], i);
      consumer.release();
    }
  }
});

test('in a bare context allocate() says what is missing, and open() takes no other memory', () => {
  const { allocate, open } = bareDoor();
  assert.throws(() => allocate(64), { code: 'ERR_UNSUPPORTED' });
  assert.throws(() => open(new ArrayBuffer(4096) as never), { code: 'ERR_UNSUPPORTED' });
});

test('the ring door names nothing of the web: it carries no platform but memory', () => {
  const named = /\b(?:performance|setTimeout|TextDecoder|TextEncoder|MessageChannel|navigator|document|Worker)\b/;
  assert.doesNotMatch(readFileSync(file, 'utf8'), named);
});
