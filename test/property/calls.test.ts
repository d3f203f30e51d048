// Random programs of calls, callbacks, nested calls, generators each way, pipelining, references, aborts and errors, run over a pair of ports and locally against
// the same objects: the same results, the same effects in the same order. With random closes, everything settles. The seed is printed; SEED and CASE repeat one.
// watchdog: 300 s
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Port } from '../../src/index.ts';
import { connectionOf } from '../../src/rpc/connection.ts';
import { expose, type Reference, reference, registerError, within, wrap } from '../../src/rpc/index.ts';
import { threadWorld } from '../conformance/thread-world.ts';
import { cases, eachCaseAsync, type Random, seed } from '../kit/prng.ts';
import { streamPair } from '../kit/stream-pair.ts';
import { until, within as watched } from '../kit/watchdog.ts';

const CASES = cases(60, 2000);
const STEPS = 30;

class Odd extends RangeError {
  readonly code = 'E_ODD';
}
registerError(Odd, 'test.property.Odd');
const ERRORS = [Odd, TypeError, RangeError, SyntaxError, URIError] as const;

/** A program's object; what happens to it stands in `log`. */
class Thing {
  readonly log: string[] = [];
  #held = new Map<number, Counter>();

  note(what: string): void {
    this.log.push(what);
  }
  add(a: number, b: number): number {
    this.log.push(`add ${a} ${b}`);
    return a + b;
  }
  async later(value: unknown, turns: number): Promise<unknown> {
    this.log.push('later');
    for (let i = 0; i < turns; i++) await null;
    return value;
  }
  fail(which: number, later: boolean): unknown {
    this.log.push(`fail ${which}`);
    const error = Object.assign(new (ERRORS[which % ERRORS.length] ?? Odd)(`no ${which}`, { cause: new Odd('why') }), {
      which,
    });
    if (later) return Promise.reject(error);
    throw error;
  }
  async each(list: number[], change: (value: number, depth: number) => unknown, depth: number): Promise<unknown[]> {
    const all: unknown[] = [];
    for (const value of list) all.push(await change(value, depth));
    return all;
  }
  *count(to: number, failsAt: number): Generator<number> {
    try {
      for (let i = 0; i < to; i++) {
        if (i === failsAt) throw new Odd(`at ${i}`);
        yield i;
      }
    } finally {
      this.log.push(`count ${to} ${failsAt} is over`);
    }
  }
  async *lists(to: number): AsyncGenerator<number[]> {
    for (let i = 0; i < to; i++) {
      await null;
      yield Array.from({ length: i % 5 }, (_, n) => n);
    }
  }
  async sum(values: AsyncIterable<number>, most: number): Promise<number> {
    let all = 0;
    let count = 0;
    for await (const value of values) {
      all += value;
      if (++count >= most) break;
    }
    this.log.push(`sum ${all}`);
    return all;
  }
  user(id: number): { id: number; name: { first: string }; twice: (n: number) => number } {
    this.log.push(`user ${id}`);
    if (id % 7 === 6) throw new Odd(`no user ${id}`);
    return { id, name: { first: `u${id}` }, twice: (n) => n * 2 };
  }
  counter(from: number): Reference<Counter> {
    this.log.push(`counter ${from}`);
    const counter = this.#held.get(from) ?? new Counter(from);
    this.#held.set(from, counter);
    return reference(counter);
  }
}
class Counter {
  #at: number;
  constructor(from: number) {
    this.#at = from;
  }
  next(): number {
    return this.#at++;
  }
}

/** What a program makes of it, over a port or without one. */
interface Remote {
  note(what: string): Promise<void>;
  add(a: number, b: number): Promise<number>;
  later(value: unknown, turns: number): Promise<unknown>;
  fail(which: number, later: boolean): Promise<unknown>;
  each(list: number[], change: (value: number, depth: number) => unknown, depth: number): Promise<unknown[]>;
  count(to: number, failsAt: number): Promise<AsyncIterable<number>>;
  lists(to: number): Promise<AsyncIterable<number[]>>;
  sum(values: AsyncIterable<number>, most: number): Promise<number>;
  user(id: number): Promise<{ name: { first: string }; twice(n: number): Promise<number> | number }>;
  counter(from: number): Promise<{ next(): Promise<number> | number }>;
  /** Two steps in one trip where there is one. */
  first(id: number): Promise<string>;
  twice(id: number, n: number): Promise<number>;
  nextOf(from: number): Promise<number>;
  release(what: unknown): void;
}

