// Pools of threads: who gets a task, what its end, its crash and its abort do to it and to others, and what is left of it all.
// watchdog: 300 s
import assert from 'node:assert/strict';
import process from 'node:process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { ClosedError, TimeoutError, UsageError } from '../../src/errors.ts';
import { fork } from '../../src/process/index.ts';
import { type Pool, type PoolOptions, pool, within } from '../../src/rpc/index.ts';
import { inOneFile } from '../kit/in-one-file.ts';
import { rejection } from '../kit/rejection.ts';
import { within as inTime, turn, until } from '../kit/watchdog.ts';
import { runProgram } from '../runtimes/program.ts';
import type { MemberApi } from './pool-member.ts';

const MODULE = inOneFile(new URL('./pool-member.js', import.meta.url));
const begin = (workerData?: string): Worker => new Worker(MODULE, { workerData });

async function withPool(options: PoolOptions, body: (it: Pool<MemberApi>) => Promise<void>): Promise<void> {
  const it = pool<MemberApi>(() => begin(), options);
  try {
    await body(it);
  } finally {
    await inTime('the pool to end', it.close());
  }
}
const words = (): Int32Array => new Int32Array(new SharedArrayBuffer(16));
const begun = (at: Int32Array, count: number): Promise<void> =>
  until(`${count} run`, () => Atomics.load(at, 0) === count);
const letGo = (at: Int32Array): unknown => Atomics.store(at, 1, 1);
const quick = (it: Pool<MemberApi>, count: number): Promise<number[]> =>
  inTime('quick tasks', Promise.all(Array.from({ length: count }, (_, i) => it.api.same(i))));
const range = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

test('each task goes to the member with the least to do, and more are started as they are needed', () =>
  withPool({ size: 3 }, async (it) => {
    assert.equal(it.size, 0);
    const at = words();
    const tasks = [it.api.compute(at)];
    await begun(at, 1);
    assert.equal(it.size, 1);
    tasks.push(it.api.compute(at), it.api.compute(at));
    await begun(at, 3);
    letGo(at);
    assert.equal(new Set(await Promise.all(tasks)).size, 3);
    assert.deepEqual(await quick(it, 2000), range(2000));
    assert.equal(it.size, 3);
    const { pending, queued, completed, failed, restarts } = it.stats();
    assert.deepEqual(
      { pending, queued, completed, failed, restarts },
      { pending: 0, queued: 0, completed: 2003, failed: 0, restarts: 0 },
    );
    assert.ok((await rejection(it.api.fail())) instanceof TypeError);
    assert.equal(it.stats().failed, 1);
  }));

test('a task that takes long holds up none that were sent behind it', () =>
  withPool({ size: 2, min: 2 }, async (it) => {
    // So that many are sent ahead.
    await quick(it, 15_000);
    for (let round = 0; round < 20; round++) {
      const at = words();
      const before = quick(it, 300);
      const long = it.api.compute(at);
      const behind = quick(it, 300);
      // They come to their end while it runs.
      await Promise.all([before, behind]);
      letGo(at);
      await long;
    }
  }));

test('one task runs in a member at a time, or as many as concurrency says', async () => {
  for (const concurrency of [1, 3]) {
    await withPool({ size: 1, concurrency }, async (it) => {
      await quick(it, 5000);
      const at = words();
      const tasks = range(9).map(() => it.api.wait(at));
      await begun(at, concurrency);
      for (let i = 0; i < 20; i++) await turn();
      assert.equal(Atomics.load(at, 0), concurrency);
      letGo(at);
      await Promise.all(tasks);
      assert.equal(await it.api.most(), concurrency);
    });
  }
});

test('a crash of one of three under load fails what it had begun, and nothing else', async () => {
  const told: ClosedError[] = [];
  await withPool({ size: 3, min: 3, onCrash: (error) => told.push(error) }, async (it) => {
    await quick(it, 10_000);
    for (let round = 1; round <= 3; round++) {
      const before = quick(it, 500);
      const doomed = it.api.crash(words());
      const behind = quick(it, 2000);
      const error = await rejection(doomed);
      assert.ok(error instanceof ClosedError);
      assert.equal(error.reason, 'crash');
      assert.match(String((error.cause as Error).message), /on purpose/);
      assert.deepEqual(await before, range(500));
      assert.deepEqual(await behind, range(2000));
      await until('it is replaced', () => it.size === 3 && it.stats().restarts === round);
    }
    assert.equal(it.stats().failed, 3);
  });
  assert.equal(told.length, 3);
});

