// Both ends of a channel move at once, so that neither has heard of the other one's move when it leaves, and a thread that was left ends
// before it could pass on what it would have heard. The threads that have the ends now live: their channel goes on.
// asked for: node-22, node-26
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attach, type ChannelOptions, CLOSED, channel, type Port, type Remote, transferOf } from '../../src/index.ts';
import { joined } from '../kit/linked.ts';
import { type Role, startThread, type TestThread } from '../kit/thread.ts';
import { STEP_MS, turn, until, within } from '../kit/watchdog.ts';

const soon = { timeoutMs: STEP_MS };

/** Has an end, hears nothing any more from some moment on, and hands it on then; much later it hears again. */
const leaves: Role = async ({ port, millrace, gates, data }) => {
  const home = port();
  let end: Port;
  if (data.role === 'makes') {
    const made = millrace.channel(data.options);
    home.postMessage(made.remote, made.remote.transfer as never);
    end = made.port as Port;
  } else end = millrace.attach(await home.receiveAsync()) as Port;
  gates.open(0);
  await gates.passAsync(1);
  const threads = process.getBuiltinModule('node:worker_threads') as { receiveMessageOnPort: unknown };
  const hear = threads.receiveMessageOnPort;
  threads.receiveMessageOnPort = () => undefined;
  gates.open(2);
  await gates.passAsync(3);
  end.postMessage('unread');
  home.postMessage(end, [end]);
  void gates.passAsync(4).then(async () => {
    threads.receiveMessageOnPort = hear;
    await home.receiveAsync();
    gates.open(5);
  });
  setInterval(() => {}, 60_000);
  await new Promise(() => {});
};

interface Home {
  readonly thread: TestThread;
  readonly port: Port;
}
function home(role: 'makes' | 'attaches', options?: ChannelOptions): Home {
  const { port, remote } = channel();
  return { thread: startThread(leaves, { remote, data: { role, options } }), port };
}
async function goDeaf({ thread }: Home): Promise<void> {
  thread.gates.open(1);
  await thread.gates.passAsync(2);
}
async function handsOn({ thread, port }: Home): Promise<Port> {
  thread.gates.open(3);
  return (await within('the end', port.receiveAsync())) as Port;
}
/** Both ends of a channel between two threads that hear nothing more, moved here. */
async function movedBoth(options?: ChannelOptions): Promise<{ homes: readonly [Home, Home]; one: Port; other: Port }> {
  const homes = [home('makes', options), home('attaches')] as const;
  const [maker, attacher] = homes;
  const handle = (await maker.port.receiveAsync()) as Remote;
  attacher.port.postMessage(handle, transferOf(handle));
  for (const { thread } of homes) await thread.gates.passAsync(0);
  await until('they are linked', () => joined(handle));
  for (const each of homes) await goDeaf(each);
  return { homes, one: await handsOn(maker), other: await handsOn(attacher) };
}

/** Moves a port within this thread. */
function leaveHere(port: Port): () => Port {
  const { port: carrier, remote } = channel();
  const reader = attach(remote);
  carrier.postMessage({ port }, [port]);
  return () => {
    const { port: moved } = reader.receive(soon) as { port: Port };
    carrier.close();
    reader.close();
    return moved;
  };
}
async function exchange(a: Port, b: Port): Promise<void> {
  a.postMessage({ there: 1 });
  assert.deepEqual(await within('there', b.receiveAsync()), { there: 1 });
  b.postMessage({ shared: new SharedArrayBuffer(8) });
  assert.ok(((await within('back', a.receiveAsync())) as { shared: unknown }).shared instanceof SharedArrayBuffer);
}

