// The explorer itself: a toy ring that is right passes, and each way of getting it wrong is found and named.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AccessLog } from './access-log.ts';
import type { Exploration, Kit, Model } from './explore.ts';
import { explore } from './explore.ts';

const TAIL = 0;
const HEAD = 1;
const READER = 2;
const WRITER = 3;
const DATA = 4;
const names = { 0: 'TAIL', 1: 'HEAD', 2: 'READER', 3: 'WRITER', 4: 'DATA0', 5: 'DATA1' };

type Bug =
  | 'publish first'
  | 'publish plainly'
  | 'no notify'
  | 'notify without waking'
  | 'no second look'
  | 'one too many'
  | 'forget the wrap'
  | 'never sleep';

/** Counters that only grow, one flag per side that says "asleep or about to be". */
class Toy {
  readonly words: Int32Array;
  readonly capacity: number;
  readonly bug: Bug | undefined;
  tail: number;
  head: number;

  constructor(words: Int32Array, capacity: number, bug?: Bug) {
    this.words = words;
    this.capacity = capacity;
    this.bug = bug;
    this.tail = Atomics.load(words, TAIL);
    this.head = Atomics.load(words, HEAD);
  }

  tryPush(value: number): boolean {
    const words = this.words;
    const used = this.tail - Atomics.load(words, HEAD);
    const room = this.bug === 'one too many' ? this.capacity + 1 : this.capacity;
    if ((this.bug === 'forget the wrap' ? used : used | 0) >= room) return false;
    const index = DATA + (this.tail & (this.capacity - 1));
    this.tail = (this.tail + 1) | 0;
    if (this.bug === 'publish first') Atomics.store(words, TAIL, this.tail);
    words[index] = value;
    if (this.bug === 'publish plainly') words[TAIL] = this.tail;
    else if (this.bug !== 'publish first') Atomics.store(words, TAIL, this.tail);
    if (this.bug === 'notify without waking') {
      // Without taking the flag back, a notify that comes before the wait is lost.
      if (Atomics.load(words, READER) === 1) Atomics.notify(words, READER, 1);
    } else if (Atomics.exchange(words, READER, 0) === 1 && this.bug !== 'no notify') Atomics.notify(words, READER);
    return true;
  }

  tryPop(): number | undefined {
    const words = this.words;
    if (Atomics.load(words, TAIL) === this.head) return undefined;
    const value = words[DATA + (this.head & (this.capacity - 1))];
    this.head = (this.head + 1) | 0;
    Atomics.store(words, HEAD, this.head);
    if (Atomics.exchange(words, WRITER, 0) === 1) Atomics.notify(words, WRITER);
    return value;
  }

  push(value: number, timeoutMs: number = Number.POSITIVE_INFINITY): boolean {
    while (!this.tryPush(value)) {
      const full = (this.tail - this.capacity) | 0;
      Atomics.store(this.words, WRITER, 1);
      let answer = 'ok';
      if (Atomics.load(this.words, HEAD) === full) answer = Atomics.wait(this.words, WRITER, 1, timeoutMs);
      Atomics.store(this.words, WRITER, 0);
      if (answer === 'timed-out') return this.tryPush(value);
    }
    return true;
  }

  pop(timeoutMs: number = Number.POSITIVE_INFINITY): number | undefined {
    for (;;) {
      const value = this.tryPop();
      if (value !== undefined) return value;
      const expected = this.head;
      if (this.bug === 'never sleep') continue;
      Atomics.store(this.words, READER, 1);
      let answer = 'ok';
      if (this.bug === 'no second look' || Atomics.load(this.words, TAIL) === expected) {
        answer = Atomics.wait(this.words, READER, 1, timeoutMs);
      }
      Atomics.store(this.words, READER, 0);
      if (answer === 'timed-out') return this.tryPop();
    }
  }
}

function toyModel(capacity: number, count: number, bug?: Bug, start = 0): Model {
  return {
    words: DATA + capacity,
    names,
    init(words) {
      words[TAIL] = words[HEAD] = start;
    },
    actors: [
      {
        name: 'writer',
        run(kit: Kit): void {
          const toy = new Toy(kit.words(), capacity, bug);
          for (let i = 1; i <= count; i++) {
            toy.push(i * 10);
            kit.checkpoint(i, toy);
          }
        },
      },
      {
        name: 'reader',
        run(kit: Kit): number[] {
          const toy = new Toy(kit.words(), capacity, bug);
          const got: number[] = [];
          for (let i = 0; i < count; i++) {
            got.push(toy.pop() as number);
            kit.checkpoint(got, toy);
          }
          return got;
        },
      },
    ],
    final: ({ results }) => {
      const got = results['reader'] as number[];
      return got.every((value, i) => value === (i + 1) * 10) ? undefined : `received ${got}`;
    },
  };
}

function passed(result: Exploration): Exploration {
  assert.equal(result.failure, undefined, `${result.failure?.message}\n${result.trace.join('\n')}`);
  return result;
}

