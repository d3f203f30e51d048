import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MillraceError, type UsageError } from '../errors.ts';
import { resolveOptions } from './options.ts';
import { type LinkOptions, resolveLinkOptions, resolveStreamOptions, streamEnd } from './stream-options.ts';

function refusal(body: () => unknown): MillraceError & { option?: string; value?: unknown } {
  try {
    body();
  } catch (error) {
    assert.ok(error instanceof MillraceError, String(error));
    return error as UsageError & { option?: string; value?: unknown };
  }
  assert.fail('it was taken');
}

const MIB = 2 ** 20;
const LINK = {
  maxMessageBytes: [64, 2 ** 31 - 64, 'maxMessageBytes', 256 * MIB],
  rememberedTextBytes: [0, 2 ** 30, 'textBytesMax', 16 * MIB],
  capacityBytes: [1024, 16 * MIB, 'windowBytes', undefined],
  maxChannels: [0, 65_536, 'channelsMax', 65_536],
  maxWaitingChannels: [0, 65_536, 'waitingMax', 1024],
} as const;

test('without options a connection has the defaults of the protocol, its credit is unsaid, and the record is frozen', () => {
  const resolved = resolveLinkOptions();
  assert.ok(Object.isFrozen(resolved));
  assert.deepEqual(resolveLinkOptions({ maxChannels: undefined }), resolved);
  for (const [, , name, fallback] of Object.values(LINK)) assert.equal(resolved[name], fallback, name);
});

for (const [name, [min, max, as]] of Object.entries(LINK)) {
  test(`of a connection, ${name} takes whole numbers from ${min} to ${max}, and names itself, the value and the range when refusing`, () => {
    for (const value of [min, min + 1, max]) assert.equal(resolveLinkOptions({ [name]: value })[as], value);
    for (const value of [min - 1, max + 1, min + 0.5, Number.NaN, Number.POSITIVE_INFINITY, '5', {}, true, 5n]) {
      const error = refusal(() => resolveLinkOptions({ [name]: value } as LinkOptions));
      assert.deepEqual([error.code, error.option], ['ERR_OPTION', name]);
      assert.ok(Object.is(error.value, value));
      assert.ok(error.message.includes(name) && error.message.includes(`from ${min} to ${max}`), error.message);
    }
  });
}

test('what no connection knows is refused, and what is no object', () => {
  for (const options of [{ channelsMax: 1 }, { toString: 1 }, { spinMicroseconds: 5 }])
    assert.equal(refusal(() => resolveLinkOptions(options as LinkOptions)).code, 'ERR_OPTION');
  for (const options of [null, 5, 'text'])
    assert.equal(refusal(() => resolveLinkOptions(options as unknown as LinkOptions)).code, 'ERR_OPTION');
});

test('a channel takes the options of threads, and says its part with them', () => {
  const { wish, transport } = resolveStreamOptions({
    capacityBytes: 4096,
    maxMessageBytes: 1000,
    rememberedTexts: 3,
    rememberedTextBytes: 500,
    codec: 'json',
    arrayProperties: 'always',
    overflow: 'reject',
    highWaterMarkBytes: 10,
    outboxBytes: 20,
    spinMicroseconds: 5,
  });
  assert.deepEqual(wish, { window: 4096, messageMax: 1000, texts: 3, textBytes: 500 });
  const { codec, codecs, ...rest } = transport;
  assert.deepEqual([codec.name, codecs.map(({ name }) => name)], ['json', ['packed', 'json']]);
  assert.deepEqual(rest, {
    codecOptions: { exactArrays: true },
    overflow: 'reject',
    highWaterMark: 10,
    outboxLimit: 20,
  });
  // A credit that nobody names is the connection's to say.
  const { wish: resolved, ...others } = streamEnd(resolveOptions());
  const { window: _, ...unsaid } = resolved;
  assert.deepEqual(resolveStreamOptions(), { ...others, wish: unsaid });
});

test('what a stream cannot give is refused before anything is opened: more credit than there is, and the newest only', () => {
  const error = refusal(() => resolveStreamOptions({ capacityBytes: 32 * MIB }));
  assert.deepEqual([error.code, error.option, error.value], ['ERR_OPTION', 'capacityBytes', 32 * MIB]);
  assert.match(error.message, /33554432.*1024 to 16777216.*go in parts/);
  assert.equal(refusal(() => resolveStreamOptions({ codec: 'xml' as 'json' })).option, 'codec');
  for (const body of [
    () => resolveStreamOptions({ overflow: 'latest' }),
    () => streamEnd(resolveOptions({ overflow: 'latest' })),
  ]) {
    const latest = refusal(body);
    assert.equal(latest.code, 'ERR_UNSUPPORTED');
    assert.match(latest.message, /use 'drop-oldest'/);
  }
  // A ring may be larger than any credit: then that is what it can be here.
  assert.equal(streamEnd(resolveOptions({ capacityBytes: 32 * MIB })).wish.window, 16 * MIB);
});
