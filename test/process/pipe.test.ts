// A pipe that somebody else has made: both sides connect to it, by its descriptor or as a socket.
// watchdog: 300 s
import assert from 'node:assert/strict';
import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { openSync } from 'node:fs';
import { createServer, connect as netConnect, type Socket } from 'node:net';
import process from 'node:process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { AddressError, CLOSED, ClosedError, LayoutError, TimeoutError, UsageError } from '../../src/index.ts';
import { connect, listen, type PipeEnd, type Port } from '../../src/process/index.ts';
import { inOneFile } from '../kit/in-one-file.ts';
import { within } from '../kit/watchdog.ts';
import { runtimeKind } from '../runtimes/program.ts';

const CHILD = fileURLToPath(inOneFile(new URL('./pipe-child.js', import.meta.url)));
const RUN: readonly string[] = runtimeKind === 'deno' ? ['run', '-A', '--no-lock'] : [];

interface Started {
  readonly child: ChildProcess;
  readonly pipe: PipeEnd;
  readonly exit: Promise<unknown>;
  output: string;
}
function started(args: readonly string[], stdio: StdioOptions = ['ignore', 'pipe', 'inherit', 'pipe']): Started {
  const child = spawn(process.execPath, [...RUN, CHILD, ...args], { stdio });
  const exit = new Promise((resolve) => child.once('close', (code, signal) => resolve(code ?? signal)));
  const it: Started = { child, pipe: child.stdio[3] as PipeEnd, exit, output: '' };
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    it.output += text;
  });
  return it;
}
const next = (port: Port): Promise<unknown> => within('a message', port.receiveAsync());

test('parent and child connect to the pipe, both speak, and the child ends with its port', async () => {
  const { pipe, exit } = started(['says']);
  const port = await within('the child', connect(pipe));
  assert.equal(await next(port), 'first');
  const value = { map: new Map([[1, new Date(0)]]), bytes: new Uint8Array(200_000), text: 'x'.repeat(300_000) };
  port.postMessage(value);
  assert.deepEqual(await next(port), value);
  assert.equal(port.link?.address, 'pipe:socket');
  const more = port.link?.channel('more');
  more?.close();
  port.close();
  assert.equal(await within('its exit', exit), 0);
});

test('many start at once: whoever is the initiator, it works', async () => {
  await Promise.all(
    Array.from({ length: 6 }, async () => {
      const { pipe, exit } = started(['says']);
      const port = await within('the child', connect(pipe));
      assert.equal(await next(port), 'first');
      port.postMessage('close');
      assert.equal(await within('the end', port.closed), 'closed');
      assert.equal(await within('its exit', exit), 0);
    }),
  );
});

test('a child that exits says so, behind what it has said; one that is killed is lost', async () => {
  const { pipe } = started(['says']);
  const port = await within('the child', connect(pipe));
  port.postMessage('exit');
  const values: unknown[] = [];
  for (let value = await next(port); value !== CLOSED; value = await next(port)) values.push(value);
  // Deno cannot say goodbye as it exits.
  assert.equal(port.reason, runtimeKind === 'deno' ? 'lost' : 'exit');
  if (runtimeKind !== 'deno') assert.deepEqual([values.length, port.link?.exit?.code], [51, 7]);

  const { pipe: other, child } = started(['says']);
  const waiting = await within('the child', connect(other));
  assert.equal(await next(waiting), 'first');
  const pending = waiting.receiveAsync();
  child.kill('SIGKILL');
  assert.equal(await within('the end', pending), CLOSED);
  assert.equal(waiting.reason, 'lost');
});

test('a descriptor that is taken is refused on both sides, and the connection goes on', async () => {
  const { pipe, exit } = started(['echoes']);
  const port = await within('the child', connect(pipe));
  port.postMessage('again');
  assert.match(
    String(await next(port)),
    /^ERR_HANDLE Cannot connect to pipe:3: this thread has connected to it already/,
  );
  await assert.rejects(
    connect(pipe),
    (error: unknown) =>
      error instanceof UsageError && error.code === 'ERR_HANDLE' && /somebody reads it/.test(error.message),
  );
  port.postMessage('still there');
  assert.equal(await next(port), 'still there');
  port.close();
  await within('its exit', exit);
});

