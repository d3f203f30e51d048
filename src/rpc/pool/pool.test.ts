// What a pool decides, over members on this event loop: whom it asks, when it starts another one, and what it does with those that do not start.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { within as inTime, until } from '../../../test/kit/watchdog.ts';
import { ClosedError, UsageError } from '../../errors.ts';
import { CLAIMS_LENGTH } from '../../limits.ts';
import { attach, channel } from '../../port/channels.ts';
import type { Port } from '../../port/port.ts';
import type { MadeMember } from '../making.ts';
import { Places } from '../places.ts';
import { within } from '../proxy.ts';
import { expose, wrap } from '../wrap.ts';
import { Claims } from './claims.ts';
import type { PoolOptions } from './options.ts';
import { type Pool, pool } from './pool.ts';
import { TaskQueue } from './queue.ts';

interface Api {
  echo(value: number): number;
  hold(member?: number): Promise<number>;
  twice(callback: () => unknown): Promise<number>;
  fail(): never;
  user(id: number): { name: string };
}

/** Members that hold their tasks until they are let go of. */
class Members {
  readonly there: Port[] = [];
  readonly held: { readonly member: number; readonly resolve: (value: number) => void }[] = [];
  ended = 0;

  readonly start = (): MadeMember => {
    const { port, remote } = channel();
    const far = attach(remote);
    const member = this.there.push(far) - 1;
    expose(
      {
        echo: (value: number) => value,
        hold: () => new Promise<number>((resolve) => this.held.push({ member, resolve })),
        twice: async (callback: () => unknown) => {
          await callback();
          await callback();
          return member;
        },
        user: (id: number) => ({ name: `user ${id}` }),
        fail: () => {
          throw new TypeError('it failed');
        },
      },
      far,
    );
    const terminate = (): void => {
      this.ended++;
      far.close();
    };
    return { port, worker: { terminate } };
  };
  async holds(count: number): Promise<void> {
    await until(`${count} are held`, () => this.held.length === count);
  }
  letGo(): void {
    for (const { member, resolve } of this.held.splice(0)) resolve(member);
  }
}

async function withPool(options: PoolOptions, body: (it: Pool<Api>, members: Members) => Promise<void>): Promise<void> {
  const members = new Members();
  await using it = pool<Api>(members.start, options);
  await body(it, members);
}
async function rejection(promise: Promise<unknown>): Promise<Error & Record<string, unknown>> {
  try {
    await inTime('a rejection', promise);
  } catch (error) {
    return error as Error & Record<string, unknown>;
  }
  return assert.fail('it did not reject');
}

test('pool() refuses what is no option, and what starts nothing', () => {
  const start = new Members().start;
  const wrong: [PoolOptions, RegExp][] = [
    [{ size: 0 }, /size cannot be 0/],
    [{ size: 2, min: 3 }, /min cannot be 3: it takes a whole number from 0 to 2/],
    [{ queue: -1 }, /queue/],
    [{ concurrency: 1.5 }, /concurrency/],
    [{ graceMs: Number.NaN }, /graceMs/],
    [{ restart: { tries: 0 } }, /restart.tries/],
    [{ restart: { max: 1 } as object }, /max/],
    [{ onCrash: 1 as unknown as () => void }, /onCrash/],
    [{ threads: 2 } as object, /Unknown option threads/],
  ];
  for (const [options, message] of wrong) assert.throws(() => pool(start, options), { code: 'ERR_OPTION', message });
  for (const nothing of [undefined, null, 5, {}]) {
    assert.throws(() => pool(nothing as unknown as string), { code: 'ERR_OPTION' });
  }
});

test('a function that throws is tried as often as the option says, each time later', async () => {
  const at: number[] = [];
  const told: ClosedError[] = [];
  const it = pool<Api>(
    () => {
      at.push(performance.now());
      throw new RangeError('nothing there');
    },
    { size: 4, restart: { tries: 4, delayMs: 10 }, onCrash: (error) => told.push(error) },
  );
  const errors = await Promise.all([1, 2, 3].map((value) => rejection(it.api.echo(value))));
  for (const error of errors) {
    assert.ok(error instanceof ClosedError);
    assert.match(error.message, /4 members in a row .* nothing there/);
    assert.ok(error.cause instanceof RangeError);
  }
  assert.equal(at.length, 4);
  assert.equal(told.length, 4);
  // 10, 20 and 40 ms at the least; a timer may be a little early.
  assert.ok(at[3]! - at[0]! > 60, `${at[3]! - at[0]!} ms`);
});

test('members that do not start, but for some that have done something, are not so many in a row', async () => {
  const members = new Members();
  let started = 0;
  await using it = pool<Api>(
    () => {
      if (++started % 3 !== 0) throw new RangeError(`number ${started}`);
      return members.start();
    },
    { size: 1, restart: { tries: 3, delayMs: 0 } },
  );
  for (let round = 0; round < 3; round++) {
    await assert.rejects(inTime('an answer', it.api.fail()), TypeError);
    members.there.at(-1)?.close();
    await until('it has ended', () => it.size === 0);
  }
});

