// Overflow `latest`: whoever reads gets the newest message, whatever its sender is doing, and each at most once.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CLOSED, ClosedError, DataCloneError, EMPTY, type Port, UsageError } from '../../src/index.ts';
import { turn, within } from '../kit/watchdog.ts';
import { only, type PortWorld, saysLengths } from './port.ts';

const LATEST = { overflow: 'latest', capacityBytes: 1024 } as const;

function drain(port: Port): unknown[] {
  const values: unknown[] = [];
  for (let value = port.tryReceive(); value !== EMPTY && value !== CLOSED; value = port.tryReceive())
    values.push(value);
  return values;
}

export function portLatest({ name, pair, far, threads, moves }: PortWorld): void {
  const inThreads = only(threads);
  const withMoves = only(moves);
  const latest = (what: string, body: (a: Port, b: Port) => unknown, options = {}, on = test): void => {
    on(`${name}: latest: ${what}`, async () => {
      const { a, b } = await pair({ ...LATEST, ...options });
      try {
        await body(a, b);
      } finally {
        a.close();
        b.close();
      }
    });
  };

  for (const capacityBytes of [1024, 262_144]) {
    inThreads(
      `${name}: latest: a sender that never gives its event loop a turn has its newest read, ${capacityBytes} bytes`,
      async () => {
        const { port, thread } = far(
          (stage) => {
            const port = stage.port();
            for (let i = 0; i < 20_000; i++) port.postMessage({ i });
            stage.gates.open(0);
            stage.compute(1);
            port.postMessage('newer');
            stage.gates.open(2);
            stage.compute(3);
            return port.stats().dropped;
          },
          { ...LATEST, capacityBytes },
        );
        await thread.gates.passAsync(0);
        assert.deepEqual(drain(port), [{ i: 19_999 }]);
        thread.gates.open(1);
        await thread.gates.passAsync(2);
        assert.deepEqual(drain(port), ['newer']);
        thread.gates.open(3);
        assert.equal(await thread.done(), 19_999);
        assert.equal(port.stats().received, 2);
        port.close();
      },
    );
  }

  inThreads(
    `${name}: latest: blocking reads see some, in order, the newest before the end, and as many as were not dropped`,
    async () => {
      const { port, thread } = far((stage) => {
        const port = stage.port();
        for (let i = 0; i < 5000; i++) port.postMessage(i % 3 === 0 ? { i } : i);
        port.close();
        const { sent, dropped } = port.stats();
        return [sent, dropped];
      }, LATEST);
      const read: number[] = [];
      for (const value of port.blocking())
        read.push(typeof value === 'object' ? (value as { i: number }).i : (value as number));
      const [sent, dropped] = (await thread.done()) as [number, number];
      assert.equal(read.at(-1), 4999);
      assert.ok(read.every((value, i) => i === 0 || value > (read[i - 1] as number)));
      assert.deepEqual([sent, sent + dropped, port.stats().received], [read.length, 5000, read.length]);
      port.close();
    },
  );

  for (const how of ['listener', 'receiveAsync'] as const) {
    inThreads(`${name}: latest: the event loop (${how}) sees some, in order, and the newest`, async () => {
      const { port, thread } = far((stage) => {
        const port = stage.port();
        for (let i = 0; i <= 3000; i++) {
          port.postMessage(i);
          if (i % 500 === 0) stage.pause(1);
        }
        stage.compute(0);
        port.close();
      }, LATEST);
      const read: unknown[] = [];
      if (how === 'listener') {
        await within(
          'the newest',
          new Promise<void>((resolve) => {
            port.on('message', (value) => {
              read.push(value);
              if (value === 3000) resolve();
            });
          }),
        );
      } else while (read.at(-1) !== 3000) read.push(await within('the next', port.receiveAsync()));
      assert.deepEqual(
        read,
        [...read].sort((x, y) => (x as number) - (y as number)),
      );
      thread.gates.open(0);
      assert.equal(await within('the end', port.closed), 'closed');
      await thread.done();
      port.close();
    });
  }

  latest('both directions are replaced in place, each for itself', (a, b) => {
    for (let i = 0; i < 10; i++) {
      a.postMessage(`a ${i}`);
      b.postMessage(`b ${i}`);
    }
    assert.deepEqual([drain(a), drain(b)], [['b 9'], ['a 9']]);
    a.postMessage('a again');
    assert.deepEqual([drain(a), drain(b)], [[], ['a again']]);
  });

  latest('there is always room: trySend() and send() go through, nothing is ever full', async (a, b) => {
    for (let i = 0; i < 500; i++) {
      assert.equal(a.trySend(`one ${i}`), true);
      assert.equal(a.send(`two ${i}`), true);
      assert.equal(a.stats().outboxBytes, 0);
    }
    assert.equal(a.full, false);
    await within('room', a.drained());
    assert.deepEqual(drain(b), ['two 499']);
  });

  latest('flush() resolves once the newest before it is taken, or replaced', async (a, b) => {
    const flushed: string[] = [];
    const flush = (what: string): Promise<unknown> => a.flush().then(() => flushed.push(what));
    await within('a flush of nothing', flush('nothing'));
    a.postMessage(1);
    const taken = flush('taken');
    await turn();
    assert.deepEqual(flushed, ['nothing']);
    assert.equal(b.tryReceive(), 1);
    await within('a flush of what was taken', taken);
    a.postMessage(2);
    const replaced = flush('replaced');
    await turn();
    assert.deepEqual(flushed, ['nothing', 'taken']);
    a.postMessage(3);
    await within('a flush of what was replaced', replaced);
    const asleep = flush('asleep');
    await turn();
    assert.equal(await within('the newest', b.receiveAsync()), 3);
    await within('a flush that slept', asleep);
  });

  latest('the newest is read after the end, once, then CLOSED', (a, b) => {
    for (let i = 0; i < 100; i++) a.postMessage(i);
    a.close();
    assert.deepEqual([b.receive(), b.receive(), b.receive()], [99, CLOSED, CLOSED]);
  });

  latest('after the end nothing is read twice', (a, b) => {
    a.postMessage('read before');
    assert.equal(b.receive(), 'read before');
    a.close();
    assert.equal(b.receive(), CLOSED);
  });

  latest(
    'inside cork only the last one becomes visible, at its end; one that was there stays until then',
    async (a, b) => {
      a.postMessage('before');
      a.cork(() => {
        for (let i = 0; i < 5; i++) a.postMessage(i);
        a.cork(() => a.postMessage('inner'));
        assert.deepEqual(drain(b), ['before']);
      });
      assert.deepEqual(drain(b), ['inner']);
      assert.equal(a.stats().dropped, 5);
      a.cork(() => {
        a.postMessage('a question');
        // Blocking inside: the other side may have to see it first.
        assert.equal(a.receive({ timeoutMs: 0 }), EMPTY);
        assert.equal(a.receive({ timeoutMs: 1 }), EMPTY);
        assert.deepEqual(drain(b), ['a question']);
      });
      let flushed = false;
      let flush: Promise<unknown> | undefined;
      a.cork(() => {
        a.postMessage('flushed');
        flush = a.flush().then(() => {
          flushed = true;
        });
      });
      await turn();
      assert.equal(flushed, false);
      assert.deepEqual(drain(b), ['flushed']);
      await within('a flush of what was corked', flush as Promise<unknown>);
      a.cork(() => {
        a.postMessage('last words');
        a.close();
      });
      assert.deepEqual([b.receive(), b.receive()], ['last words', CLOSED]);
    },
  );

  latest('what cannot be sent leaves the newest as it is', (a, b) => {
    a.postMessage('stays');
    assert.throws(() => a.postMessage(() => {}), DataCloneError);
    assert.throws(() => a.postMessage({ deep: [Symbol('s')] }), DataCloneError);
    const busy = {
      get value(): unknown {
        return a.postMessage('inside');
      },
    };
    assert.throws(
      () => a.postMessage(busy),
      (error) => error instanceof UsageError && error.code === 'ERR_BUSY',
    );
    assert.deepEqual(drain(b), ['stays']);
    a.postMessage('goes on');
    assert.deepEqual(drain(b), ['goes on']);
  });

  latest('a getter that closes the port is met by the end, and nothing comes after it', (a, b) => {
    a.postMessage('newest');
    const closing = {
      get value(): unknown {
        return a.close();
      },
    };
    a.postMessage(closing);
    assert.equal(a.stats().undelivered, 2, 'the one that lies there, and this one');
    assert.deepEqual([b.receive(), b.receive(), b.receive()], ['newest', CLOSED, CLOSED]);
    assert.equal(a.stats().undelivered, 1);
  });

  const long = (i: number, length: number): unknown => ({ i, bytes: new Uint8Array(length).fill(i) });
  const LENGTHS = [0, 100, 300, 320, 1000, 65_000, 66_000, 200_000, 10, 150_000, 1_000_000, 1];

  latest(
    'messages longer than a slot are replaced in place too, as long as the channel takes them',
    (a, b) => {
      LENGTHS.forEach((length, i) => {
        a.postMessage(long(i, length));
        assert.deepEqual(b.tryReceive(), long(i, length), `${length} bytes`);
      });
      for (let round = 0; round < 3; round++) {
        LENGTHS.forEach((length, i) => void a.postMessage(long(i, length)));
        a.postMessage(long(round, 100_000));
        assert.deepEqual(drain(b), [long(round, 100_000)]);
        a.cork(() => LENGTHS.forEach((length, i) => void a.postMessage(long(i, length))));
        a.cork(() => a.postMessage(long(round, 300_000)));
        assert.deepEqual(drain(b), [long(round, 300_000)]);
      }
      a.postMessage('stays');
      const tooLarge = (error: unknown): boolean =>
        error instanceof UsageError && error.code === 'ERR_TOO_LARGE' && saysLengths(error, 2_000_000);
      assert.throws(() => a.postMessage(long(1, 2_000_001)), tooLarge);
      assert.throws(() => a.cork(() => a.postMessage(long(1, 2_000_001))), tooLarge);
      assert.deepEqual(drain(b), ['stays']);
      a.postMessage(long(7, 1_999_000));
      a.close();
      assert.deepEqual([b.receive(), b.receive()], [long(7, 1_999_000), CLOSED]);
    },
    { maxMessageBytes: 2_000_000 },
  );

  inThreads(`${name}: latest: a reader samples a stream of short and long messages, each of them whole`, async () => {
    const { port, thread } = far(
      (stage) => {
        const port = stage.port();
        const lengths = stage.data as number[];
        for (let i = 0; i < 600; i++) {
          const length = lengths[i % lengths.length] as number;
          port.postMessage({ i, bytes: new Uint8Array(length).fill(i) });
        }
        port.close();
      },
      LATEST,
      LENGTHS.filter((length) => length < 100_000),
    );
    let newest = -1;
    for (const value of port.blocking()) {
      const { i, bytes } = value as { i: number; bytes: Uint8Array };
      assert.ok(i > newest);
      newest = i;
      assert.ok(bytes.every((byte) => byte === i % 256));
    }
    assert.equal(newest, 599);
    await thread.done();
    port.close();
  });

  latest('trySend() of a value whose getter closes the port says so', (a, b) => {
    const closing = {
      get value(): unknown {
        return a.close();
      },
    };
    assert.throws(() => a.trySend(closing), ClosedError);
    assert.equal(b.receive(), CLOSED);
  });

  latest(
    'what is moved arrives with the newest; what was replaced is gone',
    (a, b) => {
      const buffers = Array.from({ length: 10 }, (_, i) => new Uint8Array([i]).buffer);
      for (const buffer of buffers) a.postMessage(buffer, [buffer]);
      assert.ok(
        buffers.every(({ byteLength }) => byteLength === 0),
        'they have moved at once',
      );
      assert.deepEqual(drain(b), [new Uint8Array([9]).buffer]);
      assert.equal(a.stats().dropped, 9);
    },
    {},
    withMoves,
  );

  latest(
    'what only the native clone carries is replaced like the rest, inside cork too',
    (a, b) => {
      // Too deep for the codec.
      const deep = (what: unknown): unknown => {
        let value = what;
        for (let i = 0; i < 700; i++) value = [value];
        return value;
      };
      const innermost = (value: unknown): unknown => {
        let inside = value;
        while (Array.isArray(inside)) inside = inside[0];
        return inside;
      };
      a.postMessage('replaced');
      a.postMessage(deep(1));
      a.postMessage(deep(2));
      assert.deepEqual(drain(b).map(innermost), [2]);
      a.cork(() => {
        a.postMessage(deep(3));
        a.postMessage('replaced');
        a.postMessage(deep(4));
      });
      assert.deepEqual(drain(b).map(innermost), [4]);
      assert.equal(a.stats().dropped, 4);
    },
    {},
    withMoves,
  );

  latest(
    'a long series of replaced moves keeps 256 of them and then one, until the reader looks',
    async (a, b) => {
      const move = (i: number): void => {
        const buffer = new Int32Array([i]).buffer;
        a.postMessage(buffer, [buffer]);
      };
      const read = (): unknown[] =>
        drain(b).map((value) => (value instanceof ArrayBuffer ? new Int32Array(value)[0] : value));
      for (let i = 0; i < 1000; i++) move(i);
      assert.deepEqual(read(), [255], 'those that were let into the slots');
      assert.equal(new Int32Array((await within('the newest', b.receiveAsync())) as ArrayBuffer)[0], 999);
      // Replaced by messages that need no side channel: their values are let go too, and leave room.
      for (let round = 0; round < 5; round++) {
        for (let i = 0; i < 200; i++) move(i);
        a.postMessage(`round ${round}`);
        assert.deepEqual(read(), [`round ${round}`]);
      }
      for (let i = 0; i < 300; i++) move(i);
      a.postMessage('instead of the one that waits');
      assert.deepEqual(read(), ['instead of the one that waits']);
      assert.equal(a.stats().outboxBytes, 0);
      for (let i = 0; i < 300; i++) move(i);
      a.close();
      assert.deepEqual(read(), [255, 299], 'and at the end');
      const { sent, dropped } = a.stats();
      assert.equal(sent + dropped, 1000 + 5 * 201 + 301 + 299);
    },
    {},
    withMoves,
  );

  withMoves(`${name}: latest: a value in the outbox follows while its sender is blocked, inside cork too`, async () => {
    for (const corked of [false, true]) {
      const { a, b } = await pair(LATEST);
      const body = (): void => {
        for (let i = 0; i < 300; i++) {
          const buffer = new Int32Array([i]).buffer;
          a.postMessage(buffer, [buffer]);
        }
        a.receive({ timeoutMs: 0 });
        const first = drain(b).map((value) => new Int32Array(value as ArrayBuffer)[0]);
        // Whoever looks and finds nothing has shown what cork held back.
        assert.deepEqual(first, corked ? [299] : [255]);
        a.receive({ timeoutMs: 1 });
        assert.deepEqual(
          drain(b).map((value) => new Int32Array(value as ArrayBuffer)[0]),
          corked ? [] : [299],
        );
      };
      if (corked) a.cork(body);
      else body();
      a.close();
      b.close();
    }
  });
}
