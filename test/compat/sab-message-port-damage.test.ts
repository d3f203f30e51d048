// Damaged records between good ones, in the sab-message-port door: whoever meets one is told, once, and everything else
// goes on. Bytes of messages are found in the shared memory and changed there, as a stray write would.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MWChannel, SABMessagePort, SABPipe } from '../../src/compat/sab-message-port.ts';
import { cases, eachCase, type Random } from '../kit/prng.ts';
import { turn, until, within } from '../kit/watchdog.ts';

/** Where `text` lies in `memory`, or -1. */
function find(memory: SharedArrayBuffer, text: string): number {
  return Buffer.from(memory).indexOf(text);
}
/** A value that travels as JSON text, because JSON changes it. */
const dated = (name: string): unknown => ({ name, when: new Date(0) });
const received = (name: string): unknown => ({ name, when: '1970-01-01T00:00:00.000Z' });
/** Spoils the text of `dated(name)`. */
function spoil(memory: SharedArrayBuffer, name: string): void {
  const at = find(memory, `"${name}"`);
  assert.ok(at > 0, `${name} is not in memory`);
  new Uint8Array(memory)[at] = 33;
}
const pipes = (bytes = 8192): [SABPipe, SABPipe] => {
  const writer = new SABPipe('w', bytes);
  return [writer, new SABPipe('r', writer.buffer)];
};
const isDamage = (error: unknown): boolean => (error as { code?: string }).code === 'ERR_DECODE';
const post = (writer: Pick<SABPipe, 'postMessage'>, ...names: string[]): void => {
  for (const name of names) void writer.postMessage(dated(name));
};

test('asyncRead that waits for it rejects, and the next one is served', async () => {
  const [writer, reader] = pipes();
  const reads = [reader.asyncRead(), reader.asyncRead(60_000), reader.asyncRead()];
  const settled = Promise.allSettled(reads);
  post(writer, 'one', 'two', 'three');
  spoil(writer.buffer, 'two');
  const answers = await within('three reads', settled);
  assert.deepEqual(answers[0], { status: 'fulfilled', value: received('one') });
  assert.ok(answers[1]!.status === 'rejected' && isDamage(answers[1].reason));
  assert.deepEqual(answers[2], { status: 'fulfilled', value: received('three') });
  post(writer, 'four');
  assert.deepEqual(await within('a later read', reader.asyncRead()), received('four'));
  writer.close();
});

const calls: Record<string, (reader: SABPipe) => unknown> = {
  read: (reader) => reader.read(),
  'read with a limit': (reader) => reader.read(60_000),
  tryRead: (reader) => reader.tryRead(),
  'tryPeek and tryRead': (reader) => {
    reader.tryPeek();
    return reader.tryRead();
  },
  asyncRead: (reader) => reader.asyncRead(),
  'read of several': (reader) => (reader.read(60_000, true, 10) as unknown[])[0],
};
for (const [name, call] of Object.entries(calls)) {
  for (const queueLimit of [null, 100]) {
    test(`${name} meets it in its turn, once${queueLimit === null ? '' : ', with a queue limit'}`, async () => {
      const [writer, reader] = pipes();
      reader.queueLimit = queueLimit;
      post(writer, 'one', 'two', 'three');
      spoil(writer.buffer, 'two');
      assert.deepEqual(await call(reader), received('one'));
      await assert.rejects(async () => call(reader), isDamage);
      assert.deepEqual(await call(reader), received('three'));
      assert.equal(reader.tryRead(), null);
      writer.close();
    });
  }
}

test('onmessage goes on behind it; onmessageerror is told', async () => {
  const [writer, reader] = pipes();
  const heard: unknown[] = [];
  reader.onmessageerror = ({ data }) => heard.push((data as { code: string }).code);
  reader.onmessage = ({ data }) => heard.push(data.name);
  post(writer, 'one', 'two', 'three');
  spoil(writer.buffer, 'two');
  await until('the third', () => heard.includes('three'));
  assert.deepEqual(heard, ['one', 'ERR_DECODE', 'three']);
  post(writer, 'four');
  await until('the fourth', () => heard.includes('four'));
  writer.close();
});

