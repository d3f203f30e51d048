// Hashes in two workers: each takes the next text when it is done with the last, tells how far it is by a callback, and one text, which would take for ever, is
// called off in the middle of its computing.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { start, within } from '../src/rpc/index.ts';
import { bar, green, heading, isProgram, say } from './screen.ts';
import type { Hasher } from './workers/hasher.ts';

const TEXTS = [20, 40, 60, 80];

export async function hashing(): Promise<void> {
  heading('Hashes in two workers, with progress and cancel');

  const workers = await Promise.all([1, 2].map(() => start<Hasher>(new URL('./workers/hasher.js', import.meta.url))));
  const waiting = [...TEXTS];
  const hashes = new Map<number, string>();
  const shares = new Map(TEXTS.map((chunks) => [chunks, 0]));
  const told = (chunks: number) => (share: number) => {
    shares.set(chunks, share);
    const all = [...shares].reduce((sum, [size, part]) => sum + size * part, 0);
    bar('hashed', all / TEXTS.reduce((a, b) => a + b));
  };
  await Promise.all(
    workers.map(async ({ api }) => {
      for (let chunks = waiting.shift(); chunks !== undefined; chunks = waiting.shift()) {
        // The callback is lent for this call, and cannot be called behind it.
        hashes.set(chunks, await within(api, { callbacks: 'call' }).hash(chunks, told(chunks)));
      }
    }),
  );
  const expected = createHash('sha256')
    .update('x'.repeat(20 * 64 * 1024))
    .digest('hex');
  assert.equal(hashes.get(20), expected);
  say(`${green('ok')}  ${hashes.size} texts, by ${workers.length} workers: ${expected.slice(0, 16)}...`);

  const { api } = workers[0]!;
  const cancel = new AbortController();
  const endless = within(api, { signal: cancel.signal }).hash(1e9, () => {});
  const other = api.hash(1, () => {});
  setTimeout(() => cancel.abort(new Error('Enough')), 50);
  await assert.rejects(endless, { message: 'Enough' });
  await other;
  assert.equal(await api.stopped(), 1);
  say(`${green('ok')}  64 TB were called off in the middle, between two looks at the event loop; the worker goes on`);
  for (const { port } of workers) port.close();
}

if (isProgram(import.meta.url)) await hashing();
