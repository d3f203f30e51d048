// A peer that says anything: messages of real calls, streams and callbacks, mutated, in any order, and floods of them. 6,000 in `npm test`, 100,000 under SOAK=1.
// Whatever comes, nothing escapes (an uncaught error or rejection fails the test), no prototype is changed, nothing is called that was not exposed, what is kept
// stays below its bounds, and the other calls go on.
// watchdog: 900 s
import assert from 'node:assert/strict';
import process from 'node:process';
import { test } from 'node:test';
import { attach, channel, type Port } from '../../src/index.ts';
import { CALLS_BATCH_MAX, CALLS_EXPORTS_MAX, CALLS_STREAMS_MAX } from '../../src/limits.ts';
import { connectionOf } from '../../src/rpc/connection.ts';
import { currentCall, expose, reference, transfer, within, wrap } from '../../src/rpc/index.ts';
import * as kinds from '../../src/rpc/messages.ts';
import { collect } from '../kit/collect.ts';
import { cases, Random, seed } from '../kit/prng.ts';
import { RawPeer } from '../kit/raw-calls.ts';
import { turn, until } from '../kit/watchdog.ts';

const MESSAGES = cases(6000, 100_000);
const A_ROUND = 200;
const MAX_PENDING = 64;

// ---- the victim -------------------------------------------------------------------------------------------------

const canaries: string[] = [];
const canary = (name: string) => (): void => void canaries.push(name);

/** Of anything: as a text, an array of nothing is four thousand million commas. */
function number(it: unknown): number {
  return typeof it === 'number' ? it : 0;
}

class Base {
  inherited(): string {
    return 'inherited';
  }
}
class Api extends Base {
  readonly hidden = { secret: canary('hidden.secret') };
  readonly sub = reference({ deep: (n: number) => n, own: { f: canary('sub.own.f') } });
  readonly list = [canary('list')];
  get accessor(): () => void {
    canaries.push('accessor');
    return canary('what an accessor returns');
  }
  set setter(_: unknown) {
    canaries.push('setter');
  }
  add(a: number, b: number): number {
    return number(a) + number(b);
  }
  async later(value: unknown): Promise<unknown> {
    await null;
    return value;
  }
  echo(value: unknown): unknown {
    return value;
  }
  text(value: unknown): string {
    return typeof value;
  }
  fail(): never {
    throw Object.assign(new RangeError('no', { cause: new TypeError('because') }), { code: 'E_NO' });
  }
  async each(list: unknown, change: (value: unknown) => unknown): Promise<unknown[]> {
    const all: unknown[] = [];
    for (const value of (list as unknown[]).slice(0, 5)) all.push(await change(value));
    return all;
  }
  *count(to: number): Generator<number> {
    for (let i = 0; i < Math.min(number(to), 500); i++) yield i;
  }
  async *slow(): AsyncGenerator<object> {
    for (let i = 0; i < 20; i++) {
      await null;
      yield { i, f: () => i };
    }
  }
  async sum(values: AsyncIterable<number>): Promise<number> {
    let all = 0;
    let count = 0;
    for await (const value of values) {
      all += number(value);
      if (++count > 500) break;
    }
    return all;
  }
  counter(from: number): object {
    let at = number(from);
    return reference({ next: () => at++, private: canary });
  }
  user(id: number): object {
    return { id, name: { first: `u${number(id)}` }, greet: (how: string) => `${typeof how} ${typeof id}` };
  }
  forever(): Promise<never> {
    const { signal } = currentCall();
    return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  }
}

// ---- what is mutated --------------------------------------------------------------------------------------------

