// What a port carries: types (G7), transferables in order with the messages, and values that cannot go (G6).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MessageChannel } from 'node:worker_threads';
import { CodecError, DataCloneError, EMPTY, UsageError } from '../../src/index.ts';
import { difference } from '../kit/same-clone.ts';
import { within } from '../kit/watchdog.ts';
import { arrivals } from './arrivals.ts';
import { only, type PortWorld } from './port.ts';

/** One of each kind that structured clone carries. */
function everything(): unknown[] {
  const cycle: Record<string, unknown> = { name: 'cycle' };
  cycle['self'] = cycle;
  const shared = { shared: true };
  const withProto = JSON.parse('{"__proto__": {"polluted": true}, "constructor": 1}') as object;
  const sparse: unknown[] = [];
  sparse[3] = 'three';
  sparse.length = 10;
  return [
    ...[0, -0, 1.5, -1, 2 ** 31, 2 ** 53, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 5e-324],
    ...['', 'text', 'ünï', '漢字', '😀', '\ud800 alone', 'x'.repeat(5000), '\0'],
    ...[0n, -1n, 2n ** 64n, -(2n ** 200n)],
    ...[true, false, null, undefined],
    ...[{}, { a: 1, b: [1, 2, { c: 3 }] }, [], [[[]]], sparse, withProto, cycle, [shared, shared]],
    ...[
      new Map<unknown, unknown>([
        [1, 'one'],
        [{ k: 1 }, new Set([1])],
      ]),
      new Set([1, 'a', null]),
      new Map(),
      new Set(),
    ],
    ...[new Date(0), new Date(Number.NaN), /a+b/giu, Object(1), Object('s'), Object(true), Object(1n)],
    ...[new Uint8Array([1, 2, 3]), new Float64Array([0.1, -0]), new BigInt64Array([1n]), new ArrayBuffer(5)],
    ...[new DataView(new ArrayBuffer(8), 2, 4), new Uint16Array(new ArrayBuffer(16), 4, 3)],
    ...[new Error('plain'), new TypeError('typed'), new RangeError('range')],
  ];
}