test('what is no pipe is said at once, and which remedy there is', async () => {
  for (const [stdio, address, text] of [
    [
      ['ignore', 'pipe', 'inherit'],
      'pipe:99',
      /^ERR_UNREACHABLE .*no descriptor 99: who starts it gives it one, as `stdio:/,
    ],
    [['ignore', 'pipe', 'inherit', openSync(CHILD, 'r')], 'pipe:3', /^ERR_UNREACHABLE .*descriptor 3 is a file/],
  ] as const) {
    const it = started(['refused', address], [...stdio]);
    assert.equal(await within('its exit', it.exit), 0);
    assert.match(it.output, text);
  }
  for (const address of ['pipe:', 'pipe:2', 'pipe:x', 'pipe:3.5', 'pipe:99999999'])
    await assert.rejects(connect(address), (error) => error instanceof UsageError && error.code === 'ERR_OPTION');
  for (const end of [null, undefined, {}, 3])
    await assert.rejects(connect(end as never), /Cannot use .* as an address/);
  await assert.rejects(connect('pipe:3', { blocking: true }), { code: 'ERR_UNSUPPORTED' });
  await assert.rejects(listen('pipe:3'), /nobody listens at a pipe: both sides connect/);
});

test('a child that never connects, or goes: connect says which', async () => {
  const never = started(['never']);
  await assert.rejects(
    within('the end', connect(never.pipe)),
    (error) => error instanceof ClosedError && error.reason === 'lost',
  );
  await within('its exit', never.exit);
  await assert.rejects(connect(never.pipe), (error) => error instanceof AddressError || error instanceof UsageError);
});

/** Two sockets of this process that are connected. */
async function sockets(): Promise<readonly [Socket, Socket]> {
  const server = createServer({ pauseOnConnect: true });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const far = new Promise<Socket>((resolve) => server.once('connection', resolve));
  const near = netConnect((server.address() as { port: number }).port, '127.0.0.1');
  await new Promise((resolve) => near.once('connect', resolve));
  const both = [near, await far] as const;
  server.close();
  return both;
}

test('any two sockets do; what comes in pieces, too early or is something else is told', async () => {
  const [a, b] = await sockets();
  const [near, far] = await within('both', Promise.all([connect(a), connect(b)]));
  near.postMessage('there');
  assert.equal(await next(far), 'there');
  near.close();
  assert.equal(await within('the end', far.closed), 'closed');

  for (const [says, fits] of [
    [
      'GET / HTTP/1.1\r\n\r\n',
      (error: unknown) => error instanceof LayoutError && /does not connect to a pipe/.test(error.message),
    ],
    ['mlr.', (error: unknown) => error instanceof ClosedError],
    ['mlr.pipe\xff\xff\xff\xff\xff\xff\xff\xffrubbish that follows', (error: unknown) => error instanceof LayoutError],
    ['', (error: unknown) => error instanceof ClosedError],
  ] as const) {
    const [c, d] = await sockets();
    d.on('error', () => {});
    d.resume();
    const tried = connect(c);
    tried.catch(() => {});
    for (const byte of says) d.write(byte, 'latin1');
    d.end();
    await assert.rejects(within('its end', tried), fits);
  }

  const [echoing, mirror] = await sockets();
  mirror.pipe(mirror);
  await assert.rejects(within('its end', connect(echoing)), /says what it has heard/);
  const [silent, mute] = await sockets();
  await assert.rejects(connect(silent, { timeoutMs: 50 }), TimeoutError);
  mute.destroy();
  const [given, other] = await sockets();
  const stop = new AbortController();
  const aborted = connect(given, { signal: stop.signal });
  const why = new Error('enough');
  stop.abort(why);
  await assert.rejects(aborted, (error) => error === why);
  other.destroy();
});
