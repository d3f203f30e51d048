// Reading and writing with the thread blocked, over sockets: a carrier has the socket, and whoever blocks is woken by whatever happens there.
// watchdog: 300 s
// asked for: node-22, node-26
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { AddressError, CLOSED, type CloseReason, EMPTY, UnsupportedError, UsageError } from '../../src/index.ts';
import {
  connect,
  type Forked,
  type ForkOptions,
  fork,
  type Listener,
  listen,
  type Port,
} from '../../src/process/index.ts';
import { STEP_MS, until, within } from '../kit/watchdog.ts';
import { overMemory } from '../kit/way.ts';
import { runProgram, runtimeKind } from '../runtimes/program.ts';

const PROGRAM = fileURLToPath(new URL('./blocking-program.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'millrace-blocking-'));
after(() => rmSync(folder, { recursive: true, force: true }));
let names = 0;
const fresh = (): string => join(folder, `${++names}.sock`);
const ADDRESSES = { tcp: () => 'tcp:127.0.0.1:0', unix: fresh };
const LIMIT = { timeoutMs: STEP_MS };
const TINY = { capacityBytes: 1024 };

function started(role: string, options: ForkOptions = {}): Forked {
  const child = { stdio: ['ignore', 'inherit', 'ignore'], ...options.child };
  return fork(PROGRAM, { blocking: true, args: [role], ...options, child });
}
const taken = (server: Listener): Promise<Port> =>
  within(
    'a connection',
    server[Symbol.asyncIterator]()
      .next()
      .then(({ value }) => value as Port),
  );
function readOut(port: Port): unknown[] {
  const values: unknown[] = [];
  for (let value = port.receive(LIMIT); value !== CLOSED; value = port.receive(LIMIT)) {
    assert.notEqual(value, EMPTY, 'hang');
    values.push(value);
  }
  return values;
}

/** Deno says nothing as it ends of an exception. */
const silent = (how: string): boolean => runtimeKind === 'deno' && how === 'throw';
const ENDS: readonly (readonly [how: string, reason: CloseReason, count: number])[] = [
  ['close', 'closed', 0],
  ['exit', 'exit', 1000],
  ['throw', 'crash', 0],
  ['kill', 'terminated', 0],
];

/** Through memory, which tells of the end alone, the rest is known once the event loop has turned. */
async function known(look: () => boolean): Promise<void> {
  if (overMemory) await until('it is known', look);
  assert.ok(look());
}

for (const [how, reason, count] of ENDS) {
  test(`fork: whoever blocks hears how the child has ended (${how}), behind all that it said`, async () => {
    const { port } = started('obey');
    port.postMessage('echo');
    assert.equal(port.receive(LIMIT), 'echo');
    port.postMessage(how);
    assert.deepEqual(readOut(port), [...Array(count).keys()]);
    // Only Linux tells a thread that blocks of how a silent child has ended, and over memory nobody asks.
    const asked = process.platform === 'linux' ? (silent(how) ? 'exit' : reason) : 'lost';
    const told = how === 'kill' || silent(how) ? (overMemory ? 'terminated' : asked) : reason;
    assert.equal(port.reason, told);
    if (how === 'kill' && process.platform === 'linux') await known(() => port.link?.exit?.signal === 'SIGKILL');
    if (how === 'exit') await known(() => port.link?.exit?.code === 7);
    if (how === 'throw' && !silent(how)) await known(() => (port.error as Error)?.message === 'what it died of');
  });
}

for (const [kind, address] of Object.entries(ADDRESSES)) {
  for (const [how, reason, count] of ENDS) {
    test(`${kind}: whoever blocks hears how the one that has connected ended (${how}), behind all that it said`, async () => {
      const server = await listen(address(), { blocking: true });
      const ended = runProgram(PROGRAM, ['join', server.address], STEP_MS);
      const port = await taken(server);
      port.postMessage('echo');
      assert.equal(port.receive(LIMIT), 'echo');
      port.postMessage(how);
      assert.deepEqual(readOut(port), [...Array(count).keys()]);
      assert.equal(port.reason, how === 'kill' || silent(how) ? 'lost' : reason);
      await ended;
      await server.close();
    });
  }

  test(`${kind}: a process that exits or throws while nobody reads what it says ends all the same`, async () => {
    for (const [how, reason, status] of [
      ['exit', 'exit', 3],
      ['throw', 'crash', 1],
    ] as const) {
      const server = await listen(address(), { blocking: true, capacityBytes: 1024 });
      const ended = runProgram(PROGRAM, ['stuck', server.address, how], STEP_MS);
      const port = await taken(server);
      assert.equal((await ended).status, status);
      // The credit that there was is used up by what was sent, and the large one lost with it, unless memory is left over.
      const values = readOut(port).filter((value) => typeof value === 'number');
      assert.deepEqual(values, [...Array(values.length).keys()]);
      assert.equal(port.reason, silent(how) ? 'lost' : reason);
      await server.close();
    }
  });
}

test('fork: whoever blocks is woken by an interrupt, and by its time limit', () => {
  const { port } = started('obey');
  port.postMessage('interrupt');
  assert.equal(port.receive({ ...LIMIT, interruptible: true }), EMPTY);
  assert.equal(port.clearInterrupt(), 7);
  const since = performance.now();
  assert.equal(port.receive({ timeoutMs: 30 }), EMPTY);
  assert.ok(performance.now() - since >= 29);
  port.close();
});

test('fork: two that block answer each other ten thousand times', () => {
  const { port } = started('pingPong');
  for (let number = 0; number < 20_000; number += 2) {
    port.postMessage(number);
    assert.equal(port.receive(LIMIT), number + 1);
  }
  port.close();
});

test('fork: send() gives up at its time limit where nobody reads, and nothing of it was sent; room wakes it', async () => {
  const { port, child } = started('lazy', TINY);
  const exit = new Promise((resolve) => child.once('exit', resolve));
  const control = port.link?.channel('control') as Port;
  let sent = 0;
  while (port.send(`message ${sent}`, { timeoutMs: sent === 0 ? STEP_MS : 100 })) sent++;
  assert.ok(sent > 5 && sent < 1000, `${sent} messages fit`);
  control.postMessage('read');
  for (let i = 0; i < 500; i++) assert.equal(port.send(`more ${i}`, LIMIT), true);
  assert.equal(port.send('x'.repeat(300_000), LIMIT), true);
  port.close();
  assert.equal(control.receive(LIMIT), sent + 501);
  assert.equal(control.receive(LIMIT), CLOSED);
  // It has nothing else to do, and its carrier keeps nothing.
  assert.equal(await within('its exit', exit), 0);
});

test('fork: what comes to a thread that does not look waits in the socket, and all of it is there when it does', () => {
  const { port } = started('obey', { capacityBytes: 4 * 1024 * 1024 });
  port.postMessage('flood');
  assert.equal(port.receive(LIMIT), 'begins');
  // The memory between this thread and its carrier takes a sixteenth of that; there is no sign here of when it is full.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
  for (let i = 0; i < 40; i++) assert.equal(port.receive(LIMIT), String(i).padEnd(100_000, 'y'));
  port.close();
});

test('fork: two that block in send() to each other both go on', () => {
  const { port } = started('obey', TINY);
  port.postMessage('send');
  for (let i = 0; i < 1000; i++) assert.equal(port.send(['there', i], LIMIT), true);
  for (let i = 0; i < 1000; i++) assert.deepEqual(port.receive(LIMIT), [i, 'x'.repeat(1000)]);
  for (let i = 0; i < 1000; i++) assert.deepEqual(port.receive(LIMIT), ['there', i]);
  port.close();
});

test('fork: one that never comes back to its event loop polls: messages, interrupts, room, the end', async () => {
  const { port, child } = started('loopless', TINY);
  const exit = new Promise((resolve) => child.once('exit', resolve));
  port.postMessage('polled');
  port.interrupt(5);
  for (let i = 0; i < 1000; i++) assert.equal(port.receive(LIMIT), `polled ${i}`);
  port.close();
  assert.equal(await within('its exit', exit), 0);
});

test('while one channel is blocked the others of its connection are fed, and the event loop goes on behind it', async () => {
  const server = await listen(fresh(), { blocking: true });
  const [near, far] = await within('both', Promise.all([connect(server.address, { blocking: true }), taken(server)]));
  const [a, b] = [near, far].map((port) => port.link?.channel('other') as Port) as [Port, Port];
  await within('both ends', Promise.all([near.ready, far.ready, a.ready, b.ready]));
  a.postMessage('beside');
  near.postMessage('main');
  assert.equal(far.receive(LIMIT), 'main');
  assert.equal(b.tryReceive(), 'beside');
  const heard = new Promise((resolve) => b.once('message', resolve));
  a.postMessage('by the event loop');
  assert.equal(await within('a message', heard), 'by the event loop');
  await within('a flush', a.flush());
  await server.close();
});

test('a getter of a value that waits for the answer to what was posted before it has it, in the middle of a cork', async () => {
  const { port } = started('obey');
  port.postMessage('here');
  assert.equal(port.receive(LIMIT), 'here');
  let answer: unknown;
  port.cork(() => {
    port.postMessage('asked');
    const value = {
      before: 'b'.repeat(100),
      // Read again where the value found too little room.
      get answer() {
        answer ??= port.receive(LIMIT);
        return answer;
      },
      after: 'a'.repeat(100),
    };
    port.postMessage(value);
    port.postMessage('behind');
  });
  assert.deepEqual(port.receive(LIMIT), { before: 'b'.repeat(100), answer: 'asked', after: 'a'.repeat(100) });
  assert.equal(port.receive(LIMIT), 'behind');
  port.close();
});

test('without blocking: true the calls that block name it', async () => {
  const server = await listen(fresh());
  const port = await connect(server.address, { memory: false });
  for (const call of [() => port.receive(), () => port.receive({ timeoutMs: 5 }), () => [...port.blocking()]]) {
    assert.throws(call, (error) => error instanceof UnsupportedError && /`blocking: true`/.test(error.message));
  }
  assert.equal(port.tryReceive(), EMPTY);
  for (const wrong of [1, 'yes', null] as never[]) {
    await assert.rejects(connect(server.address, { blocking: wrong }), UsageError);
    assert.throws(() => fork(PROGRAM, { blocking: wrong }), /Option blocking cannot be/);
  }
  await server.close();
});

test('an address belongs to one listener, whichever thread has its socket; what goes wrong is told as ever', async () => {
  const at = fresh();
  const inUse = (error: unknown): boolean => error instanceof AddressError && error.code === 'ERR_ADDRESS_IN_USE';
  const all = await Promise.allSettled([true, false, true, false].map((blocking) => listen(at, { blocking })));
  const won = all.filter((each) => each.status === 'fulfilled');
  assert.equal(won.length, 1);
  for (const each of all) if (each.status === 'rejected') assert.ok(inUse(each.reason));
  await won[0]?.value.close();
  assert.deepEqual(
    readdirSync(folder).filter((name) => at.endsWith(name)),
    [],
  );
  // Taken over from one that is dead.
  const { child, port: control } = started('serve', { blocking: false, args: ['serve', at] });
  const exit = new Promise((resolve) => child.once('exit', resolve));
  assert.equal(await within('it listens', control.receiveAsync()), 'listens');
  await assert.rejects(listen(at, { blocking: true }), inUse);
  child.kill('SIGKILL');
  await within('its exit', exit);
  const server = await listen(at, { blocking: true });
  await assert.rejects(listen(at, { blocking: true }), inUse);
  await server.close();
  await assert.rejects(
    connect(at, { blocking: true }),
    (error) => error instanceof AddressError && (error.cause as { code?: string }).code === 'ENOENT',
  );
  await assert.rejects(
    listen(join(folder, `${'x'.repeat(40)}/s`), { blocking: true }),
    (error) => error instanceof AddressError && error.code === 'ERR_LISTEN',
  );
  const reason = new Error('given up');
  await assert.rejects(connect(at, { blocking: true, signal: AbortSignal.abort(reason) }), reason);
});

// On Deno a thread that blocks is not stopped by `terminate()`, nor is what it has started.
if (runtimeKind !== 'deno') {
  test('a thread that blocks over a socket can be terminated, and its peer hears of the end', async () => {
    const server = await listen(fresh(), { blocking: true });
    const ended = runProgram(PROGRAM, ['terminated', server.address], STEP_MS);
    const port = await taken(server);
    assert.equal(port.receive(LIMIT), 'blocks');
    assert.equal(port.receive(LIMIT), CLOSED);
    assert.equal(port.reason, 'lost');
    assert.match((await ended).output, /terminated/);
    await server.close();
  });
}

test('a connection that was closed leaves nothing that keeps the process, nor a line in the carrier', async () => {
  const server = await listen(fresh(), { blocking: true });
  const ports: Port[] = [];
  for (let i = 0; i < 50; i++) {
    const port = await within('a connection', connect(server.address, { blocking: true }));
    const far = await taken(server);
    await within('both ends', port.ready);
    port.postMessage(i);
    assert.equal(far.receive(LIMIT), i);
    far.close();
    ports.push(port);
  }
  await until('all are over', () => ports.every(({ reason }) => reason !== undefined));
  await within('the listener', server.close());
});
