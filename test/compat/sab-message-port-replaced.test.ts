// Threads that take each other's place on a pipe of the sab-message-port door, at any point: what was taken is not read
// twice, what was never sent is not waited for, and everything else goes on.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { layOut } from '../../src/compat/sab-message-port/layout.ts';
import { SABMessagePort, SABPipe } from '../../src/compat/sab-message-port.ts';
import { viewsOf } from '../../src/memory/region.ts';
import { Gates } from '../kit/gate.ts';
import { inOneFile } from '../kit/in-one-file.ts';
import { cases, eachCase, type Random } from '../kit/prng.ts';
import { until, within } from '../kit/watchdog.ts';
import type { Part as EndedPart, Ending } from './sab-message-port-ended-worker.ts';
import type { Part } from './sab-message-port-replaced-worker.ts';

const endedUrl = inOneFile(new URL('./sab-message-port-ended-worker.js', import.meta.url));
const url = inOneFile(new URL('./sab-message-port-replaced-worker.js', import.meta.url));
const LONG = 50_000;
const ended = (part: Omit<EndedPart, 'gates'>, gates: Gates): Worker => {
  const worker = new Worker(endedUrl, { workerData: { ...part, gates: gates.memory } });
  worker.on('error', () => {});
  return worker;
};
const start = (part: Omit<Part, 'gates'>, gates: Gates = new Gates()): Worker =>
  new Worker(url, { workerData: { ...part, gates: gates.memory } });
const exitOf = (worker: Worker): Promise<void> => new Promise((resolve) => worker.once('exit', () => resolve()));
const message = async (worker: Worker): Promise<unknown> => (await within('a message', once(worker, 'message')))[0];
const open = (): Gates => {
  const gates = new Gates();
  gates.open(0);
  return gates;
};

for (const ending of ['returns', 'exits', 'crashes', 'killed'] as readonly Ending[]) {
  test(`after a worker that ${ending}, postInit to the next one: onmessage and asyncRead hear it`, async () => {
    const port = new SABMessagePort('a', 8);
    const heard: unknown[] = [];
    for (const first of [0, 10, 20]) {
      if (first === 10) port.onmessage = null;
      else port.onmessage = ({ data }) => heard.push(data.n);
      const gates = new Gates();
      const worker = ended({ door: 'SABMessagePort', ending, first, count: 3 }, gates);
      const exit = exitOf(worker);
      const written = message(worker);
      port.postInit(worker);
      // It ends when this was heard: its error must not come before its message.
      await written;
      gates.open(0);
      if (first === 10) for (let n = 0; n < 3; n++) heard.push((await within('a read', port.asyncRead())).n);
      else await until('three messages', () => heard.length % 3 === 0 && heard.at(-1) === first + 2);
      if (ending === 'killed') await worker.terminate();
      await within('the end', exit);
    }
    assert.deepEqual(heard, [0, 1, 2, 10, 11, 12, 20, 21, 22]);
    port.close();
  });
}

test('a thread that ends after another has taken its place does not end the pipe for it', async () => {
  const port = new SABMessagePort('a', 8);
  const slow = new Gates();
  const first = ended({ door: 'SABMessagePort', ending: 'returns', first: 0, count: 1 }, slow);
  const exit = exitOf(first);
  const written = message(first);
  port.postInit(first);
  await written;
  assert.deepEqual(port.tryRead(), { n: 0 });
  const later = new Gates();
  const second = ended({ door: 'SABMessagePort', ending: 'returns', first: 1, count: 1 }, later);
  port.postInit(second);
  assert.deepEqual(await within('the second', port.asyncRead()), { n: 1 });
  const waiting = port.asyncRead();
  slow.open(0);
  await within('the end of the first', exit);
  assert.equal(port.tryPeek(), null);
  assert.equal(await port.asyncRead(20), null);
  let settled = false;
  void waiting
    .catch(() => {})
    .finally(() => {
      settled = true;
    });
  await port.asyncRead(20);
  assert.equal(settled, false, 'the second is there still');
  later.open(0);
  await assert.rejects(within('the end of the second', waiting), /SABPipe disposed/);
  port.close();
});

