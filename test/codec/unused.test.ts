// runtimes: node
// What a channel that is never used costs of the codec and of views: thousands of them are ordinary. Node alone tells how
// much of its heap is in use, to the byte, after a collection.
import assert from 'node:assert/strict';
import process from 'node:process';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { CODECS, codecOfName, Decoders } from '../../src/codec/choose.ts';
import { allocateRegion, openRegion } from '../../src/memory/region.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const COUNT = 2000;
/** Measured 750: two views and two lanes 550, an encoder 120, a table of decoders 70. With everything made at once 3600. */
const BYTES_MAX = 1000;

test(`the codecs and views of an end that was opened and not used take at most ${BYTES_MAX} bytes of the heap`, () => {
  const { memory } = allocateRegion(1024, 1024, 1 << 20);
  const options = { knownTexts: 16 };
  const open = (): object => ({
    region: openRegion(memory),
    encoder: codecOfName('packed').createEncoder(options),
    decoders: new Decoders(CODECS, options),
  });
  const ends: object[] = Array.from({ length: 100 }, open);
  collect();
  const before = process.memoryUsage().heapUsed;
  for (let i = 0; i < COUNT; i++) ends.push(open());
  collect();
  const bytes = (process.memoryUsage().heapUsed - before) / COUNT;
  assert.equal(ends.length, COUNT + 100);
  assert.ok(bytes < BYTES_MAX, `${bytes} bytes`);
});