for (const role of ['makes', 'attaches'] as const)
  for (const when of ['at once', 'later']) {
    test(`the thread that ${role} is terminated ${when}: the other one has passed on what it heard`, async () => {
      const far = home(role);
      let handle: Remote;
      let one: Port;
      if (role === 'makes') {
        handle = (await far.port.receiveAsync()) as Remote;
        one = attach(handle) as Port;
      } else {
        const made = channel();
        handle = made.remote;
        far.port.postMessage(handle, handle.transfer);
        one = made.port as Port;
      }
      await far.thread.gates.passAsync(0);
      await until('they are linked', () => joined(handle));
      await goDeaf(far);
      const open = leaveHere(one);
      const other = await handsOn(far);
      if (when === 'later') for (let i = 0; i < 5; i++) await turn();
      const moved = open();
      if (when === 'later') for (let i = 0; i < 5; i++) await turn();
      await far.thread.kill();
      await far.thread.ended;
      assert.equal(await within('what was unread', moved.receiveAsync()), 'unread');
      await exchange(moved, other);
      await exchange(other, moved);
      assert.deepEqual([moved.reason, other.reason], [undefined, undefined]);
      moved.close();
      assert.equal(await within('the end', other.closed), 'closed');
      far.port.close();
    });
  }

test('news that comes when both ends have found each other long since leaves them where they are', async () => {
  const far = home('makes');
  const handle = (await far.port.receiveAsync()) as Remote;
  const one = attach(handle) as Port;
  await far.thread.gates.passAsync(0);
  await until('they are linked', () => joined(handle));
  await goDeaf(far);
  const open = leaveHere(one);
  const other = await handsOn(far);
  const moved = open();
  assert.equal(await within('what was unread', moved.receiveAsync()), 'unread');
  await until('they are linked again', () => joined(handle));
  far.thread.gates.open(4);
  // Beside the ring, on the line where the news waits.
  far.port.postMessage({ shared: new SharedArrayBuffer(8) });
  await far.thread.gates.passAsync(5);
  for (let i = 0; i < 10; i++) await turn();
  for (const [from, to] of [
    [moved, other],
    [other, moved],
  ] as const) {
    const waits = to.receiveAsync();
    for (let i = 0; i < 5; i++) await turn();
    from.postMessage('woken');
    assert.equal(await within('the one who waits', waits), 'woken');
  }
  assert.ok(joined(handle));
  moved.close();
  assert.equal(await within('the end', other.closed), 'closed');
  far.port.close();
  await far.thread.kill();
});

for (const overflow of ['wait', 'latest'] as const) {
  test(`memory that was lent for large messages of ${overflow} goes by way of a thread that is terminated: they arrive`, async () => {
    const { homes, one, other } = await movedBoth({ overflow, capacityBytes: 131_072 });
    const [maker, attacher] = homes;
    assert.equal(await within('what was unread', other.receiveAsync()), 'unread');
    const large = (n: number): Uint8Array => new Uint8Array(100_000).fill(n);
    one.postMessage(large(1));
    // The ring is full of the first.
    if (overflow === 'wait') one.postMessage(large(1));
    maker.thread.gates.open(4);
    maker.port.postMessage('hear');
    await maker.thread.gates.passAsync(5);
    await attacher.thread.kill();
    assert.equal(await within('what was unread', one.receiveAsync()), 'unread');
    if (overflow === 'wait') assert.deepEqual(await within('the first', other.receiveAsync()), large(1));
    assert.deepEqual(await within('what lies there', other.receiveAsync()), large(1));
    for (let n = 2; n < 8; n++) {
      one.postMessage(large(n));
      assert.deepEqual(await within('a later one', other.receiveAsync()), large(n));
    }
    await exchange(other, one);
    one.close();
    assert.equal(await within('the end', other.closed), 'closed');
    for (const { port } of homes) port.close();
    await maker.thread.kill();
  });
}

test('both threads are terminated before either has passed on anything: the ends have lost each other', async () => {
  const { homes, one, other } = await movedBoth();
  for (const each of [one, other]) each.postMessage({ shared: new SharedArrayBuffer(8) });
  for (const { thread } of homes) await thread.kill();
  const reasons = await within('both ends', Promise.all([one.closed, other.closed]));
  assert.deepEqual(reasons, ['lost', 'lost']);
  for (const each of [one, other]) {
    assert.equal(each.receive(soon), 'unread');
    assert.throws(() => each.receive(soon), { code: 'ERR_DECODE' });
    assert.equal(each.receive(soon), CLOSED);
  }
  for (const { port } of homes) port.close();
});

