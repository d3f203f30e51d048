// What a side says as its thread ends: what it has just posted, its exit status, what it died of, and none of its secrets. Also by a
// medium of which the thread's end would take what lies with it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CLOSED, type Port } from '../../src/index.ts';
import { EXIT_TURN_MS, EXIT_WAIT_MS, STREAM_DEATH_BYTES_MAX } from '../../src/limits.ts';
import { type Exiting, endTogether } from '../../src/transport/stream/exits.ts';
import * as frames from '../../src/transport/stream/frames.ts';
import type { CrashTold } from '../../src/transport/stream/last-words.ts';
import { StreamTransport } from '../../src/transport/stream/stream-transport.ts';
import { goodbyeFrame, StreamBench, WINDOW } from '../kit/stream-bench.ts';
import { endOptions, portOver, type StreamPair, streamPair } from '../kit/stream-pair.ts';
import { STEP_MS, within } from '../kit/watchdog.ts';

function rest(port: Port): unknown[] {
  const values: unknown[] = [];
  for (let value = port.tryReceive(); value !== CLOSED; value = port.tryReceive()) values.push(value);
  return values;
}
function settle({ wire }: StreamPair): void {
  while (wire.step());
}
const until = (ms: number): number => performance.now() + ms;

/** A side that dies of `error`, and what a port of the other one shows. */
function died(error: unknown, crashTold?: CrashTold): { port: Port; told: string } {
  const bench = new StreamBench(undefined, { crashTold });
  bench.connection.endThread('crash', { code: 1, thrown: { error }, untilMs: 0 });
  const words = bench.heard.at(-1) as string;
  const [, code, bits, status, text] = /^12 0: (\d+) (\d+) (-?\d+) ?(.*)$/s.exec(words) as unknown as string[];
  const other = new StreamBench();
  const port = other.portOver(other.taken(2));
  other.say(...goodbyeFrame(Number(code), text, Number(bits), Number(status)));
  return { port, told: text as string };
}

test('a crash is told with the name, message and code of what was thrown, as a thread tells it', async () => {
  const error = Object.assign(new RangeError('five is too many'), { code: 'ERR_FIVE', secret: 'hunter2' });
  const { port, told } = died(error);
  assert.equal(port.reason, 'crash');
  const seen = port.error as RangeError & { code: string };
  assert.ok(seen instanceof Error);
  assert.deepEqual([seen.name, seen.message, seen.code], ['RangeError', 'five is too many', 'ERR_FIVE']);
  assert.ok(!/hunter2|stack|\.js|\.ts/.test(told), told);
  assert.throws(() => port.send(1), { code: 'ERR_CLOSED', message: /the peer is gone \(crash: five is too many\)/ });
  assert.equal(await within('the end', port.closed), 'crash');
  const whole = died(error, 'stack').port.error as Error;
  assert.equal(whole.stack, (error.stack as string).slice(0, whole.stack?.length));
  assert.ok((whole.stack as string).includes('stream-last-words'));
  assert.deepEqual([died(error, 'nothing').told, died(error, 'nothing').port.error], ['', undefined]);
});

test('what was thrown may be anything', () => {
  for (const value of ['a text', 7, false, Number.NaN, 10n, null, undefined, Symbol('s'), { a: 1 }, () => 1]) {
    const { error } = died(value).port;
    const expected = ['number', 'boolean'].includes(typeof value) && !Number.isNaN(value) ? value : String(value);
    if (!Number.isNaN(value)) assert.equal(error, expected);
  }
  const nasty = {
    get message(): string {
      throw new Error('in the middle of it');
    },
  };
  assert.equal(died(nasty).port.error, 'an error that cannot be told');
});

test('a long error is cut to what has room in a frame, in bytes', () => {
  for (const message of [
    'x'.repeat(20_000),
    '漢'.repeat(20_000),
    '\0'.repeat(20_000),
    '😀'.repeat(20_000),
    '"'.repeat(9000),
  ]) {
    for (const told of ['message', 'stack'] as const) {
      const { port, told: text } = died(new Error(message), told);
      const seen = (port.error as Error).message;
      assert.ok(new TextEncoder().encode(text).length <= STREAM_DEATH_BYTES_MAX);
      assert.ok(seen.length > 200 && message.startsWith(seen.slice(0, -1)), `${seen.length}`);
    }
  }
});

