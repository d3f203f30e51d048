// What `flush`, `send` and `drained` wait for: what they promise, and nothing beyond it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attach, type ChannelOptions, CLOSED, ClosedError, channel, EMPTY, type Port } from '../../src/index.ts';
import { SIDE_VALUES_MAX } from '../../src/limits.ts';
import { cases, Random, seed } from '../kit/prng.ts';
import { type Role, startThread } from '../kit/thread.ts';
import { STEP_MS, turn, until, within } from '../kit/watchdog.ts';

async function withPair(options: ChannelOptions, body: (near: Port, far: Port) => unknown): Promise<void> {
  const { port, remote } = channel(options);
  const far = attach(remote);
  try {
    await body(port, far);
  } finally {
    port.close();
    far.close();
  }
}

test('flush() resolves once the peer has taken its message, with later ones unread', () =>
  withPair({}, async (near, far) => {
    near.postMessage('first');
    const flushed = near.flush();
    for (let i = 0; i < 100; i++) near.postMessage(i);
    await turn();
    assert.equal(far.tryReceive(), 'first');
    await within('the flush', flushed, 10);
    const again = near.flush();
    for (let i = 0; i < 100; i++) far.tryReceive();
    await within('the second flush', again, 10);
  }));

test('flush() after the peer has taken the message resolves though the peer never calls again', () =>
  withPair({}, async (near, far) => {
    near.postMessage('first');
    near.postMessage('second');
    assert.equal(far.tryReceive(), 'first');
    const pending = near.flush();
    let early = false;
    pending.then(() => (early = true));
    for (let i = 0; i < 5; i++) await turn();
    assert.equal(early, false, 'the second lies unread');
    assert.equal(far.tryReceive(), 'second');
    await within('the flush', pending, 10);
    near.postMessage('third');
    near.postMessage('fourth');
    assert.equal(far.tryReceive(), 'third');
    await turn();
    assert.equal(far.tryReceive(), 'fourth');
    await within('a flush afterwards', near.flush(), 10);
  }));

/** Takes one message, then waits for the gate before it reads on. */
const takesOne: Role = (stage) => {
  const port = stage.port();
  stage.gates.pass(0);
  if (port.receive() !== 0) throw new Error('not the first');
  stage.gates.open(1);
  stage.gates.pass(2);
  let count = 1;
  while (port.receive() !== stage.millrace.CLOSED) count++;
  return count;
};

test('a peer that waits for the flush of what it has taken is not deadlocked', async () => {
  const { port, remote } = channel();
  const thread = startThread(takesOne, { remote });
  port.postMessage(0);
  const flushed = port.flush();
  port.postMessage(1);
  thread.gates.open(0);
  await within('the flush', flushed, STEP_MS / 2000);
  thread.gates.open(2);
  port.close();
  assert.equal(await thread.done(), 2);
});

/** Fills the ring, then sends one more, blocked, which needs the room of one message only. */
const sendsOneMore: Role = (stage) => {
  const port = stage.port();
  let sent = 0;
  const next = (): unknown => (stage.data.native ? { i: sent } : sent);
  const transfer = (): unknown[] => (stage.data.native ? [new ArrayBuffer(1)] : []);
  while (port.trySend(next(), transfer())) sent++;
  stage.gates.set(0, sent);
  const went = port.send(next(), { timeoutMs: stage.data.limitMs, transfer: transfer() });
  stage.gates.open(1);
  return went;
};

for (const native of [false, true]) {
  test(`send() returns when there is room for its message, ${native ? 'beside' : 'in'} the ring, with the rest unread`, async () => {
    const { port, remote } = channel();
    const thread = startThread(sendsOneMore, { remote, data: { native, limitMs: STEP_MS / 2 } });
    const filled = await thread.gates.passAsync(0);
    // Past the moment in which the sender sleeps for a batch of room.
    await until('the sender sleeps', () => port.stats().wakes >= 0);
    assert.notEqual(port.tryReceive(), EMPTY);
    assert.notEqual(port.tryReceive(), EMPTY);
    assert.equal(await within('send()', thread.result, STEP_MS / 1000), true);
    let count = 2;
    while (port.tryReceive() !== CLOSED && count <= filled) count++;
    port.close();
  });
}

/** Ends while the test is blocked in `send` with a message that goes in parts. */
const endsMeanwhile: Role = (stage) => {
  const port = stage.port();
  stage.gates.pass(0);
  if (stage.data.how === 'close') port.close();
  else stage.exit();
};