test('a member that exits, or is terminated, fails its task with that reason', async () => {
  const workers: Worker[] = [];
  const it = pool<MemberApi>(
    () => {
      const worker = begin();
      workers.push(worker);
      return worker;
    },
    { size: 1 },
  );
  assert.equal((await rejection(it.api.exit()))['reason'], 'exit');
  const at = words();
  const task = it.api.compute(at);
  await begun(at, 1);
  const waiting = quick(it, 100);
  await workers.at(-1)?.terminate();
  assert.equal((await rejection(task))['reason'], 'terminated');
  assert.deepEqual(await waiting, range(100));
  assert.equal(workers.length, 3);
  await it.close();
});

for (const [how, message] of [
  ['throws', /cannot begin/],
  ['throws late', /cannot go on/],
] as const) {
  test(`workers that ${how === 'throws' ? 'do not load' : 'throw behind parentPort()'} end the pool, and all that waits rejects`, async () => {
    let started = 0;
    const it = pool<MemberApi>(
      () => {
        started++;
        return begin(how);
      },
      { size: 1, restart: { tries: 3, delayMs: 5 } },
    );
    const errors = await Promise.all(range(5).map(() => rejection(it.api.echo(1))));
    for (const error of errors) {
      assert.ok(error instanceof ClosedError);
      assert.equal(error.reason, 'crash');
      assert.match((error.cause as Error).message, message);
    }
    assert.equal(await inTime('the end', it.closed), 'crash');
    assert.equal(started, 3);
    assert.equal((await rejection(it.api.echo(1)))['reason'], 'crash');
    assert.equal(it.size, 0);
  });
}

test('workers that never begin end the pool, too', async () => {
  let started = 0;
  const it = pool<MemberApi>(
    () => {
      started++;
      return begin('hangs');
    },
    { size: 1, startTimeoutMs: 100, restart: { tries: 2, delayMs: 5 } },
  );
  const error = await rejection(it.api.echo(1));
  assert.ok(error instanceof ClosedError);
  assert.ok(error.cause instanceof TimeoutError);
  assert.equal(started, 2);
  await inTime('the end', it.closed);
});

test('a task that is aborted, or late, while it waits is never begun', () =>
  withPool({ size: 1 }, async (it) => {
    const at = words();
    const other = words();
    const running = it.api.compute(at);
    await begun(at, 1);
    const controller = new AbortController();
    const { signal } = controller;
    const tasks = [within(it.api, { signal }).wait(other), within(it.api, { timeoutMs: 1 }).wait(other)];
    const aborted = AbortSignal.abort(new RangeError('before'));
    assert.ok((await rejection(within(it.api, { signal: aborted }).wait(other))) instanceof RangeError);
    assert.equal(it.stats().queued + it.stats().pending, 3);
    controller.abort(new RangeError('enough'));
    assert.equal((await rejection(tasks[0]!)).message, 'enough');
    assert.equal((await rejection(tasks[1]!))['code'], 'ERR_TIMEOUT');
    assert.equal(it.stats().queued, 0);
    letGo(at);
    await running;
    await it.api.echo(1);
    assert.equal(Atomics.load(other, 0), 0);
    assert.equal(it.stats().restarts, 0);
  }));

test('a task that is aborted where it runs learns of it, and its thread goes on', () =>
  withPool({ size: 1, graceMs: 60_000 }, async (it) => {
    const who = await it.api.who();
    for (const name of ['wait', 'obedient'] as const) {
      const at = words();
      const controller = new AbortController();
      const task = within(it.api, { signal: controller.signal })[name](at);
      await begun(at, 1);
      controller.abort(new RangeError('enough'));
      assert.equal((await rejection(task)).message, 'enough');
      // What runs on has its place until it is over.
      assert.equal(await it.api.who(), who);
      assert.equal(Atomics.load(at, 2), 1);
      await it.drain();
    }
    assert.equal(it.stats().restarts, 0);
  }));

