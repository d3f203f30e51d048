// Hashes in a pool of two workers: each takes the next text when it is done with the last, and tells how far it is by a callback. One text, which would take for ever,
// is called off in the middle of its computing.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { pool, within } from '../src/rpc/index.ts';
import { bar, green, heading, isProgram, say } from './screen.ts';
import type { Hasher } from './workers/hasher.ts';

const TEXTS = [20, 40, 60, 80];

export async function hashing(): Promise<void> {
  heading('Hashes in two workers, with progress and cancel');

  // A task that was called off and runs on for ten seconds would end with its worker.
  await using hashers = pool<Hasher>(new URL('./workers/hasher.js', import.meta.url), { size: 2, graceMs: 10_000 });
  const shares = new Map(TEXTS.map((chunks) => [chunks, 0]));
  const told = (chunks: number) => (share: number) => {
    shares.set(chunks, share);
    const all = [...shares].reduce((sum, [size, part]) => sum + size * part, 0);
    bar('hashed', all / TEXTS.reduce((a, b) => a + b));
  };
  // The callbacks are lent for these calls, and cannot be called behind them.
  const lent = within(hashers.api, { callbacks: 'call' });
  const hashes = await Promise.all(TEXTS.map((chunks) => lent.hash(chunks, told(chunks))));
  const expected = createHash('sha256')
    .update('x'.repeat(20 * 64 * 1024))
    .digest('hex');
  assert.equal(hashes[0], expected);
  say(`${green('ok')}  ${hashes.length} texts, by ${hashers.size} workers: ${expected.slice(0, 16)}...`);

  const cancel = new AbortController();
  const endless = within(hashers.api, { signal: cancel.signal }).hash(1e9, () => {});
  setTimeout(() => cancel.abort(new Error('Enough')), 50);
  await assert.rejects(endless, { message: 'Enough' });
  // Nobody waits for it any more; its worker stops in the middle, and is there for the next one.
  await hashers.drain();
  assert.equal(hashers.size, 2);
  say(`${green('ok')}  64 TB were called off in the middle, between two looks at the event loop; both workers go on`);
}

if (isProgram(import.meta.url)) await hashing();