test('a goodbye that a liar has written tells nothing, or an Error of texts; never more than it has room for', () => {
  const cases: readonly (readonly [string, unknown])[] = [
    ['', undefined],
    ['no JSON', undefined],
    ['null', undefined],
    ['[1,2]', undefined],
    ['{"value":{"__proto__":{"polluted":1}}}', undefined],
    ['{"value":[[[[]]]]}', undefined],
    ['{"value":"text"}', 'text'],
    ['['.repeat(STREAM_DEATH_BYTES_MAX), undefined],
  ];
  for (const [text, expected] of cases) {
    const bench = new StreamBench();
    const { port } = bench.port();
    bench.say(...goodbyeFrame(3, text, frames.HAS_THROWN));
    assert.deepEqual(
      [port.reason, port.error instanceof Error ? undefined : port.error],
      ['crash', expected],
      text.slice(0, 20),
    );
  }
  const bench = new StreamBench();
  const { port } = bench.port();
  const fields = { name: 5, message: ['x'], stack: {}, code: true, cause: 'x', toString: 'y', __proto__: null };
  bench.say(...goodbyeFrame(3, JSON.stringify(fields), frames.HAS_THROWN));
  assert.deepEqual([Object.keys(port.error as object), (port.error as Error).message], [[], '']);
  const long = new StreamBench();
  long.say(...goodbyeFrame(3, 'x'.repeat(STREAM_DEATH_BYTES_MAX + 8), 0));
  assert.equal(long.over?.[0], 'lost');
  assert.equal(({} as Record<string, unknown>)['polluted'], undefined);
});

test('an exit is told with its status, and what the medium knows better stays', () => {
  for (const code of [0, 7, 255, -1, 2 ** 31 - 1, undefined]) {
    const pair = streamPair();
    const [near, far] = pair.channels();
    const transport = new StreamTransport(pair.connections[1], far, endOptions({}), { woken() {}, failed() {} });
    void near;
    pair.connections[0].endThread('exit', { code, untilMs: 0 });
    const expected = code === undefined ? undefined : { code, signal: undefined };
    assert.deepEqual([transport.ended, transport.inspect().exit], ['exit', expected]);
  }
  const bench = new StreamBench();
  bench.connection.exit = { code: undefined, signal: 'SIGKILL' };
  bench.say(...goodbyeFrame(2, '', frames.HAS_STATUS, 3));
  assert.deepEqual(bench.connection.exit, { code: undefined, signal: 'SIGKILL' });
  const unknown = new StreamBench();
  unknown.say(...goodbyeFrame(2, 'why', 0x7ffffffc, 9));
  assert.deepEqual([unknown.over, unknown.connection.exit], [['exit', 'why'], undefined], 'bits that nobody knows');
});

test('every end of a connection tells the same error, also one that was closing, and one that is unread', () => {
  const pair = streamPair({ capacityBytes: WINDOW });
  const [open, closing, unread] = [pair.ports(), pair.ports(), pair.ports()];
  for (let i = 0; i < 50; i++) closing.a.postMessage('x'.repeat(100));
  closing.a.close();
  unread.a.postMessage('last words');
  pair.connections[0].endThread('crash', { thrown: { error: new Error('boom') }, untilMs: 0 });
  for (const { b } of [open, closing, unread])
    assert.deepEqual([b.reason, (b.error as Error).message], ['crash', 'boom']);
  assert.deepEqual(rest(unread.b), ['last words']);
});

