// Work queues on servers between programs: each job is done at least once, whoever dies.
// asked for: node-22, node-24
// watchdog: 300 s
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Engine } from '../../src/engine/engine.ts';
import type { EngineQueue } from '../../src/engine/queue.ts';
import { ClosedError, DataCloneError, UsageError } from '../../src/index.ts';
import { startServer } from '../kit/engine-servers.ts';
import { overEngines } from '../kit/engines.ts';
import { inOneFile } from '../kit/in-one-file.ts';
import { Random, seed } from '../kit/prng.ts';
import { rejection } from '../kit/rejection.ts';
import { turn, until, untilSo, within } from '../kit/watchdog.ts';
import { RUN } from '../runtimes/program.ts';

const SOAK = process.env['SOAK'] === '1';
const WORKER = fileURLToPath(inOneFile(new URL('./queue-worker.js', import.meta.url)));
const settled = (queue: Pick<EngineQueue, 'stats'>): Promise<void> =>
  untilSo('the queue to be empty', async () => {
    // A server that has just started does not answer yet.
    const stats = await queue.stats().catch(() => undefined);
    return stats !== undefined && stats.waiting + stats.running === 0;
  });

overEngines((way) => {
  test(`${way.name}: each job goes to one worker, packed and as JSON, and one that is put twice is put once`, async () => {
    const [here, there] = (await way.open(2)) as [Engine, Engine];
    const queue = await here.queue('mail.out');
    const json = await here.queue('mail.out', { codec: 'json' });
    const other = await there.queue('mail.out');
    const done: unknown[] = [];
    const workers = [queue, other].map((each) =>
      each.work((value, { attempt }) => void done.push([value, attempt]), { concurrency: 4 }),
    );
    const values = Array.from({ length: 200 }, (_, i) => ({ i, at: new Date(i) }));
    await Promise.all(values.map((value) => queue.put(value)));
    await json.put({ text: 'json' });
    await json.put({ text: 'json' }, { id: 'once' });
    await json.put({ text: 'json' }, { id: 'once' });
    await within('all', settled(queue));
    const texts = done.map((each) => JSON.stringify(each)).sort();
    const wanted = [...values, { text: 'json' }, { text: 'json' }].map((value) => JSON.stringify([value, 1])).sort();
    assert.deepEqual(texts, wanted);
    await Promise.all(workers.map((worker) => within('its end', worker.close())));
    assert.deepEqual(await queue.stats(), { waiting: 0, running: 0, dead: 0 });
    for (const each of [queue, json, other]) await each.close();
    assert.ok((await rejection(queue.put(1))) instanceof ClosedError);
  });

  test(`${way.name}: a job that throws is tried again, later, and goes to the dead letters at last, from where it comes back`, async () => {
    const [here] = (await way.open(1)) as [Engine];
    const queue = await here.queue<string>('tries');
    const tries: string[] = [];
    let good = false;
    const worker = queue.work(
      (value, { attempt }) => {
        tries.push(`${value} ${attempt}`);
        if (value === 'bad' && !good) throw new RangeError('no good '.repeat(1000));
      },
      { maxAttempts: 3, retryMs: 20 },
    );
    await queue.put('bad');
    await queue.put('fine');
    await untilSo('it to be dead', async () => (await queue.stats()).dead === 1);
    assert.deepEqual(
      tries.filter((each) => each.startsWith('bad')),
      ['bad 1', 'bad 2', 'bad 3'],
    );
    assert.ok(tries.includes('fine 1'));
    const [letter] = await queue.deadLetters();
    assert.deepEqual([letter?.value, letter?.attempts], ['bad', 3]);
    assert.match(letter?.why ?? '', /^RangeError: no good no good/);
    good = true;
    await letter?.retry();
    await until('it to be tried again', () => tries.filter((each) => each === 'bad 1').length === 2);
    await within('all', settled(queue));
    assert.equal((await queue.stats()).dead, 0);
    assert.deepEqual(await queue.deadLetters(), []);
    await within('its end', worker.close());
    await queue.close();
  });

  test(`${way.name}: a job for later comes later, and in its first try`, async () => {
    const [here] = (await way.open(1)) as [Engine];
    const queue = await here.queue<number>('later');
    const done: [number, number, number][] = [];
    const since = performance.now();
    await queue.put(1, { delayMs: 700 });
    await queue.put(2);
    const worker = queue.work((value, { attempt }) => void done.push([value, attempt, performance.now() - since]));
    await until('both', () => done.length === 2);
    assert.deepEqual(
      done.map(([value, attempt]) => [value, attempt]),
      [
        [2, 1],
        [1, 1],
      ],
    );
    assert.ok((done[1]?.[2] ?? 0) >= 650, `it came after ${done[1]?.[2]} ms`);
    await worker.close();
    await queue.close();
  });

  test(`${way.name}: a worker that is slow keeps its job; what it must not be asked is named`, async () => {
    const [here, there] = (await way.open(2)) as [Engine, Engine];
    const queue = await here.queue<string>('slow', { ackMs: 1000 });
    const other = await there.queue<string>('slow', { ackMs: 1000 });
    let tries = 0;
    const does = async (): Promise<void> => {
      tries++;
      await new Promise((resolve) => setTimeout(resolve, 2500));
    };
    const workers = [queue.work(does), other.work(does)];
    await queue.put('slow');
    await within('it', settled(queue));
    assert.equal(tries, 1);
    await Promise.all(workers.map((worker) => worker.close()));
    for (const options of [{ ackMs: 1 }, { codec: 'xml' }, { ack: 1 }])
      assert.ok((await rejection(here.queue('slow', options as never))) instanceof UsageError);
    assert.ok((await rejection(here.queue('a b'))) instanceof UsageError);
    assert.ok((await rejection(queue.put('x', { id: 'é' }))) instanceof UsageError);
    assert.ok((await rejection(queue.put('x', { delayMs: -1 }))) instanceof UsageError);
    assert.ok((await rejection(queue.put((() => {}) as never))) instanceof DataCloneError);
    assert.throws(() => queue.work(5 as never), UsageError);
    assert.throws(() => queue.work(() => {}, { concurrency: 0 }), UsageError);
    await queue.close();
    await other.close();
    assert.throws(() => queue.work(() => {}), ClosedError);
  });

  test(`${way.name}: workers are killed and the server is, and no job is lost`, async () => {
    const [here] = (await way.open(1)) as [Engine];
    const queue = await here.queue<number>('killed', { ackMs: 1000 });
    const [count, kills] = SOAK ? [10_000, 60] : [600, 6];
    // Each time that a server of NATS is killed, a put waits for ten seconds for its answer.
    const seconds = SOAK ? 900 : 200;
    const inMemory = way.kind === 'hub' || way.kind === 'thread';
    const random = new Random(seed);
    const children = new Set<ChildProcess>();
    /** How often each was done, by what the workers say of it. */
    const done = new Map<number, number>();
    let over = false;
    const hire = (): void => {
      const child = spawn(process.execPath, [...RUN, WORKER, way.kind, way.server.url, 'killed'], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      children.add(child);
      child.stdout?.setEncoding('utf8');
      let rest = '';
      child.stdout?.on('data', (text: string) => {
        const lines = (rest + text).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) done.set(Number(line), (done.get(Number(line)) ?? 0) + 1);
      });
      void once(child, 'exit').then(() => {
        children.delete(child);
        if (!over) hire();
      });
    };
    for (let i = 0; i < 3; i++) hire();
    const put = async (): Promise<void> => {
      for (let i = 0; i < count; i++) {
        // Whoever does not know whether the server has it says it again.
        while (
          await queue.put(i, { id: `job-${i}` }).then(
            () => false,
            () => true,
          )
        )
          await turn();
      }
    };
    const kill = async (): Promise<void> => {
      for (let i = 0; i < kills; i++) {
        await until('some to be done', () => done.size >= ((i + 1) * count) / (kills + 3));
        // What a hub has goes with it.
        if (i % 3 === 2 && !inMemory) {
          await way.server.kill();
          await way.server.start();
        } else [...children][random.int(0, children.size - 1)]?.kill('SIGKILL');
      }
    };
    try {
      await Promise.all([within('all to be put', put(), seconds), within('the kills', kill(), seconds)]);
      await until('all to be done', () => done.size === count, 100);
      await within('the queue to be empty', settled(queue));
    } finally {
      over = true;
      for (const child of children) child.kill('SIGKILL');
    }

    assert.equal((await queue.stats()).dead, 0);
    for (let i = 0; i < count; i++) assert.ok(done.has(i), `job ${i}`);
    const doubled = [...done.values()].filter((times) => times > 1).length;
    // A job is doubled where its worker was killed behind it, or the server did not hear that it was done; and where it has heard it, and was killed before it was on
    // its disk, which JetStream writes later.
    const most = way.kind === 'nats' ? count / 2 : kills * 3 * 4;
    assert.ok(doubled <= most, `${doubled} jobs were done more than once`);

    await queue.close();
  });

  test(`${way.name}: nothing waits for a server that does not come back`, async () => {
    const own = await startServer(way.kind);
    const engine = await way.another(own);
    const queue = await engine.queue<number>('gone');
    let done = 0;
    const worker = queue.work(() => void done++);
    await queue.put(1);
    await until('it to be done', () => done === 1);
    await own.stop();
    const error = await rejection(queue.put(2));
    assert.ok(error instanceof ClosedError && error.reason === 'lost', String(error));
    await within('the worker', worker.close());
    await within('the queue', queue.close());
    await within('the engine', engine.close());
  });
});
