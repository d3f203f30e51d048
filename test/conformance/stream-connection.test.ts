// A connection as the protocol page describes it (docs/protocol/stream.md), frame by frame, played by hand against ours.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CLOSED, EMPTY, LayoutError } from '../../src/index.ts';
import { KNOWN_TEXT_BYTES_MAX, KNOWN_TEXTS_MAX, STREAM_WINDOW_MAX } from '../../src/limits.ts';
import { Port } from '../../src/port/port.ts';
import type { StreamChannel } from '../../src/transport/stream/channel.ts';
import { StreamConnection } from '../../src/transport/stream/connection.ts';
import { FrameReader } from '../../src/transport/stream/frame-reader.ts';
import * as frames from '../../src/transport/stream/frames.ts';
import { StreamTransport } from '../../src/transport/stream/stream-transport.ts';
import { endOptions, streamPair } from '../kit/stream-pair.ts';
import { until, within } from '../kit/watchdog.ts';

const WINDOW = 1024;
const HELLO = [frames.STREAM_MAGIC, 1, 1, WINDOW, 4096, 100, 0, 0];
/** A record of eight bytes of payload that says it is one of kind bytes. */
const RECORD = [8, 1, 0, 0];

/** Our side of a connection, a peer of which nothing is true but what the test says, and the frames that reached it. */
class Bench {
  readonly heard: string[] = [];
  readonly channels: StreamChannel[] = [];
  readonly connection: StreamConnection;
  over: [string, string | undefined] | undefined;
  streamEnded = false;
  readonly #reader: FrameReader;

  constructor(greeting: readonly number[] | null = HELLO, options: { channelsMax?: number } = {}) {
    let channel = 0;
    let data = '';
    this.#reader = new FrameReader({
      control: (type, number, words) => void this.heard.push(`${type} ${number}: ${words.join(' ')}`.trim()),
      dataBegins: (number) => {
        channel = number;
        data = '';
      },
      data: (_, start, end) => {
        data += ` ${end - start}`;
      },
      dataEnds: () => void this.heard.push(`${frames.DATA} ${channel}:${data}`),
    });
    this.connection = new StreamConnection(
      {
        write: (bytes) => this.#reader.feed(bytes),
        end: () => {
          this.streamEnded = true;
        },
        hold: () => {},
      },
      { initiator: true, windowBytes: WINDOW, maxMessageBytes: 4096, ...options },
      {
        opened: (channel) => void this.channels.push(channel),
        ended: (reason, error) => {
          this.over = [reason, error?.message];
        },
      },
    );
    this.heard.splice(0);
    if (greeting !== null) this.say(frames.HELLO, 0, ...greeting);
  }

  say(type: number, channel: number, ...body: number[]): void {
    this.connection.received(new Uint8Array(Int32Array.of(body.length * 4, type | (channel << 8), ...body).buffer));
  }
  /** A port over a channel that we open, and what opening it said. */
  port(): { port: Port; channel: StreamChannel } {
    const channel = this.connection.open();
    return { port: this.portOver(channel), channel };
  }
  portOver(channel: StreamChannel): Port {
    return new Port((events) => new StreamTransport(this.connection, channel, endOptions({}), events));
  }
}

test('what a side says first: its greeting, whole', () => {
  const bytes: number[] = [];
  new StreamConnection(
    { write: (chunk) => void bytes.push(...chunk), end: () => {}, hold: () => {} },
    { initiator: false, windowBytes: 3000, maxMessageBytes: 5000, channelsMax: 7 },
    { opened: () => {}, ended: () => {} },
  );
  assert.deepEqual(
    [...new Int32Array(Uint8Array.from(bytes).buffer)],
    [32, 1, 0x5343524d, 1, 1, 4096, 5000, 7, 0, 0],
    'credit is a power of two',
  );
});

