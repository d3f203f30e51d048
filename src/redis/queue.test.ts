// What a queue on Redis says again to a server that has forgotten it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UsageError } from '../errors.ts';
import { RedisQueue } from './queue.ts';
import type { Server } from './server.ts';

test('a server that has forgotten a queue is told of its ackMs again, and others of theirs', async () => {
  const texts = new Map<string, string>();
  const call = async (_key: string, command: string, key: string, value: string): Promise<unknown> => {
    if (command === 'SET' && !texts.has(key)) texts.set(key, value);
    return command === 'GET' ? texts.get(key) : 'OK';
  };
  const server = { call } as unknown as Server;
  const queue = await RedisQueue.open(server, 'here', 'mail', 2000);
  await assert.rejects(RedisQueue.open(server, 'here', 'mail', 60_000), UsageError);
  texts.clear();
  await queue.make();
  await assert.rejects(RedisQueue.open(server, 'here', 'mail', 60_000), { code: 'ERR_OPTION', option: 'ackMs' });
});
