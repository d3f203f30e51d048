// An honest session over a byte stream, with each of its words changed in turn to what hurts most, and cut off behind each of its
// bytes: typed errors, bounded memory, and everybody hears of the end.
// asked for: node-22, node-26
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CLOSED, EMPTY, MillraceError, type Port } from '../../src/index.ts';
import type { StreamChannel } from '../../src/transport/stream/channel.ts';
import * as frames from '../../src/transport/stream/frames.ts';
import type { Opening } from '../../src/transport/stream/opening.ts';
import { Random } from '../kit/prng.ts';
import { chunk, HELLO, openFrame, StreamBench, WINDOW } from '../kit/stream-bench.ts';
import { portOver, streamPair } from '../kit/stream-pair.ts';
import { within } from '../kit/watchdog.ts';

/** What the far side of the session does with a channel that the near one opens. */
function answer(port: Port): void {
  try {
    for (let i = 0; i < 30; i++) port.postMessage({ i, text: 'answer '.repeat(i % 5) });
  } catch (error) {
    // The other side has said that it takes short messages only.
    assert.ok(error instanceof MillraceError && error.code === 'ERR_TOO_LARGE', String(error));
  }
}
function readOut(port: Port): void {
  for (;;) {
    try {
      const value = port.tryReceive();
      if (value === EMPTY || value === CLOSED) return;
    } catch (error) {
      assert.ok(error instanceof MillraceError, String((error as Error)?.stack));
    }
  }
}

/** The frames of one side of a session that has something of everything. */
function session(): Uint8Array[] {
  // The same each time, and chunks that are whole frames.
  const script = { random: new Random(1), chunkMax: 2 ** 30 };
  const { connections, wire } = streamPair({ capacityBytes: WINDOW, maxMessageBytes: 4096 }, script);
  const said: Uint8Array[] = [chunk([frames.HELLO, 0, ...HELLO])];
  wire.spoil = (bytes, to) => {
    if (to === 1) said.push(bytes.slice());
  };
  const opening = (name: string): Opening => [...connections[1].waiting].find((each) => each.name === name) as Opening;
  const pair = ['one', 'two'].map((name) => {
    const near = portOver(connections[0], connections[0].open(name, { texts: 2, textBytes: 100 }));
    const far = portOver(connections[1], connections[1].accept(opening(name)));
    answer(far);
    return { near, far };
  });
  connections[0].open('nobody wants it');
  for (const { near, far } of pair) {
    for (let i = 0; i < 5; i++) near.postMessage({ i, list: [1, 'two', { three: 3n }] });
    near.postMessage('in parts '.repeat(300));
    near.interrupt(5);
    void near.flush().catch(() => {});
    readOut(far);
    readOut(near);
  }
  connections[0].ping();
  pair[0]?.near.close();
  for (const { far } of pair) readOut(far);
  connections[0].close({ reason: 'exit' });
  return said;
}

interface Far {
  readonly bench: StreamBench;
  readonly channels: StreamChannel[];
  readonly ports: Port[];
}
function far(): Far {
  const [channels, ports]: [StreamChannel[], Port[]] = [[], []];
  const bench = new StreamBench(null, { initiator: false, textBytesMax: 1000, waitingMax: 4 });
  bench.whenOpened = (opening) => {
    if (opening.name.startsWith('n')) return;
    const channel = bench.connection.accept(opening);
    channels.push(channel);
    ports.push(bench.portOver(channel));
    answer(ports.at(-1) as Port);
  };
  return { bench, channels, ports };
}
async function check({ bench, channels, ports }: Far, what: string): Promise<void> {
  for (const port of ports) readOut(port);
  for (const { source, sink } of channels) {
    assert.ok(source.came === 0 || source.views.bytes.length <= 2 * WINDOW, what);
    assert.ok(sink.capacity <= WINDOW, what);
  }
  if (bench.over === undefined) bench.connection.closed('lost');
  for (const port of ports) await within(`the end, ${what}`, port.closed);
  assert.deepEqual([bench.connection.channels, bench.held], [0, 0], what);
}

const SAID = session();
const BAD = [0, 1, -1, 7, 8, 0xff, 0x10000, 2 ** 24, 2 ** 31 - 1, -(2 ** 31)];

test('the session itself goes as its two sides mean it', async () => {
  const types = new Set(SAID.map((frame) => frame[0]));
  const expected = [1, 2, 4, 5, 6, 7, 8, 10, 12];
  assert.deepEqual(
    [...types].sort((a, b) => Number(a) - Number(b)),
    expected,
  );
  const honest = far();
  for (const frame of SAID) {
    honest.bench.connection.received(frame);
    for (const port of honest.ports) readOut(port);
  }
  assert.deepEqual(honest.bench.over, ['exit', undefined]);
  assert.deepEqual(
    honest.ports.map(({ reason }) => reason),
    ['closed', 'exit'],
  );
  await check(honest, 'honest');
});

test('every word of it changed to what hurts: typed errors only, bounded memory, and an end for everybody', async () => {
  const seen = new Map<number, number>();
  for (const [i, frame] of SAID.entries()) {
    const type = frame[0] as number;
    seen.set(type, (seen.get(type) ?? 0) + 1);
    if ((seen.get(type) as number) > 2) continue;
    // Of what lies in records the codecs' own tests know more.
    const words = Math.min(frame.length >>> 2, type === frames.DATA ? 6 : 18);
    for (let at = 0; at < words; at++) {
      for (const bad of BAD) {
        const changed = frame.slice();
        new Int32Array(changed.buffer)[at] = bad;
        const hurt = far();
        for (const [j, each] of SAID.entries()) {
          hurt.bench.connection.received(i === j ? changed : each);
          for (const port of hurt.ports) readOut(port);
        }
        await check(hurt, `frame ${i}, type ${type}, word ${at} is ${bad}`);
      }
    }
  }
});

test('cut off behind any byte: what came is kept, the beginning of more is nothing', async () => {
  const all = Uint8Array.from(SAID.flatMap((frame) => [...frame]));
  for (let length = 0; length < all.length; length += length < 400 ? 1 : 29) {
    const cut = far();
    cut.bench.connection.received(all.subarray(0, length));
    await check(cut, `cut at ${length}`);
    assert.ok(cut.bench.over?.[0] === 'lost', `cut at ${length}`);
  }
});

test('a flood of frames that want an answer is answered one for one, and keeps nothing', () => {
  const bench = new StreamBench();
  const port = bench.portOver(bench.taken(2));
  for (let i = 0; i < 1000; i++) {
    bench.say(frames.PING, 0, i, 0);
    bench.say(frames.ASK, 2, 0, 0);
    bench.say(...openFrame(4 + 2 * i, 'x', [0, 0, 0, 0]));
    bench.say(frames.INTERRUPT, 2, i + 1, 0);
  }
  assert.equal(bench.heard.length, 3000);
  assert.deepEqual([bench.connection.channels, port.interrupted, port.reason], [1, 1000, undefined]);
});
