// Byte streams where both sides want the same at once, where a peer asks and does not read, and where whoever is told throws.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { platform } from '#platform';
import { CLOSED } from '../../src/index.ts';
import { STREAM_ANSWERS_MAX } from '../../src/limits.ts';
import { Port } from '../../src/port/port.ts';
import type { StreamConnection } from '../../src/transport/stream/connection.ts';
import * as frames from '../../src/transport/stream/frames.ts';
import type { Opening } from '../../src/transport/stream/opening.ts';
import { StreamTransport } from '../../src/transport/stream/stream-transport.ts';
import type { Blocking } from '../../src/transport/transport.ts';
import {
  acceptFrame,
  chunk,
  goodbyeFrame,
  HELLO,
  leavingFrame,
  openFrame,
  RECORD,
  StreamBench,
  WINDOW,
} from '../kit/stream-bench.ts';
import { endOptions, type Ports, portOver, streamPair } from '../kit/stream-pair.ts';
import { turn, until, within } from '../kit/watchdog.ts';
import type { Wire } from '../kit/wire.ts';

const ENDS: Readonly<Record<string, (ports: Ports, connections: readonly StreamConnection[]) => void>> = {
  'close their ports': ({ a, b }) => {
    a.close();
    b.close();
  },
  'close them in turns': ({ a, b }) => {
    b.close();
    queueMicrotask(() => a.close());
  },
  drain: (_, connections) => {
    for (const each of connections) each.close({ drain: true });
  },
  'close one and drain the other': ({ a }, connections) => {
    a.close();
    connections[1]?.close({ drain: true });
  },
};

for (const [what, end] of Object.entries(ENDS)) {
  for (const delayed of [false, true]) {
    test(`both ends have more to say than there is credit, and ${what}: neither waits for the other to read${delayed ? ', over a slow wire' : ''}`, async () => {
      const { wire, connections, ports } = streamPair({ capacityBytes: WINDOW });
      const both = ports();
      wire.delayed = delayed;
      for (let i = 0; i < 100; i++) for (const port of [both.a, both.b]) port.postMessage('x'.repeat(100));
      end(both, connections);
      await within('closed', Promise.all([both.a.closed, both.b.closed]));
      while (wire.step());
      assert.deepEqual([connections[0].channels, connections[1].channels], [0, 0]);
      for (const each of connections) each.leave();
      while (wire.step());
      assert.deepEqual([connections.map((each) => each.ended), wire.held], [['closed', 'closed'], 0]);
      assert.deepEqual([both.a.stats().undelivered, both.b.stats().undelivered], [100, 100]);
    });
  }
}

test('one end that has more to say than there is credit is read to its end by one that has not ended', async () => {
  const { connections, ports } = streamPair({ capacityBytes: WINDOW });
  const { a, b } = ports();
  for (let i = 0; i < 100; i++) {
    a.postMessage(`${i}${'x'.repeat(100)}`);
    b.postMessage('nobody reads it');
  }
  a.close();
  const heard: unknown[] = [];
  for (let each = b.tryReceive(); each !== CLOSED; each = b.tryReceive()) heard.push(each);
  assert.equal(heard.length, 100);
  assert.deepEqual([a.stats().undelivered, connections[0].channels, connections[1].channels], [0, 0, 0]);
  b.close();
});

test('an end that only writes says its CLOSE when the other one has: nobody has to read for a number to be free', () => {
  const { connections, ports } = streamPair({ capacityBytes: WINDOW });
  for (let i = 0; i < 10; i++) {
    const { a, b } = ports();
    b.postMessage('read');
    assert.equal(a.tryReceive(), 'read');
    a.postMessage('a message');
    b.close();
    assert.deepEqual([connections[0].channels, connections[1].channels], [0, 0]);
    a.close();
  }
  const { a, b } = ports();
  b.postMessage('the last');
  b.close();
  assert.equal(connections[0].channels, 1, 'something is unread');
  assert.equal(a.tryReceive(), 'the last');
  assert.deepEqual([connections[0].channels, connections[1].channels], [0, 0]);
  assert.equal(b.stats().undelivered, 0);
  a.close();
});

