// Every way for a thread to end, in every state of a call: all that is pending on both sides settles with the reason, streams end once, generators are
// returned, nothing is left, and no process dies of it. A line that is lost is one to a process: test/process/calls.test.ts.
// watchdog: 600 s
import assert from 'node:assert/strict';
import process from 'node:process';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { type ChannelOptions, ClosedError, type Port, spawn } from '../../src/index.ts';
import {
  currentCall,
  expose,
  type Remote,
  type SyncRemote,
  within as withOptions,
  wrap,
  wrapSync,
} from '../../src/rpc/index.ts';
import { Gates } from '../kit/gate.ts';
import { inOneFile } from '../kit/in-one-file.ts';
import { closing } from '../kit/rejection.ts';
import { until, within } from '../kit/watchdog.ts';
import { assertDoom, GO, leftOf, OVER, READY, SERVED, type Us, type Victim, type Way } from './call-roles.ts';

const THREAD = inOneFile(new URL('./call-thread.js', import.meta.url));
const unhandled: unknown[] = [];
process.on('unhandledRejection', (error) => unhandled.push(error));

type End = Way | 'terminate' | 'close here';
const ENDS: readonly End[] = ['return', 'exit', 'throw', 'close', 'terminate', 'close here'];
const REASONS: Readonly<Record<End, string>> = {
  return: 'exit',
  exit: 'exit',
  throw: 'crash',
  close: 'closed',
  terminate: 'terminated',
  'close here': 'closed',
};

interface Cast {
  readonly port: Port;
  readonly worker: Worker;
  readonly api: Remote<Victim>;
  readonly sync: SyncRemote<Victim>;
  readonly gates: Gates;
  /** What became of what was pending over there, where that could still be told. */
  readonly told: Promise<{ readonly seen: string[]; readonly left: object }>;
  readonly exit: Promise<unknown>;
  /** What became of things here. */
  readonly seen: string[];
  /** It has called us, and waits. */
  held(): boolean;
  /** It goes on. */
  release(): void;
}

function cast(byUrl: boolean, options: ChannelOptions = {}): Cast {
  const gates = new Gates();
  const worker = { workerData: { memory: gates.memory }, stderr: true };
  const made = byUrl ? spawn(THREAD, { ...options, worker }) : spawn(() => new Worker(THREAD, worker));
  const { port } = made;
  const thread = made.worker as unknown as Worker;
  thread.on('error', () => {});
  const told = new Promise<Awaited<Cast['told']>>((resolve) => thread.once('message', resolve));
  const exit = new Promise((resolve) => thread.once('exit', resolve));
  const seen: string[] = [];
  let held = false;
  let release!: () => void;
  const us: Us = {
    hold: () => {
      held = true;
      currentCall().signal.addEventListener('abort', () => seen.push('hold aborted'));
      return new Promise((resolve) => {
        release = resolve as () => void;
      });
    },
  };
  expose(us, port);
  port.unref();
  return {
    port,
    worker: thread,
    api: wrap<Victim>(port),
    sync: wrapSync<Victim>(port),
    gates,
    told,
    exit,
    seen,
    held: () => held,
    release: () => release(),
  };
}

type Pending = Readonly<Record<string, PromiseLike<unknown>>>;
interface State {
  /** Brings it about: what is pending here. */
  readonly begin: (it: Cast, end: End) => Promise<Pending> | Pending;
  /** What is seen here, and over there if it lives on. */
  readonly here?: readonly string[];
  readonly there?: readonly string[];
  /** It ends by itself within that call. */
  readonly ends?: boolean;
  /** Ways that there are not: who is blocked does not return, nor throws where nobody catches. */
  readonly without?: readonly End[];
}
const own = (end: End): Way | undefined => (end === 'terminate' || end === 'close here' ? undefined : end);
const ready = (it: Cast): Promise<unknown> => within('it to be ready', it.gates.passAsync(READY));

