// Memory that two processes share, between real ones: who blocks and who does not, who is killed, what is left over, and what stays of it.
// watchdog: 300 s
// asked for: node-22, node-26
// needs: native
import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { CLOSED, EMPTY, select } from '../../src/index.ts';
import { connect, type Forked, fork, listen, type Port, type PortLink } from '../../src/process/index.ts';
import { inOneFile } from '../kit/in-one-file.ts';
import { descriptors } from '../kit/native.ts';
import { STEP_MS, until, within } from '../kit/watchdog.ts';
import { runProgram, WITH_GC } from '../runtimes/program.ts';

const CHILD = inOneFile(new URL('./memory-child.js', import.meta.url));
const GC_PROGRAM = fileURLToPath(new URL('./memory-gc-program.js', import.meta.url));

interface Joined extends Forked {
  readonly ended: Promise<unknown>;
}

/** A child whose values go through memory. Whatever becomes of it, no descriptor is left. */
async function joined(what: string, use: (joined: Joined) => unknown, args: readonly string[] = []): Promise<void> {
  const forked = fork(CHILD, { args: [what, ...args], child: { stdio: ['ignore', 'inherit', 'inherit'] } });
  const ended = new Promise((resolve) => forked.child.once('exit', (code, signal) => resolve(code ?? signal)));
  await within('the child', forked.port.ready);
  assert.equal(forked.port.stats().way?.name, 'memory');
  try {
    await use({ ...forked, ended });
  } finally {
    forked.port.close();
    await within('its end', ended);
    await within('the end of the connection', forked.port.link?.closed as Promise<unknown>);
  }
}

const open = (): number => descriptors().length;

test('both blocked: each waits for the other, thousands of times', () =>
  joined('echo-blocked', ({ port }) => {
    for (let i = 0; i < 5000; i++) {
      port.send({ i });
      assert.deepEqual(port.receive({ timeoutMs: 20_000 }), { i });
    }
  }));

test('one blocked and one in its event loop, this way and that, asleep between', async () => {
  await joined('wakes', ({ port }) => {
    for (let i = 0; i < 20; i++) {
      port.send(i);
      assert.equal(port.receive({ timeoutMs: 20_000 }), i);
    }
  });
  await joined('echo-blocked', async ({ port }) => {
    for (let i = 0; i < 200; i++) {
      port.postMessage(i);
      assert.equal(await within('an answer', port.receiveAsync()), i);
    }
  });
});

test('what a child had sent before it was killed is read, by a thread that is blocked; then the end', () =>
  joined('kill-after', ({ port }) => {
    for (let i = 0; i < 100; i++) assert.equal(port.receive({ timeoutMs: 20_000 }), i);
    assert.equal(port.receive({ timeoutMs: 20_000 }), CLOSED);
    assert.equal(port.reason, 'terminated');
  }));

test('the same with an event loop, which learns by what signal', () =>
  joined('kill-after', async ({ port }) => {
    for (let i = 0; i < 100; i++) assert.equal(await within('a message', port.receiveAsync()), i);
    assert.equal(await within('the end', port.receiveAsync()), CLOSED);
    assert.deepEqual([port.reason, port.link?.exit?.signal], ['terminated', 'SIGKILL']);
  }));

for (const what of ['killed-in-receive', 'spin']) {
  test(`a child that is killed while it is in the middle (${what}) settles everybody here`, () =>
    joined(what, async ({ port, child }) => {
      await within('a word', port.receiveAsync());
      const more = port.link?.channel('more') as Port;
      const waits = [port.receiveAsync(), port.closed, more.closed, more.receiveAsync()];
      child.kill('SIGKILL');
      assert.deepEqual(await within('all', Promise.all(waits)), [CLOSED, 'terminated', 'terminated', CLOSED]);
    }));
}

for (const [what, reason] of [
  ['flood-and-exit', 'exit'],
  ['flood-and-close', 'closed'],
]) {
  test(`what did not fit when it ended (${what}) is read behind the rest`, () =>
    joined(what as string, async ({ port }) => {
      for (let i = 0; i < 2000; i++) {
        const value = (await within('a message', port.receiveAsync())) as { i: number; bytes: Uint8Array };
        assert.deepEqual([value.i, value.bytes.length, value.bytes[999]], [i, 1000, i & 255]);
      }
      assert.equal(await within('the end', port.receiveAsync()), CLOSED);
      assert.equal(port.reason, reason);
      if (what === 'flood-and-exit') assert.equal(port.link?.exit?.code, 9);
    }));
}

