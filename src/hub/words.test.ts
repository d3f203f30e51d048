// The protocol's page and what is spoken are equal.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import * as words from './words.ts';

test('docs/protocol/hub.md has the numbers of words.ts', () => {
  const page = readFileSync(new URL('../../../docs/protocol/hub.md', import.meta.url), 'utf8');
  const listed = [...page.matchAll(/^\| (\d+) \| ([A-Z]+) \|/gm)].map(([, number, name]) => [name, Number(number)]);
  const spoken = Object.entries(words).filter(([name, value]) => typeof value === 'number' && name !== 'HUB_VERSION');
  assert.deepEqual(Object.fromEntries(listed), Object.fromEntries(spoken));
  assert.ok(page.includes(`Version ${words.HUB_VERSION}.`));
});
