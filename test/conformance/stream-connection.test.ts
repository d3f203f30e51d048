// A connection as the protocol page describes it (docs/protocol/stream.md), frame by frame, played by hand against ours.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CLOSED, EMPTY, LayoutError } from '../../src/index.ts';
import { KNOWN_TEXTS_MAX, STREAM_WINDOW_MAX } from '../../src/limits.ts';
import { StreamConnection } from '../../src/transport/stream/connection.ts';
import * as frames from '../../src/transport/stream/frames.ts';
import type { Opening } from '../../src/transport/stream/opening.ts';
import {
  acceptFrame,
  chunk,
  type Frame,
  goodbyeFrame,
  HELLO,
  leavingFrame,
  openFrame,
  RECORD,
  StreamBench,
  TERMS,
  WINDOW,
} from '../kit/stream-bench.ts';
import { settle, streamPair } from '../kit/stream-pair.ts';
import { turn, until, within } from '../kit/watchdog.ts';

test('what a side says first: its greeting, whole', () => {
  const bytes: number[] = [];
  new StreamConnection(
    { write: (chunk) => bytes.push(...chunk) > 0, end: () => {}, hold: () => {} },
    { initiator: false, maxMessageBytes: 5000, channelsMax: 7, textBytesMax: 9000 },
    { opened: () => {}, ended: () => {} },
  );
  assert.deepEqual(
    [...new Int32Array(Uint8Array.from(bytes).buffer)],
    [1 | (7 << 8), 0, 0x5343524d, 1, 1, 0, 5000, 7, 9000, 0, 0, 0, 0, 0, 0, 0],
  );
});

test('a channel: OPEN, ACCEPT, records under credit, ACK, CLOSE both ways, and its number is free', async () => {
  const bench = new StreamBench();
  const channel = bench.connection.open('a name', { window: 3000, texts: 2, textBytes: 99 });
  const port = bench.portOver(channel);
  assert.deepEqual(bench.heard.splice(0), ['2 1: 4096 4096 2 99 0 "a name"'], 'credit is a power of two');
  const ready = port.ready;
  bench.say(...acceptFrame(1));
  await within('ready', ready);
  port.postMessage(1);
  port.postMessage(2);
  assert.deepEqual(bench.heard.splice(0), ['4 1: 16', '4 1: 16']);
  const flushed = port.flush();
  await until('it asks', () => bench.heard.length > 0);
  assert.deepEqual(bench.heard.splice(0), ['6 1: 32 0']);
  bench.say(frames.ACK, 1, 32, 0, 32 + WINDOW, 0, 2, 0, 0, 0);
  await within('flush', flushed);
  bench.say(frames.CLOSE, 1, 2, 2);
  assert.equal(await within('the end', port.closed), 'exit');
  port.close();
  assert.deepEqual(bench.heard.splice(0), ['8 1: 1 0']);
  assert.equal(bench.connection.channels, 0);
  // What is on its way on a channel that is over means nothing.
  bench.say(frames.ACK, 1, 0, 0, 0, 0, 0, 0, 0, 0);
  bench.say(frames.DATA, 1, ...RECORD);
  assert.equal(bench.over, undefined);
  assert.equal(channel.ended, 'exit');
});

test('nothing goes before the other side takes part, and all of it after', () => {
  const bench = new StreamBench(null);
  const port = bench.portOver(bench.connection.open());
  bench.say(frames.HELLO, 0, ...HELLO);
  bench.heard.splice(0);
  port.postMessage('early');
  assert.equal(port.trySend('now'), false);
  assert.equal(port.full, true);
  port.interrupt(3);
  port.interrupt(4);
  void port.flush().catch(() => {});
  port.close();
  assert.equal(bench.heard.length, 0, 'it costs the other side nothing');
  bench.say(...acceptFrame(1));
  assert.deepEqual(
    bench.heard.map((each) => each.slice(0, 3)),
    ['6 1', '7 1', '4 1', '8 1'],
    'what was posted follows, and then the end',
  );
  assert.equal(bench.heard[1], '7 1: 4 0');
});

