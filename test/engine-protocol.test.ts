// The bytes in docs/protocol/engines.md are those that are said through a server, and its numbers are those of the code.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { Driver } from '../src/engine/driver.ts';
import { DATA, message, OPENED } from '../src/engine/engine-socket.ts';
import { Dialer } from '../src/engine/lines.ts';
import { Names } from '../src/engine/names.ts';
import { RecordReader, RecordWriter } from '../src/engine/record.ts';
import { ENGINE_PARTS_MAX, ENGINE_PROBE_MS, QUEUE_ID_MS } from '../src/limits.ts';
import { Gathering, messagesIn } from '../src/redis/gathering.ts';

const page = readFileSync(new URL('../../docs/protocol/engines.md', import.meta.url), 'utf8');
const FROM = '000102030405060708090a0b0c0d0e0f';
const writer = new RecordWriter(FROM, 'packed', () => 65536);

const hex = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
/** The bytes in a block of the page. */
function written(block: string): string {
  const found = new RegExp(`^\`\`\`${block}\\n([^\`]*)\`\`\`$`, 'm').exec(page)?.[1];
  assert.ok(found !== undefined, block);
  return found.replaceAll(/\s/g, '');
}
const bytesOf = (text: string): Uint8Array =>
  Uint8Array.from(text.match(/../g) ?? [], (two) => Number.parseInt(two, 16));

test('a record, and several in one', () => {
  const [one] = writer.write({ n: 1 }, 7, 1) as [Uint8Array];
  assert.equal(hex(one), written('record'));
  writer.gather({ n: 1 }, 7);
  writer.gather('Hi', 8);
  assert.deepEqual(writer.gathered().map(hex), [written('several')]);

  const reader = new RecordReader();
  const record = reader.read(bytesOf(written('several')));
  assert.ok(record !== undefined);
  assert.deepEqual([record.from, record.number, record.count], [FROM, 7, 2]);
  const places = reader.several(record) as [number, number, number, number];
  assert.deepEqual(reader.valueAt(record, places[0], places[1]), { n: 1 });
  assert.equal(reader.valueAt(record, places[2], places[3]), 'Hi');
});

test('JSON', () => {
  const [said] = new RecordWriter(FROM, 'json', () => 65536).write({ n: 1 }, 7, 1) as [Uint8Array];
  assert.equal(new TextDecoder().decode(said), written('json'));
});

test('requests of one moment over Redis', async () => {
  const said: Uint8Array[] = [];
  const gathering = new Gathering(async (_channel, bytes) => said.push(bytes));
  const [one] = writer.write({ n: 1 }, 7, 1) as [Uint8Array];
  await Promise.all([gathering.say('c', one), gathering.say('c', one)]);
  assert.deepEqual(said.map(hex), [written('together')]);
  assert.deepEqual(messagesIn(bytesOf(written('together'))).map(hex), [written('record'), written('record')]);
});

test('who asks for a line, and what is said on one', async () => {
  let asked = new Uint8Array(0);
  const driver = {
    closed: false,
    onDown: () => () => {},
    ready: async () => {},
    subscribe: async () => ({ close() {}, async drain() {} }),
    async tellOne(_subject: string, bytes: Uint8Array) {
      asked = bytes as typeof asked;
      return false;
    },
  } as Partial<Driver> as Driver;
  await assert.rejects(new Dialer(driver, new Names('millrace'), 'shop').dial(new AbortController().signal));
  // The id is another one each time.
  assert.match(hex(asked), /^01(3[0-9]|6[1-6]){32}$/);
  assert.equal(written('asking'), `01${hex(new TextEncoder().encode(FROM))}`);
  assert.equal(hex(message(DATA, 0, bytesOf('010203'))), written('data'));
  assert.ok(page.includes(`${DATA} DATA, ${OPENED} OPENED`));
});

test('its numbers', () => {
  assert.ok(page.includes(`parts that the value has, 1 to ${ENGINE_PARTS_MAX} `));
  assert.ok(page.includes(`has heard nothing for ${ENGINE_PROBE_MS / 1000} s `));
  assert.equal(QUEUE_ID_MS, 120_000);
  assert.ok(page.includes('there for two minutes'));
});