test('a thread that is blocked reads what did not fit, too', () =>
  joined('flood-and-close', ({ port }) => {
    for (let i = 0; i < 2000; i++) assert.equal((port.receive({ timeoutMs: 20_000 }) as { i: number }).i, i);
    assert.equal(port.receive({ timeoutMs: 20_000 }), CLOSED);
  }));

test('a thread that is blocked for many hears which of them has something', async () => {
  await joined('echo', (one) =>
    joined('wakes', ({ port }) => {
      port.send('late');
      assert.equal(select([one.port, port], { timeoutMs: 20_000 }), port);
      assert.equal(port.tryReceive(), 'late');
      one.port.send('first');
      assert.equal(select([port, one.port], { timeoutMs: 20_000 }), one.port);
      assert.equal(one.port.tryReceive(), 'first');
    }),
  );
});

test('a thread that hears with its event loop and blocks for many in turn, both of them asleep each time', async () => {
  await joined('wakes', (one) =>
    joined('wakes', async (other) => {
      for (let i = 0; i < 20; i++) {
        const [here, there] = i % 3 === 0 ? [other.port, one.port] : [one.port, other.port];
        here.postMessage(i);
        assert.equal(await within('an answer', here.receiveAsync()), i);
        there.send(i);
        assert.equal(select([here, there], { timeoutMs: 20_000 }), there);
        assert.equal(there.tryReceive(), i);
      }
    }),
  );
});

for (const closes of [false, true])
  test(`what was lent, or left over, comes before its channel is known to be one: it waits for that (closed: ${closes})`, async () => {
    const server = await listen(join(tmpdir(), `millrace-early-${process.pid}-${closes}.sock`));
    const taken = server[Symbol.asyncIterator]().next();
    const near = await within('a connection', connect(server.address));
    const far = (await within('its other side', taken)).value as Port;
    await within('both ends', Promise.all([near.ready, far.ready]));
    const asked = near.link?.channel('large') as Port;
    const offers = (far.link as PortLink).channels[Symbol.asyncIterator]();
    const accepted = (await within('an offer', offers.next())).value.accept() as Port;
    const text = 'x'.repeat(100_000);
    for (let i = 0; i < 100; i++) accepted.postMessage([i, text]);
    if (closes) accepted.close();
    // Looks at the line, which is ahead of the connection: that says at the end of the turn that the channel was accepted.
    assert.equal(asked.tryReceive(), EMPTY);
    for (let i = 0; i < 100; i++) assert.deepEqual(await within('a message', asked.receiveAsync()), [i, text]);
    near.close();
    far.close();
    await within('the listener', server.close({ drainMs: 0 }));
  });

test('a stranger that is killed is lost, to who listens', async () => {
  const server = await listen(join(tmpdir(), `millrace-memory-stranger-${process.pid}.sock`));
  await joined(
    'stranger',
    async ({ port, child }) => {
      const { value: stranger } = await within('a connection', server[Symbol.asyncIterator]().next());
      assert.equal(await within('a word', (stranger as Port).receiveAsync()), 'memory');
      await within('a word', port.receiveAsync());
      child.kill('SIGKILL');
      assert.equal(await within('the end', (stranger as Port).closed), 'lost');
    },
    [server.address],
  );
  await server.close();
});

test('a hundred channels of one connection, a hundred connections: nothing is left open', async () => {
  await joined('echo', () => {});
  const had = open();
  await joined('echo', async ({ port }) => {
    for (let i = 0; i < 100; i++) port.link?.channel(`c${i}`).close();
    port.postMessage('on');
    assert.equal(await within('an echo', port.receiveAsync()), 'on');
  });
  for (const what of ['flood-and-exit', 'flood-and-close']) await joined(what, () => {});
  await until('all is closed', () => open() <= had);
});

test('the memory of a channel that is over is given back, on both sides', async () => {
  const { output, status } = await runProgram(GC_PROGRAM, [], STEP_MS, WITH_GC);
  assert.equal(status, 0, output);
  const { way, here, there } = JSON.parse(output) as { way: string; here: number; there: number };
  assert.equal(way, 'memory');
  // A hundred channels were there.
  assert.ok(here < 20 && there < 20, output);
});