test('what is wrong with the call itself is not tried again', async () => {
  const it = pool<Api>('./worker.js');
  const error = await rejection(it.api.echo(1));
  assert.ok(error instanceof ClosedError && error.cause instanceof UsageError);
  assert.match(error.message, /^Cannot call: a member has ended before anything was done: Cannot start/);
});

test('one port is not two members', async () => {
  const made = new Members().start();
  const it = pool<Api>(() => made, { size: 2, min: 2 });
  const error = await rejection(it.api.echo(1));
  assert.equal((error.cause as UsageError).code, 'ERR_BUSY');
  assert.match(error.message, /open a port of its own each time/);
  await inTime('the end', it.closed);
});

test('a thread behind a port that it has closed, or that cannot be called over, is not left behind', async () => {
  const members = new Members();
  await using it = pool<Api>(members.start, { size: 1, graceMs: 20 });
  const task = it.api.hold();
  await members.holds(1);
  members.there[0]?.close();
  assert.ok((await rejection(task)) instanceof ClosedError);
  await until('its thread is ended', () => members.ended === 1);

  let ended = 0;
  const worker = {
    terminate(): void {
      ended++;
    },
  };
  const { port1, port2 } = new MessageChannel();
  const native = Object.assign(port1, { on: () => {} }) as unknown as Port;
  const none = pool<Api>(() => ({ port: native, worker }));
  assert.match((await rejection(none.api.echo(1))).message, /expected a Port of millrace/);
  assert.equal(ended, 1);
  port2.close();
});

test('a call goes to the member with the least to do', () =>
  withPool({ size: 3, concurrency: 4 }, async (it, members) => {
    const tasks = Array.from({ length: 9 }, () => it.api.hold());
    await members.holds(9);
    const each = [0, 1, 2].map((member) => members.held.filter((held) => held.member === member).length);
    assert.ok(Math.max(...each) <= 4, String(each));
    members.letGo();
    await Promise.all(tasks);
    const more = Array.from({ length: 6 }, () => it.api.hold());
    await members.holds(6);
    assert.deepEqual(
      [0, 1, 2].map((member) => members.held.filter((held) => held.member === member).length),
      [2, 2, 2],
    );
    members.letGo();
    await Promise.all(more);
  }));

test('a task that is called back is its member’s alone', () =>
  withPool({ size: 2 }, async (it, members) => {
    let calls = 0;
    const held = it.api.hold();
    await members.holds(1);
    const twice = await it.api.twice(() => calls++);
    assert.notEqual(twice, members.held[0]?.member);
    assert.equal(calls, 2);
    members.letGo();
    await held;
  }));

test('who gives up waiting tasks again and again leaves none of them behind', () =>
  withPool({ size: 1, queue: 8 }, async (it, members) => {
    const held = it.api.hold();
    await members.holds(1);
    for (let i = 0; i < 5000; i++) {
      const controller = new AbortController();
      const task = within(it.api, { signal: controller.signal }).echo(i);
      controller.abort(new RangeError('enough'));
      await assert.rejects(task, RangeError);
    }
    assert.equal(it.stats().queued, 0);
    members.letGo();
    await held;
    assert.equal(await it.api.echo(7), 7);
  }));

test('who gives up tasks before they are sent uses up no words: what is sent behind them can be taken back', () =>
  withPool({ size: 1 }, async (it, members) => {
    await it.api.echo(1);
    const givenUp = async (isSent: boolean): Promise<void> => {
      const controller = new AbortController();
      const task = within(it.api, { signal: controller.signal }).hold();
      // It goes out, and is not heard yet.
      if (isSent) for (let i = 0; i < 2; i++) await undefined;
      controller.abort(new RangeError('enough'));
      await assert.rejects(task, RangeError);
    };
    for (let i = 0; i < CLAIMS_LENGTH + 1; i++) await givenUp(false);
    for (let i = 0; i < 10; i++) {
      await givenUp(true);
      await it.api.echo(1);
    }
    assert.equal(members.held.length, 0);
  }));

test('a pool in which none may wait is full while all are at work, and no longer', () =>
  withPool({ size: 1, queue: 0 }, async (it, members) => {
    assert.equal(await it.api.echo(1), 1);
    for (let round = 0; round < 3; round++) {
      assert.equal(it.full, false);
      await inTime('room', it.drained());
      const task = it.api.hold();
      assert.equal(it.full, true);
      const drained = it.drained();
      await members.holds(1);
      members.letGo();
      await task;
      await inTime('room', drained);
    }
  }));

