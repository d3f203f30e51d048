// A payload that cannot be decoded hurts only itself (G6): one error for it, by whichever way it is read, and the next message.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codecOfName } from '../../src/codec/choose.ts';
import { attach, CLOSED, CodecError, channel, EMPTY, type Port } from '../../src/index.ts';
import { openRegion } from '../../src/memory/region.ts';
import { Producer } from '../../src/ring/producer.ts';
import { until, within } from '../kit/watchdog.ts';

/** A port whose peer is this test, writing records by hand. */
function byHand(): { port: Port; bad(kind: string): void; good(value: unknown): void; end(): void } {
  const { port: unused, remote } = channel();
  const region = openRegion(remote.memory);
  const producer = new Producer(region.lanes[0], { ring: () => {} });
  const port = attach(remote);
  const put = (kind: number, bytes: Uint8Array): void => {
    const offset = producer.tryClaim(bytes.length);
    region.views.bytes.set(bytes, offset);
    producer.commit(bytes.length, kind);
  };
  return {
    port,
    bad: (name) => put(codecOfName(name).kind, new Uint8Array([0xff, 0xfe, 0xfd, 0xfc, 0xfb])),
    good: (value) => put(codecOfName('json').kind, new TextEncoder().encode(JSON.stringify(value))),
    end() {
      unused.close();
      port.close();
    },
  };
}
const undecodable = (error: unknown): boolean => error instanceof CodecError && error.code === 'ERR_DECODE';

test('a batch that ends with one, and the port moves: its next reader is told', () => {
  const { port, bad, good, end } = byHand();
  for (const value of ['sound', 'behind']) {
    good(value);
    if (value === 'sound') bad('json');
  }
  assert.deepEqual(port.receiveMany(9), ['sound']);
  const carrier = channel();
  const far = attach(carrier.remote);
  carrier.port.postMessage({ port }, [port]);
  const { port: moved } = far.receive() as { port: Port };
  assert.throws(() => moved.tryReceive(), undecodable);
  assert.equal(moved.tryReceive(), 'behind');
  assert.equal(moved.stats().undecodable, 1);
  end();
  for (const each of [moved, far]) each.close();
});

for (const name of ['packed', 'json']) {
  test(`${name}: tryReceive() and receive() throw for it once and go on behind it`, () => {
    const { port, bad, good, end } = byHand();
    good('before');
    bad(name);
    good('between');
    bad(name);
    good('after');
    assert.equal(port.tryReceive(), 'before');
    assert.throws(() => port.tryReceive(), undecodable);
    assert.equal(port.tryReceive(), 'between');
    assert.throws(() => port.receive(), undecodable);
    assert.equal(port.receive(), 'after');
    assert.equal(port.tryReceive(), EMPTY);
    assert.equal(port.stats().undecodable, 2);
    end();
  });

  test(`${name}: listeners are told by one messageerror, and the next message comes`, async () => {
    const { port, bad, good, end } = byHand();
    const order: unknown[] = [];
    good('before');
    bad(name);
    good('after');
    port.onmessageerror = ({ data, type }) => order.push(type, undecodable(data));
    port.on('message', (value) => order.push(value));
    await until('all was told', () => order.length === 4);
    assert.deepEqual(order, ['before', 'messageerror', true, 'after']);
    end();
  });

  test(`${name}: the reader whose turn it was rejects, the next one is served, and the channel stays open`, async () => {
    const { port, bad, good, end } = byHand();
    bad(name);
    good('after');
    await assert.rejects(within('the first reader', port.receiveAsync()), undecodable);
    assert.equal(await within('the second reader', port.receiveAsync()), 'after');
    const open = await Promise.race([port.closed, Promise.resolve('open')]);
    assert.equal(open, 'open');
    end();
    assert.notEqual(await within('closed', port.closed), CLOSED);
  });
}