test('each position that was asked for is told of, also when another one is asked for meanwhile; one that is none is damage', () => {
  const { channels, portsOf } = streamPair({ capacityBytes: WINDOW });
  const ends = channels();
  const { a, b } = portsOf(ends);
  const positions: number[] = [];
  for (let i = 0; i < 4; i++) {
    a.postMessage(i);
    positions.push(ends[0].sink.position);
  }
  for (const each of [positions[1], positions[0], positions[3]]) ends[0].ask(each as number);
  ends[0].ask(positions[0] as number);
  const taken: boolean[] = [];
  for (let i = 0; i < 4; i++) {
    b.tryReceive();
    taken.push(ends[0].sink.releasedUpTo(positions[i] as number));
  }
  assert.deepEqual([taken[1], taken[3]], [true, true]);
  a.close();
  b.close();
  const bench = new StreamBench();
  bench.port();
  bench.say(frames.ASK, 1, 0, 2 ** 21);
  assert.deepEqual([bench.heard, bench.over], [['9 1: 1'], undefined]);
});

test('who is not asked acknowledges by quarters of its credit, and not each message', () => {
  const { channels, portsOf } = streamPair({ capacityBytes: 16 * WINDOW });
  const ends = channels();
  const { a, b } = portsOf(ends);
  const told = new Set<number>();
  for (let i = 0; i < 5000; i++) {
    assert.equal(a.trySend(i), true);
    assert.equal(b.tryReceive(), i);
    told.add(ends[0].sink.untaken);
  }
  const quarters = ends[0].sink.position / (4 * WINDOW);
  assert.ok(told.size > quarters - 2 && told.size < quarters + 2, `${told.size} times in ${quarters} quarters`);
  a.close();
  b.close();
});

test('a peer whose channels are accepted in a turn of their own, and that does not read, is given up behind a bound', () => {
  for (const answer of [
    (bench: StreamBench, opening: Opening) => {
      const channel = bench.connection.accept(opening);
      bench.say(frames.CLOSE, opening.number, 1, 0);
      if (!channel.closeSent) channel.end('closed');
    },
    (_: StreamBench, opening: Opening) => opening.refuse(frames.CODE_NAME, 'x'.repeat(300)),
  ]) {
    const bench = new StreamBench();
    bench.full = true;
    bench.connection.ping();
    let number = 0;
    while (bench.over === undefined && number < 200_000) {
      bench.open((number += 2));
      const opening = bench.openings.pop();
      if (opening !== undefined) answer(bench, opening);
    }
    assert.equal(bench.over?.[0], 'lost');
    assert.ok(number / 2 <= STREAM_ANSWERS_MAX / 32 + 2, `${number / 2}`);
  }
});

test('close() while the medium has enough: what credit allows goes out before the goodbye', () => {
  for (const close of [
    (bench: StreamBench) => bench.connection.close(),
    (bench: StreamBench) => {
      bench.connection.close({ drain: true });
      bench.connection.close();
    },
  ]) {
    const bench = new StreamBench();
    const { port } = bench.port();
    bench.connection.open('b');
    const other = bench.portOver(bench.connection.open('c'));
    bench.say(...acceptFrame(5));
    bench.full = true;
    for (let i = 0; i < 5; i++) for (const each of [port, other]) each.postMessage(i);
    for (let i = 0; i < 100; i++) other.postMessage('x'.repeat(100));
    bench.heard.splice(0);
    close(bench);
    const data = (number: number): number =>
      bench.heard
        .filter((each) => each.startsWith(`4 ${number}:`))
        .reduce((sum, each) => sum + Number(each.split(' ')[2]), 0);
    assert.deepEqual([data(1), bench.heard.at(-1)], [4 * 16, '12 0: 1 0 0']);
    assert.ok(data(5) > WINDOW - 200 && data(5) <= WINDOW, `${data(5)}`);
  }
});

test('a greeting may take messages of any length that has room in its word', () => {
  const bench = new StreamBench(HELLO.map((word, i) => (i === 4 ? 0x7fffffff : word)));
  assert.deepEqual([bench.over, bench.greeted], [undefined, 1]);
  bench.port().port.postMessage('goes');
});

