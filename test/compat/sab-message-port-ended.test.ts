// The other thread has ended: what each call of the sab-message-port door does then. A pipe whose writer has ended is not
// disposed, another writer may come; so what has a time limit waits for as long, and only what would wait for ever
// rejects.
// asked for: node-22, node-26
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { platform } from '#platform';
import { MWChannel, SABMessagePort, SABPipe } from '../../src/compat/sab-message-port.ts';
import { settleable } from '../../src/port/waiters.ts';
import { Gates } from '../kit/gate.ts';
import { inOneFile } from '../kit/in-one-file.ts';
import { until, within } from '../kit/watchdog.ts';
import type { Door, Ending, Part } from './sab-message-port-ended-worker.ts';

const url = inOneFile(new URL('./sab-message-port-ended-worker.js', import.meta.url));
const disposed = new Error('SABPipe disposed');
const MESSAGES = 3;

/** `once` would reject for a thread that crashes. */
const exitOf = (worker: Worker): Promise<void> => new Promise((resolve) => worker.once('exit', () => resolve()));

type Reading = Pick<SABMessagePort, 'read' | 'tryRead' | 'tryPeek' | 'asyncRead' | 'hasRef'>;
interface Scene {
  readonly reader: Reading & { close(): void };
  readonly writer: Pick<SABMessagePort, 'postMessage'> | null;
  readonly pipe: SABPipe | null;
  /** Ends the other thread; resolves when this one can know. */
  end(): Promise<void>;
  /** Lets it end while this thread is blocked. */
  letEnd(): void;
}

/** This thread reads what another one wrote, which is there and still lives. */
async function scene(door: Door, ending: Ending): Promise<Scene> {
  const gates = new Gates();
  const pipe = door === 'SABPipe' ? new SABPipe('r', 4096) : null;
  const part: Part = {
    door,
    ending,
    gates: gates.memory,
    first: 0,
    count: MESSAGES,
    ...(pipe && { buffer: pipe.buffer }),
  };
  const worker = new Worker(url, { workerData: part });
  worker.on('error', () => {});
  const exit = exitOf(worker);
  let reader: Scene['reader'];
  let writer: Scene['writer'] = null;
  if (pipe !== null) {
    reader = pipe;
    await within('the messages', once(worker, 'message'));
  } else if (door === 'MWChannel') {
    const [init] = await within('the init message', once(worker, 'message'));
    reader = MWChannel.from(init);
  } else {
    const port = new SABMessagePort('a', 8);
    port.postInit(worker);
    reader = port;
    writer = port;
    await within('the messages', once(worker, 'message'));
  }
  const end = async (): Promise<void> => {
    gates.open(0);
    if (ending === 'killed') await worker.terminate();
    await within('the end', exit);
  };
  return { reader, writer, pipe, end, letEnd: () => gates.open(0) };
}

/** Milliseconds that `wait` took; timers may fire that much early. */
const EARLY_MS = 2;
async function atLeast(ms: number, wait: () => unknown): Promise<unknown> {
  const start = performance.now();
  const answer = await wait();
  assert.ok(performance.now() - start >= ms - EARLY_MS, `answered before its ${ms} ms were over`);
  return answer;
}

