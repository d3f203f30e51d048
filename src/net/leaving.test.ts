import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Line } from '../transport/network/line.ts';
import { Leaving } from './leaving.ts';

test('of more lines than may be kept the oldest goes; one that is gone by itself counts no more', () => {
  const leaving = new Leaving(2);
  const gone: string[] = [];
  const line = (name: string): Line => ({ destroy: () => gone.push(name) }) as unknown as Line;
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map(line) as [Line, Line, Line, Line];
  leaving.add(a, 60_000);
  leaving.add(b, 60_000);
  leaving.forget(a);
  leaving.add(c, 60_000);
  assert.deepEqual(gone, []);
  leaving.add(d, 60_000);
  assert.deepEqual(gone, ['b']);
});
