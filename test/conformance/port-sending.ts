// Writing to a port: bounds, back-pressure and overflow policies, flush, messages larger than the ring.
import assert from 'node:assert/strict';
import process from 'node:process';
import { test } from 'node:test';
import { CLOSED, ClosedError, EMPTY, UsageError } from '../../src/index.ts';
import { STEP_MS, turn, until, within } from '../kit/watchdog.ts';
import { arrivals } from './arrivals.ts';
import { only, type PortWorld, saysLengths } from './port.ts';

const TINY = { capacityBytes: 1024 };

export function portSending(world: PortWorld): void {
  const { name, pair, far, threads, blocks, moves, latest, late } = world;
  const { next, readOut, sees, quiet } = arrivals(world);
  const inThreads = only(threads);
  test(`${name}: trySend() answers false when full, drained resolves when there is room, nothing is lost`, async () => {
    const { a, b } = await pair(TINY);
    let sent = 0;
    while (a.trySend(`message ${sent}`)) sent++;
    assert.ok(sent > 5 && sent < 1000, `${sent} messages fit`);
    assert.equal(a.trySend('refused'), false);
    let drained = false;
    const room = a.drained().then(() => {
      drained = true;
    });
    await turn();
    assert.equal(drained, false);
    for (let i = 0; i < sent; i++) assert.equal(await next(b), `message ${i}`);
    assert.equal(b.tryReceive(), EMPTY);
    await within('room', room);
    assert.equal(a.trySend('fits now'), true);
    assert.equal(await next(b), 'fits now');
    a.close();
    b.close();
  });

  only(blocks)(
    `${name}: whoever blocked in send() for nothing is woken by its listener's messages as before`,
    async () => {
      // Both sleep on one word: what the blocked call takes back there, the event loop must announce anew.
      const { a, b } = await pair({ ...TINY, spinMicroseconds: false });
      const heard: unknown[] = [];
      a.on('message', (value) => heard.push(value));
      while (a.trySend('filler'));
      for (let i = 0; i < 5; i++) await turn();
      assert.equal(a.send('too much', { timeoutMs: 5 }), false);
      b.postMessage('heard');
      await until('the message was heard', () => heard.length > 0);
      assert.deepEqual(heard, ['heard']);
      a.close();
      b.close();
    },
  );

  inThreads(`${name}: a sender that awaits drained keeps memory bounded and every message in order`, async () => {
    const { port, thread } = far((stage) => {
      const port = stage.port();
      let expected = 0;
      for (const value of port.blocking()) {
        if (value !== expected) throw new Error(`${value} came instead of ${expected}`);
        expected++;
      }
      return expected;
    }, TINY);
    for (let i = 0; i < 3000; i++) {
      while (!port.trySend(i)) await within('room', port.drained());
    }
    assert.equal(port.stats().outboxBytesPeak, 0);
    port.close();
    assert.equal(await thread.done(), 3000);
  });

  only(blocks)(`${name}: send() blocks while full and gives up at its time limit, having sent nothing`, async () => {
    const { a, b } = await pair(TINY);
    let sent = 0;
    while (a.trySend(sent)) sent++;
    assert.equal(a.send('too late', { timeoutMs: 10 }), false);
    for (let i = 0; i < sent; i++) assert.equal(await next(b), i);
    assert.equal(b.tryReceive(), EMPTY);
    a.close();
    b.close();
  });

  inThreads(`${name}: send() goes on as soon as a reader in another thread makes room`, async () => {
    const { port, thread } = far((stage) => {
      let count = 0;
      for (const _ of stage.port().blocking()) count++;
      return count;
    }, TINY);
    for (let i = 0; i < 3000; i++) assert.equal(port.send(`message ${i}`, { timeoutMs: STEP_MS }), true);
    port.close();
    assert.equal(await thread.done(), 3000);
  });

  inThreads(`${name}: two threads that block in send() to each other both go on`, async () => {
    const { port, thread } = far((stage) => {
      const port = stage.port();
      stage.gates.open(0);
      for (let i = 0; i < 2000; i++) port.send(`there ${i}`);
      let count = 0;
      while (count < 2000) if (port.receive() === `here ${count}`) count++;
      return count;
    }, TINY);
    thread.gates.pass(0);
    for (let i = 0; i < 2000; i++) assert.equal(port.send(`here ${i}`, { timeoutMs: STEP_MS }), true);
    for (let i = 0; i < 2000; i++) assert.equal(port.receive({ timeoutMs: STEP_MS }), `there ${i}`);
    assert.equal(await thread.done(), 2000);
    port.close();
  });

  test(`${name}: overflow wait: postMessage() takes more than fits, and refuses at the hard limit`, async () => {
    const { a, b } = await pair({ ...TINY, highWaterMarkBytes: 500, outboxBytes: 2000 });
    const refused = (error: unknown): boolean => error instanceof UsageError && error.code === 'ERR_OUTBOX_FULL';
    let sent = 0;
    assert.throws(() => {
      for (;;) {
        a.postMessage(`message ${sent}`);
        sent++;
      }
    }, refused);
    // The last one goes over the limit, by its own bytes and what a message counts for beside them.
    assert.ok(a.stats().outboxBytes <= 2000 + 100 + 256, `${a.stats().outboxBytes} bytes wait`);
    for (let i = 0; i < sent; i++) assert.equal(await within('a message', b.receiveAsync()), `message ${i}`);
    assert.equal(b.tryReceive(), EMPTY);
    assert.equal(a.stats().dropped, 0);
    a.close();
    b.close();
  });

  test(`${name}: drained is pending from the high-water mark on, and resolves below it`, async () => {
    const { a, b } = await pair({ ...TINY, highWaterMarkBytes: 300 });
    await within('room at the start', a.drained());
    for (let i = 0; i < 200; i++) a.postMessage(`message ${i}`);
    let drained = false;
    const room = a.drained().then(() => {
      drained = true;
    });
    await turn();
    assert.equal(drained, false);
    for (let i = 0; i < 200; i++) assert.equal(await within('a message', b.receiveAsync()), `message ${i}`);
    await within('room', room);
    a.close();
    b.close();
  });

  test(`${name}: overflow reject: postMessage() refuses above the mark`, async () => {
    const { a, b } = await pair({ ...TINY, highWaterMarkBytes: 200, overflow: 'reject' });
    let sent = 0;
    assert.throws(
      () => {
        for (; sent < 10000; sent++) a.postMessage(sent);
      },
      (error) => error instanceof UsageError && error.code === 'ERR_OUTBOX_FULL',
    );
    assert.ok(sent > 10 && sent < 10000);
    a.close();
    assert.deepEqual(
      await readOut(b),
      [...Array(sent).keys()],
      'what was accepted arrives, also what was in the outbox at close',
    );
    b.close();
  });

  for (const overflow of ['drop-oldest', 'drop-newest', 'latest'] as const) {
    if (overflow === 'latest' && !latest) continue;
    test(`${name}: overflow ${overflow}: postMessage() never refuses, stays bounded and counts what it drops`, async () => {
      const { a, b } = await pair({ ...TINY, highWaterMarkBytes: 200, overflow });
      for (let i = 0; i < 1000; i++) {
        a.postMessage(i);
        assert.ok(a.stats().outboxBytes <= 300);
      }
      const { dropped } = a.stats();
      assert.ok(dropped > 0 && dropped < 1000, `${dropped} dropped`);
      a.close();
      const read: number[] = [];
      if (late === undefined) {
        for (
          let value = b.receive({ timeoutMs: STEP_MS });
          value !== CLOSED;
          value = b.receive({ timeoutMs: STEP_MS })
        ) {
          read.push(value as number);
        }
      } else read.push(...((await readOut(b)) as number[]));
      assert.equal(read.length, 1000 - dropped, 'every message was delivered or counted');
      assert.deepEqual(
        read,
        [...read].sort((x, y) => x - y),
        'in order',
      );
      if (overflow === 'drop-newest') assert.deepEqual(read, [...Array(read.length).keys()]);
      else assert.equal(read.at(-1), 999, 'the newest is there');
      if (overflow === 'latest') assert.equal(read.length, 1, 'nothing but the newest');
      b.close();
    });
  }

  test(`${name}: flush() resolves when the peer has taken over everything sent before, not earlier`, async () => {
    const { a, b } = await pair(TINY);
    await within('an empty flush', a.flush());
    for (let i = 0; i < 300; i++) a.postMessage(`message ${i}`);
    let flushed = false;
    const flush = a.flush().then(() => {
      flushed = true;
    });
    for (let i = 0; i < 299; i++) assert.equal(await within('a message', b.receiveAsync()), `message ${i}`);
    await turn();
    assert.equal(flushed, false);
    assert.equal(await next(b), 'message 299');
    assert.equal(b.tryReceive(), EMPTY);
    await within('flush', flush);
    a.close();
    b.close();
  });

  test(`${name}: cork() publishes together, also when its body throws`, async () => {
    const { a, b } = await pair();
    a.cork(() => {
      a.postMessage(1);
      a.postMessage(2);
      assert.equal(b.tryReceive(), EMPTY);
    });
    assert.equal(await next(b), 1);
    assert.equal(b.tryReceive(), 2, 'together');
    assert.throws(
      () =>
        a.cork(() => {
          a.postMessage(3);
          throw new Error('from the body');
        }),
      /from the body/,
    );
    assert.equal(await next(b), 3);
    a.close();
    b.close();
  });

  test(`${name}: a message larger than the ring flows through in parts`, async () => {
    const { a, b } = await pair(TINY);
    const text = 'x'.repeat(100_000);
    a.postMessage(text);
    a.postMessage('behind it');
    assert.equal(await within('the large one', b.receiveAsync()), text);
    assert.equal(await within('the one behind', b.receiveAsync()), 'behind it');
    await quiet();
    assert.equal(a.trySend(text), true);
    assert.equal(await within('the large one again', b.receiveAsync()), text);
    a.close();
    b.close();
  });

  inThreads(`${name}: larger messages in both directions at once, both sides blocked in send()`, async () => {
    const { port, thread } = far((stage) => {
      const port = stage.port();
      const text = 'y'.repeat(50_000);
      for (let i = 0; i < 20; i++) port.send(text + i);
      const lengths: number[] = [];
      while (lengths.length < 20) lengths.push((port.receive() as string).length);
      return lengths;
    }, TINY);
    const text = 'x'.repeat(50_000);
    for (let i = 0; i < 20; i++) assert.equal(port.send(text + i, { timeoutMs: STEP_MS }), true);
    for (let i = 0; i < 20; i++) assert.equal(port.receive({ timeoutMs: STEP_MS }), 'y'.repeat(50_000) + i);
    const lengths = (await thread.done()) as number[];
    assert.deepEqual(
      lengths,
      [...Array(20).keys()].map((i) => 50_000 + String(i).length),
    );
    port.close();
  });

  test(`${name}: larger messages in both directions at once on event loops`, async () => {
    const { a, b } = await pair(TINY);
    const text = 'z'.repeat(30_000);
    for (let i = 0; i < 10; i++) {
      a.postMessage(`${text}a${i}`);
      b.postMessage(`${text}b${i}`);
    }
    for (let i = 0; i < 10; i++) {
      assert.equal(await within('from a', b.receiveAsync()), `${text}a${i}`);
      assert.equal(await within('from b', a.receiveAsync()), `${text}b${i}`);
    }
    a.close();
    b.close();
  });

  test(`${name}: a message above maxMessageBytes is refused with ERR_TOO_LARGE, and the channel goes on`, async () => {
    const { a, b } = await pair({ ...TINY, maxMessageBytes: 5000 });
    const refused = (error: unknown): boolean =>
      error instanceof UsageError && error.code === 'ERR_TOO_LARGE' && saysLengths(error, 5000);
    const long = 'x'.repeat(6000);
    assert.throws(() => a.postMessage(long), refused);
    assert.throws(() => a.trySend(long), refused);
    assert.throws(() => a.send(long), refused);
    a.postMessage('short');
    assert.equal(await next(b), 'short');
    a.close();
    b.close();
  });

  test(`${name}: after the end postMessage() drops quietly, moves nothing and counts; send() and trySend() throw`, async () => {
    const refused = (error: unknown): boolean =>
      error instanceof ClosedError && error.code === 'ERR_CLOSED' && error.reason === 'closed';
    const { a, b } = await pair();
    a.close();
    a.close();
    await sees('the end', () => b.reason !== undefined);
    for (const port of [a, b]) {
      const buffer = new ArrayBuffer(8);
      port.postMessage(buffer, [buffer]);
      port.postMessage({ buffer }, { transfer: [buffer] });
      port.postMessage(() => {}, []);
      assert.equal(buffer.byteLength, 8, 'it stays');
      const corked = port.cork(() => {
        port.postMessage('corked');
        return 'what the body returns';
      });
      assert.equal(corked, 'what the body returns');
      assert.equal(port.stats().undelivered, 4);
      assert.equal(port.stats().sent, 0);
      assert.throws(() => port.trySend(buffer, [buffer]), refused);
      assert.throws(() => port.send(buffer, { transfer: [buffer] }), refused);
      assert.throws(() => port.postMessage(1, 'no list' as never), { code: 'ERR_TRANSFER' });
      assert.equal(buffer.byteLength, 8);
      assert.equal(port.stats().undelivered, 4, 'what is thrown is not counted');
      port.interrupt();
      assert.equal(port.interrupted, 0);
      assert.equal(port.full, false);
      assert.equal(port.moveOutbox(), true);
      await assert.rejects(port.drained(), refused);
      await (port === a ? assert.rejects(port.flush(), refused) : port.flush());
    }
    b.close();
    b.postMessage('both ends are closed');
    assert.equal(b.stats().undelivered, 5);
  });

  test(`${name}: undelivered counts what the peer had not taken over when it ended: in the ring, in parts, in the outbox`, async () => {
    const { a, b } = await pair(TINY);
    const port = new MessageChannel().port1;
    for (let i = 0; i < 200; i++) a.postMessage(i);
    a.postMessage('l'.repeat(5000));
    if (moves) a.postMessage({ port }, [port]);
    else a.postMessage('in its place');
    assert.equal(a.stats().undelivered, 0, 'open');
    for (let i = 0; i < 40; i++) assert.equal(await within('a message', b.receiveAsync()), i);
    b.close();
    assert.equal(await within('the end', a.closed), 'closed');
    assert.equal(a.stats().undelivered, 162);
    a.postMessage('late');
    assert.equal(a.stats().undelivered, 163);
    a.close();
    assert.equal(a.stats().undelivered, 163, 'final');
  });

  test(`${name}: undelivered falls while the peer reads what an ended side left, and leaves out what was dropped`, async () => {
    for (const overflow of ['wait', 'drop-oldest', 'drop-newest'] as const) {
      const { a, b } = await pair({ ...TINY, highWaterMarkBytes: 2000, overflow });
      for (let i = 0; i < 100; i++) a.postMessage(i);
      const { dropped } = a.stats();
      a.close();
      a.postMessage('late');
      assert.equal(a.stats().undelivered, 101 - dropped);
      for (let i = 0; i < 10; i++) assert.notEqual(await within('a message', b.receiveAsync()), CLOSED);
      await sees('ten were taken', () => a.stats().undelivered === 91 - dropped);
      while ((await within('a message', b.receiveAsync())) !== CLOSED);
      await sees('all were taken', () => a.stats().undelivered === 1);
      assert.equal(b.stats().received, 100 - dropped);
      b.close();
    }
  });

  test(`${name}: a promise of drained() or flush() that nobody looks at takes no process down when it is rejected`, async () => {
    let unhandled = 0;
    const count = (): void => void unhandled++;
    process.on('unhandledRejection', count);
    for (const closer of ['a', 'b'] as const) {
      const ports = await pair(TINY);
      while (ports.a.trySend('full'));
      void ports.a.drained();
      void ports.a.flush();
      ports[closer].close();
      void ports.a.drained();
      void ports.a.flush();
      await within('the end', ports.a.closed);
      ports.a.close();
      ports.b.close();
    }
    // Rejections that nobody has handled are told of when the event loop turns.
    await turn();
    await turn();
    process.off('unhandledRejection', count);
    assert.equal(unhandled, 0);
  });

  test(`${name}: full is true exactly while drained() is pending, and postMessage() refuses only while it is`, async () => {
    const isFull = (error: unknown): boolean => error instanceof UsageError && error.code === 'ERR_OUTBOX_FULL';
    for (const overflow of ['wait', 'reject'] as const) {
      for (const [highWaterMarkBytes, outboxBytes] of [
        [0, 1],
        [0, 5000],
        [2000, 1],
        [2000, 600],
        [2000, 2000],
        [2000, 5000],
      ] as const) {
        const what = `${overflow}, mark ${highWaterMarkBytes}, limit ${outboxBytes}`;
        const { a, b } = await pair({ ...TINY, overflow, highWaterMarkBytes, outboxBytes });
        let read = 0;
        let sent = 0;
        for (let step = 0; step < 300; step++) {
          const { full } = a;
          let pending = true;
          const done = (): void => {
            pending = false;
          };
          a.drained().then(done, done);
          // A loop that never pauses is given its promise in a later turn.
          if (step % 16 === 15) await turn();
          else await Promise.resolve();
          // Room may have come meanwhile, and then its promise comes true a little later: in WebKit's workers a port's turn may come behind several timers.
          for (let i = 0; i < 100 && pending && !(late === undefined ? full : a.full); i++) await turn();
          assert.equal(pending, late === undefined ? full : a.full, `${what}, step ${step}`);
          try {
            a.postMessage(sent);
            sent++;
          } catch (error) {
            if (!isFull(error)) throw error;
            assert.equal(full, true, `${what}: refused though it was not full`);
          }
          if (step > 150) {
            const value = b.tryReceive();
            if (value !== EMPTY) assert.equal(value, read++);
            a.moveOutbox();
          }
        }
        assert.ok(sent > read);
        a.close();
        b.close();
      }
    }
  });

  inThreads(
    `${name}: send() moves what is in its transfer list, at once or once there is room, and nothing when it gives up`,
    async () => {
      const { port, thread } = far((stage) => {
        const port = stage.port();
        stage.gates.pass(0);
        let bytes = 0;
        for (const value of port.blocking()) if (value instanceof ArrayBuffer) bytes += value.byteLength;
        return bytes;
      }, TINY);
      let fillers = 0;
      for (let filler = new ArrayBuffer(1); port.trySend(filler, [filler]); filler = new ArrayBuffer(1)) fillers++;
      const kept = new ArrayBuffer(16);
      assert.equal(port.send(kept, { transfer: [kept], timeoutMs: 5 }), false);
      assert.equal(kept.byteLength, 16, 'it stays');
      thread.gates.open(0);
      assert.equal(port.send(kept, { transfer: [kept], timeoutMs: STEP_MS }), true);
      assert.equal(kept.byteLength, 0, 'it has moved');
      assert.throws(() => port.send(1, { transfer: 'no list' as never }), { code: 'ERR_TRANSFER' });
      assert.throws(() => port.send(1, { signal: AbortSignal.abort() } as never), { code: 'ERR_OPTION' });
      port.close();
      assert.equal(await thread.done(), 16 + fillers);
    },
  );

  test(`${name}: closing rejects a pending drained and a pending flush with ClosedError, on both ends`, async () => {
    for (const closer of ['a', 'b'] as const) {
      const ports = await pair(TINY);
      while (ports.a.trySend('full'));
      const drained = ports.a.drained();
      const flush = ports.a.flush();
      ports[closer].close();
      await assert.rejects(within('drained', drained), ClosedError);
      await assert.rejects(within('flush', flush), ClosedError);
      ports.a.close();
      ports.b.close();
    }
  });
}
