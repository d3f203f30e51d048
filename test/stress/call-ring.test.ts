// Threads that are blocked in calls to each other: two that cross, and rings of three, by every way that a call can go on. All of them are served, or end in a
// typed error: a thread that is blocked runs no promise.
// watchdog: 300 s
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Worker } from 'node:worker_threads';
import { type Port, spawn, transferOf } from '../../src/index.ts';
import { type Remote, transfer, wrap } from '../../src/rpc/index.ts';
import { inOneFile } from '../kit/in-one-file.ts';
import { cases, eachCaseAsync, seed } from '../kit/prng.ts';
import { STEP_MS, within } from '../kit/watchdog.ts';
import type { Hop, Node } from './call-roles.ts';

const THREAD = inOneFile(new URL('./call-thread.js', import.meta.url));
const NAMES = ['a', 'b', 'c'] as const;
type Name = (typeof NAMES)[number];
const ROUNDS = 50;

interface Started {
  readonly port: Port;
  readonly node: Remote<Node>;
  readonly worker: Worker;
}
const ring = new Map<Name, Started>();
const nodeOf = (name: Name): Remote<Node> => (ring.get(name) as Started).node;

before(async () => {
  for (const name of NAMES) {
    const memory = new SharedArrayBuffer(64);
    const { port, worker } = spawn(THREAD, { worker: { workerData: { name, memory } } });
    ring.set(name, { port, node: wrap<Node>(port), worker: worker as unknown as Worker });
  }
  for (const [one, other] of [
    ['a', 'b'],
    ['b', 'c'],
    ['c', 'a'],
  ] as const) {
    const handle = await within('a channel', nodeOf(one).open(other));
    await within('its other end', nodeOf(other).join(one, transfer(handle, transferOf(handle as never)) as never));
  }
});
// What they expose to each other keeps them.
after(async () => {
  for (const { worker } of ring.values()) await worker.terminate();
});

const blocked = (to: Name): Hop => ({ to, blocks: true });
const awaited = (to: Name): Hop => ({ to, blocks: false });

type Outcome = string;
async function outcomeOf(call: PromiseLike<unknown>): Promise<Outcome> {
  try {
    return ((await call) as readonly string[]).join('');
  } catch (error) {
    return (error as { code?: string }).code ?? String(error);
  }
}
const visit = (from: Name, path: readonly Hop[]): Promise<Outcome> =>
  within(`${from} ${JSON.stringify(path)}`, outcomeOf(nodeOf(from).visit(path)), 20);
/** All at once. */
async function together(paths: Partial<Record<Name, readonly Hop[]>>): Promise<Record<string, Outcome>> {
  const memory = new SharedArrayBuffer(64);
  const all = Object.entries(paths) as [Name, readonly Hop[]][];
  const calls = all.map(async ([name, path]) => {
    const call = nodeOf(name).together(all.length, memory, path) as unknown as PromiseLike<unknown>;
    return [name, await within(`${name} of ${JSON.stringify(paths)}`, outcomeOf(call), 5)] as const;
  });
  return Object.fromEntries(await Promise.all(calls));
}

for (const [second, third] of [
  [blocked('c'), blocked('a')],
  [blocked('c'), awaited('a')],
  [awaited('c'), blocked('a')],
  [awaited('c'), awaited('a')],
] as const) {
  const shown = [second, third].map((hop) =>
    hop === blocked('a') || (hop as { blocks: boolean }).blocks ? 'blocks' : 'awaits',
  );
  test(`a blocks on b, b ${shown[0]} on c, c ${shown[1]} on a: served, and a promise is refused`, async () => {
    for (let i = 0; i < 20; i++) {
      assert.equal(await visit('a', [blocked('b'), second, third]), 'abca');
      assert.equal(await visit('a', [blocked('b'), second, third, 'later']), 'ERR_UNSUPPORTED');
    }
  });
}

test('a ring is gone round many times, and a call too deep ends in an error', async () => {
  const round = [blocked('b'), blocked('c'), blocked('a')];
  assert.equal(await visit('a', [...round, ...round, ...round]), 'abcabcabca');
  assert.equal(await visit('a', Array.from({ length: 70 }, () => round).flat()), 'ERR_DEADLOCK');
  assert.equal(await visit('a', round), 'abca');
});

test('two threads block in calls to each other at the same time: both are served', async () => {
  for (let i = 0; i < ROUNDS; i++) {
    assert.deepEqual(await together({ a: [blocked('b')], b: [blocked('a')] }), { a: 'ab', b: 'ba' });
  }
});

test('two threads block in calls to each other that return promises: whoever would wait for ever is told', async () => {
  for (let i = 0; i < ROUNDS; i++) {
    const { a, b } = await together({ a: [blocked('b'), 'later'], b: [blocked('a'), 'later'] });
    for (const [outcome, well] of [
      [a, 'ab'],
      [b, 'ba'],
    ])
      assert.ok(outcome === well || outcome === 'ERR_UNSUPPORTED', outcome);
  }
  for (let i = 0; i < ROUNDS; i++) {
    assert.deepEqual(await together({ a: [blocked('b'), 'later'], b: [blocked('a')] }), { a: 'ab', b: 'ba' });
  }
});

test('three threads block in calls to the next one at the same time: all are served', async () => {
  for (let i = 0; i < ROUNDS; i++) {
    const all = { a: [blocked('b')], b: [blocked('c')], c: [blocked('a')] };
    assert.deepEqual(await together(all), { a: 'ab', b: 'bc', c: 'ca' });
  }
});

test('the same with promises: whoever would wait for ever is told', async () => {
  for (let i = 0; i < ROUNDS; i++) {
    const { a, b, c } = await together({
      a: [blocked('b'), 'later'],
      b: [blocked('c'), 'later'],
      c: [blocked('a'), 'later'],
    });
    for (const [outcome, well] of [
      [a, 'ab'],
      [b, 'bc'],
      [c, 'ca'],
    ])
      assert.ok(outcome === well || outcome === 'ERR_UNSUPPORTED', outcome);
  }
});

test(`any paths at once come to an end (SEED=${seed})`, async () => {
  await eachCaseAsync(0, cases(150, 3000), async (random) => {
    const promises = random.chance(0.5);
    const paths: Partial<Record<Name, readonly Hop[]>> = {};
    const traces: Record<string, string> = {};
    for (const name of NAMES) {
      if (random.chance(0.2)) continue;
      const path: Hop[] = [];
      let at: Name = name;
      let trace: string = at;
      for (let hops = random.int(0, 6); hops > 0; hops--) {
        at = random.pick(NAMES.filter((other) => other !== at));
        path.push({ to: at, blocks: !promises || random.chance(0.6) });
        trace += at;
      }
      if (promises && random.chance(0.2)) path.push('later');
      paths[name] = path;
      traces[name] = trace;
    }
    for (const [name, outcome] of Object.entries(await together(paths))) {
      if (promises && outcome === 'ERR_UNSUPPORTED') continue;
      assert.equal(outcome, traces[name], JSON.stringify(paths));
    }
  });
});

test('nothing of it is left', async () => {
  for (const name of NAMES) {
    // Where a path has ended in an error, others of its calls may go on for a while.
    const left = async (): Promise<number> => {
      const counts = (await within('what is left', nodeOf(name).leftOver())) as Record<string, number>;
      return Object.values(counts).reduce((all, count) => all + count, 0);
    };
    const end = performance.now() + STEP_MS;
    while ((await left()) > 0) assert.ok(performance.now() < end, name);
  }
});