test('what was sent ahead of a task that is aborted, and runs on, goes to another member', () =>
  withPool({ size: 2, min: 2, graceMs: Number.POSITIVE_INFINITY }, async (it, members) => {
    for (let round = 0; round < 20; round++) {
      // So that some are sent ahead.
      await Promise.all(Array.from({ length: 1000 }, (_, i) => it.api.echo(i)));
      const controller = new AbortController();
      const first = within(it.api, { signal: controller.signal }).hold();
      const second = it.api.hold();
      const behind = [it.api.echo(1), it.api.echo(2)];
      await members.holds(2);
      controller.abort(new RangeError('enough'));
      await assert.rejects(first, RangeError);
      members.held.pop()?.resolve(0);
      await inTime('the free one', Promise.all(behind));
      members.letGo();
      await inTime('the other one', second);
      await it.drain();
    }
  }));

test('what is built upon a task that was sent ahead goes with it to another member, and fails with it', () =>
  withPool({ size: 2, min: 2, graceMs: Number.POSITIVE_INFINITY }, async (it, members) => {
    for (let round = 0; round < 10; round++) {
      // So that some are sent ahead.
      await Promise.all(Array.from({ length: 1000 }, (_, i) => it.api.echo(i)));
      const held = [it.api.hold(), it.api.hold()];
      const names = [1, 2, 3, 4].map((id) => it.api.user(id).name);
      const controller = new AbortController();
      const upon = within(it.api, { signal: controller.signal }).user(5).name;
      const refused = assert.rejects(upon as unknown as Promise<string>, RangeError);
      await members.holds(2);
      controller.abort(new RangeError('enough'));
      await inTime('what is built upon an aborted one', refused);
      members.held.pop()?.resolve(0);
      assert.deepEqual(await inTime('names', Promise.all(names)), ['user 1', 'user 2', 'user 3', 'user 4']);
      members.letGo();
      await Promise.all(held);
    }
  }));

test('many tasks and calls of one signal are one listener, which leaves with the last of them', () =>
  withPool({ size: 1, concurrency: 50 }, async (it, members) => {
    const { signal } = new AbortController();
    let listeners = 0;
    const counted = {
      get aborted() {
        return signal.aborted;
      },
      get reason() {
        return signal.reason as unknown;
      },
      throwIfAborted: () => signal.throwIfAborted(),
      addEventListener: () => listeners++,
      removeEventListener: () => listeners--,
    } as unknown as AbortSignal;
    const { port, remote } = channel();
    expose({ hold: () => it.api.hold() }, attach(remote));
    const api = wrap<{ hold(): Promise<number> }>(port);
    const tasks = Array.from({ length: 20 }, () => [
      within(it.api, { signal: counted }).hold(),
      within(api, { signal: counted }).hold(),
    ]).flat();
    await members.holds(40);
    assert.equal(listeners, 1);
    members.letGo();
    await Promise.all(tasks);
    assert.equal(listeners, 0);
    port.close();
  }));

test('pool.api says what it is, and disposed of it ends the pool', async () => {
  const members = new Members();
  const it = pool<Api>(members.start, { size: 2, min: 2 });
  assert.equal(it.size, 2);
  assert.equal(String(it.api), '[Remote api]');
  it.api[Symbol.dispose]();
  assert.equal(await it.closed, 'closed');
  assert.equal(members.ended, 2);
  assert.equal(String(it.api), '[Remote api (closed)]');
});

test('a queue gives back what came back first, in order, and forgets what has settled', () => {
  const task = (name: string): { name: string; settled: boolean } => ({ name, settled: false });
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map(task);
  const queue = new TaskQueue<{ name: string; settled: boolean }>();
  queue.push(c!);
  queue.push(d!);
  queue.giveBack([b!]);
  queue.giveBack([a!]);
  assert.equal(queue.length, 4);
  b!.settled = true;
  queue.left();
  const order: string[] = [];
  for (let first = queue.first; first !== undefined; first = queue.first) {
    order.push(first.name);
    queue.shift();
  }
  assert.deepEqual(order, ['a', 'c', 'd']);
  assert.equal(queue.length, 0);
});

test('a task that was sent belongs to whoever is first, the member that begins it or the pool that takes it back', () => {
  const claims = new Claims();
  const places = new Places(1, claims.memory);
  claims.offer(5);
  assert.equal(places.mayBegin(5), true);
  assert.equal(claims.takeBack(5), false);
  claims.offer(6);
  assert.equal(claims.takeBack(6), true);
  assert.equal(places.mayBegin(6), false);
  // Its word is free again.
  claims.offer(6 + CLAIMS_LENGTH);
  assert.equal(claims.takeBack(6 + CLAIMS_LENGTH), true);
  // Another one's word stays as it is: who shares it cannot be taken back, and begins.
  claims.offer(6);
  assert.equal(claims.takeBack(6), false);
  assert.equal(places.mayBegin(6), true);
  assert.equal(places.mayBegin(6 + CLAIMS_LENGTH), false);
  for (const nonsense of [[0], [1.5], [1, new SharedArrayBuffer(8)], [1, 'memory']]) {
    assert.throws(() => new Places(nonsense[0], nonsense[1]), { code: 'ERR_PROTOCOL' });
  }
});