test('a channel: OPEN, ACCEPT, records under credit, ACK, CLOSE both ways, and its number is free', async () => {
  const bench = new Bench();
  const { port, channel } = bench.port();
  assert.deepEqual(bench.heard.splice(0), ['2 1: 4096 0 0 0']);
  const ready = port.ready;
  bench.say(frames.ACCEPT, 1);
  await within('ready', ready);
  port.postMessage(1);
  port.postMessage(2);
  assert.deepEqual(bench.heard.splice(0), ['4 1: 16', '4 1: 16']);
  const flushed = port.flush();
  await until('it asks', () => bench.heard.length > 0);
  assert.deepEqual(bench.heard.splice(0), ['6 1: 32 0']);
  bench.say(frames.ACK, 1, 32, 0, 32 + WINDOW, 0, 2, 0);
  await within('flush', flushed);
  bench.say(frames.CLOSE, 1, 2, 2);
  assert.equal(await within('the end', port.closed), 'exit');
  port.close();
  assert.deepEqual(bench.heard.splice(0), ['8 1: 1 0']);
  assert.equal(bench.connection.channels, 0);
  // What is on its way on a channel that is over means nothing.
  bench.say(frames.ACK, 1, 0, 0, 0, 0, 0, 0);
  bench.say(frames.DATA, 1, ...RECORD);
  assert.equal(bench.over, undefined);
  assert.equal(channel.ended, 'exit');
});

test('nothing goes before the greeting, and all of it after', () => {
  const bench = new Bench(null);
  const { port } = bench.port();
  bench.heard.splice(0);
  port.postMessage('early');
  assert.equal(port.trySend('now'), false);
  assert.equal(port.full, true);
  assert.equal(bench.heard.length, 0);
  port.close();
  bench.say(frames.HELLO, 0, ...HELLO);
  assert.deepEqual(
    bench.heard.map((each) => each.slice(0, 3)),
    ['6 1', '4 1', '8 1'],
    'what was posted follows, and then the end',
  );
});

test('a sender never goes past its credit, and goes on when some comes', () => {
  const bench = new Bench();
  const { port, channel } = bench.port();
  while (port.trySend('x'.repeat(40)));
  assert.ok(channel.sink.position <= WINDOW && channel.sink.position > WINDOW - 128, `${channel.sink.position}`);
  const before = channel.sink.position;
  bench.say(frames.ACK, 1, 64, 0, 64 + WINDOW, 0, 1, 0);
  while (port.trySend('x'.repeat(40)));
  assert.ok(channel.sink.position > before && channel.sink.position <= WINDOW + 64);
});

test('a reader acknowledges by quarters of its credit, and at once what it was asked for', () => {
  const bench = new Bench();
  bench.say(frames.OPEN, 2, 4096, 0, 0, 0);
  const channel = bench.channels[0] as StreamChannel;
  const port = bench.portOver(channel);
  bench.connection.accept(channel);
  assert.deepEqual(bench.heard.splice(0), ['3 2:']);
  const values = 20;
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
  assert.equal(acks().at(-1), `5 2: 32 0 ${32 + WINDOW} 0 2 2`);
  for (let i = 2; i < values; i++) take();
  assert.ok(acks().length > 0);
  bench.say(frames.ASK, 2, 0, 0);
  assert.match(acks()[0] as string, /^5 2: 320 0 /);
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
    const bench = new Bench();
    for (const number of [2, 4]) bench.say(frames.OPEN, number, 4096, 0, 0, 0);
    const [one, two] = bench.channels.map((channel) => bench.portOver(channel));
    bench.heard.splice(0);
    bench.say(frames.DATA, 2, ...body);
    assert.deepEqual(bench.heard, ['9 2: 1 0'], `${body.slice(0, 4)}`);
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
  const cases: readonly ((bench: Bench) => void)[] = [
    (bench) => {
      for (let i = 0; i < WINDOW / 16 + 1; i++) bench.say(frames.DATA, 2, 8, 4, 0, 0);
    },
    (bench) => bench.say(frames.ACK, 2, 8, 0, 8 + WINDOW, 0, 0, 0),
    (bench) => bench.say(frames.ACK, 2, 0, 0, WINDOW + 8, 0, 0, 0),
    (bench) => bench.say(frames.ACK, 2, 0, 0, WINDOW - 8, 0, 0, 0),
    (bench) => bench.say(frames.ACK, 2, 0, -1, WINDOW, 0, 0, 0),
    (bench) => {
      bench.say(frames.CLOSE, 2, 1, 0);
      bench.say(frames.DATA, 2, ...RECORD);
    },
    (bench) => {
      bench.say(frames.CLOSE, 2, 1, 0);
      bench.say(frames.CLOSE, 2, 1, 0);
    },
  ];
  for (const [i, body] of cases.entries()) {
    const bench = new Bench();
    bench.say(frames.OPEN, 2, 4096, 0, 0, 0);
    bench.heard.splice(0);
    body(bench);
    assert.deepEqual(bench.heard, ['9 2: 1 0'], `case ${i}`);
    assert.equal(bench.over, undefined);
    assert.equal(bench.connection.channels, 0);
  }
});

