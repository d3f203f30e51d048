// What is gathered in messages comes out of them: values of every size, in order, whatever a server takes at once.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Random, seed } from '../../test/kit/prng.ts';
import { DataCloneError, UsageError } from '../errors.ts';
import { ENGINE_PARTS_MAX } from '../limits.ts';
import { randomId } from './names.ts';
import { Numbers } from './numbers.ts';
import { RecordReader, RecordWriter } from './record.ts';

/** All that comes out of these messages. */
function read(messages: readonly Uint8Array[]): unknown[] {
  const reader = new RecordReader();
  const numbers = new Numbers();
  const values: unknown[] = [];
  for (const message of messages) {
    const record = reader.read(message);
    assert.ok(record !== undefined);
    const { pieces, missed, doubled } = numbers.come(record);
    assert.deepEqual([missed, doubled], [0, false]);
    if (pieces === undefined) continue;
    if (record.count === 0) values.push(reader.value(record, pieces));
    const places = record.count === 0 ? [] : reader.several(record);
    assert.equal(places?.length, 2 * record.count);
    for (let i = 0; i < places.length; i += 2)
      values.push(reader.valueAt(record, places[i] as number, places[i + 1] as number));
  }
  return values;
}

for (const most of [4096, 4099, 70_000, 1_000_000])
  test(`values of every size come in order, in messages of ${most} bytes at the most`, () => {
    const random = new Random(seed);
    const writer = new RecordWriter(randomId(), 'packed', () => most);
    const values: unknown[] = [];
    const messages: Uint8Array[] = [];
    const refused: readonly unknown[] = [() => {}, new Uint8Array(most * ENGINE_PARTS_MAX)];
    for (let i = 0; i < 2000; i++) {
      if (random.chance(0.01)) {
        // What cannot be said leaves the others as they were, and says so.
        const value = random.chance(0.9) ? refused[0] : refused[1];
        if (value === refused[0]) assert.throws(() => writer.gather(value, i), DataCloneError);
        else if (most < 70_000) assert.throws(() => writer.gather(value, values.length), UsageError);
      }
      const bytes = random.chance(0.02) ? random.int(0, 3 * most) : random.int(0, 300);
      const value = random.chance(0.5) ? 'x'.repeat(bytes) : { i, bytes: new Uint8Array(bytes).fill(i) };
      messages.push(...writer.gather(value, values.length));
      values.push(value);
      if (random.chance(0.05)) messages.push(...writer.gathered());
    }
    messages.push(...writer.gathered());
    for (const { length } of messages) assert.ok(length <= most, `one of ${length} bytes`);
    assert.deepEqual(read(messages), values);
  });

test('readers of two messages at a time, and values by themselves between them, are not mixed up', () => {
  const writer = new RecordWriter(randomId(), 'packed', () => 1_000_000);
  const reader = new RecordReader();
  const message = (values: readonly unknown[]): Uint8Array => {
    for (const [i, value] of values.entries()) writer.gather(value, i);
    return writer.gathered()[0] as Uint8Array;
  };
  const [one, two] = [message(['a', { b: 1 }, 'c']), message(['d', 'e'.repeat(100_000), 'f'])].map((bytes) => {
    const record = reader.read(bytes);
    assert.ok(record !== undefined);
    const places = reader.several(record) as number[];
    return (i: number) => reader.valueAt(record, places[2 * i] as number, places[2 * i + 1] as number);
  }) as [(i: number) => unknown, (i: number) => unknown];
  const alone = reader.read(writer.write('g', 9, 1)[0] as Uint8Array);
  assert.ok(alone !== undefined);
  assert.deepEqual(
    [one(0), two(0), one(1), two(1), reader.value(alone, [alone.bytes]), two(2), one(2)],
    ['a', 'd', { b: 1 }, 'e'.repeat(100_000), 'g', 'f', 'c'],
  );
});