test('a worker side that changes its mode drains up to it, and hears what comes behind', async () => {
  const main = new MWChannel('m');
  const worker = MWChannel.from(main.postInit()[0]);
  for (const name of ['one', 'two', 'three']) void main.postMessage(dated(name));
  spoil(main.buffer, 'two');
  worker.setMode('nonblocking');
  const heard: unknown[] = [];
  worker._sabReader!.onmessageerror = ({ data }) => heard.push((data as { code: string }).code);
  worker.onmessage = ({ data }) => heard.push(data.name);
  await until('the third', () => heard.includes('three'));
  assert.deepEqual(heard, ['one', 'ERR_DECODE', 'three']);
  main.close();
  worker.close();
});

test('a record whose header is damaged takes what lies behind it along, and no more', async () => {
  const [writer, reader] = pipes();
  post(writer, 'one', 'two', 'three');
  const bytes = new Uint8Array(writer.buffer);
  const from = find(writer.buffer, '"one"');
  const to = find(writer.buffer, '"two"');
  bytes.fill(0xff, from + 40, to);
  const seen: unknown[] = [];
  for (let i = 0; i < 4; i++) seen.push(await reader.asyncRead(0).catch((error) => error.name));
  assert.deepEqual(seen.slice(0, 2).sort(), ['LayoutError', seen[0] === 'LayoutError' ? null : seen[0]].sort());
  assert.equal(seen.at(-1), null);
  assert.equal(await reader.asyncRead(5), null, 'the pump is alive');
  const later = reader.asyncRead();
  post(writer, 'after');
  assert.deepEqual(await within('what comes after', later), received('after'));
  writer.close();
});

test('positions that make no sense are told once, and mended by whoever moves them next', async () => {
  // Words that change with every message are positions.
  const [writer, reader] = pipes();
  const words = new Int32Array(writer.buffer);
  const before = words.slice(0, 80);
  post(writer, 'one');
  const written = words.slice(0, 80);
  assert.deepEqual(reader.tryRead(), received('one'));
  const read = words.slice(0, 80);
  const tail = [...before.keys()].filter(
    (i) => before[i] !== written[i] && written[i] === read[i] && written[i]! % 8 === 0 && i > 3,
  );
  const head = [...before.keys()].filter((i) => written[i] !== read[i] && read[i]! % 8 === 0 && read[i]! > 0);
  assert.equal(tail.length, 1);
  assert.equal(head.length, 1);
  for (const nonsense of [3, 1 << 30, -8]) {
    words[tail[0]!] = nonsense;
    assert.throws(() => reader.tryRead(), { name: 'LayoutError' });
    assert.equal(reader.tryRead(), null);
    assert.equal(await reader.asyncRead(5), null);
    post(writer, 'again');
    assert.deepEqual(await within('the next message', reader.asyncRead()), received('again'));
    words[head[0]!] = nonsense;
    assert.equal(reader.tryRead(), null);
    post(writer, 'and again');
    assert.deepEqual(await within('the next message', reader.asyncRead()), received('and again'));
  }
  writer.close();
});