test('what can be no frame, or comes out of turn, ends the connection, with all its channels', async () => {
  const cases: readonly ((bench: Bench) => void)[] = [
    (bench) => bench.say(0, 0),
    (bench) => bench.say(77, 2),
    (bench) => bench.say(frames.ACK, 2, 0, 0),
    (bench) => bench.say(frames.HELLO, 0, ...HELLO),
    (bench) => bench.say(frames.HELLO, 2, ...HELLO),
    (bench) => bench.say(frames.ACK, 0, 0, 0, 0, 0, 0, 0),
    (bench) => bench.say(frames.PING, 2, 0, 0),
    (bench) => bench.say(frames.DATA, 99, ...RECORD),
    (bench) => bench.say(frames.ACCEPT, 7),
    (bench) => bench.say(frames.OPEN, 3, 4096, 0, 0, 0),
    (bench) => bench.say(frames.OPEN, 2, 4096, 0, 0, 0),
    (bench) => bench.say(frames.DATA, 0, ...RECORD),
    (bench) =>
      bench.connection.received(new Uint8Array(Int32Array.of(STREAM_WINDOW_MAX + 8, frames.DATA | 0x200).buffer)),
    (bench) => bench.connection.received(new Uint8Array(Int32Array.of(12, frames.DATA | 0x200).buffer)),
  ];
  for (const [i, body] of cases.entries()) {
    const bench = new Bench();
    bench.say(frames.OPEN, 2, 4096, 0, 0, 0);
    const port = bench.portOver(bench.channels[0] as StreamChannel);
    body(bench);
    assert.equal(bench.over?.[0], 'lost', `case ${i}`);
    assert.equal(bench.heard.at(-1), '9 0: 1 0', `case ${i}`);
    assert.equal(bench.streamEnded, true);
    assert.equal(await within('the end', port.closed), 'lost');
    bench.say(frames.PING, 0, 1, 2);
    assert.equal(bench.heard.at(-1), '9 0: 1 0', 'nothing is said any more');
  }
});