for (const how of ['close', 'exit'] as const) {
  for (const limitMs of [STEP_MS, Number.POSITIVE_INFINITY]) {
    test(`send() of a message in parts throws when the peer ends by ${how} first, ${limitMs} ms at the most`, async () => {
      const { port, remote } = channel({ capacityBytes: 1024 });
      const thread = startThread(endsMeanwhile, { remote, data: { how } });
      thread.result.catch(() => {});
      const value = {
        get opened() {
          thread.gates.open(0);
          return true;
        },
        text: 'x'.repeat(100_000),
      };
      assert.throws(() => port.send(value, { timeoutMs: limitMs }), ClosedError);
      assert.notEqual(port.reason, undefined);
      assert.equal(port.stats().undelivered, how === 'close' ? 1 : port.stats().undelivered);
      port.close();
      await thread.ended;
    });
  }
}

test('send() of any length at its limit: true is a message that follows by itself, false one that was not sent', () =>
  withPair({ capacityBytes: 1024 }, async (near, far) => {
    const random = new Random(seed);
    const accepted: string[] = [];
    let taken = 0;
    for (let i = 0; i < 200; i++) {
      const text = `${i}`.padEnd(random.int(0, random.chance(0.5) ? 100 : 5000), '.');
      if (near.send(text, { timeoutMs: random.int(0, 1) })) accepted.push(text);
      if (random.chance(0.75)) continue;
      // Some of it at once, so that what is in parts is half way now and then.
      for (let n = random.int(0, 3); n > 0; n--) {
        const value = far.tryReceive();
        if (value === EMPTY) continue;
        assert.equal(value, accepted.shift(), `after ${i}, seed ${seed}`);
        taken++;
      }
    }
    assert.ok(accepted.length + taken > 0);
    for (const text of accepted) assert.equal(await within('what was accepted', far.receiveAsync()), text);
    assert.equal(far.tryReceive(), EMPTY);
  }));

test('trySend() finds the room of one message as soon as the peer has taken one', () =>
  withPair({ capacityBytes: 4096 }, (near, far) => {
    while (near.trySend('as long as the one before'));
    for (let i = 0; i < 300; i++) {
      assert.notEqual(far.tryReceive(), EMPTY);
      // Two at the end of the ring, where a pad may stand in the way.
      if (near.trySend('as long as the one before')) continue;
      assert.notEqual(far.tryReceive(), EMPTY);
      assert.equal(near.trySend('as long as the one before'), true, `after ${i}`);
    }
  }));

test('a stashed message counts as taken over', async () => {
  await withPair({ capacityBytes: 1024 }, async (near, far) => {
    near.postMessage('stashed while the other side is blocked');
    near.postMessage('and this');
    while (far.trySend('x'.repeat(50)));
    assert.equal(far.send('no room', { timeoutMs: 5 }), false);
    await within('the flush', near.flush(), 10);
    assert.equal(far.tryReceive(), 'stashed while the other side is blocked');
  });
});

test(`flush() against an array of what was taken (SEED=${seed})`, async () => {
  for (let index = 0; index < cases(60, 3000); index++) {
    const random = new Random(seed, index);
    const overflow = random.pick(['wait', 'wait', 'drop-oldest', 'drop-newest'] as const);
    await withPair(
      { capacityBytes: 1 << random.int(10, 13), overflow, highWaterMarkBytes: 2000 },
      async (near, far) => {
        let posted = 0;
        /** The last message that was posted and not dropped, and the last one taken; numbers from 1. */
        let taken = 0;
        let out = 0;
        const flushes: { upTo: number; done: boolean }[] = [];
        const take = (): boolean => {
          const value = far.tryReceive();
          if (value === EMPTY) return false;
          taken = (value as { n: number }).n;
          out++;
          return true;
        };
        for (let step = 0; step < 60; step++) {
          const what = random.int(0, 9);
          if (what < 4) {
            const text = 'x'.repeat(random.chance(0.1) ? 5000 : random.skewed(300));
            for (let i = random.int(1, 12); i > 0; i--)
              near.postMessage({ n: ++posted, text }, random.chance(0.1) ? [new ArrayBuffer(1)] : []);
          } else if (what < 7) for (let i = random.int(1, 12); i > 0 && take(); i--);
          else if (what < 8) {
            const flush = { upTo: posted, done: false };
            flushes.push(flush);
            near.flush().then(
              () => {
                flush.done = true;
              },
              () => {},
            );
          } else await turn();
          if (overflow === 'wait') {
            for (const { upTo, done } of flushes)
              assert.ok(!done || taken >= upTo, `too early: SEED=${seed} CASE=${index}`);
          }
        }
        // Everything up to the last flush is taken, and not one message more.
        const last = Math.max(0, ...flushes.map(({ upTo }) => upTo));
        const end = performance.now() + STEP_MS;
        while (flushes.some(({ done }) => !done)) {
          for (const { upTo, done } of flushes) {
            if (!done && overflow === 'wait' && taken >= upTo) {
              for (let i = 0; i < 20 && !flushes.every((it) => it.done || it.upTo > taken); i++) await turn();
            }
          }
          const settled = flushes.filter((it) => !it.done && it.upTo <= taken);
          if (overflow === 'wait')
            assert.equal(settled.length, 0, `too late: SEED=${seed} CASE=${index}, ${taken} taken of ${posted}`);
          if (taken < last || overflow !== 'wait') take();
          await turn();
          assert.ok(performance.now() < end, `never: SEED=${seed} CASE=${index}: ${taken} of ${last}, ${out} out`);
        }
      },
    );
  }
});