const AFTER: Readonly<Record<string, (bench: StreamBench) => void>> = {
  'the end of its channel': (bench) => bench.say(frames.CLOSE, 1, 1, 0),
  'a goodbye': (bench) => bench.say(...goodbyeFrame(1)),
  'the end of the line': (bench) => bench.connection.closed('terminated'),
  'our own goodbye': (bench) => bench.connection.close(),
};
for (const [what, after] of Object.entries(AFTER)) {
  test(`a record that can be no message, and ${what} before it is read: damage is told once, then the end`, async () => {
    const [pulled, pushed] = [new StreamBench(), new StreamBench()].map((bench) => {
      const { port } = bench.port();
      bench.say(frames.DATA, 1, 8, 99, 0, 0, ...RECORD);
      after(bench);
      return port;
    }) as [Port, Port];
    assert.throws(() => pulled.tryReceive(), { code: 'ERR_LAYOUT' });
    assert.deepEqual([pulled.tryReceive(), pulled.tryReceive()], [CLOSED, CLOSED]);
    let errors = 0;
    pushed.on('messageerror', () => void errors++);
    await within(
      'the end',
      new Promise((resolve) => {
        pushed.on('close', resolve);
        pushed.on('message', () => assert.fail('nothing behind damage is believed'));
      }),
    );
    assert.equal(errors, 1);
  });
}

for (const peer of ['says nothing', 'has asked for the channel meanwhile'] as const) {
  test(`a connection that drains ends its ports at once, also where the peer ${peer}`, async () => {
    const bench = new StreamBench(HELLO, { initiator: false });
    const port = bench.portOver(bench.connection.open('a'));
    const waits = [port.closed, port.receiveAsync()];
    await turn();
    bench.connection.close({ drain: true });
    if (peer !== 'says nothing') bench.open(1, 'a');
    assert.equal(port.reason, 'closed');
    assert.deepEqual(await within('the end', Promise.all(waits)), ['closed', CLOSED]);
    bench.connection.close();
  });
}

/** Blocks by delivering what is on its way, as a helper that pumps bytes would have it done. */
class Pumped extends StreamTransport {
  override readonly blocking: Blocking;
  constructor(wire: Wire, ...rest: ConstructorParameters<typeof StreamTransport>) {
    super(...rest);
    const until = (done: () => boolean): boolean => {
      while (!done()) if (!wire.step()) return false;
      return true;
    };
    this.blocking = {
      awaitsEventLoop: false,
      readable: () => until(() => this.in.ready),
      progress: (done) => until(() => done() || this.ended !== undefined) && done(),
    };
  }
}

/** What is reported meanwhile, as a listener's error is. */
function reported(body: () => void): unknown[] {
  const heard: unknown[] = [];
  const its = platform as { reportError: (error: unknown) => void };
  const before = its.reportError;
  its.reportError = (error) => void heard.push(error);
  try {
    body();
  } finally {
    its.reportError = before;
  }
  return heard;
}

test('what is thrown by who is told of something is reported; what came behind it in the same chunk is taken all the same', () => {
  const oops = new Error('a mistake of the program');
  const bench = new StreamBench();
  const { port } = bench.port();
  bench.whenOpened = () => {
    throw oops;
  };
  const all = chunk(openFrame(2, 'a'), [frames.INTERRUPT, 1, 7, 0], leavingFrame(), [frames.PING, 0, 1, 2]);
  const heard = reported(() => {
    bench.connection.received(all.subarray(0, all.length - 4));
    bench.connection.received(all.subarray(all.length - 4));
  });
  assert.deepEqual([heard, bench.heard, bench.over, bench.left.length], [[oops], ['11 0: 1 2'], undefined, 1]);
  assert.equal(port.interrupted, 7);
});

test('an answer that throws refuses the connection, and does not say what it was', () => {
  const oops = new Error('hunter2');
  const bench = new StreamBench(null, {
    initiator: false,
    answer: () => {
      throw oops;
    },
  });
  const heard = reported(() => bench.say(frames.HELLO, 0, ...HELLO));
  assert.deepEqual([heard, bench.over?.[0], bench.streamEnded], [[oops], 'closed', true]);
  assert.deepEqual([bench.heard.map((each) => each.split(':')[0]), bench.said], [['1 0', '9 0'], ['']]);
});

for (const wait of ['flush', 'drained', 'asyncDispose'] as const) {
  test(`one end closes with more to say than there is credit, and the other waits for it before it reads (${wait}): it is told`, async () => {
    const { wire, connections, ports } = streamPair({ capacityBytes: WINDOW });
    const { a, b } = ports();
    for (let i = 0; i < 100; i++) a.postMessage('x'.repeat(100));
    b.postMessage('nobody at a reads it');
    if (wait === 'drained') while (b.trySend('x'.repeat(100)));
    const pending = wait === 'drained' ? b.drained() : undefined;
    a.close();
    while (wire.step());
    if (wait === 'asyncDispose') await within('disposed', b[Symbol.asyncDispose]());
    else {
      await assert.rejects(within(wait, pending ?? b[wait]()), { code: 'ERR_CLOSED' });
      await assert.rejects(b[wait](), { code: 'ERR_CLOSED' });
      assert.throws(() => b.trySend(1), { code: 'ERR_CLOSED' });
      for (let i = 0; i < 100; i++) assert.equal(b.tryReceive(), 'x'.repeat(100));
      assert.equal(b.tryReceive(), CLOSED);
      b.close();
    }
    while (wire.step());
    assert.deepEqual([connections[0].channels, connections[1].channels], [0, 0]);
  });
}