const doors: readonly Door[] = ['SABMessagePort', 'SABPipe', 'MWChannel'];
const endings: readonly Ending[] = ['returns', 'exits', 'crashes', 'killed'];
for (const door of doors) {
  for (const ending of endings) {
    test(`${door}, a writer that ${ending}: limits answer when the time is up, and the pipe is not disposed`, async () => {
      const { reader, writer, pipe, end } = await scene(door, ending);
      const across = reader.asyncRead(60_000, 100);
      assert.equal(((await across) as unknown[]).length, MESSAGES);
      const waiting = reader.asyncRead(150);
      await end();
      assert.equal(await waiting, null, 'a read that was pending when the writer ended');
      assert.equal(reader.tryRead(), null);
      assert.deepEqual(reader.tryRead(5), []);
      assert.equal(reader.tryPeek(), null);
      assert.equal(reader.read(60_000, false), null);
      assert.equal(reader.read(0), null);
      assert.equal(await atLeast(20, () => reader.read(20)), null);
      assert.deepEqual(await atLeast(20, () => reader.read(20, true, 3)), []);
      assert.equal(await reader.asyncRead(0), null);
      assert.equal(await atLeast(20, () => reader.asyncRead(20)), null);
      const both = await atLeast(20, () => Promise.all([reader.asyncRead(20, 3), reader.asyncRead(20)]));
      assert.deepEqual(both, [[], null]);
      assert.equal(pipe?.isDisposed() ?? false, false);
      // What fits is written for whoever comes next.
      if (writer !== null) await within('a short message', writer.postMessage('short'));
      reader.close();
    });

    test(`${door}, a writer that ${ending}: what it wrote is read first`, async () => {
      const { reader, end } = await scene(door, ending);
      await end();
      assert.deepEqual(reader.tryPeek(), { n: 0 });
      assert.deepEqual(reader.read(), { n: 0 });
      assert.deepEqual(await reader.asyncRead(), { n: 1 });
      assert.deepEqual(reader.tryRead(), { n: 2 });
      assert.equal(reader.tryRead(), null);
      reader.close();
    });

    // Of a killed thread nobody can tell a reader that has nothing but the memory.
    if (door === 'SABPipe' && ending === 'killed') continue;
    test(`${door}, a writer that ${ending}: what would wait for ever rejects`, async () => {
      const { reader, writer, pipe, end } = await scene(door, ending);
      for (let n = 0; n < MESSAGES; n++) assert.deepEqual(reader.tryRead(), { n });
      const waiting = [reader.asyncRead(), reader.asyncRead(150), reader.asyncRead(Number.POSITIVE_INFINITY, 4)];
      const settled = Promise.allSettled(waiting);
      await end();
      const answers = (await within('the pending reads', settled)).map((it) =>
        it.status === 'fulfilled' ? it.value : it.reason.message,
      );
      assert.deepEqual(answers, ['SABPipe disposed', null, 'SABPipe disposed']);
      assert.throws(() => reader.read(), disposed);
      assert.throws(() => reader.read(Number.POSITIVE_INFINITY, true, 5), disposed);
      await assert.rejects(() => reader.asyncRead(), disposed);
      assert.equal(pipe?.isDisposed() ?? false, false);
      if (writer !== null) {
        await assert.rejects(within('a message that does not fit', writer.postMessage('x'.repeat(100_000))), disposed);
        void writer.postMessage('x'.repeat(100_000));
      }
      assert.equal(reader.hasRef(), false, 'nothing is waited for');
      reader.close();
    });

    if (ending === 'killed') continue;
    test(`${door}, a writer that ${ending} while this thread is blocked`, async () => {
      const limited = await scene(door, ending);
      assert.equal((limited.reader.read(60_000, true, MESSAGES) as unknown[]).length, MESSAGES);
      limited.letEnd();
      assert.equal(await atLeast(300, () => limited.reader.read(300)), null);
      assert.throws(() => limited.reader.read(), disposed);
      limited.reader.close();
      const unlimited = await scene(door, ending);
      assert.equal((unlimited.reader.read(60_000, true, MESSAGES) as unknown[]).length, MESSAGES);
      unlimited.letEnd();
      assert.throws(() => unlimited.reader.read(), disposed);
      unlimited.reader.close();
    });
  }
}

// Of a killed thread only the lifeline tells that `postInit` sends along, where there is one.
if (platform.canProbe()) {
  test('the thread that made the SABMessagePort is killed: what would wait for ever rejects', async () => {
    const gates = new Gates();
    const part: Part = {
      door: 'SABMessagePort',
      ending: 'killed',
      makes: true,
      gates: gates.memory,
      first: 0,
      count: MESSAGES,
    };
    const worker = new Worker(url, { workerData: part });
    const [init] = await within('the init message', once(worker, 'message'));
    const port = SABMessagePort.from(init);
    for (let n = 0; n < MESSAGES; n++) assert.deepEqual(await port.asyncRead(), { n });
    const waiting = port.asyncRead();
    const rejected = assert.rejects(within('the pending read', waiting), disposed);
    await worker.terminate();
    await rejected;
    await assert.rejects(() => port.asyncRead(), disposed);
    assert.equal(port.hasRef(), false);
    port.close();
  });
}

