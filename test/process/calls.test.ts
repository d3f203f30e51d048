// Calls to a process that ends: what is pending settles with the reason and what it died of, with an event loop and for whoever blocks.
// watchdog: 300 s
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import process from 'node:process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { ClosedError } from '../../src/index.ts';
import { type Forked, fork } from '../../src/process/index.ts';
import { start, wrap, wrapSync } from '../../src/rpc/index.ts';
import { inOneFile } from '../kit/in-one-file.ts';
import { until, within } from '../kit/watchdog.ts';
import { runtimeKind } from '../runtimes/program.ts';
import { assertDoom, leftOf, type Victim, type Way } from '../stress/call-roles.ts';

const CHILD = fileURLToPath(inOneFile(new URL('../stress/call-child.js', import.meta.url)));
const unhandled: unknown[] = [];
process.on('unhandledRejection', (error) => unhandled.push(error));

type End = Exclude<Way, 'return'> | 'kill' | 'close here';
const REASONS: Readonly<Record<End, string>> = {
  exit: 'exit',
  // Deno says nothing as it ends of an exception.
  throw: runtimeKind === 'deno' ? 'exit' : 'crash',
  close: 'closed',
  kill: 'terminated',
  'close here': 'closed',
};
const own = (end: End): Way | undefined => (end === 'kill' || end === 'close here' ? undefined : end);
function endHere({ port, child }: Forked, end: End): void {
  if (end === 'kill') (child as ChildProcess).kill('SIGKILL');
  else port.close();
}
function started(blocking: boolean): Forked {
  const args = blocking ? ['blocks'] : [];
  return fork(CHILD, { blocking, args, child: { stdio: ['ignore', 'inherit', 'ignore'] } });
}
function check(error: unknown, end: End): void {
  assert.ok(error instanceof ClosedError, String(error));
  assert.equal(error.reason, REASONS[end], error.message);
  if (REASONS[end] === 'crash') assertDoom(error.cause);
}

for (const end of Object.keys(REASONS) as End[]) {
  test(`${end}: calls, streams each way and callbacks settle`, async () => {
    const forked = started(false);
    const { port } = forked;
    const api = wrap<Victim>(port);
    const seen: string[] = [];
    async function* numbers(): AsyncGenerator<number> {
      try {
        for (let i = 0; ; i++) yield i;
      } finally {
        seen.push('returned');
      }
    }
    const stream = await within('a stream', api.stalled());
    assert.equal((await stream.next()).value, 1);
    let called = false;
    const callback = (): Promise<never> => {
      called = true;
      return new Promise(() => {});
    };
    const pending = [api.forever(), api.read(numbers()), api.callBack(callback), stream.next()];
    const outcomes = pending.map((it) =>
      it.then(
        () => 'resolved',
        (error: unknown) => error,
      ),
    );
    await until('the callback', () => called);
    await api.add(1, 2);
    const how = own(end);
    if (how === undefined) endHere(forked, end);
    else void api.end(how).then(undefined, () => {});
    for (const error of await within('all', Promise.all(outcomes))) check(error, end);
    await until('the generator to be returned', () => seen.length > 0);
    assert.deepEqual([seen, (await stream.next()).done, leftOf(port)], [['returned'], true, {}]);
    forked.child.kill('SIGKILL');
  });

  test(`${end}: whoever is blocked in a call is told`, async () => {
    const forked = started(true);
    const { port } = forked;
    const api = wrapSync<Victim>(port);
    assert.equal(api.add(1, 2), 3);
    assert.deepEqual([...api.letters('abc')], ['a', 'b', 'c']);
    const forever = wrap<Victim>(port)
      .forever()
      .then(
        () => 'resolved',
        (error: unknown) => error,
      );
    const how = own(end);
    let error: unknown;
    try {
      api.blockedEnd(how, how === undefined ? () => endHere(forked, end) : undefined);
    } catch (thrown) {
      error = thrown;
    }
    check(error, end);
    check(await within('the other one', forever), end);
    assert.deepEqual(leftOf(port), {});
    forked.child.kill('SIGKILL');
  });
}

test('start takes what fork returns, and ends it when it is disposed of, or exposes nothing in time', async () => {
  const { api, child, ...rest } = await start<Victim, Forked>(() => started(false));
  assert.equal(await api.add(1, 2), 3);
  rest[Symbol.dispose]();
  await until('the child to end', () => (child as ChildProcess).exitCode !== null || child.killed);
  let late: Forked | undefined;
  const none = start(() => (late = started(true)), { startTimeoutMs: 0 });
  await assert.rejects(none, { code: 'ERR_TIMEOUT' });
  await until('the late one to end', () => late?.child.killed === true);
  await assert.rejects(
    start(() => started(false), { capacityBytes: 1024 } as never),
    { code: 'ERR_OPTION', message: /Unknown option capacityBytes/ },
  );
});

test('nothing was rejected that nobody was told of', () => {
  assert.deepEqual(unhandled, []);
});
