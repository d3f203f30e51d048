// A medium that hands over what has come in the middle of a write, and who is told of it closes or posts there.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ChannelOptions, CLOSED, EMPTY, type Port } from '../../src/index.ts';
import { type ByteStream, StreamConnection } from '../../src/transport/stream/connection.ts';
import type { Opening } from '../../src/transport/stream/opening.ts';
import { portOver } from '../kit/stream-pair.ts';
import { within } from '../kit/watchdog.ts';

/** Hands over one chunk a turn, and one more when it is written to. */
class Eager implements ByteStream {
  readonly inbox: Uint8Array[] = [];
  other: Eager | undefined;
  connection: StreamConnection | undefined;
  /** Whether a write hands over, too. */
  eager = false;
  #inside = false;

  write(bytes: Uint8Array): boolean {
    const other = this.other as Eager;
    other.inbox.push(bytes.slice());
    setImmediate(() => other.hand());
    if (this.eager) this.hand();
    return true;
  }
  hand(): void {
    const bytes = this.#inside ? undefined : this.inbox.shift();
    if (bytes === undefined) return;
    this.#inside = true;
    this.connection?.received(bytes);
    this.#inside = false;
  }
  end(): void {}
  hold(): void {}
}

const COUNT = 60;
const WINDOW = 4096;

for (const [what, act] of [
  ['closes its port', (port) => port.close()],
  ['closes the connection', (_, connection) => connection.close({ drain: true })],
  ['posts', (port) => port.postMessage([COUNT, ''])],
] as readonly (readonly [string, (port: Port, connection: StreamConnection) => void])[]) {
  for (const options of [{}, { overflow: 'drop-oldest', highWaterMarkBytes: 1 << 24 }] as readonly ChannelOptions[]) {
    for (const length of [300, 6000]) {
      test(`who ${what} in the middle of what waits: each of ${length} bytes goes out once (${options.overflow ?? 'wait'})`, async () => {
        const left = new Eager();
        const right = new Eager();
        left.other = right;
        right.other = left;
        const openings: Opening[] = [];
        let port: Port | undefined;
        let told = 0;
        const near: StreamConnection = new StreamConnection(
          left,
          { initiator: true, windowBytes: WINDOW },
          {
            opened() {},
            ended() {},
            leaving() {
              told++;
              act(port as Port, near);
            },
          },
        );
        left.connection = near;
        const far = new StreamConnection(
          right,
          { initiator: false, windowBytes: WINDOW },
          { opened: (opening) => void openings.push(opening), ended() {} },
        );
        right.connection = far;
        port = portOver(near, near.open('x'), options) as Port;
        while (openings.length === 0) await new Promise((resolve) => setImmediate(resolve));
        const reader = portOver(far, far.accept(openings[0] as Opening));
        await within('both ends', port.ready);
        for (let i = 0; i < COUNT; i++) port.postMessage([i, 'x'.repeat(length)]);
        left.eager = true;
        const got: number[] = [];
        const total = what === 'posts' ? COUNT + 1 : COUNT;
        await within(
          'all of them',
          (async () => {
            while (got.length < total) {
              const message = (await reader.receiveAsync()) as readonly [number];
              got.push(message[0]);
              // What it says lies there with the next acknowledgement, which brings room.
              if (got.length === 3) setImmediate(() => far.leave());
            }
          })(),
        );
        assert.equal(told, 1);
        assert.deepEqual(got, [...Array(total).keys()]);
        port.close();
        await within('the end', reader.closed);
        await within(
          'the last word of it',
          (async () => {
            while (near.channels > 0) await new Promise((resolve) => setImmediate(resolve));
          })(),
        );
        assert.equal(port.stats().undelivered, 0);
        near.close();
      });
    }
  }
}

for (const [what, act] of [
  ['its port', (port) => port.close()],
  ['the connection', (_, connection) => connection.close({ drain: true })],
] as readonly (readonly [string, (port: Port, connection: StreamConnection) => void])[]) {
  test(`who closes ${what} in the middle of its end: that is said once`, async () => {
    const left = new Eager();
    const right = new Eager();
    left.other = right;
    right.other = left;
    const openings: Opening[] = [];
    let port: Port | undefined;
    let told = 0;
    const near: StreamConnection = new StreamConnection(
      left,
      { initiator: true },
      {
        opened() {},
        ended() {},
        leaving() {
          told++;
          act(port as Port, near);
        },
      },
    );
    left.connection = near;
    const far = new StreamConnection(
      right,
      { initiator: false },
      { opened: (opening) => void openings.push(opening), ended() {} },
    );
    right.connection = far;
    port = portOver(near, near.open('x')) as Port;
    while (openings.length === 0) await new Promise((resolve) => setImmediate(resolve));
    const reader = portOver(far, far.accept(openings[0] as Opening));
    await within('both ends', port.ready);
    left.eager = true;
    far.leave();
    port.cork(() => {
      for (let i = 0; i < COUNT; i++) port.postMessage(i);
      port.close();
    });
    assert.equal(told, 1);
    // All of it is there before anything is read.
    for (let i = 0; i < 10; i++) await new Promise((resolve) => setImmediate(resolve));
    for (let i = 0; i < COUNT; i++) assert.equal(reader.tryReceive(), i);
    assert.equal(reader.tryReceive(), CLOSED);
    assert.equal(reader.reason, 'closed');
    for (let i = 0; i < 10; i++) await new Promise((resolve) => setImmediate(resolve));
    assert.equal(port.stats().undelivered, 0);
    near.close();
  });
}

test('who closes the connection in the middle of what waits: it goes out as far as there is credit', async () => {
  const left = new Eager();
  const right = new Eager();
  left.other = right;
  right.other = left;
  const openings: Opening[] = [];
  const near: StreamConnection = new StreamConnection(
    left,
    { initiator: true, windowBytes: WINDOW },
    { opened() {}, ended() {}, leaving: () => near.close() },
  );
  left.connection = near;
  const far = new StreamConnection(
    right,
    { initiator: false, windowBytes: WINDOW },
    { opened: (opening) => void openings.push(opening), ended() {} },
  );
  right.connection = far;
  const port = portOver(near, near.open('x')) as Port;
  while (openings.length === 0) await new Promise((resolve) => setImmediate(resolve));
  const reader = portOver(far, far.accept(openings[0] as Opening));
  await within('both ends', port.ready);
  for (let i = 0; i < COUNT; i++) port.postMessage([i, 'x'.repeat(300)]);
  for (let i = 0; i < 10; i++) await new Promise((resolve) => setImmediate(resolve));
  left.eager = true;
  let read = 0;
  for (; reader.tryReceive() !== EMPTY; read++);
  far.leave();
  for (let i = 0; i < 10; i++) await new Promise((resolve) => setImmediate(resolve));
  const before = read;
  for (; reader.tryReceive() !== CLOSED; read++);
  assert.deepEqual([port.reason, reader.reason], ['closed', 'closed']);
  // As much again as the credit was for, which all came back.
  assert.equal(read, 2 * before);
});
