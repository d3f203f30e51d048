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
      assert.equal(end.in.ready, false);
      assert.equal(end.out.writable, true);
      assert.equal(end.out.backlog, 0);
      assert.equal(end.in.tryReceive(), EMPTY);
      assert.equal(end.interrupts?.word ?? 0, 0);
    }
    a.out.post('to b');
    b.out.post('to a');
    assert.equal(a.in.ready && b.in.ready, true);
    assert.deepEqual([a.in.tryReceive(), b.in.tryReceive()], ['to a', 'to b']);
  });

  channel(
    'trySend() answers false when full; post() goes on through the outbox',
    ({ transport: a }, { transport: b }) => {
      let sent = 0;
      while (a.out.trySend(sent)) sent++;
      a.out.post(sent);
      assert.equal(a.out.backlog, 1);
      const read: unknown[] = [];
      while (read.length <= sent) {
        const value = b.in.tryReceive();
        if (value === EMPTY) a.out.pump();
        else read.push(value);
      }
      assert.deepEqual(read, [...Array(sent + 1).keys()]);
      assert.equal(a.out.pump(), true);
      assert.equal(a.loop.stirs(false, true, undefined), true);
    },
  );

  channel('a mark is taken over when the peer has read up to it', ({ transport: a }, { transport: b }) => {
    assert.equal(a.out.taken(a.out.mark()), true, 'nothing was sent');
    for (let i = 0; i < 200; i++) a.out.post(i);
    const mark = a.out.mark();
    a.out.post('behind the mark');
    for (let i = 0; i < 200; i++) {
      assert.equal(a.out.taken(mark), false, `after ${i}`);
      assert.equal(b.in.tryReceive(), i);
    }
    assert.equal(a.out.taken(mark), true, 'what is behind the mark lies unread');
  });

  channel('park() refuses when there is something; else the peer wakes the sleeper', async (a, b) => {
    a.transport.out.post(1);
    assert.equal(b.transport.loop.park(true, false, undefined), false);
    b.transport.in.tryReceive();
    const before = b.woken();
    assert.equal(b.transport.loop.park(true, false, undefined), true);
    a.transport.out.post(2);
    await until('the sleeper is woken', () => b.woken() > before);
    assert.equal(b.transport.in.tryReceive(), 2);
  });

  channel('a sender that sleeps for room is woken by the reader', async (a, b) => {
    while (a.transport.out.trySend('fill'));
    const before = a.woken();
    assert.equal(a.transport.loop.park(false, true, undefined), true);
    while (b.transport.in.tryReceive() !== EMPTY);
    await until('the sender is woken', () => a.woken() > before);
    assert.equal(a.transport.out.trySend('room'), true);
  });

  channel("the peer's close wakes a sleeper; what was sent is read first, then the end", async (a, b) => {
    assert.equal(b.transport.loop.park(true, false, undefined), true);
    const before = b.woken();
    a.transport.out.post('last words');
    for (let i = 0; i < 200; i++) a.transport.out.post(i);
    a.transport.close('closed');
    await until('the sleeper is woken', () => b.woken() > before);
    assert.equal(b.transport.in.ready, true);
    const read: unknown[] = [];
    for (let value = b.transport.in.tryReceive(); value !== CLOSED; value = b.transport.in.tryReceive()) {
      if (value === EMPTY) await turn();
      else read.push(value);
    }
    assert.deepEqual(read, ['last words', ...Array(200).keys()]);
    assert.equal(b.transport.ended, 'closed');
    assert.equal(a.transport.ended, 'closed');
    assert.equal(b.transport.in.tryReceive(), CLOSED);
  });

  channel('the reason given to close() is what the peer learns', ({ transport: a }, { transport: b }) => {
    a.close('crash');
    assert.equal(b.ended, 'crash');
    a.close('closed');
    assert.equal(b.ended, 'crash', 'the first reason stays');
  });

  channel(
    'blocked waits, where there are any, look at once, and give up at their limit',
    ({ transport: a }, { transport: b }) => {
      if (a.blocking === undefined || b.blocking === undefined) return;
      assert.equal(b.blocking.readable(1, false), false);
      a.out.post(1);
      assert.equal(b.blocking.readable(1000, false), true);
      assert.equal(
        a.blocking.progress(() => true, 0),
        true,
      );
      assert.equal(
        a.blocking.progress(() => false, 1),
        false,
      );
    },
  );

  channel('interrupts, where there are any, go beside the queue', async ({ transport: a }, { transport: b }) => {
    if (a.interrupts === undefined || b.interrupts === undefined) return;
    const { interrupts } = b;
    a.interrupts.raise(5);
    await until('the word is there', () => interrupts.word === 5);
    assert.equal(a.interrupts.word, 0);
    assert.equal(interrupts.clear(), 5);
    assert.equal(interrupts.word, 0);
  });

  channel('cork() publishes at its end', ({ transport: a }, { transport: b }) => {
    a.out.cork(() => {
      a.out.post(1);
      assert.equal(b.in.tryReceive(), EMPTY);
    });
    assert.equal(b.in.tryReceive(), 1);
  });

  channel('counters count', ({ transport: a }, { transport: b }) => {
    for (let i = 0; i < 3; i++) a.out.post(i);
    assert.equal(a.inspect().stats().sent, 3);
    for (let i = 0; i < 3; i++) b.in.tryReceive();
    assert.equal(b.inspect().stats().received, 3);
    assert.ok(a.inspect().stats().sentBytes > 0 && b.inspect().stats().receivedBytes > 0);
    assert.ok(a.inspect().stats().capacityBytes >= 1024);
  });
}