test('a getter that has what is gathered sent, or would gather another value, spoils none', () => {
  const writer = new RecordWriter(randomId(), 'packed', () => 4096);
  const messages: Uint8Array[] = [];
  const flushing = {
    get sent() {
      messages.push(...writer.gathered());
      return true;
    },
  };
  const within = {
    get more() {
      return writer.gather(1, 9);
    },
  };
  const values: unknown[] = [{ before: 1 }, flushing, 'behind'];
  for (const [i, value] of values.entries()) {
    assert.throws(() => writer.gather(within, i), UsageError);
    messages.push(...writer.gather(value, i));
  }
  messages.push(...writer.gathered());
  assert.deepEqual(read(messages), [{ before: 1 }, { sent: true }, 'behind']);
});

test('a getter that throws once it is read again loses nothing that was gathered', () => {
  for (let most = 1; most < 8; most++) {
    const writer = new RecordWriter(randomId(), 'packed', () => 4096);
    const messages = [...writer.gather('a'.repeat(3000), 0)];
    let reads = 0;
    const value = {
      get text() {
        if (++reads > most) throw new RangeError('read too often');
        return 'b'.repeat(2000);
      },
    };
    let thrown: unknown;
    try {
      messages.push(...writer.gather(value, 1));
    } catch (error) {
      thrown = error;
    }
    messages.push(...writer.gathered());
    const values = read(messages);
    assert.equal(values[0], 'a'.repeat(3000));
    assert.equal(values.length, thrown === undefined ? 2 : 1);
  }
});

test('nothing of what was gathered before, or was refused, or of anybody else, stands in a message', () => {
  // Memory that others have used is had by whoever comes next.
  const other = new RecordWriter(randomId(), 'packed', () => 1 << 20);
  other.gather(new Uint8Array(60_000).fill(0xff), 0);
  other.gathered();
  other.write(new Uint8Array(60_000).fill(0xff), 0, 1);
  const writer = new RecordWriter(randomId(), 'packed', () => 4096);
  assert.throws(() => writer.gather(['secret '.repeat(100), () => {}], 0), DataCloneError);
  for (let i = 0; i < 100; i++) writer.gather('secret', i);
  writer.gathered();
  for (let i = 0; i < 50; i++) writer.gather('x'.repeat(i % 9), i);
  const [message] = writer.gathered() as [Uint8Array];
  const record = new RecordReader().read(message);
  assert.ok(message.subarray(12, 16).every((byte) => byte === 0));
  assert.ok(record !== undefined);
  let end = 0;
  const places = new RecordReader().several(record) as number[];
  for (let i = 0; i < places.length; i += 2) {
    const [from, length] = [places[i] as number, places[i + 1] as number];
    assert.ok(record.bytes.subarray(end, from).every((byte, j) => byte === 0 || j + end === from - 8));
    end = from + length;
  }
  assert.ok(record.bytes.subarray(end).every((byte) => byte === 0));
});

test('JSON: what would be written while another value is read is refused', () => {
  const writer = new RecordWriter(randomId(), 'json', () => 4096);
  let inner: unknown;
  const value = {
    toJSON() {
      try {
        writer.gather(2, 1);
      } catch (error) {
        inner = error;
      }
      return 'outer';
    },
  };
  const [message] = writer.gather(value, 0) as [Uint8Array];
  assert.ok(inner instanceof UsageError && inner.code === 'ERR_BUSY', String(inner));
  const { from, ...said } = JSON.parse(new TextDecoder().decode(message)) as { from: string };
  assert.deepEqual([from.length, said], [32, { v: 1, n: 0, value: 'outer' }]);
});

test('in JSON, too, an error that is called Busy and has a text is one that was thrown', () => {
  const writer = new RecordWriter(randomId(), 'json', () => 4096);
  const thrown = Object.assign(new Error('the printer is on fire'), { name: 'Busy' });
  for (const [value, outcome] of [
    [thrown, 'failed'],
    [undefined, 'busy'],
  ] as const) {
    const [message] = writer.write(value, 0, 1, outcome) as [Uint8Array];
    assert.equal(new RecordReader().read(message)?.outcome, outcome);
  }
});
