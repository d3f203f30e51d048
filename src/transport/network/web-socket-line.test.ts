import assert from 'node:assert/strict';
import test from 'node:test';
import { platform } from '#platform';
import { LINE_FIRST_BYTES, LINE_MESSAGE_BYTES, WEB_SOCKET_WAITING_BYTES } from '../../limits.ts';
import { OPEN, type WebSocketLike, WebSocketLine } from './web-socket-line.ts';

/** One that keeps what it is given until it is told to send it. */
class SlowSocket implements WebSocketLike {
  readonly readyState = OPEN;
  bufferedAmount = 0;
  binaryType = '';
  readonly lengths: number[] = [];
  terminated = false;
  /** What it has been asked to call. */
  sent: (() => void) | undefined;

  send(bytes: Uint8Array, sent?: () => void): void {
    this.bufferedAmount += bytes.length;
    this.lengths.push(bytes.length);
    this.sent = sent;
  }
  code: number | undefined;
  close(code?: number): void {
    this.code = code;
  }
  tell: (event: { data: ArrayBuffer | string }) => void = () => {};
  tellClosed: (event: { code: number }) => void = () => {};
  terminate(): void {
    this.terminated = true;
  }
  addEventListener(type: string, listener: (event: never) => void): void {
    if (type === 'message') this.tell = listener as typeof this.tell;
    if (type === 'close') this.tellClosed = listener as typeof this.tellClosed;
  }
}

test('who has enough is told of room by the WebSocket that says it has sent something, at once, and once', async () => {
  const socket = new SlowSocket();
  const line = new WebSocketLine(socket);
  let drained = 0;
  line.connect({ received() {}, drained: () => drained++, closed() {} });
  assert.equal(line.write(new Uint8Array(WEB_SOCKET_WAITING_BYTES + 1)), false);
  await new Promise(setImmediate);
  assert.ok(socket.bufferedAmount > WEB_SOCKET_WAITING_BYTES);

  socket.bufferedAmount = WEB_SOCKET_WAITING_BYTES;
  socket.sent?.();
  await Promise.resolve();
  assert.equal(drained, 0);
  socket.bufferedAmount = 0;
  socket.sent?.();
  // Never in the middle of what the WebSocket does.
  assert.equal(drained, 0);
  await Promise.resolve();
  assert.equal(drained, 1);
  socket.sent?.();
  await Promise.resolve();
  assert.equal(drained, 1);
  assert.equal(line.write(new Uint8Array(1)), true);
});

test('of one that says nothing it is found out by and by', async () => {
  const socket = new SlowSocket();
  const line = new WebSocketLine(socket);
  // What looks holds no process.
  const holding = setInterval(() => {}, 1000);
  await new Promise<void>((drained) => {
    line.connect({ received() {}, drained, closed() {} });
    assert.equal(line.write(new Uint8Array(WEB_SOCKET_WAITING_BYTES + 1)), false);
    setImmediate(() => {
      socket.bufferedAmount = 0;
    });
  });
  clearInterval(holding);
  assert.equal(line.write(new Uint8Array(1)), true);
});

test('what a turn says goes in messages of which one is soon there, and the first of a line at once', async () => {
  const socket = new SlowSocket();
  const line = new WebSocketLine(socket);
  line.write(new Uint8Array(LINE_FIRST_BYTES + 2 * LINE_MESSAGE_BYTES + 1));
  await new Promise(setImmediate);
  assert.deepEqual(socket.lengths, [LINE_FIRST_BYTES, LINE_MESSAGE_BYTES, LINE_MESSAGE_BYTES, 1]);
});

test('who never answers the end of a line is waited for two seconds, or as long as it takes something in', () => {
  const { later } = platform;
  let next = (): void => {};
  let ms = 0;
  platform.later = (task, taskMs) => {
    next = () => {
      ms += taskMs;
      task();
    };
  };
  /** @param saysUntil turns in which the other side says something */
  const endedIn = (amounts: number[], saysUntil = 0): number => {
    ms = 0;
    const socket = new SlowSocket();
    const line = new WebSocketLine(socket);
    line.connect({ received() {}, drained() {}, closed() {} });
    socket.bufferedAmount = amounts[0] as number;
    line.end();
    for (let i = 1; !socket.terminated; i++) {
      socket.bufferedAmount = amounts[i] ?? (amounts.at(-1) as number);
      if (i <= saysUntil) socket.tell({ data: new ArrayBuffer(4) });
      next();
    }
    return ms;
  };
  try {
    assert.equal(endedIn([0]), 2000);
    assert.equal(endedIn([0], 5), 7000);
    assert.equal(endedIn([5, 4, 4, 3, 2, 1, 0]), 8000);
    assert.equal(endedIn([5]), 30_000);
  } finally {
    platform.later = later;
  }
});

for (const answers of [true, false])
  test(`a text ends a line, which is there until that is ${answers ? 'answered' : 'waited for no longer'}`, () => {
    const { later } = platform;
    const tasks: (() => void)[] = [];
    platform.later = (task) => void tasks.push(task);
    try {
      const socket = new SlowSocket();
      const line = new WebSocketLine(socket);
      const said: unknown[] = [];
      line.connect({ received: () => said.push('bytes'), drained() {}, closed: (...how) => said.push(how) });
      socket.tell({ data: 'text' });
      assert.equal(socket.code, 1003);
      const first = tasks.shift();
      // Who goes on saying something is not heard, and not waited for.
      socket.tell({ data: new ArrayBuffer(8) });
      first?.();
      socket.tell({ data: new ArrayBuffer(8) });
      assert.deepEqual([said, socket.terminated], [[], false]);
      if (!answers) tasks.shift()?.();
      assert.equal(socket.terminated, !answers);
      socket.tellClosed({ code: answers ? 1003 : 1006 });
      assert.deepEqual(
        said.map((how) => String(how)),
        ['lost,Error: a text has come over the WebSocket, where only bytes do'],
      );
      // What waits for its time does nothing to one that is gone.
      for (const task of tasks) task();
    } finally {
      platform.later = later;
    }
  });

test('one that cannot be ended is given up, and says so', async () => {
  const socket: WebSocketLike & { terminate?(): void } = new SlowSocket();
  Object.defineProperty(socket, 'terminate', { value: undefined });
  const line = new WebSocketLine(socket);
  const said: unknown[] = [];
  line.connect({ received() {}, drained() {}, closed: (...how) => said.push(how) });
  line.destroy();
  assert.deepEqual(said, []);
  await Promise.resolve();
  assert.deepEqual(said, [['lost', undefined]]);
});
