// What a client of `redis` that was handed in is asked to be, of which nothing of ours is to be lost or said late.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type NodeRedisClient, nodeRedis } from './node-redis.ts';

test('whatever the client that was handed in has, ours waits for nothing, and gives up nothing by itself', () => {
  const made: { disableOfflineQueue?: boolean; commandOptions?: { timeout?: number } }[] = [];
  const client = {
    options: { commandOptions: { timeout: 5000 } },
    on() {},
    duplicate(overrides: object) {
      made.push({ disableOfflineQueue: false, commandOptions: { timeout: 5000 }, ...overrides });
      return client;
    },
  } as unknown as NodeRedisClient;
  const template = nodeRedis(client);
  template.make(undefined, true);
  template.make({ host: 'there', port: 1 }, false);
  assert.equal(made.length, 2);
  for (const { disableOfflineQueue, commandOptions } of made) {
    assert.equal(disableOfflineQueue, true);
    assert.equal(commandOptions?.timeout, undefined);
  }
});