test('one thread is terminated, and the other one passes on nothing: what went beside the ring is lost', async () => {
  const { homes, one, other } = await movedBoth();
  const [maker, attacher] = homes;
  for (const each of [one, other]) each.postMessage({ shared: new SharedArrayBuffer(8) });
  await maker.thread.kill();
  // The way to the other end lies where nobody takes it in: that is no reason to wait for who has ended.
  assert.equal(await within('the end', one.closed), 'lost');
  assert.equal(one.receive(soon), 'unread');
  assert.throws(() => one.receive(soon), { code: 'ERR_DECODE', message: /never came/ });
  assert.equal(one.receive(soon), CLOSED);
  await attacher.thread.kill();
  assert.equal(await within('what was unread', other.receiveAsync()), 'unread');
  await assert.rejects(within('what was lost', other.receiveAsync()), { code: 'ERR_DECODE', message: /never came/ });
  assert.equal(await within('the end', other.receiveAsync()), CLOSED);
  for (const { port } of homes) port.close();
});

test('who waits for a large message whose memory was lost with both threads is told so', async () => {
  const homes = [home('makes', { capacityBytes: 131_072 }), home('attaches')] as const;
  const [maker, attacher] = homes;
  const handle = (await maker.port.receiveAsync()) as Remote;
  attacher.port.postMessage(handle, transferOf(handle));
  for (const { thread } of homes) await thread.gates.passAsync(0);
  await until('they are linked', () => joined(handle));
  for (const each of homes) await goDeaf(each);
  const ends = [await handsOn(maker), await handsOn(attacher)];
  for (const each of ends) each.postMessage(new Uint8Array(100_000));
  for (const each of ends) assert.equal(await within('what was unread', each.receiveAsync()), 'unread');
  const waits = ends.map((each) =>
    assert.rejects(within('the large one', each.receiveAsync()), { code: 'ERR_LAYOUT' }),
  );
  for (let i = 0; i < 5; i++) await turn();
  for (const { thread } of homes) await thread.kill();
  await Promise.all(waits);
  for (const each of ends) assert.deepEqual([each.receive(soon), each.reason], [CLOSED, 'lost']);
  for (const { port } of homes) port.close();
});

/** Sends a large message, and hears of nothing until it may. */
const sendsLarge: Role = async ({ port, millrace, gates, data }) => {
  const home = port();
  const end = millrace.attach((await home.receiveAsync()) as never) as Port;
  gates.open(0);
  await gates.passAsync(1);
  end.postMessage(new Uint8Array(100_000).fill(7));
  if (data.closes) end.close();
  gates.open(2);
  gates.pass(3);
  await end.closed;
};

// Deno does not terminate a thread that is blocked.
for (const then of ['hears of the move', 'is terminated', 'has closed'] as const)
  if (then !== 'is terminated' || !('Deno' in globalThis))
    test(`memory that was lent as the end left, and was lost with the thread that it left: who lent it ${then}`, async () => {
      const far = home('makes', { capacityBytes: 131_072 });
      const handle = (await far.port.receiveAsync()) as Remote;
      const { port, remote } = channel();
      const sender = startThread(sendsLarge, { remote, data: { closes: then === 'has closed' } });
      port.postMessage(handle, transferOf(handle));
      for (const { gates } of [far.thread, sender]) await gates.passAsync(0);
      await until('they are linked', () => joined(handle));
      // As if it came between the last look and the word that the end has moved.
      await goDeaf(far);
      sender.gates.open(1);
      await sender.gates.passAsync(2);
      const moved = await handsOn(far);
      await far.thread.kill();
      await far.thread.ended;
      for (let i = 0; i < 10; i++) await turn();
      // Before the watchdog of the sender's gate ends its thread.
      const large = moved.receiveAsync({ timeoutMs: STEP_MS / 4 });
      const told = then === 'hears of the move' ? undefined : assert.rejects(large, { code: 'ERR_LAYOUT' });
      for (let i = 0; i < 10; i++) await turn();
      if (then === 'is terminated') await sender.kill();
      // Blocked as it is, it hears of nothing.
      if (then === 'has closed') await told;
      sender.gates.open(3);
      if (told === undefined) assert.deepEqual(await large, new Uint8Array(100_000).fill(7));
      else await told;
      moved.close();
      if (then !== 'hears of the move') assert.equal(moved.reason, then === 'has closed' ? 'closed' : 'terminated');
      await sender.ended;
      for (const each of [far.port, port]) each.close();
    });
