import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sleeping } from '../../test/kit/sleeping.ts';
import { MillraceError, UsageError } from '../errors.ts';
import { type ChannelOptions, resolveOptions, timeoutOf } from './options.ts';

const NUMBERS = {
  capacityBytes: [1024, 2 ** 30],
  maxMessageBytes: [64, 2 ** 31 - 64],
  highWaterMarkBytes: [0, 2 ** 31 - 64],
  outboxBytes: [1, Number.MAX_SAFE_INTEGER],
  spinMicroseconds: [0, 10_000],
} as const;
const NAMES = {
  overflow: ['wait', 'reject', 'drop-oldest', 'drop-newest', 'latest'],
  codec: ['packed', 'json'],
} as const;

function refusal(options: unknown): MillraceError & { option?: string; value?: unknown } {
  try {
    resolveOptions(options as ChannelOptions);
  } catch (error) {
    assert.ok(error instanceof UsageError && error.code === 'ERR_OPTION', String(error));
    return error;
  }
  assert.fail(`${JSON.stringify(options)} was taken`);
}

const KNOWN = ['timeoutMs'];

test('without options every one has its default, and the record is frozen', () => {
  const resolved = resolveOptions();
  assert.ok(Object.isFrozen(resolved));
  assert.deepEqual(resolveOptions({}), resolved);
  for (const name of [...Object.keys(NUMBERS), ...Object.keys(NAMES)]) {
    assert.notEqual(resolved[name as never], undefined, name);
    assert.deepEqual(resolveOptions({ [name]: undefined }), resolved, `${name}: undefined is absent`);
  }
});

for (const [name, [min, max]] of Object.entries(NUMBERS)) {
  test(`${name} takes whole numbers from ${min} to ${max}, and names itself, the value and the range when refusing`, () => {
    for (const value of [min, max, min + 1]) assert.equal(resolveOptions({ [name]: value })[name as never], value);
    for (const value of [min - 1, max + 1, min + 0.5, Number.NaN, Number.POSITIVE_INFINITY, '5', null, {}, true, 5n]) {
      if (value === null) continue;
      const error = refusal({ [name]: value });
      assert.equal(error.option, name);
      assert.ok(Object.is(error.value, value));
      assert.match(error.message, new RegExp(`${name}.*${min}`));
    }
  });
}

for (const [name, values] of Object.entries(NAMES)) {
  test(`${name} takes ${values.join(', ')} and nothing else`, () => {
    for (const value of values) assert.equal(resolveOptions({ [name]: value })[name as never], value);
    for (const value of ['', values[0].toUpperCase(), 1, true, {}, []]) {
      assert.equal(refusal({ [name]: value }).option, name);
    }
  });
}

test('how an event loop sleeps is no option; tests have a way to choose it', () => {
  assert.equal(refusal({ eventLoopWait: 'doorbell' }).option, 'eventLoopWait');
  const ways = ['doorbell', 'wait-async', 'both'] as const;
  assert.deepEqual(
    ways.map((way) => resolveOptions(sleeping(way)).eventLoopWait),
    ways,
  );
});

test('spinMicroseconds: false means never', () => {
  assert.equal(resolveOptions({ spinMicroseconds: false }).spinMicroseconds, 0);
  refusal({ capacityBytes: false });
});

test('unknown options are refused, also those with names that every object knows', () => {
  for (const name of ['capacity', 'Codec', 'toString', 'constructor', 'hasOwnProperty']) {
    assert.equal(refusal({ [name]: 1 }).option, name);
  }
  refusal(JSON.parse('{"__proto__": 1}'));
});

test('options that are no object are refused', () => {
  for (const options of [null, 5, 'text', true]) refusal(options);
});

test('a time limit is 0 or more, or Infinity; nothing else', () => {
  assert.equal(timeoutOf(undefined, KNOWN), Number.POSITIVE_INFINITY);
  assert.equal(timeoutOf({}, KNOWN), Number.POSITIVE_INFINITY);
  assert.equal(timeoutOf({}, KNOWN, 7), 7);
  for (const timeoutMs of [0, 0.5, 1e12, Number.POSITIVE_INFINITY])
    assert.equal(timeoutOf({ timeoutMs }, KNOWN), timeoutMs);
  for (const timeoutMs of [-1, -0.1, Number.NaN, Number.NEGATIVE_INFINITY, '1', null, 1n, {}]) {
    assert.throws(
      () => timeoutOf({ timeoutMs: timeoutMs as never }, KNOWN),
      (error) => error instanceof MillraceError && error.code === 'ERR_OPTION',
      String(timeoutMs),
    );
  }
});