test('nothing is believed before a greeting', () => {
  for (const [type, channel, body] of [
    [frames.OPEN, 2, [64, 0, 0, 0]],
    [frames.PING, 0, [1, 2]],
    [frames.DATA, 2, RECORD],
    [200, 0, [0, 0]],
  ] as const) {
    const bench = new Bench(null);
    bench.say(type, channel, ...body);
    assert.equal(bench.over?.[0], 'lost', `type ${type}`);
    assert.deepEqual(bench.heard, ['9 0: 1 0']);
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

test('greetings that make no sense, and versions that do not meet, are told', () => {
  for (const [greeting, code, message] of [
    [[1, 1, 1, WINDOW, 4096, 1, 0, 0], 1, /greeting/],
    [[frames.STREAM_MAGIC, 9, 2, WINDOW, 4096, 1, 0, 0], 2, /versions 2 to 9/],
    [[frames.STREAM_MAGIC, 1, 1, 1000, 4096, 1, 0, 0], 1, /credit 1000/],
    [[frames.STREAM_MAGIC, 1, 1, WINDOW, 0, 1, 0, 0], 1, /messages of 0/],
  ] as const) {
    const bench = new Bench(greeting);
    assert.match(bench.over?.[1] as string, message);
    assert.deepEqual(bench.heard, [`9 0: ${code} 0`]);
  }
  const newer = new Bench([frames.STREAM_MAGIC, 4, 1, WINDOW, 4096, 1, 0, 0]);
  assert.equal(newer.over, undefined, 'one that speaks ours, too');
});

test('channels above the bound, and longer messages than this side takes, are refused; the connection goes on', () => {
  const bench = new Bench(HELLO, { channelsMax: 2 });
  for (const number of [2, 4, 6]) bench.say(frames.OPEN, number, 4096, 0, 0, 0);
  assert.deepEqual(bench.heard.splice(0), ['9 6: 3 0']);
  bench.say(frames.CLOSE, 2, 1, 0);
  (bench.channels[0] as StreamChannel).finish('closed');
  bench.say(frames.OPEN, 8, 4097, 0, 0, 0);
  bench.say(frames.OPEN, 10, 4096, 0, 0, 0);
  assert.deepEqual(bench.heard.splice(0), ['8 2: 1 0', '9 8: 3 0']);
  assert.equal(bench.connection.channels, 2);
  const large = new Bench();
  for (const [i, terms] of [
    [KNOWN_TEXTS_MAX + 1, 0],
    [0, KNOWN_TEXT_BYTES_MAX + 1],
    [-1, 0],
    [0, -1],
  ].entries()) {
    large.say(frames.OPEN, 2 + 2 * i, 64, ...terms, 0);
    assert.equal(large.heard.pop(), `9 ${2 + 2 * i}: 3 0`, `${terms}`);
  }
  large.say(frames.OPEN, 20, 64, KNOWN_TEXTS_MAX, KNOWN_TEXT_BYTES_MAX, 0);
  assert.deepEqual(large.heard, []);
});

test('PING comes back as PONG, and types from 128 on are passed over', () => {
  const bench = new Bench();
  bench.say(frames.PING, 0, 5, 6);
  bench.say(200, 0, 1, 2, 3, 4);
  bench.say(128, 2);
  assert.deepEqual(bench.heard, ['11 0: 5 6']);
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

/** Frames in one chunk, as a socket may hand them over. */
function chunk(...all: readonly (readonly [type: number, channel: number, ...body: number[]])[]): Uint8Array {
  return new Uint8Array(
    Int32Array.from(all.flatMap(([type, channel, ...body]) => [body.length * 4, type | (channel << 8), ...body]))
      .buffer,
  );
}

test('what stands behind the end of a connection in the same chunk means nothing: it opens no channel that never ends', () => {
  const ends: readonly [string, readonly [number, number, ...number[]], boolean][] = [
    ['a RESET', [frames.RESET, 0, frames.CODE_DAMAGE, 0], false],
    ['another version', [frames.HELLO, 0, frames.STREAM_MAGIC, 9, 9, WINDOW, 4096, 100, 0, 0], true],
  ];
  for (const [what, end, greets] of ends) {
    const bench = new Bench(greets ? null : HELLO);
    bench.connection.received(chunk(end, [frames.OPEN, 2, 4096, 0, 0, 0], [frames.DATA, 2, ...RECORD]));
    assert.equal(bench.over?.[0], 'lost', what);
    assert.deepEqual([bench.channels.length, bench.connection.channels], [0, 0], what);
  }
});

test('a connection that is closed while it takes frames in opens no more of them', () => {
  const bench = new Bench();
  const opened = bench.channels;
  const push = opened.push.bind(opened);
  opened.push = (channel) => {
    bench.connection.close();
    return push(channel);
  };
  const open = (number: number) => [frames.OPEN, number, 4096, 0, 0, 0] as const;
  bench.connection.received(chunk(open(2), [frames.DATA, 2, ...RECORD], open(4)));
  assert.deepEqual([opened.length, opened[0]?.ended, bench.over?.[0]], [1, 'closed', 'closed']);
});