const STATES: Readonly<Record<string, State>> = {
  'before it is dispatched': {
    async begin({ api }, end) {
      assert.equal(await api.add(1, 2), 3);
      const how = own(end);
      if (how !== undefined) void api.end(how).then(undefined, () => {});
      return { first: api.forever(), second: api.forever() };
    },
    ends: true,
  },
  'while it computes': {
    async begin(it, end) {
      const calls = { compute: it.api.compute(own(end)), behind: it.api.forever() };
      await ready(it);
      if (own(end) !== undefined) it.gates.open(GO);
      return calls;
    },
    ends: true,
  },
  'while it awaits': {
    async begin(it) {
      const call = it.api.forever();
      await ready(it);
      return { call };
    },
    there: ['forever aborted: ClosedError'],
  },
  'while a generator of its is read': {
    async begin(it) {
      const stream = await it.api.stalled();
      assert.equal((await stream.next()).value, 1);
      const next = stream.next();
      const then = next.then(undefined, () => stream.next()).then((step) => assert.equal(step.done, true));
      await ready(it);
      then.then(
        () => it.seen.push('ended once'),
        (error) => it.seen.push(String(error)),
      );
      return { next };
    },
    here: ['ended once'],
  },
  'while it reads a generator of ours': {
    async begin(it) {
      async function* numbers(): AsyncGenerator<number> {
        try {
          for (let i = 0; ; i++) yield i;
        } finally {
          it.seen.push('returned');
        }
      }
      const read = it.api.read(numbers());
      await ready(it);
      return { read };
    },
    here: ['returned'],
    there: ['read: ClosedError'],
  },
  'while each waits for a callback of the other': {
    async begin(it) {
      let called!: () => void;
      const being = new Promise<void>((resolve) => {
        called = resolve;
      });
      const call = it.api.callBack(() => {
        currentCall().signal.addEventListener('abort', () => it.seen.push('callback aborted'));
        called();
        return new Promise(() => {});
      });
      await within('the callback', being);
      await it.api.add(1, 1);
      return { call };
    },
    here: ['callback aborted', 'hold aborted'],
    there: ['callBack aborted: ClosedError', 'callback: ClosedError', 'a call of its own: ClosedError'],
  },
  'while what builds upon it waits': {
    async begin(it) {
      const call = it.api.forever() as unknown as {
        a: { b(): Promise<unknown> };
        c: PromiseLike<unknown>;
      } & Promise<never>;
      const calls = { call, member: call.a.b(), read: call.c };
      await ready(it);
      return calls;
    },
  },
  'while it is blocked in a call to us': {
    async begin(it) {
      const call = it.api.blockBack();
      await until('it blocks', () => it.held());
      return { call };
    },
    here: ['hold aborted'],
    there: ['blocked: ClosedError'],
    without: ['return', 'throw'],
  },
};

/** All ends settle all that is pending, with the reason and what it died of. */
async function settles(it: Cast, pending: Pending, end: End): Promise<void> {
  for (const [name, promise] of Object.entries(pending)) {
    const error = await closing(name, promise);
    assert.equal(error.reason, REASONS[end], `${name}: ${error.message}`);
    if (end === 'throw') assertDoom(error.cause, name);
  }
  await closing('a call behind the end', it.api.add(1, 2));
}

const outcome = (promise: PromiseLike<unknown>): Promise<unknown> =>
  Promise.resolve(promise).then(
    (value) => value,
    (error: unknown) => error,
  );

async function over(it: Cast): Promise<void> {
  it.gates.open(OVER);
  await it.worker.terminate();
}

for (const byUrl of [true, false]) {
  for (const end of ENDS) {
    for (const [name, state] of Object.entries(STATES)) {
      if (state.without?.includes(end) === true) continue;
      test(`${byUrl ? 'a thread by its URL' : 'a Worker'}: ${end}, ${name}`, async () => {
        const it = cast(byUrl);
        try {
          const pending = await state.begin(it, end);
          if (end === 'terminate') void it.worker.terminate();
          else if (end === 'close here') it.port.close();
          else if (state.ends !== true) void it.api.end(end).then(undefined, () => {});
          await settles(it, pending, end);
          await until(`${String(state.here)} here`, () => it.seen.length >= (state.here?.length ?? 0));
          assert.deepEqual([...it.seen].sort(), [...(state.here ?? [])].sort());
          assert.deepEqual(leftOf(it.port), {});
          // Over there all is told before it ends, and it ends, for nothing holds it.
          if (end === 'close' || end === 'close here') {
            it.gates.open(GO);
            const { seen, left } = await within('what it has seen', it.told);
            assert.deepEqual(left, {});
            for (const line of state.there ?? [])
              assert.ok(seen.includes(`${line} closed`), `${line}: ${seen.join(', ')}`);
            await within('its exit', it.exit);
          }
        } finally {
          await over(it);
        }
      });
    }

    // Whoever blocks here.
    test(`${byUrl ? 'a thread by its URL' : 'a Worker'}: ${end}, while we are blocked in a call to it`, async () => {
      const it = cast(byUrl);
      assert.equal(it.sync.add(1, 2), 3);
      const forever = it.api.forever();
      const here = (): string => {
        if (end === 'terminate') void it.worker.terminate();
        else it.port.close();
        return 'done';
      };
      const how = own(end);
      let error: unknown;
      try {
        it.sync.blockedEnd(how, how === undefined ? here : undefined);
      } catch (thrown) {
        error = thrown;
      }
      assert.ok(error instanceof ClosedError, String(error));
      assert.equal(error.reason, REASONS[end], error.message);
      // Though no event loop has run.
      if (end === 'throw') assertDoom(error.cause);
      await settles(it, { forever }, end);
      assert.throws(() => it.sync.add(1, 2), { code: 'ERR_CLOSED' });
      assert.deepEqual(leftOf(it.port), {});
      await over(it);
    });
  }
}