/** Sends `count` messages of a megabyte; when told that both sides are stuck it receives one first. */
const floods: Role = (stage) => {
  const port = stage.port();
  const { count, start } = stage.data;
  const large = new Uint8Array(1_000_000);
  stage.gates.add(start);
  while (stage.gates.get(start) < 2);
  let received = 0;
  let told = 0;
  const take = (): void => {
    if ((port.receive() as Uint8Array).length === large.length) received++;
  };
  for (let sent = 0; sent < count; ) {
    try {
      if (port.send(large)) sent++;
    } catch (error) {
      if ((error as { code?: string }).code !== 'ERR_DEADLOCK') throw error;
      told++;
      take();
    }
  }
  while (received < count) take();
  return told;
};

test('both sides send() more than either may set aside: one is told, receives, and both get through', async () => {
  const made = startThread(
    (stage) => {
      const { port, remote } = stage.millrace.channel();
      stage.say(remote, remote.transfer);
      const role = new Function('stage', `return (${stage.data.role})(stage)`);
      return role({ ...stage, port: () => port });
    },
    { data: { count: 80, start: 0, role: floods.toString() } },
  );
  const remote = await made.next();
  const other = startThread(
    (stage) => {
      const role = new Function('stage', `return (${stage.data.role})(stage)`);
      return role(stage);
    },
    { remote, data: { count: 80, start: 0, role: floods.toString() } },
  );
  // The two have gates of their own: each is let go when the other is there.
  for (const { gates } of [made, other]) gates.add(0);
  const told = (await within('both', Promise.all([made.done(), other.done()]))) as number[];
  assert.ok(
    told.some((times) => times > 0),
    `told ${told}`,
  );
  await made.kill();
  await other.kill();
});

for (const [how, send] of [
  ['postMessage', (port: Port, value: unknown): unknown => port.postMessage(value)],
  ['trySend, in parts', (port: Port, value: unknown): unknown => port.trySend(value)],
] as const) {
  test(`one message that waits alone goes on by itself as the peer makes room (${how})`, () =>
    withPair({ capacityBytes: 1024 }, async (near, far) => {
      // What the native port has to tell of the beginning makes the event loop look, too.
      await near.ready;
      for (let i = 0; i < 5; i++) await turn();
      const long = Array.from({ length: 700 }, (_, i) => i);
      if (how === 'postMessage') while (near.trySend('x'.repeat(50)));
      else assert.equal(near.stats().outboxBytes, 0);
      send(near, long);
      assert.ok(near.stats().outboxBytes > 0, 'it waits');
      let last: unknown;
      await until('it has come', () => {
        for (let next = far.tryReceive(); next !== EMPTY; next = far.tryReceive()) last = next;
        return typeof last === 'object';
      });
      assert.deepEqual(last, long);
      assert.equal(near.stats().outboxBytes, 0);
    }));
}

for (const size of [1, 20_000]) {
  test(`a full side channel is of no account to who waits for room in the ring since, with ${size} numbers`, () => {
    const { port, remote } = channel({ capacityBytes: 65536 });
    const far = attach(remote);
    const filler = 'x'.repeat(1000);
    const message = Array.from({ length: size }, (_, i) => i + 0.5);
    for (let i = 0; i < 20; i++) assert.ok(port.trySend(filler));
    for (let i = 0; i < SIDE_VALUES_MAX; i++) assert.ok(port.trySend(i, [new ArrayBuffer(8)]));
    assert.equal(port.trySend('one too many', [new ArrayBuffer(8)]), false);
    while (port.trySend(filler));
    assert.equal(port.trySend('one too many', [new ArrayBuffer(8)]), false);
    while (port.trySend(message));
    assert.equal(port.full, true);
    for (let i = 0; i < 20; i++) assert.equal(far.tryReceive(), filler);
    assert.equal(port.full, false);
    assert.ok(port.trySend(message));
    port.close();
    far.close();
  });
}