test('a sender never goes past its credit, and goes on when some comes', () => {
  const bench = new StreamBench();
  const { port, channel } = bench.port();
  while (port.trySend('x'.repeat(40)));
  assert.ok(channel.sink.position <= WINDOW && channel.sink.position > WINDOW - 128, `${channel.sink.position}`);
  const before = channel.sink.position;
  bench.say(frames.ACK, 1, 64, 0, 64 + WINDOW, 0, 1, 0, 0, 0);
  while (port.trySend('x'.repeat(40)));
  assert.ok(channel.sink.position > before && channel.sink.position <= WINDOW + 64);
});

test('a reader acknowledges by quarters of its credit, and at once what it was asked for', () => {
  const bench = new StreamBench();
  bench.open(2);
  const channel = bench.connection.accept(bench.openings[0] as Opening, { window: 2 * WINDOW });
  const port = bench.portOver(channel);
  assert.deepEqual(bench.heard.splice(0), [`3 2: ${2 * WINDOW} 4096 0 0 0 0`]);
  const values = 40;
  for (let i = 0; i < values; i++) bench.say(frames.DATA, 2, 8, 4, 0, 0);
  // Not a payload that anybody can decode: what counts is that it is taken.
  let errors = 0;
  const take = (): void => {
    try {
      port.tryReceive();
    } catch {
      errors++;
    }
  };
  bench.say(frames.ASK, 2, 32, 0);
  take();
  take();
  assert.ok(errors === 2);
  const acks = (): string[] => bench.heard.splice(0).filter((each) => each.startsWith('5 '));
  assert.equal(acks().at(-1), `5 2: 32 0 ${32 + 2 * WINDOW} 0 2 2 0 0`);
  for (let i = 2; i < values; i++) take();
  assert.ok(acks().length > 0);
  bench.say(frames.ASK, 2, 0, 0);
  assert.match(acks()[0] as string, /^5 2: 640 0 /);
});

test("damage in one channel's records ends that channel; its neighbours go on", async () => {
  const spoiled: readonly (readonly number[])[] = [
    [16, 4, 0, 0],
    [-1, 4, 0, 0],
    [0x7fffffff, 4, 0, 0],
    [8, 4, 0, 0, 8, 4],
    Array.from({ length: 300 }, () => 0),
    [600, 4, ...Array.from({ length: 150 }, () => 0)],
  ];
  for (const body of spoiled) {
    const bench = new StreamBench();
    const [one, two] = [2, 4].map((number) => bench.portOver(bench.taken(number)));
    bench.say(frames.DATA, 2, ...body);
    assert.deepEqual(bench.heard, ['9 2: 1'], `${body.slice(0, 4)}`);
    assert.equal(one!.reason, 'lost');
    assert.throws(() => one!.tryReceive(), LayoutError);
    assert.equal(one!.tryReceive(), CLOSED);
    assert.equal(bench.over, undefined);
    two!.postMessage('goes on');
    assert.equal(two!.tryReceive(), EMPTY);
    assert.equal(two!.reason, undefined);
    assert.match(bench.heard.at(-1) as string, /^4 4:/);
  }
});

test('more than the credit, acknowledgements that cannot be, and what follows an end are damage of a channel', () => {
  const cases: readonly ((bench: StreamBench) => void)[] = [
    (bench) => {
      for (let i = 0; i < WINDOW / 16 + 1; i++) bench.say(frames.DATA, 2, 8, 4, 0, 0);
    },
    (bench) => bench.say(frames.ACK, 2, 8, 0, 8 + WINDOW, 0, 0, 0, 0, 0),
    (bench) => bench.say(frames.ACK, 2, 0, 0, WINDOW + 8, 0, 0, 0, 0, 0),
    (bench) => bench.say(frames.ACK, 2, 0, 0, WINDOW - 8, 0, 0, 0, 0, 0),
    (bench) => bench.say(frames.ACK, 2, 0, -1, WINDOW, 0, 0, 0, 0, 0),
    (bench) => {
      bench.say(frames.DATA, 2, ...RECORD);
      bench.say(frames.CLOSE, 2, 1, 0);
      bench.say(frames.DATA, 2, ...RECORD);
    },
    (bench) => {
      bench.say(frames.DATA, 2, ...RECORD);
      bench.say(frames.CLOSE, 2, 1, 0);
      bench.say(frames.CLOSE, 2, 1, 0);
    },
    (bench) => bench.say(...acceptFrame(2)),
    (bench) => bench.say(frames.INTERRUPT, 2, 0, 0),
    (bench) => bench.say(frames.INTERRUPT, 2, -1, 0),
  ];
  for (const [i, body] of cases.entries()) {
    const bench = new StreamBench();
    bench.taken(2);
    body(bench);
    assert.deepEqual(bench.heard, ['9 2: 1'], `case ${i}`);
    assert.equal(bench.over, undefined);
    assert.equal(bench.connection.channels, 0);
  }
});

