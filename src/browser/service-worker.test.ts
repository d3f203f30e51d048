import assert from 'node:assert/strict';
import { test } from 'node:test';
import { enableBlocking, isolate, serve } from './service-worker.ts';

test('serve() where there is no service worker says where to call it', () => {
  assert.throws(() => serve(), { code: 'ERR_UNSUPPORTED', message: /no service worker/ });
});

test('serve() takes no other policy', () => {
  assert.throws(() => serve({ isolate: 'yes' as never }), { code: 'ERR_OPTION', option: 'isolate', value: 'yes' });
});

test('isolate() and enableBlocking() where there is no page say where to call them', async () => {
  for (const call of [isolate, enableBlocking])
    await assert.rejects(call('/service-worker.js'), { code: 'ERR_UNSUPPORTED', message: /call it in the page/ });
});
