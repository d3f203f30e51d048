// The page of the protocol and the numbers in the source are the same, and a side that is written by that page, by hand, gets on with the library.
// watchdog: 60 s
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import * as errors from '../errors.ts';
import * as limits from '../limits.ts';
import { EMPTY } from '../outcome.ts';
import { attach, channel } from '../port/channels.ts';
import type { Port } from '../port/port.ts';
import { failureOf } from './failures.ts';
import { expose, reference, wrap } from './index.ts';
import * as messages from './messages.ts';

const page = readFileSync(fileURLToPath(new URL('../../../docs/protocol/calls.md', import.meta.url)), 'utf8');
const section = (heading: string): string => page.split(/^##+ /m).find((text) => text.startsWith(heading)) ?? '';
const rowsOf = (heading: string): string[][] =>
  [...section(heading).matchAll(/^\| (.+) \|$/gm)].slice(2).map(([, row = '']) => row.split(' | '));

// ---- the page ---------------------------------------------------------------------------------------------------

const numbersOf = (pattern: RegExp): Record<string, number> =>
  Object.fromEntries(
    Object.entries(messages).filter(([name, value]) => typeof value === 'number' && pattern.test(name)),
  ) as never;

test('docs/protocol/calls.md gives the version, and every kind of message its number', () => {
  assert.ok(page.includes(`This is version ${messages.VERSION}.`));
  const rows = rowsOf('Envelopes');
  const kinds = rows.map(([kind, name]) => [name, Number(kind)]);
  assert.deepEqual(Object.fromEntries(kinds), numbersOf(/^(?!REF_|VERSION)/));
  for (const [kind, name, form] of rows) assert.ok(form?.startsWith(`\`[${kind}`), `${name} is written ${form}`);
});

test('docs/protocol/calls.md gives every kind of ref its number', () => {
  const kinds = rowsOf('Refs').map(([kind, name]) => [`REF_${name}`, Number(kind)]);
  assert.deepEqual(Object.fromEntries(kinds), numbersOf(/^REF_/));
});

test('docs/protocol/calls.md gives the kinds of streams over a port', () => {
  const source = readFileSync(fileURLToPath(new URL('../../../src/rpc/web-streams.ts', import.meta.url)), 'utf8');
  const constants = [...source.matchAll(/^const ([A-Z]+) = (\d+);$/gm)].map(([, name, kind]) => [name, Number(kind)]);
  const rows = rowsOf('Streams over a port').map(([kind, name]) => [name, Number(kind)]);
  assert.deepEqual(rows, constants);
});

test('docs/protocol/calls.md gives the bounds', () => {
  assert.deepEqual(
    rowsOf('Bounds').map(([, bound = '']) => [...bound.matchAll(/\d+/g)].map(Number)),
    [
      [limits.CALLS_PENDING_DEFAULT],
      [limits.CALLS_BATCH_MAX],
      [limits.CALLS_VALUES_MAX],
      [limits.CALLS_CHECKED_MAX],
      [limits.CALLS_DEPTH_MAX],
      [limits.CALLS_NESTED_MAX],
      [limits.CALLS_CHAIN_MAX],
      [limits.CALLS_DEFERRED_MAX],
      [limits.CALLS_EXPORTS_MAX],
      [limits.CALLS_STREAMS_MAX],
      [limits.CALLS_WINDOW_DEFAULT, limits.CALLS_WINDOW_MAX],
      [limits.CALLS_CHECKS_MAX],
    ],
  );
});

test('docs/protocol/calls.md names the classes of errors as they are named on the way', () => {
  const named = rowsOf('Failures').flatMap(([names = '']) =>
    [...names.matchAll(/`([\w.]+)`/g)].map(([, name]) => name),
  );
  const own = named.filter((name) => name?.startsWith('millrace.')).map((name) => name?.slice(9) as string);
  const exported = Object.entries(errors)
    .filter(([, it]) => typeof it === 'function')
    .map(([name]) => name);
  assert.deepEqual(own.sort(), exported.filter((name) => name.endsWith('Error')).sort());
  for (const name of named as string[]) {
    const its = (errors as unknown as Record<string, { prototype: object }>)[name.replace('millrace.', '')];
    const type = name.startsWith('millrace.')
      ? its
      : (globalThis as unknown as Record<string, { prototype: object }>)[name];
    const error =
      name === 'DOMException'
        ? new DOMException('x', 'AbortError')
        : Object.create(type!.prototype, { message: { value: '' } });
    assert.equal((failureOf(error, true, false)[0] as string[])[0], name);
  }
});

// ---- by hand ----------------------------------------------------------------------------------------------------

interface Hand {
  readonly far: Port;
  readonly raw: Port;
  /** Sends messages in one envelope. */
  say(...said: unknown[]): void;
  /** The next messages of the library's, without its greeting. */
  next(count: number): Promise<unknown[]>;
  close(): void;
}

/** A port whose one end is spoken for by the test. */
function byHand(): Hand {
  const { port: far, remote } = channel();
  const raw = attach(remote);
  const heard: unknown[] = [];
  let [said, received] = [0, 0];
  return {
    far,
    raw,
    say(...all) {
      said++;
      raw.postMessage(said === 1 ? [said, [messages.HELLO, messages.VERSION, 7], ...all] : [said, ...all]);
    },
    async next(count) {
      for (;;) {
        const rest = heard.filter((message) => (message as unknown[])[0] !== messages.HELLO);
        if (rest.length >= count) {
          heard.length = 0;
          return rest;
        }
        const envelope = (await raw.receiveAsync()) as unknown[];
        assert.notEqual(envelope, EMPTY);
        assert.equal(envelope[0], ++received);
        if (received === 1)
          assert.deepEqual((envelope[1] as unknown[]).slice(0, 2), [messages.HELLO, messages.VERSION]);
        heard.push(...envelope.slice(1));
      }
    },
    close() {
      far.close();
      raw.close();
    },
  };
}
async function withHand(api: object | undefined, body: (hand: Hand) => Promise<void>): Promise<void> {
  const hand = byHand();
  try {
    if (api !== undefined) expose(api, hand.far);
    await body(hand);
  } finally {
    hand.close();
  }
}
const classesOf = (message: unknown): string[] => ((message as unknown[])[2] as string[][])[0] as string[];
const codeOf = (message: unknown): unknown => ((message as unknown[])[2] as { code?: unknown }[])[3]?.code;
const api = {
  add: (a: number, b: number): number => a + b,
  apply: (f: (n: number) => Promise<number>): Promise<number> => f(4),
  user: (id: number): object => ({ id, friends: [{ name: 'Ada' }] }),
  counter: (): object => reference({ at: () => 5 }),
  async *count(to: number): AsyncGenerator<number> {
    for (let i = 0; i < to; i++) yield i;
  },
};

test('a caller by hand: a call, a call upon a call, an error, a reference and its release', () =>
  withHand(api, async ({ say, next }) => {
    say([1, 1, 'add', 1, 2]);
    assert.deepEqual(await next(1), [[3, 1, 3]]);
    say(
      [2, 2, { keep: 2 }, ['user'], 9],
      [2, 3, { target: -2, get: true }, ['id']],
      [2, 4, { target: -2, get: true }, ['friends', 0, 'name']],
    );
    assert.deepEqual(await next(3), [
      [3, 2, { id: 9, friends: [{ name: 'Ada' }] }],
      [3, 3, 9],
      [3, 4, 'Ada'],
    ]);
    say([2, 5, { target: -2, get: true }, ['id']], [1, 6, 'constructor']);
    const [lost, none] = await next(2);
    assert.deepEqual([codeOf(lost), codeOf(none)], ['ERR_LOST', 'ERR_NO_METHOD']);
    assert.deepEqual(classesOf(none), ['millrace.UsageError', 'millrace.MillraceError', 'Error']);
    say([1, 7, 'counter']);
    const [[, , refs, value] = []] = (await next(1)) as unknown[][];
    assert.deepEqual([refs, value], [[[[0], messages.REF_OBJECT, 1]], null]);
    say([2, 8, { target: 1 }, ['at']], [7, 1, 1], [2, 9, { target: 1 }, ['at']]);
    const [five, released] = await next(2);
    assert.deepEqual([five, codeOf(released)], [[3, 8, 5], 'ERR_NO_METHOD']);
  }));

test('a callback by hand is called by its number, and answered by hand', () =>
  withHand(api, async ({ say, next }) => {
    say([2, 1, { refs: [[[0], messages.REF_FUNCTION, 31]] }, ['apply'], null]);
    assert.deepEqual(await next(1), [[1, 1, 31, 4]]);
    say([3, 1, 40]);
    assert.deepEqual(await next(1), [[3, 1, 40]]);
  }));

test('a reader by hand gets no more values than it has granted, and the end without credit', () =>
  withHand(api, async ({ say, next }) => {
    say([1, 1, 'count', 3]);
    assert.deepEqual(await next(1), [[4, 1, [[[0], messages.REF_ITERABLE, 1]], null]]);
    say([8, 1, 2]);
    const values: unknown[] = [];
    while (values.length < 2) for (const items of (await next(1)) as unknown[][]) values.push(...items.slice(2));
    assert.deepEqual(values, [0, 1]);
    say([8, 1, 2]);
    assert.deepEqual(await next(2), [
      [9, 1, 2],
      [11, 1],
    ]);
  }));

test('a callee by hand: what was lost is asked after, and what is not known fails', () =>
  withHand(undefined, async ({ far, raw, say, next }) => {
    const remote = wrap<typeof api>(far);
    const calls = [remote.add(1, 2), remote.add(3, 4)];
    assert.deepEqual(await next(2), [
      [1, 1, 'add', 1, 2],
      [1, 2, 'add', 3, 4],
    ]);
    say([3, 2, 7]);
    assert.equal(await calls[1], 7);
    raw.postMessage([3]);
    assert.deepEqual(await next(2), [[13], [14, 1]]);
    raw.postMessage([4, [15, 1]]);
    await assert.rejects(calls[0]!, { code: 'ERR_LOST' });
  }));

test('an abort is heard, known or not, and a call upon one that was given up before it began is answered', async () => {
  const gates: ((value: object) => void)[] = [];
  const gated = { gate: () => new Promise<object>((resolve) => gates.push(resolve)) };
  await withHand(gated, async ({ say, next }) => {
    say(
      [6, 99],
      [2, 1, { keep: 1 }, ['gate']],
      [2, 2, { target: -1, keep: 1, get: true }, ['a']],
      [2, 3, { target: -2, get: true }, ['b']],
    );
    assert.deepEqual(await next(1), [[16, 99]]);
    say([6, 2]);
    assert.deepEqual(await next(1), [[16, 2]]);
    gates[0]!({ a: { b: 1 } });
    const [upon, first] = (await next(2)) as unknown[][];
    assert.deepEqual(
      [first, upon?.slice(0, 2)],
      [
        [3, 1, { a: { b: 1 } }],
        [5, 3],
      ],
    );
  });
});

test('a pool by hand: what is built upon a call waits with it for its place, and fails with it', async () => {
  const gates: ((value: number) => void)[] = [];
  const gated = { ...api, gate: () => new Promise<number>((resolve) => gates.push(resolve)) };
  await withHand(gated, async ({ say, next }) => {
    say(
      [18, 1],
      [1, 1, 'gate'],
      [2, 2, { keep: 1 }, ['user'], 9],
      [2, 3, { target: -2, get: true }, ['id']],
      [2, 4, { keep: 2 }, ['user'], 9],
      [2, 5, { target: -4, get: true }, ['id']],
      [6, 4],
    );
    const [upon, ...told] = (await next(3)) as unknown[][];
    assert.deepEqual(upon?.slice(0, 2), [5, 5]);
    assert.equal(classesOf(upon)[0], 'DOMException');
    assert.deepEqual(told, [
      [19, 4],
      [16, 4],
    ]);
    gates[0]!(7);
    const answers = (await next(3)) as [number, number, unknown][];
    assert.deepEqual(
      answers.toSorted(([, a], [, b]) => a - b),
      [
        [3, 1, 7],
        [3, 2, { id: 9, friends: [{ name: 'Ada' }] }],
        [3, 3, 9],
      ],
    );
  });
});

test('what has the number of a call and is none is answered; the other calls go on', async () => {
  const told: Error[] = [];
  const hand = byHand();
  expose(api, hand.far, { maxPending: 4, onError: (error) => told.push(error) });
  hand.say(
    [1, 1],
    [1, 2, {}],
    [2, 3, null, ['add']],
    [2, 4, {}, 'add'],
    [2, 5, { keep: -1 }, ['add']],
    [2, 6, { chain: 5 }, ['add']],
  );
  hand.say([2, 7, { refs: [[['x'], 0, 1]] }, ['add']], [2, 8, { keep: 5 }, ['add'], 1, 2], [1, 9, 'add', 1, 2]);
  const said = (await hand.next(10)) as unknown[][];
  // What came with one that is not called is let go of.
  assert.deepEqual(
    said.filter(([kind]) => kind === messages.RELEASE),
    [[messages.RELEASE, 1, 1]],
  );
  const answers = said.filter(([kind]) => kind !== messages.RELEASE);
  assert.deepEqual(
    answers.map((answer) => [answer[0], answer[1], answer[0] === messages.FAILED ? codeOf(answer) : answer[2]]),
    [...[1, 2, 3, 4, 5, 6, 7].map((id) => [5, id, 'ERR_PROTOCOL']), [5, 8, 'ERR_LIMIT'], [3, 9, 3]],
  );
  assert.equal(told.length, 7);
  hand.close();
});

test('a stream whose next value or end makes no sense fails, and leaves nobody waiting', () =>
  withHand({ read: all }, async ({ say, next }) => {
    for (const nonsense of [
      [10, 1, [[[0, 1], 0, 1]], null],
      [11, 2, 'no failure'],
      [9, 3, ...new Array(65).fill(0)],
    ]) {
      const id = nonsense[1] as number;
      say([2, id, { refs: [[[0], messages.REF_ITERABLE, id]] }, ['read'], null]);
      assert.deepEqual(await next(1), [[8, id, 64]]);
      say(nonsense);
      const said = await next([3, 1, 2][id - 1] as number);
      assert.equal(codeOf(said.find((message) => (message as unknown[])[0] === messages.FAILED)), 'ERR_PROTOCOL');
    }
  }));
async function all(values: AsyncIterable<unknown>): Promise<unknown[]> {
  const list: unknown[] = [];
  for await (const value of values) list.push(value);
  return list;
}

test('a side that hears another version says its own, runs nothing of it, and settles what is pending', async () => {
  let ran = 0;
  const hand = byHand();
  expose({ run: () => ++ran }, hand.far);
  hand.raw.postMessage([1, [messages.HELLO, 2, 7], [1, 1, 'run']]);
  const [, hello] = (await hand.raw.receiveAsync()) as unknown[][];
  assert.deepEqual(hello?.slice(0, 2), [messages.HELLO, messages.VERSION]);
  await assert.rejects(wrap<{ run(): number }>(hand.far).run(), { code: 'ERR_UNSUPPORTED' });
  hand.raw.postMessage([2, [1, 2, 'run']]);
  await hand.raw.flush();
  assert.equal(ran, 0);
  hand.close();
});

test('an error of several has a place for its cause, though it has none', () => {
  assert.deepEqual(failureOf(new AggregateError([1], 'all'), true, false), [
    ['AggregateError', 'Error'],
    'all',
    'AggregateError: all',
    {},
    undefined,
    [[0, 1]],
  ]);
});
