// What is said to one channel in one go is one publication, in order, and comes apart where it is heard; what makes no sense is passed on as it is.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Random, seed } from '../../test/kit/prng.ts';
import { ENGINE_MESSAGE_BYTES_MAX } from '../limits.ts';
import { Gathering, messagesIn } from './gathering.ts';

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes).trim();
/** No record is less than its head. */
const bytesOf = (said: string): Uint8Array => new TextEncoder().encode(said.padEnd(32));

test('messages of one go are one for each channel, in order; those in JSON go by themselves, in their place', async () => {
  const published: [string, string[]][] = [];
  const gathering = new Gathering(async (channel, bytes) => {
    published.push([channel, messagesIn(bytes).map(text)]);
    return published.length;
  });
  const said = ['a 1', 'b 1', 'a 2', 'a {"v":1}', 'a 3', 'a 4'].map((each) =>
    gathering.say(each.slice(0, 1), bytesOf(each.slice(2))),
  );
  assert.deepEqual(published, [
    ['a', ['1', '2']],
    ['a', ['{"v":1}']],
  ]);
  const answers = await Promise.all(said);
  assert.deepEqual(published.slice(2), [
    ['b', ['1']],
    ['a', ['3', '4']],
  ]);
  assert.deepEqual(answers, [1, 3, 1, 2, 4, 4]);
});

test('no message is larger than one may be, and all that are refused say so', async () => {
  const lengths: number[] = [];
  const gathering = new Gathering(async (_channel, bytes) => {
    lengths.push(...messagesIn(bytes).map(({ length }) => length));
    assert.ok(bytes.length <= ENGINE_MESSAGE_BYTES_MAX);
    throw new Error('refused');
  });
  const random = new Random(seed);
  const sizes = Array.from({ length: 200 }, () => random.int(32, ENGINE_MESSAGE_BYTES_MAX / 3));
  sizes.push(ENGINE_MESSAGE_BYTES_MAX, 32, ENGINE_MESSAGE_BYTES_MAX);
  const said = await Promise.allSettled(sizes.map((size) => gathering.say('a', new Uint8Array(size))));
  assert.ok(said.every(({ status }) => status === 'rejected'));
  assert.deepEqual(lengths, sizes);
});

test('bytes that are no messages come as they are', async () => {
  const random = new Random(seed);
  for (let i = 0; i < 20_000; i++) {
    const bytes = Uint8Array.from({ length: random.int(0, 120) }, () => (random.chance(0.7) ? 0 : random.int(0, 255)));
    if (bytes.length > 0 && random.chance(0.8)) bytes[0] = 0xc0;
    const messages = messagesIn(bytes);
    if (messages.length === 1 && messages[0] === bytes) continue;
    assert.equal(
      messages.reduce((sum, { length }) => sum + 4 + length, 4),
      bytes.length,
    );
  }
});

test('what no one of us has said comes apart into no more than its bytes would', () => {
  const zeros = new Uint8Array(ENGINE_MESSAGE_BYTES_MAX);
  const several = new Uint8Array(2 * ENGINE_MESSAGE_BYTES_MAX);
  const view = new DataView(several.buffer);
  for (let at = 4; at < several.length - 36; at += 36) view.setUint32(at, 32, true);
  for (const bytes of [zeros, several]) {
    bytes[0] = 0xc0;
    assert.equal(messagesIn(bytes).length, 1);
  }
});

test('a batch of which nobody waits for anything any more is given up, and no other', async () => {
  const givens: boolean[] = [];
  const gathering = new Gathering(async (_channel, _bytes, given) => void givens.push(given()));
  const [left, waits] = [() => true, () => false];
  gathering.say('a', bytesOf('1'), left);
  gathering.say('a', bytesOf('2'), left);
  gathering.say('b', bytesOf('1'), left);
  gathering.say('b', bytesOf('2'), waits);
  await gathering.say('c', bytesOf('1'));
  assert.deepEqual(givens, [true, false, false]);
});