test('a correct ring passes in every interleaving', async () => {
  for (const [capacity, count] of [
    [1, 1],
    [1, 3],
    [2, 3],
    [2, 5],
  ] as const) {
    const { states, endings } = passed(await explore(toyModel(capacity, count)));
    assert.ok(states > 50 && endings > 0);
  }
});

test('counters may wrap at 2^31 and at 2^32', async () => {
  passed(await explore(toyModel(2, 4, undefined, 0x7ffffffe)));
  passed(await explore(toyModel(2, 4, undefined, -2)));
  const forgot = await explore(toyModel(2, 4, 'forget the wrap', 0x7ffffffe));
  assert.notEqual(forgot.failure, undefined);
});

for (const [bug, kind, message] of [
  [
    'publish first',
    'race',
    /data race on DATA0: plain (write by writer against the read by reader|read by reader against the write by writer)/,
  ],
  ['publish plainly', 'race', /data race on TAIL/],
  ['no notify', 'stuck', /reader sleeps on READER/],
  ['notify without waking', 'stuck', /reader sleeps on READER/],
  ['no second look', 'stuck', /reader sleeps on READER/],
  ['one too many', 'race', /data race on DATA/],
] as const) {
  test(`a ring with the bug "${bug}" is caught`, async () => {
    const result = await explore(toyModel(1, 2, bug));
    assert.equal(result.failure?.kind, kind, result.failure?.message ?? 'nothing found');
    assert.match(result.failure.message, message);
    assert.ok(result.trace.length > 3);
  });
}

test('a timeout may fire at any time, and does not hide a lost wake-up', async () => {
  const timed = (bug?: Bug): Model => ({
    ...toyModel(1, 2, bug),
    actors: [
      {
        name: 'writer',
        run: (kit) => {
          const toy = new Toy(kit.words(), 1, bug);
          return [toy.push(10, 5), toy.push(20, 5)];
        },
      },
      {
        name: 'reader',
        run: (kit) => {
          const toy = new Toy(kit.words(), 1, bug);
          const got = [toy.pop(5), toy.pop(5)];
          return performance.now() === 0 ? got : [...got, 'late'];
        },
      },
    ],
    timeoutsAreProgress: bug === undefined,
    final: () => undefined,
  });
  const right = passed(await explore(timed()));
  assert.ok(right.outcomes.some((text) => text.includes('late')));
  assert.ok(right.outcomes.some((text) => text.includes('reader:[10,20]')));
  assert.equal((await explore(timed('no notify'))).failure?.kind, 'stuck');
});

test('a loop that never ends is caught once a checkpoint makes it a circle', async () => {
  const spinning = (leave: boolean): Model => ({
    words: 2,
    actors: [
      {
        name: 'spinner',
        run(kit) {
          const words = kit.words();
          do kit.checkpoint();
          while (Atomics.load(words, 0) === 0);
        },
      },
      { name: 'other', run: (kit) => Atomics.store(kit.words(), leave ? 0 : 1, 1) },
    ],
  });
  passed(await explore(spinning(true)));
  const caught = await explore(spinning(false));
  assert.equal(caught.failure?.kind, 'stuck');
  assert.match(caught.failure.message, /endless loop/);
});

test('a checkpoint joins histories with equal private state and keeps others apart', async () => {
  class Sum {
    total = 0;
  }
  const model = (state: (sum: Sum) => unknown[]): Model => ({
    words: 1,
    actors: [
      {
        name: 'adder',
        run(kit) {
          const words = kit.words();
          const sum = new Sum();
          for (let i = 0; i < 4; i++) {
            sum.total = (sum.total + Atomics.load(words, 0)) & 1;
            kit.checkpoint(i, ...state(sum));
          }
          return sum.total;
        },
      },
      { name: 'toggler', run: (kit) => [0, 1, 2].map(() => Atomics.xor(kit.words(), 0, 1)) },
    ],
  });
  const joined = passed(await explore(model((sum) => [sum])));
  const apart = passed(
    await explore({
      ...model(() => []),
      actors: model((sum) => [sum]).actors.map((actor) => ({
        ...actor,
        run: (kit) => actor.run({ ...kit, checkpoint: () => undefined }),
      })),
    }),
  );
  assert.deepEqual([...joined.outcomes].sort(), [...apart.outcomes].sort());
  assert.ok(joined.states < apart.states);
});

test('a killed thread leaves its waiters to the actor that learns of its death', async () => {
  const model = (marks: boolean): Model => ({
    words: 3,
    kills: 1,
    actors: [
      {
        name: 'victim',
        killable: true,
        run(kit) {
          const words = kit.words();
          words[2] = 42;
          Atomics.store(words, 0, 1);
          Atomics.notify(words, 0);
        },
      },
      {
        name: 'waiter',
        run(kit) {
          const words = kit.words();
          while (Atomics.load(words, 0) === 0) Atomics.wait(words, 0, 0);
          return Atomics.load(words, 0) === 1 ? words[2] : 'dead';
        },
      },
      {
        name: 'supervisor',
        afterKill: 'victim',
        run(kit) {
          if (!marks) return;
          const words = kit.words();
          Atomics.compareExchange(words, 0, 0, 2);
          Atomics.notify(words, 0);
        },
      },
    ],
  });
  const { outcomes } = passed(await explore(model(true)));
  assert.ok(outcomes.some((text) => text.includes('victim killed') && text.includes('waiter:"dead"')));
  assert.ok(outcomes.some((text) => text.includes('victim killed') && text.includes('waiter:42')));
  const caught = await explore(model(false));
  assert.equal(caught.failure?.kind, 'stuck');
  assert.ok(caught.trace.some((line) => line.includes('victim: KILLED')));
});