test('a reader that ends in the middle of a long message: the next one says so once and goes on', async () => {
  for (const door of ['SABMessagePort', 'SABPipe']) {
    const gates = new Gates();
    const writer = door === 'SABPipe' ? new SABPipe('w', 4096) : new SABMessagePort('a', 8);
    const give = (worker: Worker): void => {
      if (writer instanceof SABMessagePort) writer.postInit(worker);
    };
    const where = door === 'SABPipe' ? { buffer: writer.buffer } : {};
    const first = start({ task: 'take', ...where }, gates);
    give(first);
    void writer.postMessage('x'.repeat(LONG)).catch(() => {});
    await gates.passAsync(1);
    gates.open(0);
    // Nothing of the rest goes out meanwhile: who looks could take it all in.
    gates.pass(2);
    assert.deepEqual(await message(first), { found: null });
    await first.terminate();
    const second = start({ task: 'drain', ...where });
    give(second);
    const seen = message(second);
    for (const next of ['one', 'y'.repeat(LONG), 'last']) await within('writing', writer.postMessage(next));
    assert.deepEqual(await seen, ['ERR_DECODE', 'one', LONG, 'last'], door);
    writer.close();
  }
});

test('a reader in the middle of a long message hears of no error under onmessage, unless it asks for it', async () => {
  for (const asks of [false, true]) {
    const a = new SABMessagePort('a', 8);
    const first = new SABMessagePort('b', a.buffer);
    void a.postMessage('x'.repeat(LONG));
    assert.equal(first.tryRead(), null);
    const second = new SABMessagePort('b', a.buffer);
    const heard: unknown[] = [];
    if (asks) second.onmessageerror = ({ data }) => heard.push((data as { code: string }).code);
    second.onmessage = ({ data }) => heard.push(data);
    void a.postMessage('after');
    await until('the message after', () => heard.includes('after'));
    assert.deepEqual(heard, asks ? ['ERR_DECODE', 'after'] : ['after']);
    a.close();
  }
});

for (const how of ['blocked', 'asyncRead', 'onmessage'] as const) {
  test(`a writer that is killed in the middle of a long message, then another one: ${how} is given what the second wrote`, async () => {
    const reader = new SABPipe('r', 4096);
    const { buffer } = reader;
    const first = ended({ door: 'SABPipe', ending: 'killed', first: 0, count: 1, buffer, long: LONG }, new Gates());
    await message(first);
    await first.terminate();
    const seen: unknown[] = [];
    assert.deepEqual(reader.read(0), { n: 0 });
    assert.equal(reader.tryRead(), null, 'the first parts only');
    const second = (): Worker => ended({ door: 'SABPipe', ending: 'returns', first: 1, count: 3, buffer }, open());
    if (how === 'blocked') {
      second();
      for (let n = 0; n < 3; n++) seen.push(reader.read(60_000));
    } else if (how === 'asyncRead') {
      const reads = [reader.asyncRead(60_000), reader.asyncRead(), reader.asyncRead(60_000)];
      second();
      seen.push(...(await within('three reads', Promise.all(reads))));
    } else {
      reader.onmessage = ({ data }) => seen.push(data);
      second();
      await until('three messages', () => seen.length === 3);
    }
    assert.deepEqual(seen, [{ n: 1 }, { n: 2 }, { n: 3 }]);
    reader.close();
  });
}

test('a reader that is blocked when another thread takes its place gives up, and takes nothing', async () => {
  const port = new SABMessagePort('a', 8);
  const first = start({ task: 'drain' });
  const gaveUp = message(first);
  port.postInit(first);
  await within('writing', port.postMessage('for the first'));
  await until('the first to have read it', () => port.tryPeek() === 'taken');
  port.tryRead();
  // Replaced before it blocks it would take turns with the second, which is no mistake; here it must be in its read.
  const { views, readerPark } = layOut(viewsOf(port.buffer), 0, port.buffer.byteLength / 2)!;
  await until('the first to sleep', () => Atomics.load(views.words, readerPark) !== 0);
  const second = start({ task: 'drain' });
  port.postInit(second);
  const seen = message(second);
  for (const next of ['one', 'two', 'last']) await within('writing', port.postMessage(next));
  assert.deepEqual(await gaveUp, ['for the first', 'SABPipe disposed']);
  assert.deepEqual(await seen, ['one', 'two', 'last']);
  port.close();
});

