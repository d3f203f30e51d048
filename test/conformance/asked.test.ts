// Channels that are asked for in one call: the port is there at once, and both sides agree later by what it goes, or that there is none. Whatever comes of
// it, what was posted before goes first and once, and who waits is told.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { json } from '../../src/codec/json.ts';
import { packed } from '../../src/codec/packed.ts';
import { CLOSED, EMPTY, type Port, RefusedError, select } from '../../src/index.ts';
import { HeldCopies } from '../../src/lane/held-copies.ts';
import { EARLY_MESSAGES_MAX } from '../../src/limits.ts';
import { Port as PortClass } from '../../src/port/port.ts';
import { Asked, AskedTransport } from '../../src/transport/asked.ts';
import type { Transport } from '../../src/transport/transport.ts';
import { type AskedScript, AskedWorld } from '../kit/asked-pair.ts';
import { cases, eachCase } from '../kit/prng.ts';
import { difference } from '../kit/same-clone.ts';
import { randomValue } from '../kit/values.ts';
import { within } from '../kit/watchdog.ts';
import { portConformance } from './port.ts';

const WAYS: readonly (readonly [string, AskedScript])[] = [
  ['memory', {}],
  ['stream', { maps: false }],
  ['stream', { offers: [false, true] }],
  ['stream', { offers: [true, false] }],
];

for (const [way, script] of WAYS) {
  portConformance({
    name: `asked for, over ${way} ${JSON.stringify(script)}`,
    sharesMemory: false,
    blocks: way === 'memory',
    moves: false,
    threads: false,
    latest: way === 'memory',
    pair: (options) => new AskedWorld(script).ports(options),
    far: () => {
      throw new Error('there is no other process');
    },
  });
}

function rest(port: Port): unknown[] {
  const values: unknown[] = [];
  for (let value = port.tryReceive(); value !== EMPTY && value !== CLOSED; value = port.tryReceive())
    values.push(value);
  return values;
}

for (const [way, script] of WAYS) {
  test(`both ends post before they know by what it goes (${way}, ${JSON.stringify(script)}): all of it arrives, once and in order, as it was`, async () => {
    const world = new AskedWorld(script);
    const [a, b] = world.doors.map((door) => door.channel('jobs')) as [Port, Port];
    const value = { n: 0 };
    for (const port of [a, b])
      for (let i = 0; i < 20; i++) {
        value.n = i;
        port.postMessage(value);
      }
    assert.deepEqual([a.tryReceive(), a.full, a.trySend(1), a.reason], [EMPTY, true, false, undefined]);
    const flushed = a.flush();
    const got: unknown[] = [];
    b.on('message', (each: unknown) => void got.push(each));
    await world.go();
    await within('both ends', Promise.all([a.ready, b.ready]));
    a.postMessage('behind');
    await world.go();
    const all = [...Array(20).keys()].map((n) => ({ n }));
    assert.deepEqual(rest(a), all);
    while (got.length < 21) {
      await new Promise((resolve) => setTimeout(resolve, 1));
      await world.go();
    }
    assert.deepEqual(got, [...all, 'behind']);
    world.wire.delayed = false;
    await world.go();
    await within('what was posted before was taken', flushed);
    assert.deepEqual(
      world.doors.map(({ ways }) => ways),
      [[way], [way]],
    );
    a.close();
    assert.equal(await within('the end', b.closed), 'closed');
  });
}

test('one that is refused, left, given up, or whose connection ends meanwhile tells its end as any channel does', async () => {
  const ends: readonly (readonly [string, (world: AskedWorld) => void, string])[] = [
    ['refused', (world) => world.doors[1].openings[0]?.refuse(300, 'not here'), 'closed'],
    ['left', (world) => world.doors[1].connection.leave(), 'closed'],
    ['connection closed', (world) => world.doors[1].connection.close(), 'closed'],
    ['connection closed here', (world) => world.doors[0].connection.close(), 'closed'],
    [
      'crash',
      (world) => world.doors[1].connection.endThread('crash', { thrown: { error: new Error('boom') } }),
      'crash',
    ],
    ['line cut', (world) => world.wire.cut(), 'terminated'],
  ];
  for (const [how, end, reason] of ends) {
    const world = new AskedWorld();
    const port = world.doors[0].channel('x');
    port.postMessage(1);
    port.postMessage(2);
    const received = port.receiveAsync();
    const ready = port.ready;
    await world.go();
    end(world);
    await world.go();
    assert.equal(await within(how, port.closed), reason, how);
    assert.equal(await within(how, received), CLOSED, how);
    await assert.rejects(within(how, ready), { code: 'ERR_CLOSED' }, how);
    assert.equal(port.stats().undelivered, 2, how);
    if (how === 'refused') assert.ok(port.error instanceof RefusedError && port.error.refusal === 300);
    if (how === 'crash') assert.equal((port.error as Error).message, 'boom');
    assert.equal(world.wire.held, 0, how);
  }
});

test('one that fails ends as lost, and whoever receives is told why', async () => {
  const asked = new Asked({ hold() {}, withdraw() {} });
  const port = new PortClass((events) => new AskedTransport(asked, new HeldCopies(packed, {}, 1000), events)) as Port;
  const oops = new Error('the descriptor did not come');
  port.postMessage(1);
  const received = port.receiveAsync();
  asked.fail(oops);
  await assert.rejects(within('the failure', received), oops);
  assert.equal(await within('the end', port.closed), 'lost');
  assert.deepEqual([port.tryReceive(), port.error], [CLOSED, oops]);
});