/** The same object without a port between. */
function local(thing: Thing): Remote {
  const call = async <T>(make: () => T): Promise<Awaited<T>> => await make();
  return {
    note: (what) => call(() => thing.note(what)),
    add: (a, b) => call(() => thing.add(a, b)),
    later: (value, turns) => call(() => thing.later(structuredClone(value), turns)),
    fail: (which, later) => call(() => thing.fail(which, later)),
    each: (list, change, depth) => call(() => thing.each(list, change, depth)),
    count: (to, failsAt) => call(() => each(thing.count(to, failsAt))),
    lists: (to) => call(() => thing.lists(to)),
    sum: (values, most) => call(() => thing.sum(values, most)),
    user: (id) => call(() => thing.user(id)),
    counter: (from) => call(() => thing.counter(from).target),
    first: async (id) => (await call(() => thing.user(id))).name.first,
    twice: async (id, n) => (await call(() => thing.user(id))).twice(n),
    nextOf: async (from) => (await call(() => thing.counter(from))).target.next(),
    release: () => {},
  };
}
async function* each(values: Iterable<number>): AsyncGenerator<number> {
  yield* values;
}

function over(port: Port): Remote {
  const api = wrap<Thing>(port) as unknown as Omit<Remote, 'user' | 'counter'> & {
    user(id: number): { name: { first: Promise<string> }; twice(n: number): Promise<number> };
    counter(from: number): { next(): Promise<number> };
  };
  const own: Pick<Remote, 'first' | 'twice' | 'nextOf' | 'release'> = {
    first: async (id) => await api.user(id).name.first,
    twice: (id, n) => api.user(id).twice(n),
    nextOf: (from) => api.counter(from).next(),
    release: (what) => (what as Disposable)[Symbol.dispose](),
  };
  return new Proxy(own as Remote, { get: (_, name) => own[name as keyof typeof own] ?? api[name as keyof typeof api] });
}

/** What something came to, in a form to be compared. */
async function outcome(promise: Promise<unknown>): Promise<unknown> {
  try {
    return { value: await promise };
  } catch (thrown) {
    const { name, message, cause, code, which } = thrown as Error & { code?: unknown; which?: unknown };
    const classes = [...ERRORS, Error].filter((each) => thrown instanceof each).map((each) => each.name);
    return { name, message, cause: (cause as Error | undefined)?.message, code, which, classes };
  }
}

type Step = (remote: Remote, log: string[]) => Promise<unknown>;

/** A step is drawn once, and run twice. Its callbacks tell the caller's log. */
function drawn(random: Random): Step {
  const [a, b, n] = [random.int(0, 20), random.int(0, 20), random.skewed(200)];
  const fails = random.chance(0.3) ? random.int(0, n) : -1;
  const breaks = random.chance(0.4) ? random.int(1, n + 1) : Number.POSITIVE_INFINITY;
  const value = random.pick<unknown>([a, null, undefined, 'text', [1, [2]], { a: { b } }, new Map([[a, b]]), -0, 10n]);
  const late = random.chance(0.5);
  return random.pick<Step>([
    (remote) => remote.note(`${a}`),
    (remote) => remote.add(a, b),
    (remote) => remote.later(value, a),
    (remote) => remote.fail(a, late),
    (remote) => remote.first(a),
    (remote) => remote.twice(a, b),
    (remote) => remote.nextOf(1000 + n),
    (remote, log) => {
      // Each callback calls back, so many levels deep.
      const change = async (it: number, depth: number): Promise<unknown> => {
        log.push(`change ${it} ${depth}`);
        if (it === fails) throw new Odd(`callback ${it}`);
        return depth === 0 ? it * 2 : await remote.each([it, it + 1], change, depth - 1);
      };
      return remote.each([a, b], change, a % 4);
    },
    async (remote) => {
      const got: number[] = [];
      for await (const it of await remote.count(n, fails)) {
        got.push(it);
        if (got.length >= breaks) break;
      }
      return got;
    },
    async (remote) => {
      const got: number[][] = [];
      for await (const it of await remote.lists(n % 20)) got.push(it);
      return got;
    },
    async (remote, log) => {
      let over = false;
      async function* mine(): AsyncGenerator<number> {
        try {
          for (let i = 0; i < n; i++) {
            if (i === fails) throw new Odd(`mine ${i}`);
            yield i;
          }
        } finally {
          over = true;
        }
      }
      const all = await outcome(remote.sum(mine(), breaks));
      // Of one that was never read, because its port was closed, nothing runs.
      const closed = (all as { code?: string }).code === 'ERR_CLOSED';
      await until('its generator is over', () => over || closed);
      log.push('mine is over');
      return all;
    },
    async (remote) => {
      const user = await remote.user(a);
      return [user.name, await user.twice(b)];
    },
    async (remote) => {
      const counter = await remote.counter(2000 + n);
      const got = [await counter.next(), await counter.next()];
      remote.release(counter);
      return got;
    },
  ]);
}