test('whatever postInit was given may tell of the end, as long as the channel is its own', async () => {
  class Target extends EventTarget {
    postMessage(): void {}
  }
  const port = new SABMessagePort('a', 8);
  const [former, target] = [new Target(), new Target()];
  port.postInit(former);
  port.postInit(target);
  let settled = false;
  const waiting = port.asyncRead().finally(() => (settled = true));
  former.dispatchEvent(new Event('close'));
  await port.asyncRead(20);
  assert.equal(settled, false, 'the former one has no say any more');
  target.dispatchEvent(new Event('close'));
  await assert.rejects(within('the pending read', waiting), disposed);
  port.close();
});

test('a handler stays when the writer ends, holds nothing, and hears the next writer', async () => {
  const { reader, pipe, end } = await scene('SABPipe', 'returns');
  const heard: unknown[] = [];
  let all = settleable<void>();
  pipe!.onmessage = ({ data }) => {
    heard.push(data);
    if (heard.length % MESSAGES === 0) all.resolve();
  };
  await within('the first writer', all.promise);
  await end();
  all = settleable<void>();
  const gates = new Gates();
  gates.open(0);
  const part: Part = {
    door: 'SABPipe',
    ending: 'returns',
    gates: gates.memory,
    first: 10,
    count: MESSAGES,
    buffer: pipe!.buffer,
  };
  new Worker(url, { workerData: part });
  await within('the second writer', all.promise);
  assert.deepEqual(
    heard,
    [0, 1, 2, 10, 11, 12].map((n) => ({ n })),
  );
  reader.close();
});

test('a loop of asyncRead with a limit goes on from one writer to the next', async () => {
  const port = new SABMessagePort('a', 8);
  const begin = (first: number, gates: Gates): Worker => {
    const part: Part = { door: 'SABMessagePort', ending: 'returns', gates: gates.memory, first, count: MESSAGES };
    const worker = new Worker(url, { workerData: part });
    port.postInit(worker);
    return worker;
  };
  const heard: unknown[] = [];
  let stop = false;
  let nothing = 0;
  const loop = (async () => {
    while (!stop) {
      const message = await port.asyncRead(5);
      if (message === null) nothing++;
      else heard.push((message as { n: number }).n);
    }
  })();
  for (const first of [0, 10, 20]) {
    const gates = new Gates();
    gates.open(0);
    await within('the end', once(begin(first, gates), 'exit'));
    // The loop goes on though nobody is there.
    const before = nothing;
    while (nothing < before + 2)
      await port.asyncRead(5).then((message) => message !== null && heard.push((message as { n: number }).n));
  }
  stop = true;
  await within('the loop', loop);
  assert.deepEqual(
    heard.sort((a, b) => Number(a) - Number(b)),
    [0, 1, 2, 10, 11, 12, 20, 21, 22],
  );
  port.close();
});

for (const length of [3000, 20_000]) {
  test(`a handler is given a message of ${length} characters whose writer closes behind it and one more`, async () => {
    const writer = new SABMessagePort('a', 8);
    const reader = SABMessagePort.from(writer.postInit(null)[0]);
    const lengths: number[] = [];
    let failed = 0;
    reader.onmessage = (text) => lengths.push(String((text as { data?: unknown }).data ?? text).length);
    reader.onmessageerror = () => failed++;
    await writer.postMessage('x');
    await Promise.all([writer.postMessage('x'.repeat(length)), writer.postMessage('xx')]);
    writer.close();
    await until('the last one comes', () => lengths.includes(2));
    assert.deepEqual([lengths, failed], [[1, length, 2], 0]);
    reader.close();
  });
}