test('what the other side had taken it knows from before the goodbye, also where nothing else is said of a channel', () => {
  for (const end of ['exit', 'close'] as const) {
    const pair = streamPair({ capacityBytes: 64 * 1024 });
    const { a, b } = pair.ports();
    for (let i = 0; i < 10; i++) a.postMessage(i);
    for (let i = 0; i < 6; i++) b.tryReceive();
    if (end === 'exit') pair.connections[1].endThread('exit');
    else pair.connections[1].close();
    assert.equal(a.stats().undelivered, 4, end);
  }
});

for (const queues of ['lost at the end', 'written at the end'] as const) {
  const kept = queues === 'written at the end';
  test(`what is posted right before the end, with a medium whose own queue is ${queues}`, () => {
    const pair = streamPair({ capacityBytes: 64 * 1024 }, { queues });
    pair.wire.delayed = true;
    settle(pair);
    const near = portOver(pair.connections[0], pair.connections[0].open('x'), { capacityBytes: 64 * 1024 });
    const far = portOver(pair.connections[1], pair.connections[1].open('x'), { capacityBytes: 64 * 1024 });
    settle(pair);
    for (let i = 0; i < 10; i++) near.postMessage(i);
    near.cork(() => {
      near.postMessage('corked');
      pair.connections[0].endThread('exit', { code: 3, untilMs: until(1000) });
    });
    pair.wire.die(0);
    settle(pair);
    assert.equal(far.reason, kept ? 'exit' : 'terminated');
    assert.deepEqual(rest(far), kept ? [...Array(10).keys(), 'corked'] : []);
  });
}

test('what waits with channels because the medium had enough goes out at the end, too, as far as credit allows', () => {
  for (const stopped of [false, true]) {
    const pair = streamPair(
      { capacityBytes: 16 * 1024 },
      { queues: 'written at the end', bufferBytes: 500, lineBytes: 700 },
    );
    pair.wire.delayed = true;
    settle(pair);
    const ports = ['one', 'two'].map((name) => {
      const [near, far] = pair.connections.map((side) => portOver(side, side.open(name)));
      settle(pair);
      return [near, far] as readonly [Port, Port];
    });
    for (const [near] of ports) for (let i = 0; i < 100; i++) near.postMessage([i, 'x'.repeat(60)]);
    const waiting = ports.map(([near]) => near.stats().outboxBytes);
    assert.ok(
      waiting.every((bytes) => bytes > 0),
      `${waiting}`,
    );
    pair.wire.stopped[1] = stopped;
    pair.wire.flushes.splice(0);
    const limitMs = stopped ? 200 : STEP_MS;
    pair.connections[0].endThread('exit', { untilMs: until(limitMs) });
    assert.ok(pair.wire.flushes.length > 1 && pair.wire.flushes.every((ms) => ms <= limitMs), `${pair.wire.flushes}`);
    pair.wire.die(0);
    settle(pair);
    for (const [i, [near, far]] of ports.entries()) {
      assert.equal(far.reason, stopped ? 'terminated' : 'exit');
      const values = rest(far) as [number][];
      assert.deepEqual(
        values.map(([n]) => n),
        [...values.keys()],
        `port ${i}`,
      );
      assert.equal(values.length === 100, !stopped, `port ${i}: ${values.length}`);
      assert.equal(near.reason, 'exit');
    }
  }
});

test('when the time of all is over nobody waits, and what goes without waiting goes', () => {
  const bench = new StreamBench();
  const asked: number[] = [];
  bench.whenFlushed = (ms) => {
    asked.push(ms);
    return false;
  };
  const { port } = bench.port();
  bench.full = true;
  for (let i = 0; i < 5; i++) port.postMessage(i);
  bench.connection.endThread('exit', { untilMs: performance.now() - 5 });
  assert.deepEqual([asked, bench.over?.[0]], [[0, 0], 'exit']);
  const later = new StreamBench();
  later.connection.close();
  later.connection.endThread('exit', { untilMs: until(EXIT_WAIT_MS) });
  assert.deepEqual(
    [later.flushed, later.heard.length],
    [2, 1],
    'one that ended before is only written out: at once, then with time',
  );
});