test('a first part that claims gigabytes takes no more memory than what comes', async () => {
  const Real = globalThis.ArrayBuffer;
  let most = 0;
  class Counted extends Real {
    constructor(length: number, options?: { maxByteLength?: number }) {
      super(length, options);
      most = Math.max(most, length);
    }
  }
  const a = new SABMessagePort('a', 8);
  const b = new SABMessagePort('b', a.buffer);
  const length = 7_654_321;
  void a.postMessage('x'.repeat(length));
  const words = new Int32Array(a.buffer);
  const claims = [...words.keys()].filter((i) => words[i] === length + 2);
  assert.equal(claims.length, 1, 'the length of the whole stands once');
  words[claims[0]!] = 0x7f000000;
  globalThis.ArrayBuffer = Counted as never;
  try {
    void a.postMessage('after');
    const seen: unknown[] = [];
    while (seen.at(-1) !== 'after') {
      seen.push(
        await within(
          'a read',
          b.asyncRead().catch((error) => error.code),
        ),
      );
    }
    assert.deepEqual(seen, ['ERR_DECODE', 'after']);
  } finally {
    globalThis.ArrayBuffer = Real;
  }
  assert.ok(most > 0 && most <= 2 * 8 * 1024 * 1024, `${most} bytes were taken at once`);
  a.close();
});

test('a long message arrives whole though its memory grows on the way', async () => {
  const a = new SABMessagePort('a', 256);
  const b = new SABMessagePort('b', a.buffer);
  const text = Array.from({ length: 2_500_000 }, (_, i) => i & 0xffff).join(' ');
  void a.postMessage(text);
  assert.ok((await within('the message', b.asyncRead())) === text);
  a.close();
});

// ---- generated -------------------------------------------------------------------------------------------------

/** Any message, damaged in any way around where it lies: what lies before it arrives, and so does what is sent later. */
function replay(random: Random): void {
  const size = random.pick([400, 1024, 4096, 16384]);
  const a = new SABMessagePort('a', new SharedArrayBuffer(size * 2));
  const b = new SABMessagePort('b', a.buffer);
  const bytes = new Uint8Array(a.buffer);
  for (let round = 0; round < 5; round++) {
    const names = Array.from(
      { length: random.int(1, 4) },
      (_, i) => `name-${round}-${i}-${'z'.repeat(random.skewed(size >> 4))}`,
    );
    // Packed ones without keys: what the keys of objects are is taught once, and damage to that shows later.
    const values = names.map((name) => (random.chance(0.5) ? dated(name) : [name, random.int(0, 9), null]));
    for (const value of values) void a.postMessage(value).catch(() => {});
    if (random.chance(0.3)) void a.postMessage({ long: 'l'.repeat(size * 2) }).catch(() => {});
    const hit = random.int(0, names.length - 1);
    const at = find(a.buffer, names[hit]!);
    if (at >= 0) {
      const from = at + random.int(-24, 8);
      // Behind the name another message may begin, the oldest one even. Stay off the words before the data.
      const to = Math.min(from + random.int(1, 12), at + names[hit]!.length);
      for (let i = from; i < to; i++) {
        if (i >= 72 && i < size && (size < 1024 || i >= 320)) bytes[i] = random.int(0, 255);
      }
    }
    const sentinel = `sentinel-${round}`;
    void a.postMessage(sentinel).catch(() => {});
    let sent = 0;
    const got: unknown[] = [];
    for (let i = 0; got.at(-1) !== sentinel; i++) {
      assert.ok(i < 3000, `round ${round}: nothing arrives any more`);
      try {
        const found = b.tryRead();
        if (found !== null) got.push(found);
      } catch (error) {
        assert.match((error as Error).name, /^(CodecError|LayoutError)$/, String(error));
      }
      a.tryRead();
      // A damaged header takes the sentinel along too, if it was in the ring already.
      if (i % 100 !== 99) continue;
      void a.postMessage(sentinel).catch(() => {});
      sent++;
    }
    assert.ok(sent < 30);
    // The bytes before the name may be those of the message before.
    for (let i = 0; at >= 0 && i < hit - 1; i++) {
      assert.deepEqual(got[i], JSON.parse(JSON.stringify(values[i])), `round ${round}: what lies before the damage`);
    }
    while (b.tryRead() !== null);
  }
  a.close();
}

test('damage of any kind between good messages', async () => {
  eachCase(0, cases(500, 20_000), replay);
  await turn();
});