test('who posts to a peer that has ended and reads no more posts to nobody: nothing waits, nothing is refused, and it is counted', async () => {
  const { connections, ports } = streamPair({ capacityBytes: WINDOW });
  const { a, b } = ports();
  for (let i = 0; i < 100; i++) a.postMessage('x'.repeat(100));
  a.close();
  await undefined;
  assert.deepEqual([b.reason, b.full], [undefined, false]);
  for (let i = 0; i < 100; i++) b.postMessage('y'.repeat(1_000_000));
  assert.deepEqual([b.stats().sent, b.stats().outboxBytes, b.stats().undelivered], [0, 0, 100]);
  await assert.rejects(within('flush', b.flush()), { code: 'ERR_CLOSED' });
  for (let i = 0; i < 100; i++) assert.equal(b.tryReceive(), 'x'.repeat(100));
  assert.deepEqual([b.tryReceive(), b.stats().undelivered], [CLOSED, 100]);
  assert.deepEqual([connections[0].channels, connections[1].channels], [0, 0]);
});

for (const length of [100, 5000]) {
  test(`a thread that is blocked in send (${length} characters) to a peer that has ended and reads no more is told`, () => {
    const { wire, connections, channels } = streamPair({ capacityBytes: WINDOW });
    const [near, far] = channels();
    const a = portOver(connections[0], near);
    const b = new Port((events) => new Pumped(wire, connections[1], far, endOptions({}), events));
    for (let i = 0; i < 100; i++) a.postMessage('x'.repeat(100));
    while (b.trySend('y'.repeat(100)));
    wire.delayed = true;
    a.close();
    assert.throws(() => b.send('y'.repeat(length)), { code: 'ERR_CLOSED', message: /the peer is gone/ });
    for (let i = 0; i < 100; i++) assert.equal(b.receive(), 'x'.repeat(100));
    assert.equal(b.receive(), CLOSED);
    while (wire.step());
    assert.deepEqual([connections[0].channels, connections[1].channels], [0, 0]);
  });
}

for (const what of ['more to say than there is credit', 'an interrupt'] as const) {
  test(`the opener has ${what}, and its medium hands over at once: nothing of that comes before the channel is taken`, async () => {
    const { wire, connections } = streamPair({ capacityBytes: WINDOW });
    const a = portOver(connections[0], connections[0].open('x'));
    for (let i = 0; i < 100; i++) a.postMessage(i);
    if (what === 'an interrupt') a.interrupt(7);
    if (what === 'more to say than there is credit') a.close();
    const b = portOver(connections[1], connections[1].open('x'));
    await undefined;
    if (what === 'an interrupt') assert.equal(b.interrupted, 7);
    for (let i = 0; i < 100; i++) assert.equal(await within('a message', b.receiveAsync()), i);
    for (const port of [a, b]) port.close();
    assert.deepEqual([connections[0].channels, connections[1].channels, wire.held], [0, 0, 0]);
  });
}

for (const max of [1, 2, 7, 8, 9, 16]) {
  test(`a peer that takes messages of ${max} bytes at the most: what is longer is an error, and not for ever without room`, () => {
    const hello = [...HELLO];
    hello[4] = max;
    const { port } = new StreamBench(hello).port('x');
    assert.throws(() => port.trySend('too long for so few bytes'), { code: 'ERR_TOO_LARGE' });
    assert.throws(() => port.postMessage('too long for so few bytes'), { code: 'ERR_TOO_LARGE' });
  });
}