/** The messages of both sides in a session that uses all there is. */
async function recorded(): Promise<unknown[][]> {
  const { port, remote } = channel();
  const far = attach(remote);
  const messages: unknown[][] = [];
  for (const each of [port, far]) {
    // Before the connection takes functions and streams for what stands there.
    each.on('message', (envelope) => messages.push(...(structuredClone(envelope) as unknown[][]).slice(1)));
  }
  expose(new Api(), far);
  const api = wrap<Api>(port) as unknown as Record<string, (...values: unknown[]) => Promise<unknown>>;
  const ask = (name: string, ...values: unknown[]): Promise<unknown> => api[name]?.(...values) as Promise<unknown>;
  async function* mine(): AsyncGenerator<number> {
    for (let i = 0; i < 100; i++) yield i;
  }
  await Promise.allSettled([
    ask('add', 1, 2),
    ask('later', { deep: [new Map([[1, new Date()]]), new RangeError('r')] }),
    ask('echo', { a: [{ f: () => 1 }], s: mine() }),
    ask('each', [1, 2], (n: unknown) => n),
    ask('sum', mine()),
    ask('fail'),
    ask('nothing'),
    ask('echo', new ReadableStream()),
    ask('echo', transfer(new Uint8Array(5), [])),
    ask('echo', Symbol('no')),
  ]);
  for await (const _ of (await ask('count', 200)) as AsyncIterable<number>);
  let read = 0;
  for await (const _ of (await ask('slow')) as AsyncIterable<object>) if (++read === 5) break;
  const user = ask('user', 3) as unknown as { name: { first: Promise<string> }; greet(how: string): Promise<string> };
  await Promise.all([user.name.first, user.greet('hello')]);
  const counter = (await ask('counter', 5)) as { next(): Promise<number> } & Disposable;
  await counter.next();
  await ask('echo', counter);
  counter[Symbol.dispose]();
  const aborting = new AbortController();
  const call = within(api, { signal: aborting.signal })['forever']?.() as Promise<unknown>;
  await ask('add', 1, 1);
  aborting.abort();
  await call.catch(() => {});
  far.postMessage([70, []]);
  port.postMessage([70, [99]]);
  const lost = ask('forever');
  await ask('add', 2, 2);
  port.postMessage([90, [kinds.LOST]]);
  far.postMessage([90, [kinds.LOST]]);
  await turn();
  await turn();
  port.close();
  await lost.catch(() => {});
  far.close();
  return messages;
}

const NAMES = [
  '__proto__',
  'constructor',
  'then',
  'length',
  'prototype',
  'toString',
  'valueOf',
  'hidden',
  'secret',
  'accessor',
  'setter',
  'list',
  'sub',
  'own',
  'private',
  'message',
  'cause',
  'toJSON',
  'f',
  '',
];
const NUMBERS = [
  Number.NaN,
  2 ** 31,
  2 ** 31 - 1,
  -1,
  -(2 ** 31),
  0,
  1.5,
  1e308,
  Number.POSITIVE_INFINITY,
  65_536,
  65_537,
];

/** What travels natively beside it: Bun's structured clone visits every index. */
const LONGEST = process.versions['bun'] === undefined ? 4_000_000_000 : 1_000_000;
function huge(random: Random): unknown[] {
  const list: unknown[] = [1, 1, 1].slice(0, random.int(0, 3));
  list.length = random.pick([1e5, LONGEST]);
  return list;
}
function deep(levels: number): unknown {
  let it: unknown = null;
  for (let i = 0; i < levels; i++) it = i % 2 === 0 ? [it] : { f: it };
  return it;
}
function odd(random: Random): unknown {
  const cyclic: unknown[] = [1];
  cyclic.push(cyclic, { cyclic });
  const named = JSON.parse(`{${JSON.stringify(random.pick(NAMES))}:${random.pick(['null', '1', '{"x":1}', '"x"'])}}`);
  const failure: unknown[] = [['Error', random.pick(NAMES)], 'm', 's', named, undefined, [[0, 1]]];
  return random.pick<() => unknown>([
    () => random.pick(NUMBERS),
    () => random.pick(NAMES),
    () => random.int(1, 60),
    () => -random.int(1, 60),
    () => random.pick([null, undefined, true, '', 10n]),
    () => [],
    () => ({}),
    () => named,
    () => huge(random),
    () => cyclic,
    () => deep(random.int(1, 200)),
    () => new Map<unknown, unknown>([[1, cyclic]]),
    () => new Uint8Array(random.int(0, 20)),
    () => new RangeError('r', { cause: failure }),
    () => failure,
    () => [failure[0], 'm', 's', {}, failure, Array(60).fill(failure)],
    () => [[[random.int(0, 2), random.pick(NAMES)], random.int(0, 7), random.int(1, 40)]],
    () => [[random.int(0, 2)], random.int(0, 7), random.int(1, 40)],
    () => ({ target: random.int(-40, 40), keep: random.int(0, 70), chain: [random.int(0, 9)], get: true }),
    () => ({
      refs: [
        [[0], random.int(0, 7), random.int(1, 40)],
        [[0], random.int(0, 7), random.int(1, 40)],
      ],
    }),
  ])();
}

