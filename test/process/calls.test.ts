// Calls to a process that ends, or whose line is cut: what is pending settles with the reason and what it died of, with an event loop and for whoever blocks;
// for a child of ours, one that we connect to, and one that connects to us.
// watchdog: 300 s
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { ClosedError, type Port } from '../../src/index.ts';
import { connect, type Forked, fork, listen } from '../../src/process/index.ts';
import { start, wrap, wrapSync } from '../../src/rpc/index.ts';
import { inOneFile } from '../kit/in-one-file.ts';
import { until, within } from '../kit/watchdog.ts';
import { runtimeKind } from '../runtimes/program.ts';
import { assertDoom, leftOf, type Victim, type Way } from '../stress/call-roles.ts';

const CHILD = fileURLToPath(inOneFile(new URL('../stress/call-child.js', import.meta.url)));
const unhandled: unknown[] = [];
process.on('unhandledRejection', (error) => unhandled.push(error));

type End = Exclude<Way, 'return'> | 'kill' | 'cut' | 'close here';
/** How the process that ends is reached. */
type Reach = 'a child' | 'one that we connect to' | 'one that connects to us';

interface Reached {
  readonly port: Port;
  /** The process, and what it tells us beside. */
  readonly child: ChildProcess;
  readonly beside: Port | undefined;
}
/** Also those of a test that has failed are ended. */
const children: ChildProcess[] = [];
after(() => {
  for (const child of children) child.kill('SIGKILL');
});
let names = 0;
const fresh = (): string => join(tmpdir(), `millrace-calls-${process.pid}-${++names}.sock`);

function forked(blocking: boolean, ...args: string[]): Forked {
  const child = { stdio: ['ignore', 'inherit', 'ignore'] };
  const made = fork(CHILD, { blocking, args: [blocking ? 'blocks' : '-', ...args], child });
  children.push(made.child as ChildProcess);
  return made;
}
async function reached(reach: Reach, end: End, blocking: boolean): Promise<Reached> {
  const started = (...args: string[]): { readonly port: Port; readonly child: ChildProcess } => {
    const { port, child } = forked(blocking, ...args);
    return { port, child: child as ChildProcess };
  };
  if (reach === 'a child') return { ...started(), beside: undefined };
  if (reach === 'one that we connect to') {
    const address = end === 'cut' ? 'tcp:127.0.0.1:0' : fresh();
    const { port: beside, child } = started(end === 'cut' ? 'cut' : 'listens', address);
    const where = (await within('where it listens', beside.receiveAsync())) as string;
    return { port: await connect(where, { blocking }), child, beside };
  }
  const server = await listen(fresh(), { blocking });
  const { port: beside, child } = started('connects', server.address);
  const { value } = await within('a connection', server[Symbol.asyncIterator]().next());
  // What is there stays, for as long as it lasts.
  void server.close({ drainMs: 1e9 });
  return { port: value as Port, child, beside };
}

const ENDS: readonly End[] = ['exit', 'throw', 'close', 'kill', 'cut', 'close here'];
function reasonOf(reach: Reach, end: End, blocking: boolean): string {
  const started = reach === 'a child';
  if (runtimeKind === 'deno' && (end === 'exit' || end === 'throw')) {
    // Deno writes nothing as it ends, but where the carrier of a thread that blocks does; of an exception it says nothing at all.
    return started || (blocking && end === 'exit') ? 'exit' : 'lost';
  }
  if (end === 'exit') return 'exit';
  if (end === 'throw') return 'crash';
  // Of whom it has not started nobody tells this side more than that the line is gone.
  if (end === 'kill') return started ? 'terminated' : 'lost';
  return end === 'cut' ? 'lost' : 'closed';
}
const own = (end: End): Way | undefined => (['kill', 'cut', 'close here'].includes(end) ? undefined : (end as Way));
function endHere({ port, child, beside }: Reached, end: End): void {
  if (end === 'kill') child.kill('SIGKILL');
  else if (end === 'cut') beside?.postMessage('cut');
  else port.close();
}
function check(error: unknown, reason: string): void {
  assert.ok(error instanceof ClosedError, String(error));
  assert.equal(error.reason, reason, error.message);
  if (reason === 'crash') assertDoom(error.cause);
}
const outcomeOf = (promise: PromiseLike<unknown>): Promise<unknown> =>
  Promise.resolve(promise).then(
    () => 'resolved',
    (error: unknown) => error,
  );

