// A child process and its port: how both begin, and what each kind of end tells.
// watchdog: 300 s
import assert from 'node:assert/strict';
import process from 'node:process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { CLOSED, type CloseReason, UsageError } from '../../src/index.ts';
import { type Forked, type ForkOptions, fork, parentPort } from '../../src/process/index.ts';
import { inOneFile } from '../kit/in-one-file.ts';
import { within } from '../kit/watchdog.ts';
import { wayOf } from '../kit/way.ts';
import { runtimeKind } from '../runtimes/program.ts';

const CHILD = inOneFile(new URL('./child.js', import.meta.url));

function started(options: ForkOptions = {}, file: string | URL = CHILD): Forked & { readonly exit: Promise<unknown> } {
  const forked = fork(file, { ...options, child: { stdio: ['ignore', 'inherit', 'ignore'], ...options.child } });
  const exit = new Promise((resolve) => forked.child.once('exit', (code, signal) => resolve(code ?? signal)));
  return { ...forked, exit };
}

const next = (port: Forked['port']): Promise<unknown> => within('a message', port.receiveAsync());

test('what is posted before the child has begun is read, values of all kinds come back, and it ends with its port', async () => {
  const { port, exit } = started();
  const value = { map: new Map([[1, new Date(0)]]), bytes: new Uint8Array(100_000), text: 'x'.repeat(300_000) };
  port.postMessage(value);
  assert.deepEqual(await within('an echo', port.receiveAsync()), value);
  await within('both ends', port.ready);
  assert.deepEqual([port.stats().way?.name, port.link?.reason], [wayOf('pipe'), undefined]);
  port.close();
  assert.equal(await within('its exit', exit), 0);
});

for (const [how, reason, code, signal] of [
  ['exit', 'exit', 7, undefined],
  ['throw', 'crash', 1, undefined],
  ['kill', 'terminated', undefined, 'SIGKILL'],
  ['abort', 'crash', undefined, 'SIGSEGV'],
  ['return', 'closed', undefined, undefined],
] as readonly (readonly [string, CloseReason, number | undefined, string | undefined])[]) {
  // Deno does not die of a signal that it sends itself but for SIGKILL.
  if (how === 'abort' && runtimeKind === 'deno') continue;
  test(`a child that ends (${how}) says how, with code and signal`, async () => {
    const { port, exit } = started();
    port.postMessage(how);
    const values: unknown[] = [];
    for (let value = await next(port); value !== CLOSED; value = await next(port)) values.push(value);
    // Deno says nothing as it ends, so that of a crash only the code is known.
    const silent = runtimeKind === 'deno' && how === 'throw';
    assert.equal(port.reason, silent ? 'exit' : reason);
    assert.deepEqual([port.link?.exit?.code, port.link?.exit?.signal], [code, signal]);
    if (how === 'exit' && runtimeKind !== 'deno') assert.deepEqual(values, [...Array(50).keys()]);
    if (how !== 'throw') assert.equal(port.error, undefined);
    if (how === 'throw' && !silent) {
      const { error } = port as { error: { message?: string; stack?: string } };
      assert.equal(error.message, 'what it died of');
      assert.match(error.stack ?? '', /child(\.bundle)?\.js/);
    }
    assert.equal(await within('its exit', exit), how === 'return' ? 0 : (code ?? signal));
  });
}

test('a child that never asks for its port ends with its code; one that cannot be started with what the system says', async () => {
  const { port } = started({ args: ['never'] });
  port.postMessage('nobody reads this');
  assert.equal(await within('the end', port.receiveAsync()), CLOSED);
  assert.deepEqual([port.reason, port.link?.exit?.code, port.stats().undelivered], ['exit', 3, 1]);
  const none = fork('x', { child: { execPath: '/nowhere/none', stdio: 'ignore' } });
  assert.equal(await within('the end', none.port.closed), 'lost');
  assert.equal((none.port.error as { code?: string }).code, 'ENOENT');
  await assert.rejects(within('ready', none.port.ready), { code: 'ERR_CLOSED' });
});

test('how a child was killed is told though the system says it much later than its pipe ends', async () => {
  const { port, child } = fork(CHILD);
  port.postMessage('echo');
  await within('an answer', port.receiveAsync());
  const emit = child.emit.bind(child) as (...values: unknown[]) => boolean;
  child.emit = (...values: unknown[]): boolean => {
    if (values[0] !== 'exit') return emit(...values);
    setTimeout(() => emit(...values), 1200);
    return true;
  };
  child.kill('SIGKILL');
  assert.equal(await within('the end', port.closed), 'terminated');
  assert.equal(port.link?.exit?.signal, 'SIGKILL');
});

test('a child that is killed from here settles whoever waits', async () => {
  const { port, child } = started();
  port.postMessage('echo');
  await within('an echo', port.receiveAsync());
  const waits = [port.receiveAsync(), port.closed, port.link?.closed];
  child.kill('SIGKILL');
  assert.deepEqual(await within('all', Promise.all(waits)), [CLOSED, 'terminated', 'terminated']);
  assert.deepEqual(port.link?.exit, { code: undefined, signal: 'SIGKILL' });
});

test('what a child starts has no port of it, nor have its threads; what it forks has its own', async () => {
  const { port, exit } = started();
  port.postMessage('grandchild');
  assert.deepEqual(await within('a report', port.receiveAsync()), { said: 'ERR_HANDLE', echo: 'echo' });
  port.postMessage('thread');
  assert.equal(await within('a report', port.receiveAsync()), 'ERR_HANDLE');
  port.postMessage('own pipe');
  assert.equal(await within('a report', port.receiveAsync()), 'ERR_HANDLE');
  port.close();
  assert.equal(await within('its exit', exit), 0);
});

if (process.platform !== 'win32') {
  test('a child that leaves behind whom it has started, and who has its pipe: the end is told, with its code', async () => {
    const script = 'sleep 100 >/dev/null 2>&1 & echo $!; exit 3';
    const how = { execPath: '/bin/sh', execArgv: ['-c', script], stdio: ['ignore', 'pipe', 'ignore'] };
    const { port, child } = started({ child: how }, 'sh');
    const left = new Promise<number>((resolve) => child.stdout?.once('data', (text) => resolve(Number(String(text)))));
    try {
      assert.equal(await within('the end', port.closed), 'exit');
      assert.deepEqual(port.link?.exit, { code: 3, signal: undefined });
    } finally {
      process.kill(await left, 'SIGKILL');
    }
  });
}

test('a loop over what is offered keeps the process, and no longer', async () => {
  const { port, exit } = started({ args: ['offers'] });
  await within('both ends', port.ready);
  const named = port.link?.channel('named') as Forked['port'];
  assert.equal(await next(named), 'named');
  named.close();
  port.close();
  assert.equal(await within('its exit', exit), 0);
});

test('channels beside the port; and what can be no child is said at once', async () => {
  const { port } = started({}, fileURLToPath(CHILD));
  const unknown = port.link?.channel('nobody asks');
  port.postMessage('return');
  assert.equal(await within('the end', port.closed), 'closed');
  // That held the connection, and the process goes with nothing else to do.
  assert.equal(await within('the end', (unknown as typeof port).closed), 'exit');
  for (const file of ['', 1, new URL('http://localhost/x.js')]) assert.throws(() => fork(file as string), UsageError);
  assert.throws(() => fork(CHILD, { foo: 1 } as object), /Unknown option foo/);
  assert.throws(() => parentPort(), { code: 'ERR_HANDLE' });
});