test('one that runs on all the same is terminated after its grace, whether it computes or waits', () =>
  withPool({ size: 1, graceMs: 50 }, async (it) => {
    let restarts = 0;
    for (const run of ['compute', 'wait'] as const) {
      const who = await it.api.who();
      const at = words();
      const controller = new AbortController();
      const task = within(it.api, { signal: controller.signal })[run](at, false);
      await begun(at, 1);
      const behind = it.api.echo('behind');
      controller.abort(new RangeError('enough'));
      assert.equal((await rejection(task)).message, 'enough');
      assert.equal(await inTime('a new thread', behind), 'behind');
      assert.notEqual(await it.api.who(), who);
      assert.equal(it.stats().restarts, ++restarts);
    }
  }));

test('what waits has a bound, and a promise of room', () =>
  withPool({ size: 1, queue: 2 }, async (it) => {
    const at = words();
    const running = it.api.compute(at);
    await begun(at, 1);
    const waiting = [it.api.who(), it.api.who()];
    assert.equal(it.full, true);
    const error = await rejection(it.api.who());
    assert.ok(error instanceof UsageError);
    assert.deepEqual([error.code, error['limit']], ['ERR_QUEUE_FULL', 2]);
    let room = false;
    const drained = it.drained().then(() => {
      room = true;
    });
    await turn();
    assert.equal(room, false);
    letGo(at);
    await inTime('room', drained);
    assert.equal(it.full, false);
    await Promise.all([running, ...waiting]);
  }));

test('with a queue of none as many are taken as can be begun', () =>
  withPool({ size: 2, queue: 0 }, async (it) => {
    const at = words();
    const tasks = [it.api.compute(at), it.api.compute(at), it.api.compute(at)];
    assert.equal((await rejection(tasks[2]!))['code'], 'ERR_QUEUE_FULL');
    await begun(at, 2);
    letGo(at);
    await Promise.all(tasks.slice(0, 2));
  }));

test('members that nobody needs end, down to as many as are to stay', () =>
  withPool({ size: 3, min: 1, idleMs: 20 }, async (it) => {
    const at = words();
    const tasks = range(3).map(() => it.api.compute(at));
    await begun(at, 3);
    assert.equal(it.size, 3);
    letGo(at);
    await Promise.all(tasks);
    await until('two have ended', () => it.stats().members.length === 1);
    assert.equal(await it.api.echo(1), 1);
    assert.equal(it.stats().restarts, 0);
  }));

test('a member of which somebody holds a reference, or reads a stream, is needed', () =>
  withPool({ size: 1, idleMs: 10 }, async (it) => {
    const home = await it.api.home();
    const stream = await it.api.count(1_000_000);
    await stream.next();
    const who = await it.api.who();
    for (let i = 0; i < 50; i++) await turn();
    let quiet = false;
    const drained = it.drain().then(() => {
      quiet = true;
    });
    await turn();
    assert.equal(quiet, false);
    await stream.return();
    await inTime('the end of the stream', drained);
    for (let i = 0; i < 50; i++) await turn();
    assert.equal(await home.who(), who);
    home[Symbol.dispose]();
    await until('it has ended', () => it.size === 0);
  }));

test('callbacks, streams, references and what is built upon a call work through a pool', () =>
  withPool({ size: 2 }, async (it) => {
    for (let round = 0; round < 3; round++) {
      assert.equal(await it.api.ask(() => 'from here'), 'from here');
      async function* numbers(): AsyncGenerator<number> {
        yield* range(100);
      }
      assert.equal(await it.api.sum(numbers()), 4950);
      const got: number[] = [];
      for await (const value of await it.api.count(100)) got.push(value);
      assert.deepEqual(got, range(100));
      const home = await it.api.home();
      assert.equal(await home.who(), await home.who());
      // Also where the call itself waits for a member, and the member has others to do.
      const members = await Promise.all(range(20).map(() => it.api.home().who()));
      for (const member of members) assert.ok(Number(member) > 0);
      const failed = (it.api.fail() as unknown as { of(): { it(): Promise<unknown> } }).of().it();
      assert.ok((await rejection(failed)) instanceof TypeError);
    }
  }));

