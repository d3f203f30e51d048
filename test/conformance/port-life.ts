// A port's life: how it ends and for what reason (G4, G5), what it does beside the queue, fairness (G11).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { CLOSED, type CloseReason, EMPTY, UsageError } from '../../src/index.ts';
import { turn, until, within } from '../kit/watchdog.ts';
import { arrivals } from './arrivals.ts';
import { only, type PortWorld } from './port.ts';

/** What this runtime's own way of showing a value makes of it. */
function logged(value: unknown): string {
  const deno = (globalThis as { Deno?: { inspect(value: unknown): string } }).Deno;
  if (deno !== undefined) return deno.inspect(value);
  const bun = (globalThis as { Bun?: { inspect(value: unknown): string } }).Bun;
  if (bun !== undefined) return bun.inspect(value);
  return inspect(value);
}

export function portLife(world: PortWorld): void {
  const { name, pair, far, threads, blocks, moves } = world;
  const { next, take, sees, quiet } = arrivals(world);
  const inThreads = only(threads);
  test(`${name}: what was posted before close() still arrives, also what was in the outbox, large and small`, async () => {
    const { a, b } = await pair({ capacityBytes: 1024 });
    const long = 'l'.repeat(20_000);
    const buffer = new ArrayBuffer(32);
    for (let i = 0; i < 100; i++) a.postMessage(i);
    a.postMessage(long);
    a.postMessage({ buffer }, moves ? [buffer] : []);
    a.postMessage('last');
    a.close();
    for (let i = 0; i < 100; i++) assert.equal(await within('a number', b.receiveAsync()), i);
    assert.equal(await within('the long one', b.receiveAsync()), long);
    assert.equal(((await within('the moved one', b.receiveAsync())) as { buffer: ArrayBuffer }).buffer.byteLength, 32);
    assert.equal(await within('the last', b.receiveAsync()), 'last');
    assert.equal(await within('the end', b.receiveAsync()), CLOSED);
    b.close();
  });

  test(`${name}: a large message whose first parts are in the ring at close() arrives whole`, async () => {
    const { a, b } = await pair({ capacityBytes: 1024 });
    const long = 'm'.repeat(10_000);
    a.postMessage(long);
    await turn();
    a.close();
    assert.equal(await within('the long one', b.receiveAsync()), long);
    assert.equal(await within('the end', b.receiveAsync()), CLOSED);
    b.close();
  });

  const ends: { how: string; reason: CloseReason; role: Parameters<PortWorld['far']>[0] }[] = [
    {
      how: 'closes its port',
      reason: 'closed',
      role: (stage) => {
        const port = stage.port();
        for (let i = 0; i < 500; i++) port.postMessage(i);
        port.close();
      },
    },
    {
      how: 'ends normally',
      reason: 'exit',
      role: (stage) => {
        const port = stage.port();
        for (let i = 0; i < 500; i++) port.postMessage(i);
      },
    },
    {
      how: 'calls process.exit()',
      reason: 'exit',
      role: (stage) => {
        const port = stage.port();
        for (let i = 0; i < 500; i++) port.postMessage(i);
        stage.exit();
      },
    },
    {
      how: 'throws',
      reason: 'crash',
      role: (stage) => {
        const port = stage.port();
        for (let i = 0; i < 500; i++) port.postMessage(i);
        stage.crash();
      },
    },
  ];
  for (const { how, reason, role } of ends) {
    inThreads(`${name}: a peer that ${how} leaves everything it posted, and the reason "${reason}"`, async () => {
      // The ring holds a part only: the rest waits in the peer's outbox when it ends.
      const { port } = far(role, { capacityBytes: 2048 });
      for (let i = 0; i < 500; i++) assert.equal(await within('a message', port.receiveAsync()), i);
      assert.equal(await within('the end', port.receiveAsync()), CLOSED);
      assert.equal(await within('the reason', port.closed), reason);
      port.close();
    });
  }

  inThreads(
    `${name}: a peer that is terminated leaves what it had published, and the reason "terminated"`,
    async () => {
      const { port, thread } = far((stage) => {
        const port = stage.port();
        for (let i = 0; i < 10; i++) port.postMessage(i);
        // On its event loop: on Deno a terminated thread that computes goes on computing, and so is alive.
        setInterval(() => stage.gates.open(0), 1);
        return new Promise(() => {});
      });
      await thread.gates.passAsync(0);
      await thread.kill();
      for (let i = 0; i < 10; i++) assert.equal(await within('a message', port.receiveAsync()), i);
      assert.equal(await within('the end', port.receiveAsync()), CLOSED);
      assert.equal(await within('the reason', port.closed), 'terminated');
      port.close();
    },
  );

  inThreads(`${name}: reason is known to synchronous code as soon as the end is, and undefined before`, async () => {
    for (const { reason, role } of ends) {
      const { port } = far(role, { capacityBytes: 65536 });
      assert.equal(port.receive(), 0);
      for (const _ of port.blocking());
      assert.equal(port.reason, reason);
      assert.equal(await within('the reason', port.closed), reason);
      port.close();
      assert.equal(port.reason, reason, 'closing this end as well tells nothing anew');
    }
    const { a, b } = await pair();
    assert.equal(a.reason, undefined);
    a.close();
    assert.deepEqual([a.reason, b.reason], ['closed', 'closed']);
    b.close();
  });

  inThreads(`${name}: a thread that answers a peer who has left does not die of it`, async () => {
    const { port, thread } = far((stage) => {
      const port = stage.port();
      const job = port.receive();
      // The peer closes in the middle of the job.
      for (const _ of port.blocking());
      port.postMessage({ done: job });
      port.interrupt();
      return port.stats().undelivered;
    });
    port.postMessage('a job');
    port.close();
    assert.equal(await thread.done(), 1);
  });

  inThreads(`${name}: a peer that is alive but busy is not called dead`, async () => {
    const { port, thread } = far((stage) => {
      const port = stage.port();
      stage.gates.open(0);
      stage.compute(1);
      port.postMessage('alive');
    });
    await thread.gates.passAsync(0);
    assert.equal(port.receive({ timeoutMs: 100 }), EMPTY);
    assert.equal(await within('the time limit', port.receiveAsync({ timeoutMs: 50 })), EMPTY);
    thread.gates.open(1);
    assert.equal(await within('the message', port.receiveAsync()), 'alive');
    port.close();
    await thread.done();
  });

  inThreads(`${name}: interrupt() sets a word that a busy peer reads without touching the queue`, async () => {
    const { port, thread } = far((stage) => {
      const port = stage.port();
      let turns = 0;
      while (port.interrupted === 0) turns++;
      return [port.interrupted, port.clearInterrupt(), port.interrupted, port.clearInterrupt(), turns >= 0];
    });
    port.postMessage('untouched');
    port.interrupt(7);
    assert.deepEqual(await thread.done(), [7, 7, 0, 0, true]);
    assert.equal(port.interrupted, 0);
    port.close();
  });

  inThreads(
    `${name}: an interrupt names its job: a late one leaves the next job alone, one that comes early keeps`,
    async () => {
      const { port, thread } = far((stage) => {
        const port = stage.port();
        const told: string[] = [];
        for (const id of port.blocking() as Iterable<number>) {
          stage.gates.open(id);
          stage.gates.pass(id + 10);
          told.push(`${id} ${port.interrupted === id ? 'aborted' : 'done'}`);
          port.clearInterrupt(id);
        }
        return told;
      });
      const job = (id: number, during: () => void): void => {
        port.postMessage(id);
        thread.gates.pass(id);
        during();
        thread.gates.open(id + 10);
      };
      job(1, () => port.interrupt(1));
      job(2, () => {});
      // Late: job 2 has ended when it is called off, and job 3 does not end of it.
      job(3, () => port.interrupt(2));
      // Early: job 4 is called off before the thread takes it; that job 3 was ended before changes nothing.
      job(4, () => port.interrupt(5));
      job(5, () => {});
      port.close();
      assert.deepEqual(await thread.done(), ['1 aborted', '2 done', '3 done', '4 done', '5 aborted']);
    },
  );

  only(blocks)(
    `${name}: receive({ interruptible: true }) comes back for an interrupt, blocked or not, and prefers messages`,
    async () => {
      const { a, b } = await pair();
      a.interrupt(3);
      assert.equal(b.receive({ interruptible: true }), EMPTY);
      assert.deepEqual(b.receiveMany(5, { interruptible: true, timeoutMs: 10_000 }), []);
      assert.equal(b.receive({ interruptible: true, timeoutMs: 10_000 }), EMPTY, 'as long as it stands');
      // As long as the interrupt stands nothing blocks, so what is late is looked for again.
      let came: unknown = EMPTY;
      const comes = (): boolean => {
        came = b.receive({ interruptible: true });
        return came !== EMPTY;
      };
      a.postMessage('a message');
      await sees('the message', comes);
      assert.equal(came, 'a message');
      assert.equal(b.receive({ timeoutMs: 1 }), EMPTY);
      assert.equal(b.clearInterrupt(4), 3, 'it is another one, and stays');
      assert.equal(b.clearInterrupt(3), 3);
      assert.equal(b.interrupted, 0);
      assert.equal(b.receive({ interruptible: true, timeoutMs: 1 }), EMPTY);
      await assert.rejects(b.receiveAsync({ interruptible: true } as never), { code: 'ERR_OPTION' });
      for (const wrong of [0, 1.5, '1' as never]) assert.throws(() => b.clearInterrupt(wrong), { code: 'ERR_OPTION' });
      a.interrupt();
      a.close();
      await sees('the end', comes);
      assert.equal(came, CLOSED, 'the end, too, comes first');
      b.close();
    },
  );

  for (const outbox of [false, true]) {
    const more = outbox ? ', also with something in its outbox' : '';
    inThreads(
      `${name}: an interrupt wakes a thread that sleeps in receive({ interruptible: true })${more}, and no other`,
      async () => {
        const { port, thread } = far(
          (stage) => {
            const port = stage.port();
            // More than the ring holds.
            if (stage.data) for (let i = 0; i < 200; i++) port.postMessage(i);
            let value: unknown;
            while ((value = port.receive({ interruptible: true })) !== 'enough') {
              if (value !== stage.millrace.EMPTY) throw new Error(`it came back with ${String(value)}`);
              if (port.clearInterrupt() !== 7) throw new Error('it came back for nothing');
            }
            stage.gates.open(0);
            return [port.receive(), port.clearInterrupt()];
          },
          { ...(outbox ? { capacityBytes: 1024 } : {}), spinMicroseconds: 0 },
          outbox,
        );
        // Only a reader that sleeps is rung, so a count of rings says that it slept.
        await until('five interrupts have met a sleeper', () => {
          port.interrupt(7);
          return port.stats().wakes >= 5;
        });
        port.postMessage('enough');
        await thread.gates.passAsync(0);
        const { wakes } = port.stats();
        for (let turns = 0; turns < 20; turns++) {
          port.interrupt(9);
          await turn();
        }
        assert.equal(port.stats().wakes, wakes, 'who did not ask for it sleeps on');
        port.postMessage('a message');
        assert.deepEqual(await thread.done(), ['a message', 9]);
        port.close();
      },
    );
  }

  test(`${name}: interrupt() takes 1 to 2^31 - 1 and refuses the rest`, async () => {
    const { a, b } = await pair();
    a.interrupt();
    await sees('the first', () => b.interrupted === 1);
    a.interrupt(2 ** 31 - 1);
    await sees('the last', () => b.interrupted !== 1);
    assert.equal(b.clearInterrupt(), 2 ** 31 - 1);
    for (const word of [0, -1, 1.5, 2 ** 31, Number.NaN, '1' as never]) {
      assert.throws(
        () => a.interrupt(word),
        (error) => error instanceof UsageError && error.code === 'ERR_OPTION',
        String(word),
      );
    }
    await quiet();
    assert.equal(b.interrupted, 0);
    a.close();
    b.close();
  });

  test(`${name}: stats() counts messages, bytes and stalls`, async () => {
    const { a, b } = await pair({ capacityBytes: 1024 });
    for (let i = 0; i < 5; i++) a.postMessage(`m${i}`);
    await take(b, 3);
    const sent = a.stats();
    const got = b.stats();
    assert.equal(sent.sent, 5);
    assert.equal(sent.received, 0);
    assert.equal(got.received, 3);
    assert.equal(got.sent, 0);
    assert.ok(sent.sentBytes >= 5 * 16);
    assert.equal(sent.stalls, 0);
    assert.equal(sent.capacityBytes, 1024);
    while (a.trySend('more'));
    // What was taken meanwhile may have made room for one more.
    assert.ok(a.stats().stalls >= 1);
    a.close();
    b.close();
  });

  test(`${name}: console.log shows how a port stands, its peer and its counts, and nothing that says nothing`, async () => {
    const { a, b } = await pair({ capacityBytes: 1024 });
    assert.match(logged(a), /^Port \{\s*state: .open.,\s*peer: .attached.,\s*sent: 0,\s*received: 0,?\s*\}$/);
    let heard = 0;
    b.on('message', () => heard++).on('close', () => {});
    const pending = a.receiveAsync();
    a.postMessage('one');
    a.interrupt(7);
    await sees('the interrupt', () => b.interrupted === 7);
    await until('the message was heard', () => heard === 1);
    const shown = logged({ b });
    for (const fact of [/listensTo: .message, close./, /interrupted: 7/]) assert.match(shown, fact);
    assert.match(logged([a]), /pendingReceives: 1/);
    b.removeAllListeners().close();
    assert.equal(await within('the end', pending), CLOSED);
    a.postMessage('late');
    assert.match(logged(a), /state: .ended: closed.,\s*sent: 1,\s*received: 0,\s*undelivered: 1/);
    assert.doesNotMatch(logged(a), /peer|undecodable|dropped|pending/);
    a.close();
    assert.equal(`${a}`, '[object Port]');
    assert.doesNotMatch(logged(Object.getPrototypeOf(a) as object), /Error/);
  });

  test(`${name}: Symbol.dispose closes; Symbol.asyncDispose first waits until the peer has everything`, async () => {
    const one = await pair();
    one.a[Symbol.dispose]();
    assert.equal(await within('closed', one.b.closed), 'closed');
    const two = await pair({ capacityBytes: 1024 });
    for (let i = 0; i < 200; i++) two.a.postMessage(i);
    let closed = false;
    const disposed = two.a[Symbol.asyncDispose]().then(() => {
      closed = true;
    });
    for (let i = 0; i < 200; i++) {
      assert.equal(closed, false);
      assert.equal(await within('a message', two.b.receiveAsync()), i);
    }
    assert.equal(await within('the end', two.b.receiveAsync()), CLOSED);
    await within('disposal', disposed);
    two.b.close();
    one.b.close();
  });

  test(`${name}: two channels in one process know nothing of each other`, async () => {
    const one = await pair();
    const two = await pair();
    one.a.postMessage('one');
    two.a.postMessage('two');
    one.a.interrupt(1);
    await quiet();
    assert.equal(two.b.interrupted, 0);
    assert.equal(await next(two.b), 'two');
    assert.equal(await next(one.b), 'one');
    one.a.close();
    assert.equal(await within('closed', one.b.closed), 'closed');
    two.a.postMessage('still open');
    assert.equal(await within('a message', two.b.receiveAsync()), 'still open');
    two.a.close();
    two.b.close();
    one.b.close();
  });

  test(`${name}: a flood on one port starves neither timers nor another port`, async () => {
    // All of it fits at once, so that the flood has no pause of its own.
    const flooded = await pair({ capacityBytes: 2 ** 20 });
    const other = await pair();
    const MESSAGES = 20_000;
    let heard = 0;
    let whenTimer = -1;
    let whenOther = -1;
    flooded.b.on('message', () => {
      if (heard++ === 0) {
        setTimeout(() => {
          whenTimer = heard;
        }, 0);
        other.a.postMessage('through');
      }
    });
    other.b.on('message', () => {
      whenOther = heard;
    });
    for (let i = 0; i < MESSAGES; i++) flooded.a.postMessage(i);
    await until('the flood is over', () => heard === MESSAGES && whenTimer >= 0 && whenOther >= 0);
    if (world.late === undefined) assert.equal(flooded.a.stats().stalls, 0);
    assert.ok(whenTimer < MESSAGES, `the timer came after ${whenTimer} of ${MESSAGES} messages`);
    // What has to come in from outside takes its time there.
    if (world.late === undefined)
      assert.ok(whenOther < MESSAGES, `the other port's message came after ${whenOther} of ${MESSAGES}`);
    for (const port of [flooded.a, flooded.b, other.a, other.b]) port.close();
  });

  test(`${name}: hasRef() tells whether something is waited for; unref() and ref() change it`, async () => {
    const { a, b } = await pair();
    assert.equal(b.hasRef(), false, 'idle');
    const listener = (): void => {};
    b.on('message', listener);
    assert.equal(b.hasRef(), true, 'a listener');
    assert.equal(b.unref().hasRef(), false);
    assert.equal(b.ref().hasRef(), true);
    b.off('message', listener);
    assert.equal(b.hasRef(), false, 'no listener');
    const pending = b.receiveAsync();
    assert.equal(b.hasRef(), true, 'a pending receive');
    a.postMessage(1);
    await within('the message', pending);
    assert.equal(b.hasRef(), false, 'served');
    b.onmessage = listener;
    assert.equal(b.hasRef(), true, 'onmessage');
    b.onmessage = null;
    assert.equal(b.hasRef(), false, 'onmessage = null');
    b.onmessage = listener;
    a.close();
    await within('closed', b.closed);
    assert.equal(b.hasRef(), false, 'closed');
    b.close();
  });
}