const worlds: { name: string; pair(): { a: Port; b: Port } | Promise<{ a: Port; b: Port }> }[] = [
  { name: 'thread', pair: () => threadWorld('thread', {}).pair() },
  { name: 'stream', pair: () => streamPair({}, { chunkMax: 4096 }).ports() },
];

for (const world of worlds) {
  test(`${world.name}: ${CASES} programs come to the same over a port as without (SEED=${seed})`, () =>
    eachCaseAsync(0, CASES, async (random) => {
      const { a, b } = await world.pair();
      const [there, here, thereToo, hereToo] = [new Thing(), new Thing(), new Thing(), new Thing()];
      expose(there, b);
      expose(thereToo, a);
      const logs: [string[], string[]] = [[], []];
      try {
        for (let i = 0; i < STEPS; i++) {
          const step = drawn(random);
          const back = random.chance(0.3);
          const [remote, thing] = back ? [over(b), hereToo] : [over(a), here];
          const [one, other] = await watched(
            `step ${i}`,
            Promise.all([outcome(step(remote, logs[0])), outcome(step(local(thing), logs[1]))]),
          );
          assert.deepEqual(one, other, `step ${i}`);
        }
        // One way, all at once: begun in the order in which they were called.
        const [remote, thing] = [over(a), local(here)];
        const marks = Array.from({ length: random.int(1, 60) }, () => [random.int(0, 9), random.int(0, 9)] as const);
        for (const each of [remote, thing]) await Promise.all(marks.map(([x, y]) => each.add(x, y)));
        await until(
          'what was left is over',
          () => there.log.length === here.log.length && thereToo.log.length === hereToo.log.length,
        );
        assert.deepEqual([there.log, thereToo.log, logs[0]], [here.log, hereToo.log, logs[1]]);
        for (const port of [a, b]) {
          const { calls, serving, streams } = connectionOf(port);
          assert.deepEqual([calls.size, serving.size, streams.open], [0, 0, [0, 0]]);
        }
      } finally {
        a.close();
        b.close();
      }
    }));

  test(`${world.name}: ${CASES} programs with aborts, and closed in the middle, settle (SEED=${seed})`, () =>
    eachCaseAsync(0, CASES, async (random) => {
      const { a, b } = await world.pair();
      const thing = new Thing();
      expose(thing, b);
      expose(new Thing(), a);
      const ended = random.int(1, STEPS);
      const all: Promise<unknown>[] = [];
      for (let i = 0; i < STEPS; i++) {
        const port = random.pick([a, b]);
        if (random.chance(0.3)) {
          const controller = new AbortController();
          const api = within(wrap<Thing>(port), { signal: controller.signal });
          const call = random.pick<() => Promise<unknown>>([
            () => api.later({ deep: () => 1 }, 5),
            () => api.each([1, 2], async (n: number) => n, 0),
            () => api.sum(each([1, 2, 3]), 2),
            () => api.count(5, -1),
          ])();
          all.push(outcome(call));
          if (random.chance(0.5)) controller.abort(new Odd('aborted'));
          else queueMicrotask(() => controller.abort(new Odd('aborted')));
        } else {
          const step = drawn(random);
          all.push(outcome(step(over(port), [])));
        }
        if (random.chance(0.3)) await all.at(-1);
        if (i === ended) random.pick([a, b]).close();
      }
      await watched('everything settles', Promise.all(all));
      a.close();
      b.close();
      for (const port of [a, b]) {
        const connection = connectionOf(port);
        await until('the end is told', () => connection.ended !== undefined);
        const { calls, serving, streams, values } = connection;
        assert.deepEqual([calls.size, serving.size, streams.open, values.held], [0, 0, [0, 0], 0]);
      }
    }));
}