test('an event loop parks in waitAsync, is counted by notify and told when it is idle', async () => {
  const model = (rings: boolean, timeoutMs?: number): Model => ({
    words: 2,
    timeouts: 1,
    actors: [
      {
        name: 'loop',
        async run(kit) {
          const words = kit.words();
          while (Atomics.load(words, 0) === 0) {
            const wait = Atomics.waitAsync(words, 0, 0, timeoutMs);
            if ((wait.async ? await wait.value : wait.value) === 'timed-out') return 'gave up';
          }
          return 'seen';
        },
      },
      {
        name: 'ringer',
        run(kit) {
          Atomics.store(kit.words(), 0, 1);
          return rings ? Atomics.notify(kit.words(), 0) : -1;
        },
      },
    ],
  });
  const { outcomes } = passed(await explore(model(true)));
  assert.deepEqual([...outcomes].sort(), ['Object{loop:"seen",ringer:0}', 'Object{loop:"seen",ringer:1}']);
  assert.equal((await explore(model(false))).failure?.kind, 'stuck');
  assert.equal((await explore(model(false, 10))).failure?.kind, 'stuck');
  const timed = passed(await explore({ ...model(false, 10), timeoutsAreProgress: true }));
  assert.deepEqual([...timed.outcomes].sort(), ['Object{loop:"gave up",ringer:-1}', 'Object{loop:"seen",ringer:-1}']);
});

test('bytes and words of one block are the same memory', async () => {
  const model = (ordered: boolean): Model => ({
    words: 2,
    actors: [
      {
        name: 'bytes',
        run(kit) {
          kit.bytes().set([1, 2, 255, 0], 4);
          if (ordered) Atomics.store(kit.words(), 0, 1);
        },
      },
      { name: 'words', run: (kit) => (ordered && Atomics.load(kit.words(), 0) === 0 ? 'early' : kit.words(4)[0]) },
    ],
  });
  const { outcomes } = passed(await explore(model(true)));
  assert.deepEqual(
    outcomes.map((text) => /words:([^}]*)/.exec(text)?.[1]).sort(),
    ['"early"', String(0x00ff0201)].sort(),
  );
  assert.equal((await explore(model(false))).failure?.kind, 'race');
});

test('the access log lists what one call does to memory, in order', () => {
  const log = new AccessLog(DATA + 2, names);
  const toy = log.record(() => new Toy(log.words, 2));
  assert.deepEqual(toy, ['load TAIL', 'load HEAD']);
  const pushed = log.record(() => new Toy(log.words, 2).tryPush(7)).slice(2);
  assert.deepEqual(pushed, ['load HEAD', 'write DATA0 = 7', 'store TAIL = 1', 'exchange READER, 0']);
  assert.equal(log.memory[DATA], 7);
});

test('what an event loop does before anybody else has a turn is done once', async () => {
  const result = await explore({
    words: 2,
    actors: [
      {
        name: 'loop',
        async run(kit) {
          const words = kit.words();
          const seen = [Atomics.add(words, 0, 1), Atomics.exchange(words, 1, 7), Atomics.add(words, 0, 1)];
          return [...seen, Atomics.exchange(words, 1, 8)];
        },
      },
      { name: 'other', run: () => 'nothing' },
    ],
    final: ({ results, look }) =>
      String(results['loop']) === '0,0,1,7' && look(0) === 2 && look(1) === 8 ? undefined : `${results['loop']}`,
  });
  assert.deepEqual([result.failure?.message, result.endings], [undefined, 1]);
});

test('words that may be overtaken are read and written step by step, and are no races', async () => {
  const model = (overtaken: boolean): Model => ({
    words: 4,
    actors: [
      {
        name: 'writer',
        run(kit) {
          const words = kit.words();
          for (const word of [0, 1]) words[word] = 7;
        },
      },
      { name: 'reader', run: (kit) => [kit.words()[0], kit.words()[1]] },
    ],
    ...(overtaken ? { overtaken: (word: number) => word < 2 } : {}),
  });
  assert.equal((await explore(model(false))).failure?.kind, 'race');
  const { failure, outcomes } = await explore(model(true));
  assert.equal(failure, undefined);
  for (const halves of ['[0,0]', '[7,7]', '[7,0]', '[0,7]'])
    assert.ok(outcomes.some((outcome) => outcome.includes(halves)));
});
