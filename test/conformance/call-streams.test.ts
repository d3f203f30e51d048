// A port as a pair of web streams: chunks, ends, aborts and cancels go across, a slow reader holds the writer, and the end of the port is told.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Port } from '../../src/index.ts';
import { streams, transfer } from '../../src/rpc/index.ts';
import { streamPair } from '../kit/stream-pair.ts';
import { OVER_A_STREAM, type PortWorld } from './port.ts';
import { threadWorld } from './thread-world.ts';

const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1));
const WORLDS: readonly PortWorld[] = [
  threadWorld('thread', {}),
  { name: 'stream', ...OVER_A_STREAM, pair: (options) => streamPair(options, { chunkMax: 4096 }).ports() },
];

async function all<T>(readable: ReadableStream<T>): Promise<T[]> {
  const values: T[] = [];
  const reader = readable.getReader();
  for (let step = await reader.read(); !step.done; step = await reader.read()) values.push(step.value);
  return values;
}

for (const world of WORLDS) {
  const given = (name: string, body: (a: Port, b: Port) => Promise<void>): unknown =>
    test(`${world.name}: ${name}`, async () => {
      const { a, b } = await world.pair();
      try {
        await body(a, b);
      } finally {
        a.close();
        b.close();
      }
    });

  given('what is written is read, in order, and the end is told; then the other way', async (a, b) => {
    const [here, there] = [streams<string, number>(a), streams<number, string>(b)];
    const read = all(there.readable);
    const writer = here.writable.getWriter();
    for (let i = 0; i < 1000; i++) void writer.write(i);
    await writer.close();
    assert.deepEqual(
      await read,
      Array.from({ length: 1000 }, (_, i) => i),
    );
    assert.equal(a.reason, undefined);
    const back = all(here.readable);
    const answers = there.writable.getWriter();
    await answers.write('thanks');
    await answers.close();
    assert.deepEqual(await back, ['thanks']);
    assert.equal(await a.closed, 'closed');
    assert.equal(await b.closed, 'closed');
  });

  given('a reader that does not read holds the writer at the high-water mark', async (a, b) => {
    const { writable } = streams<never, number>(a);
    const { readable } = streams<number>(b, { highWaterMark: 4 });
    const writer = writable.getWriter();
    let written = 0;
    for (let i = 0; i < 20; i++) void writer.write(i).then(() => written++);
    const reader = readable.getReader();
    assert.deepEqual(await reader.read(), { done: false, value: 0 });
    // The writer goes on as far as it may, however many turns it is given.
    for (let i = 0; i < 20; i++) await turn();
    assert.ok(written >= 4 && written <= 6, `${written} were written`);
    for (let i = 1; i < 20; i++) assert.equal((await reader.read()).value, i);
    await writer.close();
  });

  given('pipeTo and pipeThrough', async (a, b) => {
    const { writable } = streams<never, number>(a);
    const { readable } = streams<number>(b);
    const source = new ReadableStream<number>({
      start(controller) {
        for (let i = 1; i <= 300; i++) controller.enqueue(i);
        controller.close();
      },
    });
    const double = new TransformStream<number, number>({ transform: (n, to) => to.enqueue(n * 2) });
    const [, values] = await Promise.all([source.pipeTo(writable), all(readable.pipeThrough(double))]);
    assert.deepEqual(
      values,
      Array.from({ length: 300 }, (_, i) => 2 * (i + 1)),
    );
  });

  given('an abort errors the reader with what it was aborted with', async (a, b) => {
    const { writable } = streams<never, number>(a);
    const { readable } = streams<number>(b);
    const reader = readable.getReader();
    const reading = reader.read();
    const writer = writable.getWriter();
    await writer.write(1);
    assert.equal((await reading).value, 1);
    const next = reader.read();
    await writer.abort(new RangeError('enough'));
    await assert.rejects(next, (error) => error instanceof RangeError && error.message === 'enough');
  });

  given('a cancel errors the writer, and ends what is piped into it', async (a, b) => {
    const { writable } = streams<never, number>(a);
    const { readable } = streams<number>(b);
    let cancelled: unknown;
    const source = new ReadableStream<number>({
      pull: (controller) => controller.enqueue(1),
      cancel: (reason) => {
        cancelled = reason;
      },
    });
    const piping = source.pipeTo(writable);
    const reader = readable.getReader();
    await reader.read();
    await reader.cancel(new RangeError('no more'));
    await assert.rejects(piping, RangeError);
    assert.ok(cancelled instanceof RangeError);
  });

  given('a port that ends in the middle is an error to both, with the reason', async (a, b) => {
    const { writable } = streams<never, number>(a);
    const { readable } = streams<number>(b, { highWaterMark: 1 });
    const reader = readable.getReader();
    const writer = writable.getWriter();
    const writes = Promise.allSettled([1, 2, 3, 4].map((n) => writer.write(n)));
    assert.equal((await reader.read()).value, 1);
    const rest = (async () => {
      while (!(await reader.read()).done);
    })();
    a.close();
    await assert.rejects(rest, { code: 'ERR_CLOSED', reason: 'closed' });
    assert.equal((await writes).at(-1)?.status, 'rejected');
    await assert.rejects(writer.closed, { code: 'ERR_CLOSED' });
  });

  given('a chunk that cannot be cloned ends the stream for both', async (a, b) => {
    const { writable } = streams<never, unknown>(a);
    const { readable } = streams(b);
    const reading = readable.getReader().read();
    const writing = writable.getWriter().write(Symbol('no'));
    await assert.rejects(writing, { name: 'DataCloneError' });
    await assert.rejects(reading, { name: 'DataCloneError' });
  });

  given('nonsense ends the stream, and nothing else', async (a, b) => {
    const { readable } = streams(b);
    a.postMessage({ nothing: 1 });
    await assert.rejects(readable.getReader().read(), { code: 'ERR_PROTOCOL' });
    assert.throws(() => streams(a, { highWaterMark: 0 }), { code: 'ERR_OPTION' });
  });

  if (world.moves) {
    given('a chunk may move', async (a, b) => {
      const { writable } = streams<never, Uint8Array>(a);
      const { readable } = streams<Uint8Array>(b);
      const bytes = new Uint8Array(1000);
      const writer = writable.getWriter();
      const reading = readable.getReader().read();
      await writer.write(transfer(bytes, [bytes.buffer]));
      assert.equal((await reading).value?.length, 1000);
      assert.equal(bytes.length, 0);
    });
  }
}