test('what can be no frame, or comes out of turn, ends the connection, with all its channels', async () => {
  const cases: readonly ((bench: StreamBench) => void)[] = [
    (bench) => bench.say(0, 0),
    (bench) => bench.say(77, 2),
    (bench) => bench.say(frames.ACK, 2, 0, 0),
    (bench) => bench.say(frames.HELLO, 0, ...HELLO),
    (bench) => bench.say(frames.HELLO, 2, ...HELLO),
    (bench) => bench.say(frames.ACK, 0, 0, 0, 0, 0, 0, 0, 0, 0),
    (bench) => bench.say(frames.ACK, 2, 0, 0, 0, 0, 0, 0),
    (bench) => bench.say(frames.GOODBYE, 2, 1, 0, 0, 0),
    (bench) => bench.say(frames.GOODBYE, 0, 1, 0),
    (bench) => bench.say(frames.GOODBYE, 0, 1, 0, 0, -1),
    (bench) => bench.say(frames.LEAVING, 2, 0, 0),
    (bench) => bench.say(frames.LEAVING, 0, -1, 0),
    (bench) => bench.say(frames.LEAVING, 0, 0, 1),
    (bench) => bench.connection.received(chunk(leavingFrame(), openFrame(4))),
    (bench) => bench.say(frames.GOODBYE, 0, 1, 0, 0, 1),
    (bench) => bench.say(frames.RESET, 2, 1, 9, 0, 0),
    (bench) => bench.say(frames.RESET, 2, 1, -1, 0, 0),
    (bench) => bench.say(frames.PING, 2, 0, 0),
    (bench) => bench.say(frames.PONG, 1000, 0, 0),
    (bench) => bench.say(frames.DATA, 99, ...RECORD),
    (bench) => bench.say(...acceptFrame(7)),
    (bench) => bench.open(3),
    (bench) => bench.open(2),
    (bench) => bench.open(0),
    (bench) => bench.say(frames.OPEN, 4, ...TERMS, 0, 9, 0, 0),
    (bench) => bench.say(frames.OPEN, 4, ...TERMS, 0, 2, 0xffff, 0),
    (bench) => bench.say(frames.DATA, 0, ...RECORD),
    (bench) =>
      bench.connection.received(
        new Uint8Array(Int32Array.of(frames.frameHead(frames.DATA, STREAM_WINDOW_MAX + 8), 2).buffer),
      ),
    (bench) => bench.say(frames.DATA, -2, ...RECORD),
    (bench) => bench.say(frames.RESET, -2, 3, 0),
    (bench) => bench.say(frames.CLOSE, -(2 ** 31), 1, 0),
    (bench) => bench.say(200, -1, 0, 0),
  ];
  for (const [i, body] of cases.entries()) {
    const bench = new StreamBench();
    const port = bench.portOver(bench.taken(2));
    body(bench);
    assert.equal(bench.over?.[0], 'lost', `case ${i}`);
    assert.equal(bench.heard.at(-1), '9 0: 1', `case ${i}`);
    assert.equal(bench.streamEnded, true);
    assert.equal(await within('the end', port.closed), 'lost');
    bench.say(frames.PING, 0, 1, 2);
    assert.equal(bench.heard.at(-1), '9 0: 1', 'nothing is said any more');
  }
});