test('asking for the init message again, or sending it to the same thread, disturbs nobody', async () => {
  const port = new SABMessagePort('a', 8);
  const worker = start({ task: 'drain' });
  const seen = message(worker);
  port.postInit(worker);
  await within('writing', port.postMessage('for the first'));
  assert.equal(await within('the answer', port.asyncRead()), 'taken');
  assert.equal(port.postInit(null)[0].buffer, port.buffer);
  port.postInit(worker);
  await port.postMessage('last');
  assert.deepEqual(await seen, ['for the first', 'last']);
  port.close();
});

test('a read with a limit does not outlast it for a message that a new writer will never finish', async () => {
  const first = new SABMessagePort('a', 8);
  const reader = new SABMessagePort('b', first.buffer);
  void first.postMessage('x'.repeat(LONG)).catch(() => {});
  assert.equal(reader.tryRead(), null);
  new SABMessagePort('a', first.buffer);
  assert.equal(reader.read(20), null);
  first.close();
});

test('what one writer never finished and the next one wrote at once: neither is taken for the other', () => {
  // The first part, all of the ring but a little, then a message of the same length by another writer.
  const first = new SABMessagePort('a', 8);
  const reader = new SABMessagePort('b', first.buffer);
  void first.postMessage('x'.repeat(3000)).catch(() => {});
  reader.tryRead();
  const second = new SABMessagePort('a', first.buffer);
  void second.postMessage('y'.repeat(3000)).catch(() => {});
  const seen: unknown[] = [];
  for (let i = 0; i < 20; i++) {
    const found = reader.tryRead();
    if (found !== null) seen.push(found);
    second.tryRead();
  }
  assert.deepEqual(seen, ['y'.repeat(3000)]);
  first.close();
});

test('a thread that writes to one pipe and blocks on another rings the reader of the first, and sends it all', async () => {
  for (const length of [10, 100_000]) {
    for (const how of ['asyncRead', 'onmessage'] as const) {
      const gates = new Gates();
      const questions = new SABPipe('r', 8192);
      const answers = new SABPipe('w', 8192);
      const worker = start({ task: 'ask', buffer: questions.buffer, answers: answers.buffer, length }, gates);
      const answered = message(worker);
      const question = new Promise<string>((resolve, reject) => {
        if (how === 'asyncRead') questions.asyncRead().then(resolve, reject);
        else questions.onmessage = ({ data }) => resolve(data);
      });
      await once(worker, 'online');
      gates.open(0);
      assert.equal((await within('the question', question)).length, length);
      await answers.postMessage('answer');
      assert.equal(await answered, 'answer');
      questions.close();
      answers.close();
    }
  }
});

test('writers, and readers, that take turns on one pipe', async () => {
  const shared = new SharedArrayBuffer(4096);
  const memory = (): SharedArrayBuffer => shared;
  const writers = [1, 2, 3].map(() => new SABPipe('w', memory()));
  const readers = writers.map(() => new SABPipe('r', memory()));
  const sent: unknown[] = [];
  const seen: unknown[] = [];
  for (let n = 0; n < 300; n++) {
    const value = n % 3 === 0 ? { n, text: 'x'.repeat(n) } : n;
    sent.push(value);
    await writers[(n * 7) % 3]!.postMessage(value);
    if (n % 2 === 1) for (let i = 0; i < 2; i++) seen.push(readers[(n * 5 + i) % 3]!.tryRead());
  }
  assert.deepEqual(seen, sent);
  writers[0]!.close();
});

// ---- generated -------------------------------------------------------------------------------------------------

interface Sent {
  readonly id: number;
  readonly text: string;
  /** The writer that sent it, by number. */
  readonly writer: number;
  /** Whether it must have gone into the ring at once, so little was there. */
  readonly certain: boolean;
}