test('a medium that takes one frame at a time gets all that credit allows, and no more is asked of it', () => {
  const bench = new StreamBench();
  const { port } = bench.port();
  bench.full = true;
  bench.whenFlushed = () => true;
  for (let i = 0; i < 100; i++) port.postMessage('x'.repeat(40));
  bench.heard.splice(0);
  bench.connection.endThread('exit', { untilMs: until(1e6) });
  const sent = bench.heard.filter((each) => each.startsWith('4 1'));
  assert.ok(sent.length > 10 && sent.length <= WINDOW / 56, `${sent.length}`);
  assert.ok(bench.flushed <= sent.length + 2, `${bench.flushed}`);
  assert.equal(bench.heard.at(-1), '12 0: 2 0 0');
});

test('of three connections that end with their thread, one whose peer has stopped takes nothing of the time that the others need', () => {
  for (const stopped of [0, 2]) {
    const pairs = [0, 1, 2].map(() => {
      const pair = streamPair(
        { capacityBytes: 16 * 1024 },
        { queues: 'written at the end', bufferBytes: 500, lineBytes: 700 },
      );
      pair.wire.delayed = true;
      settle(pair);
      const [near, far] = pair.connections.map((side) => portOver(side, side.open('x'))) as [Port, Port];
      settle(pair);
      for (let i = 0; i < 100; i++) near.postMessage([i, 'x'.repeat(60)]);
      assert.ok(near.stats().outboxBytes > 0);
      return { ...pair, near, far };
    });
    for (const [i, { wire }] of pairs.entries()) {
      wire.stopped[1] = i === stopped;
      wire.flushes.splice(0);
    }
    const connections = pairs.map(({ connections: [near] }) => near);
    const before = performance.now();
    endTogether(connections, 'exit', { code: 3, untilMs: until(1000) });
    assert.ok(performance.now() - before >= 999, 'the one that has stopped is waited for, with what is left');
    for (const [i, pair] of pairs.entries()) {
      assert.equal(pair.wire.flushes[0], 0, 'first what goes without waiting');
      pair.wire.die(0);
      settle(pair);
      assert.deepEqual([pair.far.reason, pair.near.reason], [i === stopped ? 'terminated' : 'exit', 'exit']);
      assert.equal(rest(pair.far).length === 100, i !== stopped, `connection ${i}, stopped ${stopped}`);
      assert.equal(pair.connections[1].exit?.code, i === stopped ? undefined : 3);
    }
  }
});

test('connections that have all stopped are given turns until the time is over, and what one throws is its own', () => {
  const asked: string[] = [];
  const exiting = (name: string, throws = false): Exiting => ({
    beginExit: () => {
      asked.push(`${name} begins`);
      if (throws) throw new Error('inside');
      return false;
    },
    goOnExit(waitMs) {
      assert.ok(waitMs <= EXIT_TURN_MS);
      asked.push(name);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, waitMs);
      return false;
    },
    finishExit: () => void asked.push(`${name} finishes`),
  });
  endTogether([exiting('a'), exiting('b', true), exiting('c')], 'exit', { untilMs: until(200) });
  assert.deepEqual(asked.slice(0, 5), ['a begins', 'b begins', 'c begins', 'a', 'c']);
  assert.deepEqual(asked.slice(-2), ['a finishes', 'c finishes']);
  const [a, c] = ['a', 'c'].map((name) => asked.filter((each) => each === name).length) as [number, number];
  assert.ok(a > 1 && Math.abs(a - c) <= 1, `${a} turns and ${c}`);
});

test('a connection whose line takes nothing any more gives up, and holds up no exit', () => {
  const asked: string[] = [];
  const broken = (name: string): Exiting => ({
    beginExit: () => false,
    goOnExit: () => {
      asked.push(name);
      return false;
    },
    finishExit: () => void asked.push(`${name} finishes`),
  });
  const before = performance.now();
  endTogether([broken('a'), broken('b'), broken('c')], 'exit', { untilMs: until(20_000) });
  assert.ok(performance.now() - before < 10_000);
  assert.deepEqual(asked, ['a', 'a finishes', 'b', 'b finishes', 'c', 'c finishes']);
});