test('whoever blocks: time limits, promises and streams that would never come, generators each way', async () => {
  const it = cast(true);
  const wild = it.sync as unknown as Record<string, (...values: unknown[]) => unknown>;
  assert.equal(
    wild['asks']!((n: number) => n * 2, 4),
    9,
  );
  assert.throws(() => wild['asks']!(async (n: number) => n * 2, 4), { code: 'ERR_UNSUPPORTED' });
  async function* late(): AsyncGenerator<number> {
    yield 1;
  }
  function* now(): Generator<number> {
    yield 1;
    yield 2;
  }
  assert.throws(() => wild['sumOf']!(late()), { code: 'ERR_UNSUPPORTED' });
  assert.throws(() => wild['sumOf']!({ deep: [late()] }), { code: 'ERR_UNSUPPORTED' });
  assert.equal(wild['sumOf']!(now()), 3);
  assert.deepEqual([...it.sync.letters('abc')], ['a', 'b', 'c']);
  let read = 0;
  for (const number of it.sync.flood()) {
    assert.equal(number, read++);
    if (read === 200) break;
  }
  const seen = (): readonly string[] => it.sync.whatIsSeen();
  await until('what was read is over', () => seen().length >= 2);
  assert.deepEqual([...seen()].sort(), ['flood returned', 'letters returned']);
  const limited = wrapSync<Victim>(it.port, { timeoutMs: 20 });
  for (const forever of [() => limited.forever(), () => withOptions(it.sync, { timeoutMs: 20 }).forever()]) {
    const had = seen().length;
    // A call whose limit ends before it is begun over there is never begun.
    await until('a call is given up', () => {
      assert.throws(forever, { code: 'ERR_TIMEOUT' });
      return seen().length > had;
    });
    assert.equal(seen().at(-1), 'forever aborted: AbortError undefined');
  }
  it.port.close();
  await over(it);
});

test('who is blocked, and is asked for more than the port holds, hears no more until it is read, and nobody waits for ever', async () => {
  const it = cast(true, { capacityBytes: 4096, outboxBytes: 256 * 1024 });
  const blocked = it.api.blockBack();
  await until('it blocks', () => it.held());
  const texts = Array.from({ length: 60 }, () => outcome(it.api.text(64 * 1024)));
  // They go out at the end of the turn, behind which nothing is read here.
  for (let i = 0; i < 20; i++) await null;
  // Nothing is read meanwhile, until it gets no further.
  for (let served = -1, since = performance.now(); performance.now() - since < 200; ) {
    const now = it.gates.get(SERVED);
    if (now !== served) since = performance.now();
    served = now;
  }
  assert.ok(it.gates.get(SERVED) >= 16 && it.gates.get(SERVED) < 60, `${it.gates.get(SERVED)} answers wait`);
  const all = await within('all', Promise.all(texts));
  const codes = new Set(all.map((text) => (typeof text === 'string' ? text.length : (text as { code: string }).code)));
  assert.deepEqual([...codes], [64 * 1024, 'ERR_LOST']);
  // It is as ever.
  assert.equal(await within('a call', it.api.add(1, 2)), 3);
  it.release();
  assert.equal(await within('the blocked one', blocked), 'unblocked');
  assert.equal((await within('one more', it.api.text(5))).length, 5);
  it.port.close();
  await over(it);
});

test('what a thread dies of comes without the fields that cannot be cloned', async () => {
  const it = cast(true);
  const { cause } = (await closing('the call', it.api.dieOddly())) as { cause?: unknown };
  const { name, message, code, hold } = cause as Record<string, unknown>;
  assert.ok(cause instanceof RangeError && cause.cause instanceof TypeError, String(cause));
  assert.deepEqual([name, message, code, hold], ['RangeError', 'what it died of', 'ERR_OWN', undefined]);
  await over(it);
});

test('nothing was rejected that nobody was told of', () => {
  assert.deepEqual(unhandled, []);
});
