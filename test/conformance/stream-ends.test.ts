// How a connection over a byte stream ends, and what its channels make of it: by goodbye, with the thread, by damage, by the medium.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CLOSED, ClosedError, type CloseReason, LayoutError, type Port, RefusedError } from '../../src/index.ts';
import type { StreamChannel } from '../../src/transport/stream/channel.ts';
import { StreamConnection } from '../../src/transport/stream/connection.ts';
import * as frames from '../../src/transport/stream/frames.ts';
import type { Opening } from '../../src/transport/stream/opening.ts';
import { StreamTransport } from '../../src/transport/stream/stream-transport.ts';
import {
  chunk,
  type Frame,
  goodbyeFrame,
  HELLO,
  leavingFrame,
  RECORD,
  StreamBench,
  text,
  WINDOW,
} from '../kit/stream-bench.ts';
import { endOptions, portOver, streamPair } from '../kit/stream-pair.ts';
import { until, within } from '../kit/watchdog.ts';

/** What a port reads to its end. */
function rest(port: Port): unknown[] {
  const values: unknown[] = [];
  for (let value = port.tryReceive(); value !== CLOSED; value = port.tryReceive()) values.push(value);
  return values;
}

test('close(): what credit allows goes out, every channel says its end, and the peer hears a goodbye', async () => {
  const { connections, ports } = streamPair({ capacityBytes: 4096 });
  const [one, two] = [ports(), ports()];
  for (let i = 0; i < 20; i++) one.a.postMessage(i);
  two.b.postMessage('to the one who leaves');
  connections[0].close();
  assert.deepEqual([connections[0].ended, connections[1].ended], ['closed', 'closed']);
  for (const port of [one.a, one.b, two.a, two.b]) assert.equal(await within('the end', port.closed), 'closed');
  assert.deepEqual(rest(one.b), [...Array(20).keys()]);
  assert.deepEqual(rest(two.a), ['to the one who leaves'], 'what had come can be read');
  assert.equal(one.b.error, undefined);
  assert.deepEqual([connections[0].channels, connections[1].channels], [0, 0]);
});

for (const how of ['exit', 'crash'] as const) {
  test(`a thread that ends (${how}) says so, and what it has just posted goes out at once as far as credit allows`, () => {
    const bench = new StreamBench();
    const { port } = bench.port();
    const large = bench.port('never wanted');
    const unheard = bench.portOver(bench.connection.open('unaccepted'));
    bench.heard.splice(0);
    port.cork(() => {
      port.postMessage('the last words');
      for (let i = 0; i < 100; i++) large.port.postMessage('x'.repeat(100));
      unheard.postMessage('nobody asked');
      bench.connection.endThread(how);
    });
    const code = how === 'exit' ? 2 : 3;
    assert.deepEqual(
      bench.heard.filter((each) => !/^[46] 3/.test(each)),
      ['4 1: 32', `12 0: ${code} 0 0`],
    );
    assert.deepEqual([bench.flushed, bench.streamEnded, bench.over], [1, true, [how, undefined]]);
    assert.ok(large.port.stats().undelivered > 80);
    for (const each of [port, large.port, unheard]) assert.equal(each.reason, how);
  });
}

test('the peer that says exit or crash ends all its channels so, also those that had no word of their own', async () => {
  for (const [code, reason] of [
    [1, 'closed'],
    [2, 'exit'],
    [3, 'crash'],
    [4, 'terminated'],
    [77, 'lost'],
  ] as const) {
    const bench = new StreamBench();
    const [one, two] = [bench.portOver(bench.taken(2)), bench.portOver(bench.taken(4))];
    const asked = bench.portOver(bench.connection.open('unanswered'));
    bench.open(6);
    bench.connection.received(
      chunk([frames.DATA, 2, 8, 4, 0, 0], [frames.CLOSE, 2, 1, 0], goodbyeFrame(code, 'so long')),
    );
    assert.deepEqual(bench.over, [reason, 'so long']);
    assert.deepEqual([one.reason, two.reason, asked.reason], ['closed', reason, reason]);
    assert.equal((two.error as Error).message, 'so long');
    const refused = (asked.error as RefusedError).refusal;
    assert.equal(refused, code === 1 ? frames.CODE_LEAVING : undefined, 'who leaves in order has not taken it');
    assert.equal(await within('the end', asked.closed), reason);
    assert.deepEqual([bench.streamEnded, bench.openings[0]?.over, bench.connection.channels], [true, true, 0]);
    assert.throws(() => one.tryReceive(), { code: 'ERR_DECODE' }, 'what came before can be read');
    assert.equal(one.tryReceive(), CLOSED);
  }
});