/** A place somewhere in a value, drawn. */
function place(random: Random, value: unknown): { at: Record<string, unknown>; key: string } | undefined {
  let found: { at: Record<string, unknown>; key: string } | undefined;
  let at = value;
  for (let i = 0; i < 6; i++) {
    // What is put into bytes becomes a number, by way of a text of four thousand million commas.
    if (typeof at !== 'object' || at === null || ArrayBuffer.isView(at)) break;
    const keys = Object.keys(at).slice(0, 50);
    if (keys.length === 0) break;
    found = { at: at as Record<string, unknown>, key: random.pick(keys) };
    if (random.chance(0.3)) break;
    at = found.at[found.key];
  }
  return found;
}

/** @param pooled it may say that it is a pool, and then its calls may wait for places for ever */
function mutated(random: Random, messages: readonly unknown[][], pooled: boolean): unknown {
  if (random.chance(0.02)) return odd(random);
  const message = structuredClone(random.pick(messages)) as unknown[];
  for (let i = random.int(0, 3); i > 0; i--) {
    const where = place(random, message);
    if (where === undefined) break;
    const { at, key } = where;
    const how = random.int(0, 9);
    if (how < 4) at[key] = odd(random);
    else if (how === 4) at[key] = random.int(1, 40);
    else if (how === 5) Reflect.deleteProperty(at, key);
    else if (how === 6 && Array.isArray(at) && at.length < 1000) at.splice(Number(key) || 0, 0, odd(random));
    else if (how === 7 && Array.isArray(at)) at.push(at[Number(key)]);
    else if (how === 8) message[0] = random.int(0, kinds.OVER);
    else at[key] = (random.pick(messages) as unknown[])[random.int(1, 3)];
  }
  // The greeting of another version is the end: now and then.
  if (message[0] === kinds.HELLO && random.chance(0.97)) message[0] = random.int(1, 17);
  if (pooled && random.chance(0.02)) return [kinds.POOLED, random.int(1, 8)];
  if (!pooled && message[0] === kinds.POOLED) message[0] = kinds.OVER;
  return message;
}

function flood(random: Random): unknown[] {
  const id = (i: number): number => 1000 + i;
  const one = random.pick<(i: number) => unknown>([
    (i) => [kinds.CALL, id(i), 'forever'],
    (i) => [kinds.CALL, id(i), 'add', 1, 2],
    (i) => [kinds.CALL_WITH, id(i), { refs: [[[0], random.int(0, 4), i + 1]] }, ['echo'], null],
    (i) => [kinds.CALL_WITH, id(i), { keep: 64 }, ['user'], 1],
    (i) => [kinds.CALL_WITH, id(i), { target: -id(i - 1), keep: 1 }, ['name']],
    (i) => [kinds.CALL_WITH, id(i), { refs: [[[1], 0, i + 1]] }, ['each'], [1, 2, 3], null],
    (i) => [kinds.CALL, id(i), 'count', 100],
    (i) => [kinds.CALL_WITH, id(i), { refs: [[[0], 3, id(i)]] }, ['sum'], null],
    (i) => [kinds.CREDIT, i % 40, 65_536],
    (i) => [kinds.ABORT, i],
    () => [kinds.LOST],
    (i) => [kinds.CHECK, i, id(i), 5, 6],
    (i) => [kinds.GONE, i],
    (i) => [kinds.RELEASE, (i % 80) - 40, 1],
    (i) => [kinds.RESULT_WITH, i % 40, [[[0], random.int(0, 4), i + 1]], null],
    (i) => [kinds.FAILED, i % 40, odd(random)],
    (i) => [kinds.ITEMS, i % 40, ...Array(70).fill(i)],
    (i) => [kinds.END, i % 40],
  ]);
  return Array.from({ length: random.int(1, 250) }, (_, i) => one(i + 1));
}

