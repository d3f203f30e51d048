// Ports between two processes over memory that both have mapped: the rings, lanes, links and ports of src/ as they are, and of the
// addon what they sleep on and are rung by.
// runtimes: node
// needs: native
import assert from 'node:assert/strict';
import { afterEach, before, test } from 'node:test';
import { CLOSED, type Port, select } from '../../src/index.ts';
import { descriptors, endPrograms, native, Program, Thread } from '../kit/native.ts';
import { createLink, createRegion, type NativeLink } from '../kit/native-agents.ts';
import { STEP_MS, until, within } from '../kit/watchdog.ts';
import { FLOOD, LAST, LEFT, OPTIONS } from './ports.ts';

// What Node opens for its first child stays open.
before(async () => {
  await within('the end of one', new Program('idle').ended);
});
afterEach(endPrograms);

interface Joined {
  readonly program: Program;
  readonly ports: readonly Port[];
  readonly port: Port;
}

/** Runs `role` at the other ends of so many channels. Whatever becomes of it, no descriptor is left here. */
async function joined(role: string, use: (joined: Joined) => unknown, count = 1): Promise<void> {
  const had = descriptors().length;
  const { link, theirs } = createLink();
  const regions = Array.from({ length: count }, () => createRegion(OPTIONS));
  const program = new Program(role, [...theirs, ...regions]);
  for (const each of theirs) native.close(each);
  // Its own descriptors are the other process's by now.
  const ports = regions.map((region) => link.port(region, OPTIONS) as Port);
  try {
    await use({ program, ports, port: ports[0] as Port });
  } finally {
    await over(link, ports, program);
  }
  await until('all is closed', () => descriptors().length <= had);
}
async function over(link: NativeLink, ports: readonly Port[], program: Program): Promise<void> {
  for (const port of ports) port.close();
  await within('its end', program.ended);
  link.close();
}

const COUNT = 500;
const values = Array.from({ length: COUNT }, (_, i) => ({ i, text: 'x'.repeat(i), list: [i, { i }] }));

for (const role of ['port-echo', 'port-echo-blocked']) {
  const other = role === 'port-echo' ? 'its event loop' : 'a blocked thread';
  test(`processes: objects go there and back, between event loop and ${other}`, { timeout: STEP_MS }, () =>
    joined(role, async ({ program, port }) => {
      assert.equal(await program.said(), 'ready');
      for (const value of values) {
        port.postMessage(value);
        assert.deepEqual(await within('the answer', port.receiveAsync()), value);
      }
      for (const value of values) port.postMessage(value);
      for (const value of values) assert.deepEqual(await within('the answer', port.receiveAsync()), value);
      port.postMessage(LAST);
      assert.equal(await within('the end', port.receiveAsync()), CLOSED);
      assert.equal(port.reason, 'closed');
      assert.equal(port.stats().undelivered, 0);
    }),
  );

  test(`processes: objects go there and back, between a blocked thread and ${other}`, { timeout: STEP_MS }, () =>
    joined(role, async ({ program, port }) => {
      assert.equal(await program.said(), 'ready');
      for (const value of values) {
        port.send(value);
        assert.deepEqual(port.receive({ timeoutMs: STEP_MS }), value);
      }
      const large = new Uint8Array(300_000).map((_, i) => i);
      port.postMessage(large);
      assert.deepEqual(port.receive({ timeoutMs: STEP_MS }), large);
      port.send(LAST);
      assert.equal(port.receive({ timeoutMs: STEP_MS }), CLOSED);
    }),
  );
}

test('processes: a thread that blocks on many is told which is ready', { timeout: STEP_MS }, () =>
  joined(
    'port-many',
    async ({ program, ports }) => {
      program.tell({ count: ports.length });
      assert.equal(await program.said(), 'ready');
      const rounds = 1000;
      program.tell({ rounds });
      // It is told by Node's own channel, which needs a turn.
      await new Promise((resolve) => setTimeout(resolve, 10));
      const seen = ports.map((_, i) => i);
      for (let i = 0; i < rounds; i++) {
        const port = select(ports, { timeoutMs: STEP_MS }) as Port;
        assert.ok(port, `nothing after ${i} messages`);
        const which = ports.indexOf(port);
        assert.equal(port.tryReceive(), seen[which]);
        seen[which] = (seen[which] as number) + ports.length;
      }
    },
    5,
  ),
);

test('processes: what was published before a SIGKILL is read, in order, and then its end', { timeout: STEP_MS }, () =>
  joined('port-flood', async ({ program, port }) => {
    const read = (value: unknown, i: number): void => {
      assert.deepEqual(value, [i, 'x'.repeat(i % 200)]);
    };
    let i = 0;
    for (; i < 2000; i++) read(port.receive({ timeoutMs: STEP_MS }), i);
    program.child.kill('SIGKILL');
    // Blocked when it ends: nothing else tells.
    for (;;) {
      const value = port.receive({ timeoutMs: STEP_MS });
      if (value === CLOSED) break;
      read(value, i++);
    }
    assert.equal(port.reason, 'terminated');
  }),
);

test('processes: one that exits has said all that it had sent', { timeout: STEP_MS }, () =>
  joined('port-exit', async ({ program, port }) => {
    for (let i = 0; i < FLOOD; i++) assert.equal(await within(`message ${i}`, port.receiveAsync()), i);
    assert.equal(await within('the end', port.receiveAsync()), CLOSED);
    assert.equal(port.reason, 'exit');
    assert.equal((await within('its end', program.ended)).code, 7);
  }),
);

test('processes: what is left over at the end comes over the socket', { timeout: STEP_MS }, () =>
  joined('port-left', async ({ program, port }) => {
    assert.equal(await program.said(), 'closed');
    for (let i = 0; i < LEFT; i++)
      assert.deepEqual(await within('a message', port.receiveAsync()), [i, 'x'.repeat(200)]);
    assert.equal(await within('the end', port.receiveAsync()), CLOSED);
    program.tell('done');
  }),
);

test('a thread that is blocked in such a port can be terminated', { timeout: STEP_MS }, async () => {
  const thread = new Thread('port');
  assert.equal(await thread.said(), 'ready');
  await thread.terminate();
});