test('nothing is believed before a greeting', () => {
  const cases: readonly Frame[] = [
    openFrame(2),
    [frames.PING, 0, 1, 2],
    [frames.DATA, 2, ...RECORD],
    [frames.RESET, 0, 2, 0],
    goodbyeFrame(1),
    leavingFrame(),
    [200, 0, 0, 0],
  ];
  for (const frame of cases) {
    const bench = new StreamBench(null);
    bench.say(...frame);
    assert.equal(bench.over?.[0], 'lost', `type ${frame[0]}`);
    assert.deepEqual([bench.heard, bench.greeted], [['9 0: 1'], 0]);
  }
});

test('a port holds its stream as long as somebody waits, and a closed one until what it had accepted has gone out', async () => {
  const { ports, wire } = streamPair({ capacityBytes: 1024 });
  const { a, b } = ports();
  assert.equal(wire.held, 0);
  const waits = b.receiveAsync();
  const again = b.receiveAsync();
  assert.equal(wire.held, 1);
  a.postMessage('first');
  assert.equal(await within('a message', waits), 'first');
  assert.equal(wire.held, 1);
  a.postMessage('second');
  assert.equal(await within('a message', again), 'second');
  assert.equal(wire.held, 0);
  for (let i = 0; i < 100; i++) a.postMessage(i);
  a.close();
  assert.equal(wire.held, 1, 'the rest waits for credit');
  for (let i = 0; i < 100; i++) assert.equal(b.tryReceive(), i);
  assert.equal(wire.held, 0);
  assert.equal(b.tryReceive(), CLOSED);
  b.close();
});

test('where the stack ends as the stream is to be held or let go, it is once there is one', async () => {
  const { ports, wire } = streamPair({ capacityBytes: 1024 });
  const { a, b } = ports();
  const [stream] = wire.ends;
  const { hold } = stream;
  let ends = false;
  stream.hold = (held) => {
    if (ends) throw new RangeError('Maximum call stack size exceeded');
    hold(held);
  };
  const whereTheStackEnds = async (call: () => void): Promise<void> => {
    ends = true;
    assert.throws(call, RangeError);
    ends = false;
    await turn();
  };
  a.on('message', () => {});
  await turn();
  assert.equal(wire.held, 1);
  await whereTheStackEnds(() => a.unref());
  a.ref();
  assert.equal(wire.held, 1);
  a.unref();
  assert.equal(wire.held, 0);
  for (let i = 0; i < 100; i++) a.postMessage(i);
  // The other side has a stack of its own.
  wire.delayed = true;
  await whereTheStackEnds(() => a.close());
  assert.equal(wire.held, 1, 'the rest waits for credit');
  settle(wire);
  wire.delayed = false;
  for (let i = 0; i < 100; i++) assert.equal(b.tryReceive(), i);
  assert.equal(wire.held, 0);
  const { a: waits } = ports();
  void waits.receiveAsync();
  await turn();
  assert.equal(wire.held, 1);
  await whereTheStackEnds(() => waits.close());
  assert.equal(wire.held, 0);
});

test('greetings that make no sense, and versions that do not meet, are told', () => {
  const saying = (changes: Record<number, number>): number[] => HELLO.map((word, i) => changes[i] ?? word);
  for (const [greeting, code, message] of [
    [saying({ 0: 1 }), 1, /greeting/],
    [saying({ 1: 9, 2: 2 }), 2, /versions 2 to 9/],
    [saying({ 3: 0x10004 }), 2, /features 0x4,/],
    [saying({ 4: 0 }), 1, /messages of 0/],
    [saying({ 4: -5 }), 1, /messages of -5/],
    [saying({ 5: -1 }), 1, /-1 channels/],
    [saying({ 6: -1 }), 1, /-1 bytes of texts/],
  ] as const) {
    const bench = new StreamBench(greeting);
    assert.match(bench.over?.[1] as string, message);
    assert.deepEqual([bench.heard, bench.greeted], [[`9 0: ${code}`], 0]);
    assert.match(bench.said[0] as string, message, 'the other side is told why');
  }
  for (const greeting of [
    saying({ 1: 4 }),
    saying({ 3: 0x7fff0000 }),
    [...HELLO, 7, 5, 0x64636261, 0x65, -1, 0, 99, 8, -1, -1],
    [...HELLO, -1, 4088, ...Array.from({ length: 1022 }, () => -1)],
    HELLO.map((word, i) => (i === 7 ? -1 : word)),
  ]) {
    const newer = new StreamBench(greeting);
    assert.deepEqual([newer.over, newer.greeted], [undefined, 1], 'one that speaks ours, too, and can do more');
  }
});

