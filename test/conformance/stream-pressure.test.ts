// A medium that has enough for now: records wait with their channels, answers that replace each other are said once, and a peer that
// asks and does not read is not kept.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { STREAM_ANSWERS_MAX } from '../../src/limits.ts';
import * as frames from '../../src/transport/stream/frames.ts';
import { acceptFrame, goodbyeFrame, RECORD, StreamBench, WINDOW } from '../kit/stream-bench.ts';
import { streamPair } from '../kit/stream-pair.ts';
import { turn, until, within } from '../kit/watchdog.ts';

const LARGE = 2 ** 20;

test('while the medium has enough, records wait where their policy counts them, and go on when it has not', async () => {
  const bench = new StreamBench();
  const { port } = bench.port();
  bench.full = true;
  port.postMessage('the one that fills it');
  assert.deepEqual(bench.heard.splice(0), ['4 1: 40']);
  assert.equal(port.trySend('no room'), false);
  port.postMessage('waits');
  bench.connection.ping();
  assert.deepEqual([port.full, port.stats().outboxBytes > 0], [true, true]);
  assert.deepEqual(bench.heard.splice(0), ['10 0: 1 0'], 'what is no record is said all the same');
  const drained = port.drained();
  await turn();
  assert.equal(bench.heard.length, 0);
  bench.full = false;
  bench.connection.drained();
  await within('drained', drained);
  assert.deepEqual(bench.heard.splice(0), ['4 1: 24']);
  assert.equal(port.trySend('room'), true);
});

test('acknowledgements and answers to pings that came while it was full are said once, and say all', () => {
  const bench = new StreamBench();
  const port = bench.portOver(bench.taken(2));
  bench.full = true;
  bench.connection.ping();
  bench.heard.splice(0);
  for (let i = 1; i <= 500; i++) {
    bench.say(frames.PING, 0, i, 0);
    bench.say(frames.ASK, 2, 16 * i, 0);
    if (16 * i <= WINDOW) bench.say(frames.DATA, 2, 8, 4, 0, 0);
    assert.throws(() => (16 * i <= WINDOW ? port.tryReceive() : assert.fail()));
  }
  assert.deepEqual(bench.heard, []);
  // No credit was given meanwhile: more than the first is too much.
  bench.full = false;
  bench.connection.drained();
  const taken = WINDOW;
  assert.deepEqual(bench.heard.splice(0), [`5 2: ${taken} 0 ${taken + WINDOW} 0 64 64 0 0`, '11 0: 500 0']);
  bench.connection.drained();
  assert.deepEqual(bench.heard, [], 'nothing is owed twice');
});

test('interrupts that find it full are one, the newest, before the records that wait', () => {
  const bench = new StreamBench();
  const { port } = bench.port();
  bench.full = true;
  port.postMessage('the one that fills it');
  bench.heard.splice(0);
  for (let word = 1; word <= 1000; word++) port.interrupt(word);
  port.postMessage('waits');
  assert.deepEqual(bench.heard, []);
  bench.full = false;
  bench.connection.drained();
  assert.equal(bench.heard.shift(), '7 1: 1000 0');
  port.interrupt(7);
  assert.equal(bench.heard.pop(), '7 1: 7 0');
});

test('whoever asks and does not read is given up behind a bound; who reads may ask as often as it likes', () => {
  const patient = new StreamBench();
  for (let i = 1; i <= 10_000; i++) patient.open(2 * i, '', [0, 0, 0, 0]);
  assert.deepEqual([patient.over, patient.heard.length], [undefined, 10_000]);
  const bench = new StreamBench();
  bench.full = true;
  bench.connection.ping();
  let asked = 0;
  while (bench.over === undefined && asked < 100_000) bench.open(2 * ++asked, '', [0, 0, 0, 0]);
  assert.equal(bench.over?.[0], 'lost');
  assert.match(bench.over?.[1] as string, /asks and does not read/);
  assert.ok(asked * 300 > STREAM_ANSWERS_MAX && asked * 20 < STREAM_ANSWERS_MAX, `${asked}`);
  const slow = new StreamBench();
  slow.full = true;
  for (let i = 1; i <= 60_000; i++) {
    slow.open(2 * i, '', [0, 0, 0, 0]);
    if (i % 5000 === 0) slow.connection.drained();
  }
  assert.equal(slow.over, undefined, 'now and then it reads');
});

test('an end that is closed while the medium is full says the rest, and its end, when it is not', () => {
  const bench = new StreamBench();
  const { port } = bench.port();
  bench.full = true;
  for (let i = 0; i < 5; i++) port.postMessage(i);
  port.close();
  assert.deepEqual(bench.heard.splice(0), ['4 1: 16', `6 1: -1 ${2 ** 21 - 1}`]);
  bench.full = false;
  bench.connection.drained();
  assert.deepEqual(bench.heard, [...Array(4).fill('4 1: 16'), '8 1: 1 0']);
  assert.equal(bench.held, 0);
});

test('channels find room in turns: a medium that takes one frame at a time starves nobody', async () => {
  const bench = new StreamBench();
  const names = ['a', 'b', 'c'];
  const ports = names.map((name) => {
    const channel = bench.connection.open(name);
    bench.say(...acceptFrame(channel.number, [LARGE, 4096, 0, 0]));
    return bench.portOver(channel);
  });
  bench.full = true;
  for (const port of ports) for (let i = 0; i < 1000; i++) port.postMessage('x'.repeat(50));
  const waits = ports.map((port) => port.drained());
  bench.heard.splice(0);
  for (let i = 0; i < 30; i++) {
    bench.connection.drained();
    await turn();
  }
  const counts = [1, 3, 5].map((number) => bench.heard.filter((each) => each.startsWith(`4 ${number}:`)).length);
  assert.ok(Math.min(...counts) > 5 && Math.max(...counts) - Math.min(...counts) <= 1, `${counts}`);
  bench.full = false;
  bench.connection.drained();
  await within('all', Promise.all(waits));
});

test('two sides that both have more to say than the line holds get through', async () => {
  const { ports, wire } = streamPair({ capacityBytes: 4096 }, { chunkMax: 200, bufferBytes: 1000 });
  const { a, b } = ports();
  wire.delayed = true;
  const got: number[][] = [[], []];
  a.on('message', (value: unknown) => void got[0]?.push(value as number));
  b.on('message', (value: unknown) => void got[1]?.push(value as number));
  for (let i = 0; i < 2000; i++) {
    a.postMessage(i);
    b.postMessage(i);
  }
  await until('everything', () => {
    for (let i = 0; i < 50; i++) wire.step();
    return got[0]?.length === 2000 && got[1]?.length === 2000;
  });
  assert.deepEqual(got, [[...Array(2000).keys()], [...Array(2000).keys()]]);
  a.close();
  b.close();
});

test('the end of a connection while its medium is full', () => {
  const bench = new StreamBench();
  const { port } = bench.port();
  bench.full = true;
  for (let i = 0; i < 5; i++) port.postMessage(i);
  bench.heard.splice(0);
  bench.connection.endThread('exit');
  assert.deepEqual(bench.heard.at(-1), '12 0: 2 0 0');
  assert.equal(port.stats().undelivered, 5);
  bench.connection.drained();
  bench.say(frames.DATA, 1, ...RECORD);
  bench.say(...goodbyeFrame(1));
  assert.deepEqual([bench.heard.at(-1), bench.over?.[0]], ['12 0: 2 0 0', 'exit']);
});