for (const when of ['flush', 'receive'] as const) {
  test(`a write that throws, as where the stack ends, breaks the line: nobody waits for what may be cut off (${when})`, async () => {
    const { wire, connections, ports } = streamPair({ capacityBytes: WINDOW });
    const { a, b } = ports();
    const [end] = wire.ends;
    const write = end.write;
    end.write = () => {
      end.write = write;
      throw new RangeError('Maximum call stack size exceeded');
    };
    a.postMessage('cut off');
    const waits = when === 'flush' ? assert.rejects(a.flush(), { code: 'ERR_CLOSED' }) : a.receiveAsync();
    a.postMessage('behind it');
    await within(when, waits);
    assert.deepEqual([a.reason, connections[0].channels, b.tryReceive()], ['lost', 0, CLOSED]);
    assert.match(String(a.error), /a write was not finished/);
    assert.ok((a.error as Error).cause instanceof RangeError);
  });
}

function breakLine(wire: Wire): void {
  wire.ends[0].write = () => {
    throw new Error('EPIPE');
  };
}

test('a write that throws is thrown at nobody who reads: what came whole is there', async () => {
  const { wire, connections, ports } = streamPair({ capacityBytes: WINDOW });
  const { a, b } = ports();
  for (let i = 0; i < 10; i++) b.postMessage(i + 'y'.repeat(50));
  breakLine(wire);
  // So many bytes that there is something to acknowledge.
  const read = Array.from({ length: 10 }, () => String(a.tryReceive())[0]);
  assert.equal(read.join(''), '0123456789');
  await within('the end', a.closed);
  assert.deepEqual([a.reason, a.tryReceive(), connections[0].ended], ['lost', CLOSED, 'lost']);
});

test('a write that throws once the time of leaving is over ends no process', async () => {
  const { wire, connections, ports } = streamPair();
  ports();
  connections[0].leave({ timeoutMs: 1 });
  breakLine(wire);
  await until('it has ended', () => connections[0].ended !== undefined);
});

for (const when of ['before it has the bytes', 'once it has them'] as const) {
  test(`a medium says in the middle of a write that it takes more, and then that it is enough (${when})`, async () => {
    const { wire, connections, ports } = streamPair({ capacityBytes: WINDOW });
    const { a, b } = ports();
    const [end] = wire.ends;
    const { write } = end;
    end.write = (bytes) => {
      if (when === 'before it has the bytes') connections[0].drained();
      write(bytes);
      if (when === 'once it has them') connections[0].drained();
      return false;
    };
    for (let i = 0; i < 100; i++) a.postMessage(i);
    a.close();
    for (let i = 0; i < 100; i++) assert.equal(await within(`message ${i}`, b.receiveAsync()), i);
    assert.deepEqual([await within('the end', b.closed), b.tryReceive()], ['closed', CLOSED]);
  });
}

test('a medium says in the middle of any write that it has ended', async () => {
  for (let nth = 1; nth <= 8; nth++) {
    const { wire, connections, ports } = streamPair({ capacityBytes: WINDOW });
    const { a } = ports();
    const [connection] = connections;
    const settled = Promise.allSettled([a.receiveAsync(), a.closed]);
    const [end] = wire.ends;
    const { write } = end;
    let left = nth;
    end.write = (bytes) => {
      if (--left === 0) connection.closed('terminated', new Error('EPIPE'));
      return write(bytes);
    };
    a.postMessage(1);
    a.interrupt(5);
    const flushed = Promise.allSettled([a.flush()]);
    connection.ping();
    if (connection.ended === undefined) connection.open('x');
    connection.leave();
    connection.close();
    await within('whoever waits', Promise.all([settled, flushed]));
    assert.deepEqual([connection.channels, wire.held, left <= 0], [0, 0, nth < 8], `${nth}`);
  }
});

const WAYS_TO_END: Readonly<Record<string, (connection: StreamConnection) => void>> = {
  close: (connection) => connection.close(),
  refuse: (connection) => connection.refuse(300, 'x'),
  damage: (connection) => connection.received(new Uint8Array(16).fill(255)),
};
for (const [how, endIt] of Object.entries(WAYS_TO_END)) {
  test(`a write that throws while the connection ends keeps nobody from being told (${how})`, async () => {
    const { wire, connections, ports } = streamPair();
    const { a } = ports();
    const [connection] = connections;
    const pending = a.receiveAsync().then(
      () => {},
      () => {},
    );
    wire.ends[0].write = () => {
      throw new RangeError('Maximum call stack size exceeded');
    };
    endIt(connection);
    await within('the pending receive', pending);
    await within('the end of the port', a.closed);
    assert.deepEqual([connection.channels, connection.ended !== undefined, wire.held], [0, true, 0]);
  });
}