test('fields behind a greeting that do not lie in it are damage, and so are more than there is room for', () => {
  for (const fields of [
    [1, 1],
    [1, -1],
    [1, 16, 0, 0],
    [1, 2 ** 31 - 1, 0, 0],
    [1, 8, 0, 0, 2, 1],
    [1, 4096, ...Array.from({ length: 1024 }, () => 0)],
  ]) {
    const bench = new StreamBench([...HELLO, ...fields]);
    assert.deepEqual([bench.over?.[0], bench.heard, bench.greeted], ['lost', ['9 0: 1'], 0], `${fields.slice(0, 4)}`);
  }
});

test('channels above the bound are refused, longer messages than this side takes are not sent; the connection goes on', () => {
  const bench = new StreamBench(HELLO, { channelsMax: 2 });
  const one = bench.taken(2);
  bench.open(4);
  bench.open(6);
  assert.deepEqual(bench.heard.splice(0), ['9 6: 3']);
  bench.say(frames.CLOSE, 2, 1, 0);
  one.finish('closed');
  bench.open(8, '', [WINDOW, 4097, 0, 0]);
  bench.open(10);
  assert.deepEqual(bench.heard.splice(0), ['8 2: 1 0', '9 10: 3']);
  assert.equal(bench.openings.at(-1)?.terms.messageMax, 4096);
  assert.equal(bench.connection.channels, 2);
});

test('terms that can be none are refused, and say why', () => {
  const bench = new StreamBench(HELLO, { textBytesMax: 5000 });
  const cases: readonly (readonly [terms: readonly number[], flags: number, why: RegExp])[] = [
    [[WINDOW - 1, 64, 0, 0], 0, /credit/],
    [[WINDOW / 2, 64, 0, 0], 0, /credit/],
    [[WINDOW + 1, 64, 0, 0], 0, /credit/],
    [[3 * WINDOW, 64, 0, 0], 0, /credit/],
    [[2 * STREAM_WINDOW_MAX, 64, 0, 0], 0, /credit/],
    [[-WINDOW, 64, 0, 0], 0, /credit/],
    [[WINDOW, 0, 0, 0], 0, /messages/],
    [[WINDOW, -1, 0, 0], 0, /messages/],
    [[WINDOW, 64, -1, 0], 0, /remembers/],
    [[WINDOW, 64, 0, -1], 0, /remembers/],
    [[WINDOW, 64, 0, 0], 0x8000, /flags 0x8000/],
  ];
  for (const [i, [terms, flags, why]] of cases.entries()) {
    bench.open(2 + 2 * i, '', terms, flags);
    assert.equal(bench.heard.pop(), `9 ${2 + 2 * i}: 4`, `${terms}`);
    assert.match(bench.said.at(-1) as string, why);
  }
  bench.open(100, '', [STREAM_WINDOW_MAX, 2 ** 31 - 1, KNOWN_TEXTS_MAX + 1, 5001], 0x7fff0000);
  assert.deepEqual([bench.heard, bench.openings.length], [[], 1]);
  const taken = { window: STREAM_WINDOW_MAX, messageMax: 4096, texts: KNOWN_TEXTS_MAX, textBytes: 5000 };
  assert.deepEqual(bench.openings[0]?.terms, taken);
  // What the answer to ours says is judged likewise.
  for (const [terms, , why] of cases.slice(0, -1)) {
    const channel = bench.connection.open('ours');
    bench.heard.splice(0);
    bench.say(...acceptFrame(channel.number, terms));
    assert.deepEqual(bench.heard, [`9 ${channel.number}: 4`], `${terms}`);
    assert.match(bench.said.at(-1) as string, why);
    assert.equal(channel.ended, 'closed');
  }
  assert.equal(bench.connection.channels, 1);
});

