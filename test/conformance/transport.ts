// What a port needs of the medium under it (src/transport/transport.ts), asked of both ends in one thread.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CLOSED, EMPTY } from '../../src/index.ts';
import type { Transport } from '../../src/transport/transport.ts';
import { turn, until } from '../kit/watchdog.ts';

export interface TransportEnd {
  readonly transport: Transport;
  /** How often the transport has told its owner to look. */
  readonly woken: () => number;
}

/** @param make both ends of a channel whose lanes hold about 1 KiB each */
export function transportConformance(name: string, make: () => readonly [TransportEnd, TransportEnd]): void {
  const channel = (what: string, body: (a: TransportEnd, b: TransportEnd) => unknown): void => {
    test(`${name}: ${what}`, async () => {
      const [a, b] = make();
      try {
        await body(a, b);
      } finally {
        a.transport.close('closed');
        b.transport.close('closed');
      }
    });
  };

  channel('both directions are open, empty and independent at the start', ({ transport: a }, { transport: b }) => {
    for (const end of [a, b]) {
      assert.equal(end.ended, undefined);
      assert.equal(end.ready, false);
      assert.equal(end.writable, true);
      assert.equal(end.backlog, 0);
      assert.equal(end.tryReceive(), EMPTY);
      assert.equal(end.interrupted, 0);
    }
    a.post('to b');
    b.post('to a');
    assert.equal(a.ready && b.ready, true);
    assert.deepEqual([a.tryReceive(), b.tryReceive()], ['to a', 'to b']);
  });

  channel(
    'trySend() answers false when full; post() goes on through the outbox',
    ({ transport: a }, { transport: b }) => {
      let sent = 0;
      while (a.trySend(sent)) sent++;
      a.post(sent);
      assert.equal(a.backlog, 1);
      const read: unknown[] = [];
      while (read.length <= sent) {
        const value = b.tryReceive();
        if (value === EMPTY) a.pump();
        else read.push(value);
      }
      assert.deepEqual(read, [...Array(sent + 1).keys()]);
      assert.equal(a.pump(), true);
      assert.equal(a.progressed, true);
    },
  );

  channel('a mark is taken over when the peer has read up to it', ({ transport: a }, { transport: b }) => {
    assert.equal(a.takenUpTo(a.mark()), true, 'nothing was sent');
    for (let i = 0; i < 200; i++) a.post(i);
    const mark = a.mark();
    a.post('behind the mark');
    for (let i = 0; i < 200; i++) {
      assert.equal(a.takenUpTo(mark), false, `after ${i}`);
      assert.equal(b.tryReceive(), i);
    }
    assert.equal(a.takenUpTo(mark), true, 'what is behind the mark lies unread');
  });

  channel('park() refuses when there is something; else the peer wakes the sleeper', async (a, b) => {
    a.transport.post(1);
    assert.equal(b.transport.park(true, false), false);
    b.transport.tryReceive();
    const before = b.woken();
    assert.equal(b.transport.park(true, false), true);
    a.transport.post(2);
    await until('the sleeper is woken', () => b.woken() > before);
    assert.equal(b.transport.tryReceive(), 2);
  });

  channel('a sender that sleeps for room is woken by the reader', async (a, b) => {
    while (a.transport.trySend('fill'));
    const before = a.woken();
    assert.equal(a.transport.park(false, true), true);
    while (b.transport.tryReceive() !== EMPTY);
    await until('the sender is woken', () => a.woken() > before);
    assert.equal(a.transport.trySend('room'), true);
  });

  channel("the peer's close wakes a sleeper; what was sent is read first, then the end", async (a, b) => {
    assert.equal(b.transport.park(true, false), true);
    const before = b.woken();
    a.transport.post('last words');
    for (let i = 0; i < 200; i++) a.transport.post(i);
    a.transport.close('closed');
    await until('the sleeper is woken', () => b.woken() > before);
    assert.equal(b.transport.ready, true);
    const read: unknown[] = [];
    for (let value = b.transport.tryReceive(); value !== CLOSED; value = b.transport.tryReceive()) {
      if (value === EMPTY) await turn();
      else read.push(value);
    }
    assert.deepEqual(read, ['last words', ...Array(200).keys()]);
    assert.equal(b.transport.ended, 'closed');
    assert.equal(a.transport.ended, 'closed');
    assert.equal(b.transport.tryReceive(), CLOSED);
  });

  channel('the reason given to close() is what the peer learns', ({ transport: a }, { transport: b }) => {
    a.close('crash');
    assert.equal(b.ended, 'crash');
    a.close('closed');
    assert.equal(b.ended, 'crash', 'the first reason stays');
  });

  channel('blocked waits look at once, and give up at their limit', ({ transport: a }, { transport: b }) => {
    assert.equal(b.waitReadable(1), false);
    a.post(1);
    assert.equal(b.waitReadable(1000), true);
    assert.equal(
      a.waitProgress(() => true, 0),
      true,
    );
    assert.equal(
      a.waitProgress(() => false, 1),
      false,
    );
  });

  channel('interrupts go beside the queue', ({ transport: a }, { transport: b }) => {
    a.interrupt(5);
    assert.equal(b.interrupted, 5);
    assert.equal(a.interrupted, 0);
    assert.equal(b.clearInterrupt(), 5);
    assert.equal(b.interrupted, 0);
  });

  channel('cork() publishes at its end', ({ transport: a }, { transport: b }) => {
    a.cork(() => {
      a.post(1);
      assert.equal(b.tryReceive(), EMPTY);
    });
    assert.equal(b.tryReceive(), 1);
  });

  channel('counters count', ({ transport: a }, { transport: b }) => {
    for (let i = 0; i < 3; i++) a.post(i);
    assert.equal(a.stats().sent, 3);
    for (let i = 0; i < 3; i++) b.tryReceive();
    assert.equal(b.stats().received, 3);
    assert.ok(a.stats().sentBytes > 0 && b.stats().receivedBytes > 0);
    assert.ok(a.stats().capacityBytes >= 1024);
  });
}
