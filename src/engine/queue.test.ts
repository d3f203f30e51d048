// A queue over a store that does as it is told: what workers take, and how it is settled.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Driver } from './driver.ts';
import { EngineQueue, type QueueStore, resolveQueue, type Taken, type TakenDead } from './queue.ts';
import { RecordWriter } from './record.ts';

const nothing = (): void => {};
const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));
const [job] = new RecordWriter('00'.repeat(16), 'packed', () => 4096).write('a job', 0, 1) as [Uint8Array];

function queueOf(store: Partial<QueueStore>): EngineQueue<string> {
  const driver = { up: true, closed: false, where: 'here', maxBytes: 4096, async ready() {} } as Partial<Driver>;
  const rest: Partial<QueueStore> = {
    isGone: () => false,
    isSaid: () => false,
    take: () => turn(),
    async make() {},
    async close() {},
  };
  return new EngineQueue(
    'mail',
    driver as Driver,
    { ...rest, ...store } as QueueStore,
    resolveQueue({ ackMs: 1000 }),
    nothing,
  );
}

/** A queue whose workers are given what the test gives out. */
function givingQueue(): { queue: EngineQueue<string>; given: (job: Taken) => void } {
  const made = {
    queue: queueOf({
      take: async (_count, _waitMs, gives) => {
        made.given = gives;
        await turn();
      },
    }),
    given: nothing as (job: Taken) => void,
  };
  return { queue: made.queue, given: (taken) => made.given(taken) };
}

/** A job that notes how it is settled. */
function takenBy(settled: string[], rest: Partial<Taken> = {}): Taken {
  const say = (how: string) => async (): Promise<void> => void settled.push(how);
  return {
    bytes: job,
    attempt: 1,
    done: say('done'),
    again: say('again'),
    back: say('back'),
    bury: say('bury'),
    extend: async () => true,
    ...rest,
  };
}

test('a dead letter that could not be settled can be settled again, and once it is, is not', async () => {
  let dropped = 0;
  const dead: TakenDead = {
    bytes: job,
    attempts: 5,
    why: 'Error: no',
    drop: async () => {
      if (++dropped === 1) throw new Error('the server is lost');
    },
    retry: () => Promise.reject(new Error('it was dropped')),
  };
  const queue = queueOf({ takeDead: async () => [dead] });
  const [letter] = await queue.deadLetters();
  assert.equal(letter?.value, 'a job');
  await assert.rejects(letter?.drop() as Promise<void>, { code: 'ERR_CLOSED', reason: 'lost' });
  await letter?.drop();
  await letter?.drop();
  await letter?.retry();
  assert.equal(dropped, 2);
});

test('a queue that is gone is made anew, and what was to be said is said again', async () => {
  const said: string[] = [];
  const queue = queueOf({
    isGone: (error) => (error as Error).message === 'gone',
    make: async () => void said.push('make'),
    put: async () => {
      said.push('put');
      if (said.length === 1) throw new Error('gone');
    },
  });
  await queue.put('a job');
  assert.deepEqual(said, ['put', 'make', 'put']);
});

test('what is given to a worker that is closed goes back, and is not done', async () => {
  const settled: string[] = [];
  const taken = takenBy(settled);
  const { queue, given } = givingQueue();
  const done: string[] = [];
  const worker = queue.work((value) => void done.push(value));
  await turn();
  given(taken);
  await turn();
  assert.deepEqual([done, settled], [['a job'], ['done']]);
  await worker.close();
  given(taken);
  await turn();
  assert.deepEqual([done, settled], [['a job'], ['done', 'back']]);
});

test('a job is tried again, later each time, and is buried with the last try', async () => {
  const settled: unknown[] = [];
  const { queue, given } = givingQueue();
  queue.work(
    () => {
      throw new RangeError('too much');
    },
    { maxAttempts: 3, retryMs: 100 },
  );
  for (let attempt = 1; attempt <= 4; attempt++) {
    await turn();
    given({
      bytes: job,
      attempt,
      done: async () => void settled.push('done'),
      again: async (ms) => void settled.push(ms),
      back: async () => void settled.push('back'),
      bury: async (attempts, why) => void settled.push([attempts, why]),
      extend: async () => true,
    });
    await turn();
  }
  await queue.close();
  // One that was given out once more than that, since its workers died, is tried no more.
  assert.deepEqual(settled, [
    100,
    200,
    [3, 'RangeError: too much'],
    [
      3,
      'Error: how its last try ended was not heard: its worker died, or the server did not get its word, and it may be done',
    ],
  ]);
});

test('a job that another worker has by now is not given back, nor is one that is being said to be done', async () => {
  const settled: string[] = [];
  let heard: () => void = nothing;
  const { queue, given } = givingQueue();
  const ends: (() => void)[] = [];
  const lost = new Promise<void>((resolve) => {
    heard = resolve;
  });
  const worker = queue.work(
    async (_value, { signal }) => {
      signal.addEventListener('abort', () => heard());
      await new Promise<void>((resolve) => ends.push(resolve));
    },
    { concurrency: 3 },
  );
  await turn();
  given(takenBy(settled, { extend: async () => false }));
  given(takenBy(settled, { done: () => new Promise<void>(() => settled.push('is being done')) }));
  given(takenBy(settled));
  ends[1]?.();
  // Its first sign says that it is another one's.
  await lost;
  await worker.close({ drainMs: 10 });
  assert.deepEqual(settled, ['is being done', 'back']);
  for (const end of ends) end();
});

test('a job that is tried for ever, at once each time, is', async () => {
  const settled: unknown[] = [];
  const { queue, given } = givingQueue();
  const say = async (ms: number): Promise<void> => void settled.push(ms);
  const no = (): Promise<never> => Promise.reject(new Error('no'));
  queue.work(
    () => {
      throw new RangeError('no');
    },
    { maxAttempts: 1_000_000, retryMs: 0 },
  );
  await turn();
  given({ bytes: job, attempt: 2000, done: no, again: say, back: no, bury: no, extend: async () => true });
  await turn();
  assert.deepEqual(settled, [0]);
  await queue.close();
});