test("a peer's word about its credit costs no memory here", () => {
  const bench = new StreamBench();
  const channel = bench.connection.open();
  const port = bench.portOver(channel);
  bench.say(...acceptFrame(1, [STREAM_WINDOW_MAX, 4096, 0, 0]));
  for (let i = 0; i < 1000; i++) port.postMessage('x'.repeat(100));
  assert.ok(channel.sink.position > 50 * WINDOW, 'all of it is used');
  assert.equal(channel.sink.capacity, WINDOW);
});

test('PING comes back as PONG, and types from 128 on are passed over', () => {
  const bench = new StreamBench();
  bench.say(frames.PING, 0, 5, 6);
  bench.say(200, 0, 1, 2, 3, 4);
  bench.say(128, 2);
  bench.say(255, 7, ...Array.from({ length: 64 }, () => -1));
  bench.connection.ping();
  bench.say(frames.PONG, 0, 1, 0);
  bench.say(frames.PONG, 0, 99, 0);
  assert.deepEqual(bench.heard, ['11 0: 5 6', '10 0: 1 0']);
  assert.equal(bench.connection.heard, 7);
  assert.equal(bench.over, undefined);
});

test('ten thousand channels are opened, used and closed, and nothing of them stays', () => {
  const { connections, ports, wire } = streamPair({ capacityBytes: 1024 }, { chunkMax: 4096 });
  const open = Array.from({ length: 10_000 }, () => ports());
  assert.equal(connections[0].channels, 10_000);
  for (const [i, { a, b }] of open.entries()) {
    a.postMessage(i);
    assert.equal(b.tryReceive(), i);
    a.close();
    b.close();
  }
  assert.deepEqual([connections[0].channels, connections[1].channels, wire.held], [0, 0, 0]);
});

test('blocking calls refuse and say what to use; an interrupt arrives with the stream', async () => {
  const { a, b } = streamPair({ capacityBytes: 1024 }).ports();
  assert.throws(() => b.receive(), { code: 'ERR_UNSUPPORTED', message: /receiveAsync/ });
  assert.throws(() => b.receive({ timeoutMs: 5 }), { code: 'ERR_UNSUPPORTED' });
  while (a.trySend('fill'));
  assert.throws(() => a.send('more'), { code: 'ERR_UNSUPPORTED', message: /trySend and drained/ });
  a.interrupt(4);
  assert.deepEqual([b.interrupted, b.clearInterrupt(3), b.clearInterrupt(4), b.interrupted], [4, 4, 4, 0]);
  const buffer = new ArrayBuffer(8);
  assert.throws(() => b.postMessage(buffer, [buffer]), { code: 'ERR_TRANSFER' });
  assert.throws(() => b.postMessage(() => {}), { name: 'DataCloneError' });
  assert.equal(buffer.byteLength, 8, 'it stays');
  assert.throws(() => streamPair().ports({ overflow: 'latest' }), { code: 'ERR_UNSUPPORTED' });
  a.close();
  b.close();
});

test('what stands behind the end of a connection in the same chunk means nothing: it opens no channel that never ends', () => {
  const ends: readonly [string, Frame, boolean, string][] = [
    ['a RESET', [frames.RESET, 0, frames.CODE_DAMAGE, 0], false, 'lost'],
    ['a GOODBYE', goodbyeFrame(1), false, 'closed'],
    ['another version', [frames.HELLO, 0, ...HELLO.map((word, i) => (i === 2 ? 9 : word))], true, 'lost'],
  ];
  for (const [what, end, greets, reason] of ends) {
    const bench = new StreamBench(greets ? null : HELLO);
    bench.connection.received(chunk(end, openFrame(2), [frames.DATA, 2, ...RECORD]));
    assert.equal(bench.over?.[0], reason, what);
    assert.deepEqual([bench.openings.length, bench.connection.channels], [0, 0], what);
  }
});

test('a connection that is closed while it takes frames in opens no more of them', () => {
  const bench = new StreamBench();
  bench.whenOpened = () => bench.connection.close();
  bench.connection.received(chunk(openFrame(2), [frames.DATA, 2, ...RECORD], openFrame(4)));
  assert.deepEqual([bench.openings.length, bench.openings[0]?.over, bench.over?.[0]], [1, true, 'closed']);
  assert.deepEqual(bench.heard, ['12 0: 1 0 0']);
});
