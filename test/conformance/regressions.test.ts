// Faults found by reading the core, each with the smallest program that showed it. Both ends are in this thread.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attach, type ChannelOptions, CLOSED, channel, EMPTY, type Port } from '../../src/index.ts';
import * as layout from '../../src/memory/layout.ts';

interface Ends {
  readonly near: Port;
  readonly far: Port;
  readonly words: Int32Array;
}

function pair(options: ChannelOptions = {}): Ends {
  const { port, remote } = channel(options);
  const { memory } = remote;
  return { near: port, far: attach(remote), words: new Int32Array(memory) };
}

/** Runs `body` with both ends, and closes them whatever happens. */
async function withPair(options: ChannelOptions, body: (ends: Ends) => unknown): Promise<void> {
  const ends = pair(options);
  try {
    await body(ends);
  } finally {
    ends.near.close();
    ends.far.close();
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

/** Whether `promise` is settled within some turns of the event loop. */
async function settles(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  const note = (): void => {
    settled = true;
  };
  promise.then(note, note);
  for (let i = 0; i < 200 && !settled; i++) await turn();
  return settled;
}

function drain(port: Port): unknown[] {
  const values: unknown[] = [];
  for (let value = port.tryReceive(); value !== EMPTY && value !== CLOSED; value = port.tryReceive())
    values.push(value);
  return values;
}

/** Sends until there is no room; how many went. */
function fill(port: Port, value: unknown): number {
  let count = 0;
  while (port.trySend(value)) count++;
  return count;
}

// ---- sending ------------------------------------------------------------------------------------------------------

test('flush resolves after a value that had to be encoded beside the ring', () =>
  withPair({ capacityBytes: 1024 }, async ({ near, far }) => {
    near.trySend('x'.repeat(300));
    near.trySend('x'.repeat(300));
    drain(far);
    // Longer than what is left before the end of the ring.
    assert.equal(near.trySend('y'.repeat(450)), true);
    for (let i = 0; i < 20; i++) near.postMessage('z'.repeat(300));
    const flushed = near.flush();
    const reading = (async () => {
      for (let i = 0; i < 21; i++) await far.receiveAsync();
    })();
    assert.equal(await settles(Promise.all([flushed, reading])), true);
  }));

test('flush waits for a large message even when later ones are dropped', () =>
  withPair({ capacityBytes: 1024, overflow: 'drop-oldest', highWaterMarkBytes: 1 }, async ({ near, far }) => {
    const large = new Uint8Array(20_000);
    near.postMessage(large);
    let flushed = false;
    near.flush().then(
      () => {
        flushed = true;
      },
      () => {},
    );
    for (let i = 0; i < 5; i++) near.postMessage(i);
    // Takes the parts that are there, not the whole.
    assert.equal(far.tryReceive(), EMPTY);
    await turn();
    await turn();
    const parts = flushed;
    const whole = await far.receiveAsync();
    assert.deepEqual([parts, (whole as Uint8Array).length], [false, 20_000]);
  }));

test('drained resolves after a message that just fitted a record', () =>
  withPair({ capacityBytes: 1024 }, async ({ near, far }) => {
    assert.equal(near.trySend(new Uint8Array(480)), true);
    assert.equal(far.tryReceive() instanceof Uint8Array, true);
    // 1016 bytes of records fill the ring so that not even a header fits.
    while (near.trySend(1));
    assert.equal(near.trySend(new Uint8Array(490)), false);
    const drained = near.drained();
    drain(far);
    assert.equal(await settles(drained), true);
  }));

test('drained resolves with a high-water mark of 0', () =>
  withPair({ highWaterMarkBytes: 0 }, async ({ near }) => {
    assert.equal(await settles(near.drained()), true);
  }));

test('a message sent inside cork is not lost when the body closes the port', () =>
  withPair({}, ({ near, far }) => {
    near.cork(() => {
      near.postMessage('last words');
      near.close();
      assert.equal(far.tryReceive(), 'last words');
      assert.equal(far.tryReceive(), CLOSED);
    });
  }));

test('a blocking receive inside cork shows the peer what was sent before', () =>
  withPair({}, ({ near, far }) => {
    near.cork(() => {
      near.postMessage('question');
      assert.equal(near.receive({ timeoutMs: 1 }), EMPTY);
      assert.equal(far.tryReceive(), 'question');
    });
  }));

test('a thread that only polls still moves its outbox along', () =>
  withPair({ capacityBytes: 1024 }, ({ near, far }) => {
    for (let i = 0; i < 100; i++) near.postMessage('x'.repeat(100));
    let arrived = 0;
    for (let i = 0; i < 100 && arrived < 100; i++) {
      arrived += drain(far).length;
      assert.equal(near.tryReceive(), EMPTY);
    }
    assert.equal(arrived, 100);
  }));

test('a send that throws while it waits leaves the event loop listening', () =>
  withPair({ capacityBytes: 1024 }, async ({ near, far }) => {
    const received = near.receiveAsync();
    await turn();
    fill(near, 'x'.repeat(100));
    let looks = 0;
    const trap = {
      get value(): string {
        if (++looks > 2) throw new Error('no more');
        // Room comes while we wait, and the value is encoded once more.
        drain(far);
        return 'x'.repeat(900);
      },
    };
    try {
      near.send(trap, { timeoutMs: 50 });
    } catch {
      // What matters is the reader.
    }
    far.postMessage('still heard');
    assert.equal(await settles(received), true);
  }));

test('a getter that posts while its value is being encoded is refused, and neither message is damaged', () =>
  withPair({ capacityBytes: 1024 }, ({ near, far }) => {
    let failure: unknown;
    const value = {
      head: 'h'.repeat(2000),
      get nested(): string {
        try {
          near.postMessage({ other: 'o'.repeat(3000) });
        } catch (error) {
          failure = error;
        }
        return 'n';
      },
      tail: 't'.repeat(2000),
    };
    near.postMessage(value);
    const arrived: unknown[] = [];
    for (let i = 0; i < 50; i++) {
      arrived.push(...drain(far));
      near.tryReceive();
    }
    assert.deepEqual(arrived, [{ head: 'h'.repeat(2000), nested: 'n', tail: 't'.repeat(2000) }]);
    assert.equal((failure as { code?: string }).code, 'ERR_BUSY');
  }));

test('small messages in the outbox count for what they keep in memory', () =>
  withPair({ outboxBytes: 1_000_000, capacityBytes: 1024 }, ({ near }) => {
    let count = 0;
    assert.throws(
      () => {
        for (; count < 100_000; count++) near.postMessage(1);
      },
      { code: 'ERR_OUTBOX_FULL' },
    );
    assert.ok(count < 10_000, `${count} messages`);
  }));

test('a large outbox is left behind at once when the port closes', () =>
  withPair({ capacityBytes: 1024 }, ({ near, far }) => {
    const total = 100_000;
    for (let i = 0; i < total; i++) near.postMessage(i);
    near.close();
    let sum = 0;
    for (const value of drain(far)) sum += value as number;
    assert.equal(sum, (total * (total - 1)) / 2);
  }));

// ---- the side channel ---------------------------------------------------------------------------------------------

test('at most 256 values lie in the side channel, and dropped ones are let go', () =>
  withPair({ overflow: 'drop-oldest', highWaterMarkBytes: 1 }, async ({ near, far, words }) => {
    const total = 2000;
    for (let i = 0; i < total; i++) {
      const buffer = new ArrayBuffer(8);
      new Int32Array(buffer)[0] = i;
      near.postMessage(buffer, [buffer]);
      assert.equal(buffer.byteLength, 0);
    }
    await turn();
    const values = drain(far) as ArrayBuffer[];
    const taken = Atomics.load(words, layout.LANE_0 + layout.SIDE_TAKEN);
    assert.deepEqual([values.length, taken], [256, 256]);
    const last = (await far.receiveAsync()) as ArrayBuffer;
    assert.equal(new Int32Array(last)[0], total - 1);
  }));

test('what waited in the outbox for the side channel arrives after close, transferred ports included', () =>
  withPair({}, async ({ near, far }) => {
    const total = 600;
    for (let i = 0; i < total; i++) {
      const { port1, port2 } = new MessageChannel();
      near.postMessage({ i, port2 }, [port2]);
      port1.close();
    }
    near.close();
    const values = drain(far) as { i: number; port2: unknown }[];
    assert.equal(values.length, total);
    for (const [i, value] of values.entries()) {
      assert.equal(value.i, i);
      assert.equal(value.port2 instanceof MessagePort, true);
      (value.port2 as MessagePort).close();
    }
  }));

test('a string with a transfer list moves what is in the list', () =>
  withPair({}, ({ near, far }) => {
    const buffer = new ArrayBuffer(8);
    near.postMessage('text', [buffer]);
    assert.deepEqual([buffer.byteLength, far.tryReceive()], [0, 'text']);
  }));

test('a port that waits for room in the side channel uses no CPU', () =>
  withPair({}, async ({ near, far }) => {
    near.postMessage(0);
    drain(far);
    const fresh = (): ArrayBuffer => new ArrayBuffer(8);
    for (let buffer = fresh(); near.trySend(buffer, [buffer]); buffer = fresh());
    const drained = near.drained();
    for (let i = 0; i < 20; i++) await turn();
    const before = near.stats().stalls;
    const parks = near.stats().parks;
    for (let i = 0; i < 50; i++) await turn();
    assert.equal(near.stats().stalls, before);
    assert.ok(parks >= 1, 'it sleeps');
    drain(far);
    assert.equal(await settles(drained), true);
  }));

// ---- receiving ----------------------------------------------------------------------------------------------------

test('a listener that comes after the end still gets what was sent before it', () =>
  withPair({}, async ({ near, far }) => {
    far.postMessage('early');
    far.close();
    assert.equal(await settles(near.closed), true);
    await turn();
    await turn();
    const got: unknown[] = [];
    near.on('message', (value) => got.push(value));
    for (let i = 0; i < 20 && got.length === 0; i++) await turn();
    assert.deepEqual(got, ['early']);
  }));

test('receiveMany returns what it has when the next message cannot be decoded, and reports that one next', () =>
  withPair({}, ({ near, far, words }) => {
    near.postMessage('good');
    const at = Atomics.load(words, layout.LANE_0 + layout.TAIL);
    near.postMessage('bad');
    near.postMessage('good too');
    new Uint8Array(words.buffer).fill(0xff, 1024 + at + 8, 1024 + at + 16);
    assert.deepEqual(far.receiveMany(10), ['good']);
    assert.throws(() => far.receiveMany(10), { code: 'ERR_DECODE' });
    assert.deepEqual(far.receiveMany(10), ['good too']);
  }));

test('an async loop over messages that are there already lets timers run', () =>
  withPair({}, async ({ near, far }) => {
    let ticked = false;
    let count = 0;
    setTimeout(() => {
      ticked = true;
      near.close();
    });
    for await (const value of far) {
      assert.equal(value, 1);
      if (++count > 200_000) break;
      if (!ticked) near.postMessage(1);
      if (count === 1) near.postMessage(1);
    }
    near.close();
    assert.equal(ticked, true, `no timer ran in ${count} messages`);
  }));

test('a loop over drained lets timers run', () =>
  withPair({}, async ({ near, far }) => {
    let ticked = false;
    setTimeout(() => {
      ticked = true;
    });
    for (let i = 0; i < 200_000 && !ticked; i++) {
      near.postMessage(1);
      far.tryReceive();
      await near.drained();
    }
    assert.equal(ticked, true);
  }));

test('a loop over messages ends quietly when its body closes the port', () =>
  withPair({}, async ({ near, far }) => {
    near.postMessage(1);
    near.postMessage(2);
    const got: unknown[] = [];
    for await (const value of far) {
      got.push(value);
      far.close();
    }
    assert.deepEqual(got, [1]);
    far.close();
  }));

test('once and on with the same function: the first message takes only the once away', () =>
  withPair({}, async ({ near, far }) => {
    let calls = 0;
    const listener = (): void => {
      calls++;
    };
    far.once('message', listener);
    far.on('message', listener);
    for (let i = 0; i < 3; i++) near.postMessage(i);
    for (let i = 0; i < 20; i++) await turn();
    assert.equal(calls, 4);
  }));

// ---- damage -------------------------------------------------------------------------------------------------------

test('damage met by a call settles `closed` on both sides', () =>
  withPair({}, async ({ near, far, words }) => {
    Atomics.store(words, layout.LANE_0 + layout.TAIL, 12);
    assert.throws(() => far.tryReceive(), { code: 'ERR_LAYOUT' });
    assert.equal(await settles(far.closed), true);
    assert.equal(await settles(near.closed), true);
    assert.deepEqual([await far.closed, await near.closed], ['lost', 'lost']);
  }));

test('damage met by drained ends the channel with an error, once', () =>
  withPair({ capacityBytes: 1024 }, async ({ near, words }) => {
    fill(near, 'x'.repeat(100));
    Atomics.store(words, layout.LANE_0 + layout.HEAD, 12);
    await assert.rejects(async () => near.drained(), { code: 'ERR_LAYOUT' });
    assert.equal(await near.closed, 'lost');
  }));

test('damage met at the end rejects a pending flush and throws nowhere else', () =>
  withPair({}, async ({ near, words }) => {
    near.postMessage(1);
    const flushed = near.flush();
    Atomics.store(words, layout.LANE_0 + layout.HEAD, 12);
    near.close();
    await assert.rejects(flushed, { code: 'ERR_CLOSED' });
  }));

test('a marker too short for its number is damage, in the ring', () =>
  withPair({}, ({ far, words }) => {
    words[256] = 0;
    words[257] = 5;
    Atomics.store(words, layout.LANE_0 + layout.TAIL, 8);
    assert.throws(() => far.tryReceive(), { code: 'ERR_LAYOUT' });
  }));

test('a marker too short for its number is damage, in parts', () =>
  withPair({}, ({ far, words }) => {
    words.set([8, 5 | 0x100, 0, 0, 0, 5], 256);
    Atomics.store(words, layout.LANE_0 + layout.TAIL, 24);
    assert.throws(() => far.tryReceive(), { code: 'ERR_LAYOUT' });
  }));

test('a message limit beyond what a header can say is refused', () => {
  const { port, remote } = channel();
  Atomics.store(new Int32Array(remote.memory), layout.MESSAGE_MAX, 0x7fffffff);
  assert.throws(() => attach(remote), { code: 'ERR_LAYOUT' });
  port.close();
});

// ---- options ------------------------------------------------------------------------------------------------------

test('attach refuses options that only the maker of a channel can give', () => {
  const { port, remote } = channel();
  assert.throws(() => attach(remote, { capacityBytes: 4096 } as never), { code: 'ERR_OPTION' });
  port.close();
});

test('a number in place of options is refused', () =>
  withPair({}, async ({ near }) => {
    assert.throws(() => near.receive(0 as never), { code: 'ERR_OPTION' });
    assert.throws(() => near.send(1, 5 as never), { code: 'ERR_OPTION' });
    await assert.rejects(near.receiveAsync(0 as never), { code: 'ERR_OPTION' });
  }));