test('data in flight both ways at a goodbye: the peer reads what came before it, and says nothing any more', () => {
  const { connections, ports, wire } = streamPair({ capacityBytes: 4096 });
  const { a, b } = ports();
  wire.delayed = true;
  for (let i = 0; i < 10; i++) {
    a.postMessage(i);
    b.postMessage(-i);
  }
  connections[0].close();
  while (wire.step());
  assert.deepEqual(rest(b), [...Array(10).keys()]);
  assert.deepEqual(rest(a), []);
  assert.equal(b.stats().undelivered, 10);
  assert.deepEqual([connections[1].ended, wire.held], ['closed', 0]);
});

test('damage ends both sides as lost, each with what was wrong', () => {
  const { connections, ports, wire } = streamPair({ capacityBytes: 1024 });
  const { a, b } = ports();
  wire.spoil = (bytes, to) => {
    if (to === 1) bytes.fill(0xee);
  };
  a.postMessage('x');
  assert.deepEqual([a.reason, b.reason], ['lost', 'lost']);
  for (const [i, port] of [a, b].entries()) {
    assert.ok(port.error instanceof LayoutError, `side ${i}`);
    assert.equal(connections[i]?.error, port.error);
  }
  assert.match((a.error as Error).message, /it found damage \("Cannot read the stream/);
});

test('a connection that is refused: closed, with an error that has the code and the text, on the connection and on each port', async () => {
  for (const [code, text] of [
    [frames.CODE_FULL, ''],
    [frames.CODE_LEAVING, 'restarting'],
    [256, 'no ticket\n'],
    [2 ** 31 - 1, 'x'.repeat(300)],
  ] as const) {
    const { connections, ports, wire } = streamPair({ capacityBytes: 4096 });
    const { a, b } = ports();
    const asked = portOver(connections[0], connections[0].open('unanswered'));
    const ready = asked.ready;
    wire.delayed = true;
    b.postMessage('sent before');
    connections[1].refuse(code, text);
    connections[1].refuse(code, 'again');
    while (wire.step());
    assert.deepEqual([connections[0].ended, connections[1].ended, wire.held], ['closed', 'closed', 0]);
    const error = connections[0].error as RefusedError;
    assert.ok(error instanceof RefusedError);
    assert.deepEqual([error.code, error.refusal, error.text], ['ERR_REFUSED', code, text.slice(0, 256)]);
    assert.match(error.message, text === '' ? /take the connection$/ : /does not take the connection: "/);
    assert.deepEqual([a.error, asked.error, b.error, connections[1].error], [error, error, undefined, undefined]);
    assert.deepEqual(rest(a), ['sent before'], 'what had come can be read');
    for (const port of [a, b, asked]) assert.equal(await within('the end', port.closed), 'closed');
    await assert.rejects(within('ready', ready), (it) => it instanceof ClosedError && it.cause === error);
    assert.throws(
      () => a.send(1),
      (it) => it instanceof ClosedError && it.cause === error,
    );
  }
});

test('only a refusal refuses a connection: the other codes mean what they mean, and cannot be said so', () => {
  const bench = new StreamBench();
  for (const code of [0, 1, 2, 8, 255, -1, 2 ** 31, 3.5, Number.NaN])
    assert.throws(() => bench.connection.refuse(code), { code: 'ERR_OPTION' }, `${code}`);
  assert.deepEqual([bench.heard, bench.over], [[], undefined]);
  bench.connection.refuse(300, 'why');
  assert.deepEqual([bench.heard, bench.said, bench.streamEnded], [['9 0: 300'], ['why'], true]);
  for (const [code, reason] of [
    [-1, 'lost'],
    [0, 'lost'],
    [frames.CODE_DAMAGE, 'lost'],
    [frames.CODE_VERSION, 'lost'],
    [7, 'closed'],
    [8, 'closed'],
    [255, 'closed'],
  ] as const) {
    const other = new StreamBench();
    const { port } = other.port();
    other.say(frames.RESET, 0, code, 0);
    assert.deepEqual([other.over?.[0], port.reason, other.streamEnded], [reason, reason, true], `${code}`);
  }
});

test('a medium that breaks without a goodbye says what it makes of it, with its own error', async () => {
  for (const reason of ['lost', 'terminated'] as const) {
    const bench = new StreamBench();
    const { port } = bench.port();
    const closed = port.closed;
    const error = new Error('ECONNRESET');
    bench.connection.closed(reason, error);
    assert.deepEqual([bench.over, port.error], [[reason, 'ECONNRESET'], error]);
    assert.equal(await within('the end', closed), reason);
    bench.connection.closed('closed');
    assert.equal(bench.connection.ended, reason, 'once');
  }
  const bench = new StreamBench();
  bench.connection.received(chunk([frames.PING, 0, 1, 2]).subarray(0, 11));
  bench.connection.closed('lost');
  assert.match(bench.over?.[1] as string, /inside a frame/);
  const quiet = new StreamBench();
  quiet.connection.closed('terminated');
  assert.deepEqual(quiet.over, ['terminated', undefined]);
});

test('how the process ended, by what the bytes went, and the connection are found behind a port', () => {
  const way = { name: 'unix socket', why: 'no addon' };
  const bench = new StreamBench(HELLO, { way });
  const channel = bench.connection.open();
  const transport = new StreamTransport(bench.connection, channel, endOptions({}), { woken() {}, failed() {} });
  assert.equal(transport.link, bench.connection);
  assert.deepEqual([transport.inspect().exit, transport.inspect().way], [undefined, way]);
  bench.connection.closed('terminated');
  bench.connection.exit = { code: undefined, signal: 'SIGKILL' };
  assert.deepEqual(transport.inspect().exit, { code: undefined, signal: 'SIGKILL' });
});

test('close({ drain }): what was accepted goes first, as the peer takes it; then goodbye', async () => {
  const { connections, ports, wire } = streamPair({ capacityBytes: 1024 });
  const [one, two] = [ports(), ports()];
  for (let i = 0; i < 200; i++) one.a.postMessage(i);
  connections[0].close({ drain: true });
  connections[0].close({ drain: true });
  assert.deepEqual([connections[0].ended, connections[1].ended, wire.held > 0], [undefined, undefined, true]);
  assert.throws(() => connections[0].open('more'), { code: 'ERR_UNSUPPORTED', message: /is leaving/ });
  const late = connections[1].open('late');
  assert.deepEqual([late.ended, (late.error as { refusal: number }).refusal], ['closed', frames.CODE_LEAVING]);
  assert.equal(one.b.tryReceive(), 0);
  assert.deepEqual(rest(two.b), []);
  assert.equal(connections[0].ended, undefined, 'the other channel is still to be read to its end');
  assert.deepEqual(rest(one.b), [...Array(200).keys()].slice(1));
  assert.deepEqual([connections[0].ended, connections[1].ended, wire.held], ['closed', 'closed', 0]);
  assert.equal(await within('the end', one.b.closed), 'closed');
  assert.equal(one.a.stats().undelivered, 0);
});

test('close() while it drains ends it at once; a drain without channels ends at once by itself', () => {
  const bench = new StreamBench();
  const { port } = bench.port();
  for (let i = 0; i < 100; i++) port.postMessage('x'.repeat(100));
  bench.open(2, 'waits');
  bench.heard.splice(0);
  bench.connection.close({ drain: true });
  assert.deepEqual([bench.over, bench.heard.includes('13 0: 0')], [undefined, true]);
  bench.connection.close({ reason: 'exit' });
  assert.deepEqual([bench.over, bench.heard.at(-1), bench.held], [['exit', undefined], '12 0: 2 0 0', 0]);
  assert.ok(port.stats().undelivered > 80);
  const empty = new StreamBench();
  empty.connection.close({ drain: true });
  assert.deepEqual(
    [empty.over, empty.heard],
    [
      ['closed', undefined],
      ['13 0: 0', '12 0: 1 0 0'],
    ],
  );
});

test('a channel that its peer has ended is over when it is read out, though nobody closes it', async () => {
  const { connections, ports } = streamPair({ capacityBytes: 1024 });
  const heard: unknown[] = [];
  for (let i = 0; i < 3; i++) {
    const { a, b } = ports();
    b.on('message', (value: unknown) => void heard.push(value));
    a.postMessage(i);
    a.close();
  }
  await until('all is read', () => connections[0].channels === 0 && connections[1].channels === 0);
  assert.deepEqual(heard, [0, 1, 2]);
});

test('a port over a channel that is over already tells its end, though nobody reads', async () => {
  const over: Readonly<Record<string, (bench: StreamBench) => StreamChannel>> = {
    'refused before there was a port': (bench) => {
      const channel = bench.connection.open('a');
      bench.say(frames.RESET, channel.number, frames.CODE_NAME, 0);
      return channel;
    },
    'opened where the peer leaves': (bench) => {
      bench.connection.open('keeps it alive');
      bench.say(...leavingFrame());
      return bench.connection.open('a');
    },
    'accepted when the peer had taken it back': (bench) => {
      bench.open(12, 'a');
      bench.say(frames.CLOSE, 12, 1, 0);
      return bench.connection.accept(bench.openings[0] as Opening);
    },
    'lost with its connection': (bench) => {
      const channel = bench.connection.open('a');
      bench.connection.closed('lost');
      return channel;
    },
  };
  for (const [what, end] of Object.entries(over)) {
    const bench = new StreamBench();
    bench.taken(10);
    const channel = end(bench);
    const port = bench.portOver(channel);
    assert.equal(await within(`${what}: closed`, port.closed), channel.ended, what);
    const heard = new Promise((resolve) => void bench.portOver(channel).once('close', resolve));
    assert.equal(await within(`${what}: the event`, heard), channel.ended, what);
    port.close();
  }
});

test('an end that is closed with something left holds the process only as long as the peer may want it', () => {
  for (const frame of [
    [frames.CLOSE, 1, 1, 0],
    [frames.RESET, 1, 1, 0],
    [frames.ACK, 1, 0, 0, 1, 0, 0, 0, 0, 0],
  ] as const) {
    const bench = new StreamBench();
    const { port } = bench.port();
    for (let i = 0; i < 100; i++) port.postMessage('x'.repeat(100));
    port.close();
    assert.equal(bench.held, 1);
    bench.say(...(frame as Frame));
    assert.deepEqual([bench.held, bench.connection.channels, bench.over], [0, 0, undefined], `type ${frame[0]}`);
    assert.ok(port.stats().undelivered > 80);
  }
});

test('an error says what has ended the channel here, and not that its thread does', () => {
  const bench = new StreamBench();
  const { port } = bench.port();
  bench.connection.close();
  assert.throws(() => port.send(1), { code: 'ERR_CLOSED', message: /its connection was closed/ });
  const other = new StreamBench();
  const hurt = other.portOver(other.taken(2));
  other.say(frames.ACK, 2, 1, 0, 0, 0, 0, 0, 0, 0);
  assert.throws(() => hurt.send(1), { code: 'ERR_CLOSED', reason: 'lost', message: /what came is damaged/ });
});

test('the first words and the last channel are told of', () => {
  const bench = new StreamBench(null);
  assert.equal(bench.greeted, 0);
  bench.say(frames.HELLO, 0, ...HELLO);
  const [one, two] = [bench.port(), bench.port()];
  one.port.close();
  bench.say(frames.CLOSE, 1, 1, 0);
  assert.deepEqual([bench.greeted, bench.idle], [1, 0]);
  bench.open(2);
  bench.say(frames.CLOSE, 3, 1, 0);
  two.port.close();
  assert.equal(bench.idle, 0, 'one waits');
  bench.openings[0]?.refuse();
  assert.equal(bench.idle, 1);
});

test('silence ends nothing: a peer may be asked, and answers when it comes to it', () => {
  const bench = new StreamBench();
  const { port } = bench.port();
  for (let i = 0; i < 1000; i++) bench.connection.ping();
  assert.deepEqual([bench.over, port.reason, bench.connection.heard], [undefined, undefined, 2]);
  bench.say(frames.PONG, 0, 1, 0);
  assert.equal(bench.connection.heard, 3);
});

const ENDS: Readonly<Record<string, (bench: StreamBench) => CloseReason>> = {
  'close()': (bench) => {
    bench.connection.close();
    return 'closed';
  },
  'the end of the thread': (bench) => {
    bench.connection.endThread('exit');
    return 'exit';
  },
  'the medium': (bench) => {
    bench.connection.closed('terminated');
    return 'terminated';
  },
  'the peer’s goodbye': (bench) => {
    if (bench.greeted === 0) bench.say(frames.HELLO, 0, ...HELLO);
    bench.say(...goodbyeFrame(2));
    return 'exit';
  },
  'the peer’s reset': (bench) => {
    if (bench.greeted === 0) bench.say(frames.HELLO, 0, ...HELLO);
    bench.say(frames.RESET, 0, 1, ...text('why'));
    return 'lost';
  },
  damage: (bench) => {
    bench.say(77, 0);
    return 'lost';
  },
};
const PEER_SAYS = ['the peer’s goodbye', 'the peer’s reset', 'damage'];
const IN_A_FRAME = 'in the middle of a frame';
const STATES: Readonly<Record<string, (bench: StreamBench) => readonly Port[]>> = {
  'nobody greeted': (bench) => [bench.portOver(bench.connection.open())],
  'nothing opened': (bench) => {
    bench.say(frames.HELLO, 0, ...HELLO);
    return [];
  },
  'opened and not accepted': (bench) => {
    bench.say(frames.HELLO, 0, ...HELLO);
    const port = bench.portOver(bench.connection.open('x'));
    port.postMessage('early');
    return [port];
  },
  waiting: (bench) => {
    bench.say(frames.HELLO, 0, ...HELLO);
    bench.open(2);
    return [];
  },
  [IN_A_FRAME]: (bench) => {
    bench.say(frames.HELLO, 0, ...HELLO);
    const { port } = bench.port();
    bench.connection.received(chunk([frames.DATA, 1, ...RECORD]).subarray(0, 13));
    return [port];
  },
  'full of what waits for credit': (bench) => {
    bench.say(frames.HELLO, 0, ...HELLO);
    const { port } = bench.port();
    for (let i = 0; i < 100; i++) port.postMessage('x'.repeat(100));
    return [port];
  },
  'closing, with some of that left': (bench) => {
    const ports = STATES['full of what waits for credit']!(bench);
    ports[0]?.close();
    return ports;
  },
  'ended by the peer, and unread': (bench) => {
    bench.say(frames.HELLO, 0, ...HELLO);
    const port = bench.portOver(bench.taken(2));
    bench.connection.received(chunk([frames.DATA, 2, ...RECORD], [frames.CLOSE, 2, 1, 0]));
    return [port];
  },
  draining: (bench) => {
    const ports = STATES['full of what waits for credit']!(bench);
    bench.connection.close({ drain: true });
    return ports;
  },
};
for (const [state, prepare] of Object.entries(STATES)) {
  test(`every end, ${state}: told once, everybody hears of it, nothing stays and nothing follows`, async () => {
    for (const [how, end] of Object.entries(ENDS)) {
      // What the peer says then is the rest of the frame.
      if (state === IN_A_FRAME && PEER_SAYS.includes(how)) continue;
      const bench = new StreamBench(null);
      const ports = prepare(bench);
      const waits = ports.map((port) => port.drained().catch(() => {}));
      const reason = end(bench);
      assert.equal(bench.over?.[0], reason, how);
      assert.deepEqual(
        [bench.connection.channels, bench.held, bench.openings.every(({ over }) => over)],
        [0, 0, true],
        how,
      );
      for (const port of ports) {
        const told = await within(how, port.closed);
        assert.ok(told === reason || told === 'closed', `${how}: ${told}`);
      }
      await within('whoever waits', Promise.all(waits));
      const said = bench.heard.length;
      const again: readonly Frame[] = [
        [frames.PING, 0, 1, 2],
        goodbyeFrame(3),
        [frames.OPEN, 8, WINDOW, 64, 0, 0, 0, 0],
      ];
      bench.connection.received(chunk(...again));
      bench.connection.closed('lost');
      bench.connection.close();
      bench.connection.endThread('crash');
      for (const port of ports) port.close();
      assert.deepEqual([bench.over[0], bench.heard.length, bench.held], [reason, said, 0], how);
      assert.throws(() => bench.connection.open(), { code: 'ERR_UNSUPPORTED' });
    }
  });
}

test('what was said last is still flushed when the thread ends before the medium has', () => {
  const bench = new StreamBench();
  bench.connection.close();
  bench.connection.endThread('exit');
  assert.equal(bench.flushed, 1);
  assert.ok(bench.connection instanceof StreamConnection);
});