export function portValues(world: PortWorld): void {
  const { name, pair, far, sharesMemory, threads, moves } = world;
  const { next, quiet } = arrivals(world);
  const inThreads = only(threads);
  test(`${name}: everything that structured clone carries arrives equal`, async () => {
    const { a, b } = await pair();
    for (const value of everything()) {
      a.postMessage(value);
      const copy = await next(b);
      assert.notEqual(copy, EMPTY);
      const wrong = difference(value, copy);
      assert.equal(wrong, undefined, `${String(wrong)} in ${typeof value} ${Object.prototype.toString.call(value)}`);
    }
    a.close();
    b.close();
    assert.equal(({} as Record<string, unknown>)['polluted'], undefined);
  });

  inThreads(`${name}: it also arrives equal through another thread and back, all under way at once`, async () => {
    const { port, thread } = far((stage) => {
      const port = stage.port();
      for (const value of port.blocking()) port.send(value);
    });
    const values = everything();
    for (const value of values) port.postMessage(value);
    for (const value of values) {
      assert.equal(difference(value, await within('the echo', port.receiveAsync())), undefined);
    }
    port.close();
    await thread.done();
  });

  only(moves)(`${name}: transferables move, in order with the messages around them`, async () => {
    const { a, b } = await pair();
    const buffer = new ArrayBuffer(16);
    new Uint8Array(buffer)[3] = 7;
    const { port1, port2 } = new MessageChannel();
    a.postMessage('before');
    a.postMessage({ buffer, port: port2 }, [buffer, port2]);
    a.postMessage('after', { transfer: [] });
    assert.equal(buffer.byteLength, 0, 'the buffer has left this side');
    const read: unknown[] = [];
    for (let i = 0; i < 3; i++) read.push(await within('a message', b.receiveAsync()));
    assert.equal(read[0], 'before');
    assert.equal(read[2], 'after');
    const moved = read[1] as { buffer: ArrayBuffer; port: MessagePort };
    assert.equal(new Uint8Array(moved.buffer)[3], 7);
    const heard = new Promise((resolve) => {
      (port1 as unknown as globalThis.MessagePort).onmessage = ({ data }) => resolve(data);
    });
    moved.port.postMessage('through the moved port');
    assert.equal(await within('the moved port', heard), 'through the moved port');
    port1.close();
    moved.port.close();
    a.close();
    b.close();
  });

  only(moves)(`${name}: an event lists the MessagePorts that came in its message`, async () => {
    const { a, b } = await pair();
    const { port1, port2 } = new MessageChannel();
    const event = new Promise<{ data: unknown; ports: readonly unknown[] }>((resolve) => {
      b.onmessage = resolve;
    });
    a.postMessage([port2], [port2]);
    const { data, ports } = await within('the event', event);
    assert.equal(ports.length, 1);
    assert.equal(ports[0], (data as unknown[])[0]);
    port1.close();
    a.close();
    b.close();
  });

  inThreads(`${name}: transferables and plain messages keep their order through a full ring`, async () => {
    const { port, thread } = far(
      (stage) => {
        const seen: string[] = [];
        for (const value of stage.port().blocking()) {
          seen.push(value instanceof ArrayBuffer ? `buffer ${value.byteLength}` : `plain ${value}`);
        }
        return seen;
      },
      { capacityBytes: 1024 },
    );
    const sent: string[] = [];
    for (let i = 0; i < 400; i++) {
      if (i % 3 === 0) {
        const buffer = new ArrayBuffer(i);
        port.postMessage(buffer, [buffer]);
        sent.push(`buffer ${i}`);
      } else {
        port.postMessage(i);
        sent.push(`plain ${i}`);
      }
    }
    await within('flush', port.flush());
    port.close();
    assert.deepEqual(await thread.done(), sent);
  });

  if (sharesMemory) {
    inThreads(`${name}: a SharedArrayBuffer arrives shared`, async () => {
      const { port, thread } = far((stage) => {
        const words = new Int32Array(stage.port().receive() as SharedArrayBuffer);
        Atomics.store(words, 0, 42);
      });
      const words = new Int32Array(new SharedArrayBuffer(4));
      port.postMessage(words.buffer);
      await thread.done();
      assert.equal(Atomics.load(words, 0), 42);
      port.close();
    });
  }

  test(`${name}: a value that cannot be cloned rejects that one send, with DataCloneError, and the channel goes on`, async () => {
    const { a, b } = await pair();
    const refused = (error: unknown): boolean =>
      error instanceof DataCloneError &&
      error instanceof CodecError &&
      error.code === 'ERR_DATA_CLONE' &&
      error.name === 'DataCloneError';
    const bad: unknown[] = [() => 1, Symbol('s'), { deep: { f: () => 1 } }, [1, Symbol('t')], new WeakMap()];
    bad.push(new Map([[1, () => 1]]), Promise.resolve());
    a.postMessage('first');
    for (const value of bad) {
      assert.throws(() => a.postMessage(value), refused);
      assert.throws(() => a.trySend(value), refused);
      assert.throws(() => a.send(value), refused);
    }
    a.postMessage({ last: true });
    assert.equal(await next(b), 'first');
    assert.deepEqual(await next(b), { last: true });
    await quiet();
    assert.equal(b.tryReceive(), EMPTY);
    a.close();
    b.close();
  });

  test(`${name}: a value whose getter throws rejects that one send, and the channel goes on`, async () => {
    const { a, b } = await pair();
    const value = {
      before: 'x'.repeat(100),
      get broken(): never {
        throw new RangeError('from the getter');
      },
    };
    assert.throws(() => a.postMessage(value));
    assert.throws(() => a.trySend([value]));
    a.postMessage('goes on');
    assert.equal(await next(b), 'goes on');
    await quiet();
    assert.equal(b.tryReceive(), EMPTY);
    a.close();
    b.close();
  });

  test(`${name}: a transfer list with what cannot move is refused with ERR_TRANSFER; nothing is sent or moved`, async () => {
    const { a, b } = await pair();
    const refused = (error: unknown): boolean => error instanceof UsageError && error.code === 'ERR_TRANSFER';
    const buffer = new ArrayBuffer(8);
    assert.throws(() => a.postMessage(1, [a]), refused, 'the port itself');
    assert.throws(() => a.postMessage(1, [b]), refused, 'another port');
    assert.throws(() => a.postMessage(1, [new SharedArrayBuffer(8)]), refused, 'a SharedArrayBuffer');
    assert.throws(() => a.postMessage(buffer, [buffer, new SharedArrayBuffer(8)]), refused, 'beside a good one');
    assert.throws(() => a.postMessage(buffer, [buffer, buffer]), refused, 'twice the same');
    assert.throws(() => a.postMessage(1, 'list' as never), refused, 'no list');
    assert.throws(() => a.postMessage(1, { transfer: 5 } as never), refused, 'no list in an object');
    assert.throws(() => a.postMessage(1, [{}]), refused, 'an ordinary object');
    assert.equal(buffer.byteLength, 8);
    a.postMessage('goes on');
    assert.equal(await next(b), 'goes on');
    a.close();
    b.close();
  });
}