test('drain waits for all there is, and close ends all there is', async () => {
  const it = pool<MemberApi>(() => begin(), { size: 2 });
  const at = words();
  const tasks = range(5).map(() => it.api.wait(at));
  let quiet = false;
  const drained = it.drain().then(() => {
    quiet = true;
  });
  await begun(at, 2);
  assert.equal(quiet, false);
  letGo(at);
  await inTime('drain', drained);
  assert.equal((await Promise.allSettled(tasks)).filter(({ status }) => status === 'fulfilled').length, 5);

  const other = words();
  const running = range(5).map(() => it.api.compute(other));
  await begun(other, 2);
  const refused = it.drained();
  await inTime('close', it.close());
  for (const task of running) assert.equal((await rejection(task))['reason'], 'closed');
  await refused;
  assert.equal((await rejection(it.drained()))['code'], 'ERR_CLOSED');
  assert.equal((await rejection(it.api.echo(1)))['reason'], 'closed');
  assert.equal(await it.closed, 'closed');
  assert.equal(String(it.api), '[Remote api (closed)]');
  assert.equal(it.size, 0);
  await it.drain();
});

test('processes can be pooled', async () => {
  await using it = pool<MemberApi>(() => fork(fileURLToPath(MODULE)), { size: 2, graceMs: 50 });
  let met = 0;
  const meet = (): Promise<number> =>
    it.api.meet(async () => {
      met++;
      await until('the other one, too', () => met === 2);
    });
  const [first, second] = await inTime('two', Promise.all([meet(), meet()]));
  assert.notEqual(first, second);
  assert.deepEqual(await quick(it, 500), range(500));
  assert.equal((await rejection(it.api.exit()))['reason'], 'exit');
  assert.equal(await inTime('another', it.api.echo('on')), 'on');
  // Nothing of its memory is ours: it counts for itself alone.
  const late = within(it.api, { timeoutMs: 50 }).compute(new Int32Array(4));
  assert.equal((await rejection(late))['code'], 'ERR_TIMEOUT');
  await until('it is terminated', () => it.stats().restarts === 2 || it.size < 2);
  assert.equal(await inTime('another', it.api.echo('on')), 'on');
});

test('processes that do not end when they are told so are killed', async () => {
  const it = pool<MemberApi>(() => fork(fileURLToPath(MODULE)), { size: 1 });
  const pid = await it.api.deaf();
  await inTime('the end', it.close());
  // Deno sends a child no second signal.
  if ('Deno' in globalThis) process.kill(pid, 'SIGKILL');
  else assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' });
});

test('a process is not kept by a pool that has nothing to do, and by one that has, it is', async () => {
  const program = fileURLToPath(new URL('./pool-program.js', import.meta.url));
  const { status, output } = await runProgram(program, [], 60_000);
  assert.deepEqual({ status, output }, { status: 0, output: 'done 3 3\n' });
});

test('a process is kept while somebody waits for drain(), also where only an aborted task runs on', async () => {
  const program = fileURLToPath(new URL('./pool-program.js', import.meta.url));
  const { status, output } = await runProgram(program, ['drain'], 60_000);
  assert.deepEqual({ status, output }, { status: 0, output: 'done ERR_TIMEOUT 0\n' });
});

test('drain() that waits for an aborted task resolves when the pool is closed', () =>
  withPool({ size: 1, graceMs: Number.POSITIVE_INFINITY }, async (it) => {
    const at = words();
    const abort = new AbortController();
    const aborted = within(it.api, { signal: abort.signal }).compute(at);
    await begun(at, 1);
    abort.abort(new Error('enough'));
    assert.equal((await rejection(aborted)).message, 'enough');
    const drained = it.drain();
    await inTime('the end', it.close());
    await inTime('nothing runs', drained);
  }));

test('onCrash that throws is told as an uncaught error is, and the pool goes on', async () => {
  const program = fileURLToPath(new URL('./pool-program.js', import.meta.url));
  const { status, output } = await runProgram(program, ['told'], 60_000);
  assert.deepEqual(
    { status, said: output.trim().split('\n').sort() },
    { status: 0, said: ['done 1', 'rejected: exit', 'uncaught: of the handler, behind exit'] },
  );
});
