// Who has an address: one listener at a time; a dead one leaves it, a living one keeps it, and nobody is told of what is not his.
// watchdog: 300 s
import assert from 'node:assert/strict';
import { existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, connect as netConnect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { AddressError, CLOSED, LayoutError, RefusedError, TimeoutError, UsageError } from '../../src/index.ts';
import { connect, type Listener, listen, type Port } from '../../src/process/index.ts';
import { inOneFile } from '../kit/in-one-file.ts';
import { STEP_MS, until, within } from '../kit/watchdog.ts';
import { wayOf } from '../kit/way.ts';
import { runProgram, runtimeKind } from '../runtimes/program.ts';

const PROGRAM = fileURLToPath(inOneFile(new URL('./program.js', import.meta.url)));
const folder = mkdtempSync(join(tmpdir(), 'millrace-listen-'));
after(() => rmSync(folder, { recursive: true, force: true }));
let names = 0;
const fresh = (): string => join(folder, `${++names}.sock`);
const TCP = 'tcp:127.0.0.1:0';

const refusal = (code: string, text: RegExp) => (error: unknown) =>
  error instanceof AddressError && error.code === code && text.test(error.message);
const taken = (server: Listener): Promise<Port> =>
  within(
    'a connection',
    server[Symbol.asyncIterator]()
      .next()
      .then(({ value }) => value as Port),
  );

test('an address is read in every way in which it can be written, and what can be none is named', async () => {
  for (const [given, shown] of [
    ['tcp:0', /^tcp:127\.0\.0\.1:\d+$/],
    ['tcp:localhost:0', /^tcp:localhost:\d+$/],
    ['tcp:127.0.0.1:0', /^tcp:127\.0\.0\.1:\d+$/],
    [`unix:${fresh()}`, /^unix:\/.*\.sock$/],
    [fresh(), /^unix:\/.*\.sock$/],
  ] as const) {
    const server = await listen(given);
    assert.match(server.address, shown);
    const port = await connect(server.address);
    assert.equal(port.link?.address, server.address);
    assert.equal(port.stats().way?.name, wayOf(given.startsWith('tcp') ? 'tcp' : 'unix'));
    await server.close();
  }
  const long = `/${'x'.repeat(110)}`;
  for (const [given, why] of [
    ['app', /Cannot use "app" as an address: expected 'unix:/],
    ['', /Cannot use "" as an address/],
    [undefined, /Cannot use undefined as an address/],
    ['tcp:host', /'tcp:host:port'/],
    ['tcp:1:2:3', /'tcp:host:port'/],
    ['tcp:127.0.0.1:65536', /port of 0 to 65535/],
    ['unix:', /lacks the path/],
    ['/tmp/a\0b', /NUL/],
    [long, /its path has 111 bytes, and a unix socket's takes 103/],
  ] as const) {
    for (const call of [listen, connect])
      await assert.rejects(
        call(given as string),
        (error: unknown) => error instanceof UsageError && error.code === 'ERR_OPTION' && why.test(error.message),
      );
  }
  const deep = join(folder, 'y'.repeat(100 - folder.length), 'z');
  mkdirSync(join(deep, '..'));
  await assert.rejects(listen(deep), /its folder's path takes \d+ bytes at the most/);
});

for (const [kind, address] of [
  ['tcp', () => TCP],
  ['unix', fresh],
] as const) {
  test(`${kind}: a second listener is refused, and the first goes on; when it has closed, the address is free`, async () => {
    const first = await listen(address());
    await assert.rejects(listen(first.address), refusal('ERR_ADDRESS_IN_USE', /somebody listens there; stop that/));
    const port = await connect(first.address);
    const far = await taken(first);
    port.postMessage('still there');
    assert.equal(await within('a message', far.receiveAsync()), 'still there');
    await first.close();
    const second = await listen(first.address);
    await connect(second.address);
    await second.close();
    await assert.rejects(connect(first.address), refusal('ERR_UNREACHABLE', /nobody listens there/));
  });
}

if (process.platform !== 'win32') {
  test('a unix socket is for its own user alone, and nothing else lies beside it, nor in its place when it has closed', async () => {
    const path = fresh();
    const before = readdirSync(folder);
    const server = await listen(path);
    assert.equal(lstatSync(path).mode & 0o777, 0o600);
    assert.deepEqual(
      readdirSync(folder).filter((name) => !before.includes(name)),
      [`${names}.sock`],
    );
    await server.close();
    assert.equal(existsSync(path), false);
  });

  test('what lies at the address and is no socket is left where it is', async () => {
    const path = fresh();
    writeFileSync(path, 'mine');
    await assert.rejects(listen(path), refusal('ERR_ADDRESS_IN_USE', /Cannot listen at unix:/));
    assert.equal(lstatSync(path).size, 4);
    await assert.rejects(listen(join(folder, 'none', 'x')), refusal('ERR_LISTEN', /its folder does not exist/));
  });

  test('a listener that has lost its name to another one by hand leaves that alone', async () => {
    const path = fresh();
    const first = await listen(path);
    rmSync(path);
    const second = await listen(path);
    await first.close();
    assert.equal(existsSync(path), true);
    const port = await connect(path);
    assert.equal(port.reason, undefined);
    await second.close();
  });

  test('of many that start at once at the address of one that was killed exactly one wins', async () => {
    const path = fresh();
    const dead = runProgram(PROGRAM, ['serve', path], STEP_MS);
    await until('it listens', () => existsSync(path));
    const last = await connect(path);
    last.postMessage('end:kill');
    assert.equal((await dead).status, 'SIGKILL');
    assert.equal(existsSync(path), true, 'its name is left over');
    const outcomes: string[] = [];
    const starters = Array.from({ length: 4 }, () =>
      runProgram(PROGRAM, ['serve', path], STEP_MS).then(({ status, output }) => {
        outcomes.push(`${status} ${output.trim()}`);
      }),
    );
    await until('all others have ended', () => outcomes.length >= 3);
    assert.deepEqual(outcomes, Array(3).fill('0 ERR_ADDRESS_IN_USE'));
    const port = await connect(path);
    port.postMessage('end:exit');
    await within('all', Promise.all(starters));
    assert.deepEqual(outcomes.slice(3), ['7 won']);
    // Deno cannot say goodbye as it exits.
    assert.equal(
      await within('the end', port.closed),
      runtimeKind === 'deno' && wayOf('unix') === 'unix' ? 'lost' : 'exit',
    );
  });
}

test('whoever is one too many is told so, and has room when another one has gone', async () => {
  await using server = await listen(TCP, { maxConnections: 1 });
  const first = await connect(server.address);
  const far = await taken(server);
  await assert.rejects(
    connect(server.address),
    (error: unknown) =>
      error instanceof RefusedError && error.refusal === 3 && /as many connections as it takes/.test(error.text),
  );
  first.close();
  await within('the end', far.closed);
  await until('it is over', () => server.connections === 0);
  await connect(server.address);
});

test('who is not taken waits, in the number that the listener allows', async () => {
  await using server = await listen(TCP, { maxWaitingConnections: 2 });
  const [one, two] = [await connect(server.address), await connect(server.address)];
  await assert.rejects(connect(server.address), RefusedError);
  one.postMessage('first');
  two.postMessage('second');
  for (const word of ['first', 'second']) {
    const port = await taken(server);
    assert.equal(await within('a message', port.receiveAsync()), word);
  }
  assert.deepEqual([one.reason, two.reason], [undefined, undefined]);
});

test('what is posted and closed at once, before anybody has taken the connection, is read', async () => {
  await using server = await listen(TCP);
  const port = await connect(server.address);
  for (let i = 0; i < 100; i++) port.postMessage(i);
  port.close();
  const far = await taken(server);
  for (let i = 0; i < 100; i++) assert.equal(await within('a message', far.receiveAsync()), i);
  assert.equal(await within('the end', far.receiveAsync()), CLOSED);
  assert.equal(far.reason, 'closed');
});

test('who connects and says nothing, or something else, is let go, and nobody else hears of it', async () => {
  // Long enough for who does greet, on a machine that is busy.
  await using server = await listen(TCP, { timeoutMs: 3000 });
  const port = await connect(server.address);
  const far = await taken(server);
  const number = Number(server.address.split(':')[2]);
  for (const say of ['', 'GET / HTTP/1.1\r\n\r\n', '\0'.repeat(1000)]) {
    const socket = netConnect({ port: number, host: '127.0.0.1' });
    const ended = new Promise<void>((resolve) => socket.on('close', () => resolve()));
    socket.on('error', () => {});
    socket.on('data', () => {});
    if (say !== '') socket.write(say);
    await within('its end', ended);
  }
  await until('they are over', () => server.connections === 1);
  port.postMessage('still there');
  assert.equal(await within('a message', far.receiveAsync()), 'still there');
});

test('who listens and says nothing, or something else, or goes: connect says which', async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = `tcp:127.0.0.1:${(server.address() as { port: number }).port}`;
  const answers: readonly (readonly [string | undefined, (error: unknown) => boolean])[] = [
    [undefined, (error) => error instanceof TimeoutError && /nobody has greeted in 50 ms/.test(error.message)],
    ['HTTP/1.1 400 Bad Request\r\n\r\n', (error) => error instanceof LayoutError],
    ['', (error) => (error as { code?: string }).code === 'ERR_CLOSED' && /without a greeting/.test(String(error))],
  ];
  for (const [say, fits] of answers) {
    server.removeAllListeners('connection');
    server.on('connection', (socket) => {
      socket.on('error', () => {});
      if (say !== undefined) socket.end(say);
    });
    await assert.rejects(connect(address, { timeoutMs: say === undefined ? 50 : STEP_MS }), fits);
  }
  const stop = new AbortController();
  const given = connect(address, { signal: stop.signal });
  server.removeAllListeners('connection');
  const why = new Error('enough');
  stop.abort(why);
  await assert.rejects(given, (error) => error === why);
  await assert.rejects(connect(address, { signal: AbortSignal.abort(why) }), (error) => error === why);
  server.close();
});

test('options that can be none are named before anything is done', async () => {
  const path = fresh();
  for (const [options, why] of [
    [{ foo: 1 }, /Unknown option foo/],
    [{ timeoutMs: 0 }, /timeoutMs cannot be 0/],
    [{ link: { maxChannels: -1 } }, /maxChannels cannot be -1/],
    [{ maxConnections: 0 }, /maxConnections/],
    [{ overflow: 'latest' }, /latest/],
  ] as const) {
    await assert.rejects(listen(path, options as object), why);
    assert.equal(existsSync(path), false);
    await assert.rejects(connect(path, options as object), why);
  }
  await assert.rejects(connect(path, { signal: 1 as never }), /signal cannot be 1/);
});