/**
 * Both sides live in this thread and nothing is awaited, so that a port that was replaced never does anything again, as if
 * its thread had been killed there and then. A port's own `tryRead` moves along what it sends.
 */
function replay(random: Random): void {
  const half = random.pick([160, 300, 520, 1024, 2048, 4096]);
  const memory = new SharedArrayBuffer(half * 2);
  const ports: SABMessagePort[] = [];
  const make = (side: 'a' | 'b'): SABMessagePort => {
    const port = new SABMessagePort(side, memory);
    ports.push(port);
    return port;
  };
  let writer = make('a');
  let writers = 0;
  let reader = make('b');
  const limit = random.chance(0.2) ? 1000 : null;
  reader.queueLimit = limit;
  const sent: Sent[] = [];
  const got: number[] = [];
  /** Of what is sent, characters that may still lie in the ring. */
  let outstanding = 0;
  let errors = 0;
  let readers = 0;
  let replacedMidway = 0;

  const take = (found: unknown): boolean => {
    const list = Array.isArray(found) ? [...found].reverse() : found === null ? [] : [found];
    for (const text of list as string[]) {
      const [id] = text.split(':');
      const message = sent[Number(id)];
      assert.equal(text, message?.text, `what came is not what was sent as ${id}`);
      assert.ok(got.length === 0 || (got.at(-1) as number) < Number(id), `${id} came after ${got.at(-1)}`);
      got.push(Number(id));
      outstanding = 0;
      for (let i = Number(id) + 1; i < sent.length; i++) outstanding += (sent[i] as Sent).text.length + 40;
    }
    return list.length > 0;
  };
  const read = (): boolean => {
    try {
      const way = random.int(0, 3);
      if (way === 0) return take(reader.tryRead(random.int(2, 5)));
      if (way === 1) return take(reader.tryPeek() === null ? null : reader.tryRead());
      return take(reader.tryRead());
    } catch (error) {
      assert.equal((error as { code?: string }).code, 'ERR_DECODE', String(error));
      errors++;
      assert.ok(errors <= readers, `${errors} errors for ${readers} readers that were replaced`);
      return true;
    }
  };

  for (let step = 0; step < 60; step++) {
    const what = random.int(0, 99);
    if (what < 40) {
      const id = sent.length;
      const length = random.chance(0.4) ? random.int(half >> 2, half * 4) : random.skewed(half >> 3);
      const text = `${id}:${'abc'.repeat(length / 3 + 1)}`;
      outstanding += text.length + 40;
      sent.push({ id, text, writer: writers, certain: outstanding < half >> 2 });
      void writer.postMessage(text).catch(() => {});
    } else if (what < 55) writer.tryRead();
    else if (what < 85) read();
    else if (what < 92) {
      writer = make('a');
      writers++;
    } else {
      reader = make('b');
      reader.queueLimit = limit;
      readers++;
      replacedMidway++;
    }
  }
  const last = sent.length;
  sent.push({ id: last, text: `${last}:last`, writer: writers, certain: true });
  void writer.postMessage(`${last}:last`).catch(() => {});
  for (let i = 0; got.at(-1) !== last; i++) {
    assert.ok(i < 10_000, 'the last message never came');
    read();
    writer.tryRead();
  }

  // What may be missing: with each reader one long message that it had begun, and, with a limit, what it had taken in; of
  // each writer that was replaced the messages from some place on.
  const missing = sent.filter((message) => !got.includes(message.id));
  let spared = limit === null ? replacedMidway : Number.POSITIVE_INFINITY;
  for (const message of missing) {
    const later = sent.some(
      (other) => other.writer === message.writer && other.id > message.id && got.includes(other.id),
    );
    if (later) {
      assert.ok(
        limit !== null || message.text.length > half >> 4,
        `${message.id}, a short one, is missing between others`,
      );
      spared--;
    } else assert.ok(!message.certain || spared-- > 0, `${message.id} is missing although it was written`);
    assert.ok(spared >= 0, 'more is missing than readers were replaced');
  }
  for (const port of ports) port.close();
}

test('readers and writers replaced at every point of short and long messages', () => {
  eachCase(0, cases(400, 20_000), replay);
});