test('closed before it is there: taken back if nothing waits, else sent first; the process lives for that and no longer', async () => {
  for (const [way, script] of WAYS) {
    const idle = new AskedWorld(script);
    const gone = idle.doors[0].channel('x');
    gone.on('message', () => {});
    assert.equal(idle.wire.held, 1);
    await idle.go();
    assert.equal(idle.doors[1].openings.length, 1);
    gone.close();
    await idle.go();
    assert.deepEqual(
      [idle.wire.held, idle.doors[1].openings[0]?.over, idle.doors[0].connection.channels],
      [0, true, 0],
    );

    const world = new AskedWorld(script);
    const near = world.doors[0].channel('x') as Port;
    near.postMessage('last');
    near.close();
    assert.deepEqual([world.wire.held, near.reason], [1, 'closed']);
    const far = world.doors[1].channel('x') as Port;
    await world.go();
    assert.deepEqual([far.tryReceive(), far.tryReceive(), far.reason], ['last', CLOSED, 'closed'], way);
    await world.go();
    assert.equal(world.wire.held, 0, way);
  }
});

test('it holds the process while somebody waits, before and after, and lets it go', async () => {
  for (const [, script] of WAYS) {
    const world = new AskedWorld(script);
    const [a, b] = world.doors.map((door) => door.channel('x')) as [Port, Port];
    const counts = [world.wire.held];
    a.on('message', () => {});
    counts.push(world.wire.held);
    a.unref();
    counts.push(world.wire.held);
    a.ref();
    counts.push(world.wire.held);
    assert.deepEqual(counts, [0, 1, 0, 1]);
    await world.go();
    await within('both', Promise.all([a.ready, b.ready]));
    a.close();
    b.close();
    await world.go();
    assert.equal(world.wire.held, 0);
  }
});

test('more than the bound is refused; what cannot go by bytes is refused at once, and nothing moves', async () => {
  const world = new AskedWorld();
  const [a, b] = world.doors.map((door) => door.channel('x', { maxMessageBytes: 1000 })) as [Port, Port];
  const buffer = new ArrayBuffer(8);
  assert.throws(() => a.postMessage(buffer, [buffer]), { code: 'ERR_TRANSFER' });
  assert.throws(() => a.postMessage(() => {}), { code: 'ERR_DATA_CLONE' });
  assert.throws(() => a.postMessage('x'.repeat(2000)), { code: 'ERR_TOO_LARGE' });
  assert.equal(buffer.byteLength, 8);
  for (let i = 0; i < EARLY_MESSAGES_MAX; i++) a.postMessage(i);
  assert.throws(() => a.postMessage('one more'), { code: 'ERR_OUTBOX_FULL' });
  await world.go();
  await within('both', Promise.all([a.ready, b.ready]));
  assert.deepEqual(rest(b), [...Array(EARLY_MESSAGES_MAX).keys()]);
  a.close();
  b.close();
});

test('a blocked call says what to await; where what comes can be pulled, it waits for the channel, and goes on over it', async () => {
  const world = new AskedWorld();
  const [a, b] = world.doors.map((door) => door.channel('x')) as [Port, Port];
  assert.throws(() => a.receive(), { code: 'ERR_UNSUPPORTED', message: /await port\.ready/ });
  assert.throws(() => select([a, b]), { code: 'ERR_UNSUPPORTED', message: /await port\.ready/ });
  const pulled = new AskedWorld({ pulls: true });
  const [near, far] = pulled.doors.map((door) => door.channel('x')) as [Port, Port];
  far.postMessage('for the blocked');
  // Each look takes in what has come, of both sides.
  assert.equal(near.receive({ timeoutMs: 5000 }), 'for the blocked');
  near.postMessage('back');
  assert.equal(far.receive({ timeoutMs: 5000 }), 'back');
  const stream = new AskedWorld({ pulls: true, maps: false });
  const [left, right] = stream.doors.map((door) => door.channel('x')) as [Port, Port];
  right.postMessage(1);
  assert.throws(
    () => left.receive({ timeoutMs: 5000 }),
    { code: 'ERR_UNSUPPORTED' },
    'nothing comes over it to a blocked thread',
  );
  assert.throws(() => left.receive(), { code: 'ERR_UNSUPPORTED', message: /receiveAsync/ });
  for (const port of [a, b, near, far, left, right]) port.close();
});

test('what the port keeps, and what it stands behind, is passed on', () => {
  const kept: unknown[] = [];
  const link = { ended: undefined, error: undefined, close() {} };
  const asked = new Asked({ link, hold() {}, withdraw() {} });
  const transport = new AskedTransport(asked, new HeldCopies(packed, {}, 1000), { woken() {}, failed() {} });
  const [first, second] = [{}, {}];
  transport.keep(first);
  asked.settle(() => ({ keep: (port: unknown) => void kept.push(port) }) as unknown as Transport);
  assert.deepEqual([kept, transport.link], [[], link]);
  void transport.ended;
  transport.keep(second);
  transport.keep(undefined);
  assert.deepEqual(kept, [first, second, undefined]);
});

test('a value that waits is what its codec would have sent, and is sent the same again', () => {
  const held = new HeldCopies(packed, { exactArrays: true }, 2 ** 24);
  eachCase(0, cases(300, 20_000), (random) => {
    const value = randomValue(random, { budget: 40, large: 3000 });
    const { value: once } = held.holdBack(value, []);
    const { value: twice } = held.holdBack(once, []);
    assert.equal(difference(value, once), undefined);
    assert.equal(difference(once, twice), undefined);
  });
  const asJson = new HeldCopies(json, {}, 1000);
  const { value } = asJson.holdBack({ at: new Date(0), toJSON: () => ({ told: [1, undefined] }) }, []);
  assert.deepEqual(value, { told: [1, null] });
});