// ---- the round --------------------------------------------------------------------------------------------------

const watched = [Object, Array, Function, Promise, Error, Map, Set, Date, String, Number, RegExp];
function prototypes(): unknown[] {
  return watched.flatMap(({ prototype }) =>
    Reflect.ownKeys(prototype).flatMap((key) => {
      const { value, get, set } = Object.getOwnPropertyDescriptor(prototype, key) as PropertyDescriptor;
      return [key, value, get, set];
    }),
  );
}

function honest(): { add(): Promise<void>; close(): void } {
  const { port, remote } = channel();
  const far = attach(remote);
  expose({ add: (a: number, b: number) => a + b }, far);
  const api = wrap<{ add(a: number, b: number): number }>(port);
  return {
    add: async () => assert.equal(await api.add(2, 3), 5),
    close() {
      port.close();
      far.close();
    },
  };
}

const errors: Map<string, number> = new Map();
let ends = 0;

async function round(
  random: Random,
  messages: readonly unknown[][],
  other: ReturnType<typeof honest>,
  port: Port,
  victim: Port,
): Promise<void> {
  const peer = new RawPeer(port);
  const pooled = random.chance(0.2);
  expose(new Api(), victim, {
    maxPending: MAX_PENDING,
    onError: (error) => {
      const { name, code } = error as { name: string; code?: string };
      errors.set(`${name} ${code}`, (errors.get(`${name} ${code}`) ?? 0) + 1);
    },
  });
  const connection = connectionOf(victim);
  const api = wrap<Api>(victim) as unknown as Record<string, (...values: unknown[]) => Promise<unknown>>;
  const settled: Promise<unknown>[] = [];
  const own = (): void => {
    const made = random.pick<() => unknown>([
      () => api['x']?.(1),
      () => api['y']?.(() => 1, { deep: () => 2 }),
      () =>
        api['z']?.(
          (function* () {
            yield* [1, 2, 3];
          })(),
        ),
      () => within(api, { timeoutMs: random.int(0, 3) })['x']?.(),
      () => within(api, { callbacks: 'call' })['x']?.(() => 1),
      () => (api['u']!() as unknown as { name: { first(n: number): unknown } }).name.first(1),
    ])() as Promise<unknown>;
    settled.push(
      made
        .then(async (value) => {
          if (typeof value !== 'object' || value === null || !(Symbol.asyncIterator in value)) return;
          let count = 0;
          for await (const _ of value as AsyncIterable<unknown>) if (++count > 100) break;
        })
        .catch((error: unknown) => assert.notEqual((error as Error)?.name, 'AssertionError')),
    );
  };
  for (let sent = 0, call = 1_000_000; sent < A_ROUND; sent++) {
    if (random.chance(0.05)) own();
    if (random.chance(0.02)) peer.say(...flood(random));
    const batch = Array.from({ length: random.skewed(6) + 1 }, () => mutated(random, messages, pooled));
    sent += batch.length - 1;
    if (random.chance(0.02)) port.postMessage(random.pick([odd(random), [random.int(0, 99), ...batch], batch]));
    else peer.say(...batch);
    if (random.chance(0.1)) await turn();
    if (random.chance(0.03) && connection.ended === undefined) {
      call++;
      // Behind envelopes with wrong numbers the next one is taken for one behind a gap, and heard all the same.
      peer.say([kinds.CALL, call, 'add', 2, 3]);
      await until(
        'an honest call is answered, or waits for a place',
        () =>
          connection.ended !== undefined ||
          peer.of(kinds.RESULT, kinds.FAILED).some(([, id]) => id === call) ||
          (pooled && connection.serving.knows(call)),
      );
      const [kind, , what] = peer.of(kinds.RESULT, kinds.FAILED).find(([, id]) => id === call) ?? [kinds.RESULT, 0, 5];
      if (kind === kinds.RESULT) assert.equal(what, 5);
      else assert.equal(((what as unknown[])[3] as { code: string }).code, 'ERR_LIMIT');
    }
    const [sources, readers] = connection.streams.open;
    assert.ok(
      connection.calls.size <= MAX_PENDING &&
        connection.serving.size - connection.serving.keeps <= (pooled ? 2 : 1) * MAX_PENDING,
      'calls',
    );
    assert.ok(connection.serving.keeps <= MAX_PENDING, 'results that are kept');
    assert.ok(sources <= CALLS_STREAMS_MAX && readers <= CALLS_STREAMS_MAX, 'streams');
    assert.ok(connection.values.held <= CALLS_EXPORTS_MAX && connection.values.remotes.size <= CALLS_EXPORTS_MAX);
    // Its own calls and what it answers, what it lets go of, and of each stream what fits into a batch.
    assert.ok(
      connection.out.waiting <= 4 * MAX_PENDING + 4 * CALLS_BATCH_MAX + CALLS_STREAMS_MAX * 2,
      `${connection.out.waiting} wait`,
    );
  }
  await turn();
  await other.add();
  if (connection.ended !== undefined) ends++;
  if (random.chance(0.5)) port.close();
  else victim.close();
  await Promise.all(settled);
  port.close();
  victim.close();
  await until('the end is told', () => connection.ended !== undefined);
  assert.deepEqual(
    [connection.calls.size, connection.serving.size, connection.values.held, connection.out.waiting],
    [0, 0, 0, 0],
  );
  assert.deepEqual(connection.streams.open, [0, 0]);
}