/** What has become of things over there, where it lives on. */
async function told({ beside }: Reached, end: End, seen: readonly string[]): Promise<void> {
  if (beside === undefined || !['close', 'cut', 'close here'].includes(end)) return;
  const there = (await within('what it has seen', beside.receiveAsync())) as { seen: string[]; left: object };
  assert.deepEqual(there.left, {});
  for (const line of seen)
    assert.ok(there.seen.includes(`${line} ${end === 'cut' ? 'lost' : 'closed'}`), `${line}: ${there.seen.join(', ')}`);
}

for (const reach of ['a child', 'one that we connect to', 'one that connects to us'] as const) {
  for (const end of ENDS) {
    // A line that can be cut is one that a test has a hand in.
    if (end === 'cut' && reach !== 'one that we connect to') continue;
    const reason = reasonOf(reach, end, false);

    test(`${reach}: ${end}: calls, streams each way and callbacks settle`, async () => {
      const it = await reached(reach, end, false);
      const { port } = it;
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
      const outcomes = pending.map(outcomeOf);
      await until('the callback', () => called);
      await api.add(1, 2);
      const how = own(end);
      if (how === undefined) endHere(it, end);
      else void api.end(how).then(undefined, () => {});
      for (const error of await within('all', Promise.all(outcomes))) check(error, reason);
      await until('the generator to be returned', () => seen.length > 0);
      assert.deepEqual([seen, (await stream.next()).done, leftOf(port)], [['returned'], true, {}]);
      check(await outcomeOf(api.add(1, 2)), reason);
      await told(it, end, ['forever aborted: ClosedError', 'callback: ClosedError', 'read: ClosedError']);
    });

    test(`${reach}: ${end}: calls that have not been dispatched settle`, async () => {
      const it = await reached(reach, end, false);
      const api = wrap<Victim>(it.port);
      await within('a call', api.add(1, 2));
      // Who is killed reads nothing any more.
      if (end === 'kill') await within('it to compute', api.computeSoon());
      const how = own(end);
      if (how !== undefined) void api.end(how).then(undefined, () => {});
      const outcomes = [outcomeOf(api.forever()), outcomeOf(api.forever())];
      if (how === undefined) endHere(it, end);
      for (const error of await within('all', Promise.all(outcomes))) check(error, reason);
      assert.deepEqual(leftOf(it.port), {});
      await told(it, end, []);
    });

    test(`${reach}: ${end}: whoever is blocked in a call is told`, async () => {
      const it = await reached(reach, end, true);
      const { port } = it;
      const reason = reasonOf(reach, end, true);
      const api = wrapSync<Victim>(port);
      assert.equal(api.add(1, 2), 3);
      assert.deepEqual([...api.letters('abc')], ['a', 'b', 'c']);
      const forever = outcomeOf(wrap<Victim>(port).forever());
      const how = own(end);
      let error: unknown;
      try {
        api.blockedEnd(how, how === undefined ? () => endHere(it, end) : undefined);
      } catch (thrown) {
        error = thrown;
      }
      check(error, reason);
      check(await within('the other one', forever), reason);
      assert.deepEqual(leftOf(port), {});
    });
  }
}

test('start takes what fork returns, and ends it when it is disposed of, or exposes nothing in time', async () => {
  const { api, child, ...rest } = await start<Victim, Forked>(() => forked(false));
  assert.equal(await api.add(1, 2), 3);
  rest[Symbol.dispose]();
  await until('the child to end', () => (child as ChildProcess).exitCode !== null || child.killed);
  let late: Forked | undefined;
  const none = start(() => (late = forked(true)), { startTimeoutMs: 0 });
  await assert.rejects(none, { code: 'ERR_TIMEOUT' });
  await until('the late one to end', () => late?.child.killed === true);
  await assert.rejects(
    start(() => forked(false), { capacityBytes: 1024 } as never),
    { code: 'ERR_OPTION', message: /Unknown option capacityBytes/ },
  );
});

test('nothing was rejected that nobody was told of', () => {
  assert.deepEqual(unhandled, []);
});
