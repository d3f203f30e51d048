// Who is asked of several that answer to a name, over a server that does as it is told.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Names } from '../engine/names.ts';
import { RedisDriver } from './driver.ts';
import type { Server } from './server.ts';

test('however many ask at a time, each asks everybody who answers before it asks anybody again', async () => {
  const tried = new Map<number, string[]>();
  const server: Partial<Server> = {
    up: true,
    watch() {},
    whenOver() {},
    channels: async () => ['dead', 'alive', 'gone'],
    publish: async (channel, bytes) => {
      const [, number] = bytes as Uint8Array & [number, number];
      tried.set(number, [...(tried.get(number) ?? []), channel]);
      // In a turn of its own: those who try again meet.
      await new Promise((resolve) => setTimeout(resolve, 0));
      return channel === 'alive' ? 1 : 0;
    },
  };
  const driver = new RedisDriver('here', new Names('test'), server as Server);
  // In JSON, which goes by itself.
  const asked = Array.from({ length: 100 }, (_, i) => driver.tellOne('test.call.job', new Uint8Array([0x7b, i])));
  assert.ok((await Promise.all(asked)).every((heard) => heard));
  for (const channels of tried.values()) {
    assert.equal(new Set(channels).size, channels.length, channels.join());
    assert.equal(channels.at(-1), 'alive');
  }
});

test('what is published behind an answer goes behind it, and flush waits for both', async () => {
  const said: string[] = [];
  const heard: (() => void)[] = [];
  const server: Partial<Server> = {
    up: true,
    watch() {},
    whenOver() {},
    async settled() {},
    publish: (channel) => {
      said.push(channel);
      return new Promise((resolve) => heard.push(() => resolve(1)));
    },
  };
  const names = new Names('test');
  const driver = new RedisDriver('here', names, server as Server);
  const [answers, topic] = [names.reply('00'.repeat(16)), names.topic('news')];
  driver.publish(answers, new Uint8Array([1]));
  driver.publish(topic, new Uint8Array([2]));
  driver.publish(answers, new Uint8Array([3]));
  driver.publish(names.reply('11'.repeat(16)), new Uint8Array([4]));
  driver.publish(answers, new Uint8Array([5]));
  assert.deepEqual(said, [answers, topic]);
  // A server answers in order.
  let flushed = false;
  const flushing = driver.flush().then(() => {
    flushed = true;
  });
  // What joined another one went before who asked for it last.
  assert.equal(heard.length, 4);
  for (const answer of heard.slice(0, 3)) answer();
  await new Promise((resolve) => setTimeout(resolve, 0));
  assert.equal(flushed, false);
  heard[3]?.();
  await flushing;
});