test(`${MESSAGES} mutated messages of calls: typed errors, nothing else (SEED=${seed})`, async () => {
  const messages = await recorded();
  const seen = new Set(messages.map(([kind]) => kind));
  for (let kind = kinds.HELLO; kind <= kinds.HEARD; kind++) assert.ok(seen.has(kind), `no message of kind ${kind}`);
  const before = prototypes();
  const other = honest();
  const heap: number[] = [];
  const rounds = Math.ceil(MESSAGES / A_ROUND);
  for (let i = 0; i < rounds; i++) {
    const { port, remote } = channel();
    const victim = attach(remote);
    try {
      await round(new Random(seed, i), messages, other, port, victim);
      assert.deepEqual(canaries, []);
    } catch (error) {
      for (const each of [port, victim]) each.close();
      other.close();
      throw new Error(`${String((error as Error).message)}\n  repeat with SEED=${seed}, in round ${i}`, {
        cause: error,
      });
    }
    if (i === rounds >> 1 || i === rounds - 1) {
      await turn();
      collect();
      heap.push(process.memoryUsage().heapUsed);
    }
  }
  const after = prototypes();
  assert.ok(
    after.length === before.length && after.every((it, i) => Object.is(it, before[i])),
    'a prototype is changed',
  );
  assert.ok(ends < rounds / 2, `${ends} of ${rounds} connections were ended`);
  // What makes no sense is said to be so, by our errors only.
  for (const kind of errors.keys()) assert.match(kind, /^CodecError ERR_PROTOCOL$/);
  assert.ok((errors.get('CodecError ERR_PROTOCOL') ?? 0) > rounds);
  const [middle = 0, last = 0] = heap;
  assert.ok(last < middle + 64 * 1024 * 1024, `the heap grew from ${middle} to ${last} bytes`);
  other.close();
});
