// How channels over a byte stream come to be: names, who waits, who is refused, and two sides that open one name at once.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CLOSED, ClosedError, type Port, RefusedError, UsageError } from '../../src/index.ts';
import { STREAM_NAME_BYTES_MAX, STREAM_WAITING_MAX } from '../../src/limits.ts';
import * as frames from '../../src/transport/stream/frames.ts';
import type { Opening } from '../../src/transport/stream/opening.ts';
import {
  acceptFrame,
  goodbyeFrame,
  HELLO,
  openFrame,
  RECORD,
  StreamBench,
  TERMS,
  text,
  WINDOW,
} from '../kit/stream-bench.ts';
import { linked, portOver, settle } from '../kit/stream-pair.ts';
import { until, within } from '../kit/watchdog.ts';

const NAMES = [
  '',
  'log',
  'grüße/日本/😀',
  'a\0',
  'x'.repeat(STREAM_NAME_BYTES_MAX),
  'é'.repeat(STREAM_NAME_BYTES_MAX / 2),
];

/** Two connections that know each other. */
function greeted(): ReturnType<typeof linked> {
  const both = linked();
  settle(both.wire);
  return both;
}
/** Whether what one end posts comes out of the other, both ways. */
function talk(a: Port, b: Port, what = ''): void {
  a.postMessage('to b');
  b.postMessage('to a');
  assert.deepEqual([b.tryReceive(), a.tryReceive()], ['to b', 'to a'], what);
}

test('a channel is asked for by its name, whichever side opens it, and those of one name in their order', () => {
  const { wire, sides } = greeted();
  wire.delayed = false;
  for (const name of NAMES) {
    const opened = [sides[0].open(name), sides[0].open(name)].map((channel) => portOver(sides[0], channel));
    assert.deepEqual(
      [...sides[1].waiting].map((opening) => opening.name),
      [name, name],
    );
    const taken = [sides[1].open(name), sides[1].open(name)].map((channel) => portOver(sides[1], channel));
    assert.equal([...sides[1].waiting].length, 0);
    for (const [i, port] of opened.entries()) talk(port, taken[i] as Port, name);
    for (const port of [...opened, ...taken]) port.close();
  }
  assert.deepEqual([sides[0].channels, sides[1].channels], [0, 0]);
});

test('what can be no name is refused before anything is said; bytes that are none end the connection', () => {
  const bench = new StreamBench();
  for (const name of [
    'x'.repeat(STREAM_NAME_BYTES_MAX + 1),
    'é'.repeat(STREAM_NAME_BYTES_MAX / 2 + 1),
    '\ud800',
    'a\udc00b',
    '\0',
    '\0library',
  ])
    assert.throws(() => bench.connection.open(name), { code: 'ERR_OPTION' }, JSON.stringify(name.slice(0, 9)));
  assert.deepEqual([bench.heard, bench.connection.channels], [[], 0]);
  for (const bytes of [[0xff], [0xc3], [0xed, 0xa0, 0x80], [0x61, 0xc0, 0x80]]) {
    const other = new StreamBench();
    other.say(frames.OPEN, 2, ...TERMS, 0, ...text(Uint8Array.from(bytes)));
    assert.equal(other.over?.[0], 'lost', `${bytes}`);
  }
  const long = new StreamBench();
  long.open(2, 'x'.repeat(STREAM_NAME_BYTES_MAX + 1));
  assert.equal(long.over?.[0], 'lost');
});

test('a name that begins with U+0000 is none of a program: one that the other side asks for is refused, and not shown', () => {
  const bench = new StreamBench();
  for (const [i, name] of ['\0', '\0library'].entries()) {
    bench.open(2 + 2 * i, name);
    assert.deepEqual(bench.heard.splice(0), [`9 ${2 + 2 * i}: 5`]);
    assert.deepEqual([bench.openings, [...bench.connection.waiting], bench.connection.channels], [[], [], 0]);
  }
  bench.open(6, 'a\0');
  assert.deepEqual([bench.openings.length, bench.heard, bench.over], [1, [], undefined]);
});

test('before it is accepted a channel carries nothing: whatever comes for it is damage, of that channel alone', () => {
  const theirs: readonly (readonly [type: number, ...body: number[]])[] = [
    [frames.DATA, ...RECORD],
    [frames.DATA],
    [frames.ACK, 0, 0, WINDOW, 0, 0, 0, 0, 0],
    [frames.ASK, 0, 0],
    [frames.INTERRUPT, 1, 0],
    [frames.ACCEPT, ...TERMS, 0, 0],
  ];
  for (const [type, ...body] of theirs) {
    const bench = new StreamBench();
    bench.open(2);
    const [opening] = bench.openings as [Opening];
    bench.say(type, 2, ...body);
    assert.deepEqual([bench.heard, opening.over, bench.connection.channels], [['9 2: 1'], true, 0], `type ${type}`);
    assert.equal(bench.connection.accept(opening).ended, 'closed');
    assert.deepEqual([bench.over, bench.idle, bench.heard.length], [undefined, 1, 1]);
  }
  for (const [type, ...body] of theirs.slice(0, -1)) {
    const bench = new StreamBench();
    const port = bench.portOver(bench.connection.open());
    bench.heard.splice(0);
    bench.say(type, 1, ...body);
    assert.deepEqual([bench.heard, port.reason, bench.connection.channels], [['9 1: 1'], 'lost', 0], `type ${type}`);
    assert.equal(bench.over, undefined);
  }
});

test('thousands of channels that nobody accepts: a bounded number waits, the rest is refused, and room comes back', () => {
  const bench = new StreamBench();
  for (let i = 1; i <= 5000; i++) bench.open(2 * i, `name ${i}`);
  assert.equal(bench.connection.channels, STREAM_WAITING_MAX);
  assert.equal([...bench.connection.waiting].length, STREAM_WAITING_MAX);
  assert.deepEqual(
    [bench.heard.length, bench.heard[0]],
    [5000 - STREAM_WAITING_MAX, `9 ${2 * STREAM_WAITING_MAX + 2}: 3`],
  );
  assert.match(bench.said[0] as string, /1024 channels wait/);
  bench.heard.splice(0);
  const [one, two, three] = bench.openings as [Opening, Opening, Opening];
  bench.connection.accept(one);
  two.refuse();
  bench.say(frames.CLOSE, three.number, 1, 0);
  assert.deepEqual(bench.heard.splice(0), ['3 2: 1024 4096 0 0 0 0', '9 4: 5', '8 6: 1 0']);
  for (let i = 5001; i <= 5004; i++) bench.open(2 * i);
  assert.deepEqual(bench.heard, ['9 10008: 3']);
});

test('refusing tells the one who has opened the channel: closed, with an error that has the code and the text', async () => {
  const { wire, sides } = greeted();
  const [a, b] = ['one', 'two'].map((name) => portOver(sides[0], sides[0].open(name))) as [Port, Port];
  const [ready, flushed] = [a.ready, a.flush()];
  a.postMessage('never');
  settle(wire);
  const [one, two] = [...sides[1].waiting] as [Opening, Opening];
  for (const code of [0, 1, 2, 8, 255, -1, 2 ** 31, 3.5, Number.NaN]) assert.throws(() => one.refuse(code), UsageError);
  one.refuse(4711, 'not on Sundays\n');
  one.refuse(5, 'again');
  two.refuse(frames.CODE_FULL, `${'x'.repeat(255)}é`);
  settle(wire);
  assert.equal(await within('the end', a.closed), 'closed');
  const { error } = a as { error: RefusedError };
  assert.ok(error instanceof RefusedError);
  assert.deepEqual([error.code, error.refusal, error.text], ['ERR_REFUSED', 4711, 'not on Sundays\n']);
  assert.match(error.message, /does not take channel "one": "not on Sundays\\n"/);
  const isRefused = (it: unknown): boolean => it instanceof ClosedError && it.cause === error;
  await assert.rejects(within('ready', ready), isRefused);
  await flushed.catch(() => {});
  assert.throws(() => a.send('more'), isRefused);
  assert.equal(a.stats().undelivered, 1);
  assert.equal((b.error as RefusedError).text, 'x'.repeat(255), 'what is too long is cut between characters');
  assert.deepEqual([sides[0].channels, sides[1].channels, one.over], [0, 0, true]);
});

test('who has opened a channel may give it up before anybody accepts it', () => {
  const { wire, sides } = greeted();
  const port = portOver(sides[0], sides[0].open('no more'));
  settle(wire);
  const [opening] = [...sides[1].waiting] as [Opening];
  port.close();
  settle(wire);
  assert.deepEqual([opening.over, [...sides[1].waiting].length, sides[0].channels, sides[1].channels], [true, 0, 0, 0]);
  const late = portOver(sides[1], sides[1].accept(opening));
  assert.equal(late.reason, 'closed');
  late.close();
  opening.refuse();
  settle(wire);
  assert.deepEqual([sides[0].ended, sides[1].ended], [undefined, undefined]);
});

test('a channel that is accepted while its opener gives it up ends like any other', () => {
  const { wire, sides } = greeted();
  const near = portOver(sides[0], sides[0].open('x'));
  settle(wire);
  const far = portOver(sides[1], sides[1].open('x'));
  near.close();
  settle(wire);
  assert.equal(far.reason, 'closed');
  far.close();
  settle(wire);
  assert.deepEqual([sides[0].channels, sides[1].channels], [0, 0]);
});

test('both sides open one name at once: it is one channel, with the number of the initiator and the terms of each', async () => {
  const { wire, sides } = greeted();
  const near = sides[0].open('x', { texts: 3, textBytes: 30, window: 2048 });
  const far = sides[1].open('x', { texts: 5, textBytes: 50, messageMax: 999 });
  const other = sides[1].open('y');
  const [a, b] = [portOver(sides[0], near), portOver(sides[1], far)];
  a.postMessage('early a');
  b.postMessage('early b');
  b.interrupt(7);
  settle(wire);
  assert.deepEqual([near.number, far.number, other.number], [1, 1, 4]);
  assert.deepEqual([near.attached, far.attached, other.attached], [true, true, false]);
  assert.deepEqual([near.peerTerms, far.peerTerms], [far.terms, near.terms]);
  wire.delayed = false;
  const early = await within('what was posted early', Promise.all([a.receiveAsync(), b.receiveAsync()]));
  assert.deepEqual([...early, a.interrupted], ['early b', 'early a', 7]);
  talk(a, b);
  a.close();
  b.close();
  other.finish('closed');
  assert.deepEqual([sides[0].channels, sides[1].channels], [0, 0]);
});

test('channels of one name that cross meet in their order; what is left over waits', () => {
  const { wire, sides } = greeted();
  const near = [0, 1].map(() => portOver(sides[0], sides[0].open('x')));
  const far = [0, 1, 2].map(() => portOver(sides[1], sides[1].open('x')));
  settle(wire);
  wire.delayed = false;
  for (const [i, port] of near.entries()) talk(port, far[i] as Port, `pair ${i}`);
  assert.deepEqual([[...sides[0].waiting].length, [...sides[1].waiting].length], [1, 0]);
  talk(portOver(sides[0], sides[0].open('x')), far[2] as Port, 'the third');
});

test('a channel that crosses one which was given up meanwhile ends as closed, on whichever side', () => {
  for (const quitter of [0, 1] as const) {
    const { wire, sides } = greeted();
    const stays = portOver(sides[quitter === 0 ? 1 : 0], sides[quitter === 0 ? 1 : 0].open('x'));
    const goes = portOver(sides[quitter], sides[quitter].open('x'));
    goes.close();
    settle(wire);
    assert.equal(stays.reason, 'closed', `side ${quitter} goes`);
    stays.close();
    settle(wire);
    assert.deepEqual([sides[0].channels, sides[1].channels], [0, 0]);
    // The name is free again.
    const again = portOver(sides[quitter], sides[quitter].open('x'));
    settle(wire);
    const met = portOver(sides[quitter === 0 ? 1 : 0], sides[quitter === 0 ? 1 : 0].open('x'));
    settle(wire);
    wire.delayed = false;
    talk(again, met);
  }
});

test('what a side gives up as it leaves crosses another, whose side has more to say before it hears of that', () => {
  for (const initiator of [true, false]) {
    const bench = new StreamBench(HELLO, { initiator });
    const ours = bench.connection.open('x');
    const port = bench.portOver(ours);
    bench.connection.close({ drain: true });
    const theirs = initiator ? 2 : 1;
    bench.open(theirs, 'x');
    // Both count on the channel from the other's OPEN on, and its number is the initiator's.
    const number = initiator ? ours.number : theirs;
    bench.say(frames.ASK, number, 64, 0);
    bench.say(frames.INTERRUPT, number, 7, 0);
    bench.say(frames.DATA, number, ...RECORD);
    bench.say(frames.CLOSE, number, 1, 0);
    assert.deepEqual([port.tryReceive(), port.error], [CLOSED, undefined], `initiator: ${initiator}`);
    bench.say(...goodbyeFrame(1));
    assert.deepEqual([bench.over?.[0], bench.said], ['closed', []], `initiator: ${initiator}`);
  }
});

const TEXTS = { texts: 16, textBytes: 2 ** 24 };
const LOW = { maxMessageBytes: 6000, textBytesMax: 20_000 };

for (const [how, crosses, greeted] of [
  ['is accepted', false, false],
  ['is accepted, greeted before', false, true],
  ['crosses another', true, false],
  ['crosses another, greeted before', true, true],
] as const) {
  test(`a side that takes less than the other says refuses nobody: the smaller holds for both (a channel that ${how})`, async () => {
    for (const server of [0, 1] as const) {
      const client = server === 0 ? 1 : 0;
      const { wire, sides } = linked(...((server === 0 ? [LOW, {}] : [{}, LOW]) as [object, object]));
      if (greeted) settle(wire);
      const near = sides[client].open('x', TEXTS);
      const a = portOver(sides[client], near);
      const said = 'a text that is long enough to be remembered, if there is room '.repeat(70);
      const failed = new Promise<MessageEvent>((resolve) => a.addEventListener('messageerror', resolve as never));
      a.postMessage([said, { a: 1 }]);
      if (!greeted) a.postMessage(new Uint8Array(8000));
      if (!crosses) settle(wire);
      const far = sides[server].open('x', { ...TEXTS, messageMax: 9999 });
      const b = portOver(sides[server], far);
      const ready = [a.ready, b.ready];
      settle(wire);
      wire.delayed = false;
      await within('both are ready', Promise.all(ready));
      const low = { window: WINDOW, messageMax: 6000, texts: 16, textBytes: 20_000 };
      assert.deepEqual([near.terms, far.peerTerms], [low, low]);
      assert.deepEqual([far.terms, near.peerTerms], [far.terms, far.terms]);
      assert.deepEqual(await within('what was posted early', b.receiveAsync()), [said, { a: 1 }]);
      // More texts than the other side remembers go over, and again, and each arrives.
      for (let i = 0; i < 40; i++) {
        const value = [`${i % 10} ${said}`, { a: i }];
        a.postMessage(value);
        assert.deepEqual(await within(`text ${i}`, b.receiveAsync()), value);
      }
      assert.throws(() => a.postMessage(new Uint8Array(8000)), { code: 'ERR_TOO_LARGE', limit: 6000 });
      if (!greeted) {
        assert.equal(a.stats().undelivered, 1, 'what was accepted before it was known');
        assert.equal((await within('the failure', failed)).data.code, 'ERR_TOO_LARGE');
      }
      b.postMessage('x'.repeat(9000));
      assert.equal(await within('the other direction', a.receiveAsync()), 'x'.repeat(9000));
      assert.deepEqual([a.reason, b.reason], [undefined, undefined]);
      a.close();
      b.close();
    }
  });
}

test('a channel that crosses is refused by nobody, also not where there are many, or by one who leaves', async () => {
  const { wire, sides } = linked({ channelsMax: 0 }, { channelsMax: 0 });
  const ports = sides.map((side) => portOver(side, side.open('x'))) as [Port, Port];
  const ready = ports.map((port) => port.ready);
  ports[1].postMessage('the last words');
  sides[1].close({ drain: true });
  settle(wire);
  assert.equal(ports[0].error, undefined);
  await within('the one who stays', ready[0] as Promise<unknown>);
  await (ready[1] as Promise<unknown>).catch(() => {});
  assert.equal(ports[0].tryReceive(), 'the last words');
  settle(wire);
  assert.equal(ports[0].tryReceive(), CLOSED);
  ports[0].close();
  settle(wire);
  assert.deepEqual([sides[0].ended, sides[1].ended], ['closed', 'closed']);
});

test('a channel that crosses one on terms that can be none ends for both, and says why', () => {
  const bench = new StreamBench(HELLO, { initiator: false });
  const port = bench.portOver(bench.connection.open('x'));
  bench.heard.splice(0);
  bench.open(1, 'x', [WINDOW + 1, 64, 0, 0]);
  assert.deepEqual(bench.heard, ['9 1: 4']);
  assert.deepEqual([port.reason, (port.error as RefusedError).refusal], ['closed', frames.CODE_TERMS]);
  assert.deepEqual([port.tryReceive(), bench.connection.channels], [CLOSED, 0], 'told as to who is refused');
});

test('a RESET of what nobody has opened ends the connection; of what is over it means nothing', () => {
  for (const number of [2, 3, 0x7ffffffe, 0x7fffffff]) {
    const bench = new StreamBench();
    bench.say(frames.RESET, number, 1, 0);
    assert.equal(bench.over?.[0], 'lost', `${number}`);
  }
  const bench = new StreamBench();
  const { port } = bench.port();
  bench.say(frames.RESET, 1, 1, ...text('why'));
  assert.deepEqual(
    [port.reason, (port.error as Error).message],
    ['lost', 'The other side has found damage in the channel: "why"'],
  );
  port.close();
  for (let i = 0; i < 3; i++) bench.say(frames.RESET, 1, 1, 0);
  bench.say(...acceptFrame(1));
  assert.deepEqual([bench.over, bench.heard, bench.connection.channels], [undefined, [], 0]);
});

test('openings that come one by one behind each other wait in the order of their coming', async () => {
  const bench = new StreamBench();
  const seen: string[] = [];
  bench.whenOpened = (opening) => {
    seen.push(opening.name);
    if (opening.name === 'now') bench.portOver(bench.connection.accept(opening)).postMessage(1);
    if (opening.name === 'no') opening.refuse(300, 'no');
  };
  for (const frame of [openFrame(2, 'now'), openFrame(4, 'no'), openFrame(6, 'later')]) bench.say(...frame);
  await until('what was posted', () => bench.heard.includes('4 2: 16'));
  assert.deepEqual(seen, ['now', 'no', 'later']);
  assert.deepEqual(
    [...bench.connection.waiting].map(({ name }) => name),
    ['later'],
  );
});

test('the last number there is names a channel like any other, and behind it the other side opens none', () => {
  const bench = new StreamBench();
  const last = frames.CHANNEL_MAX - 1;
  const port = bench.portOver(bench.taken(last));
  port.postMessage(1);
  bench.say(frames.DATA, last, 8, 4, 0, 0);
  assert.throws(() => port.tryReceive(), { code: 'ERR_DECODE' });
  port.close();
  bench.say(frames.CLOSE, last, 1, 1);
  assert.deepEqual([bench.heard.at(-1), bench.connection.channels], [`8 ${last}: 1 1`, 0]);
  bench.open(last);
  assert.equal(bench.over?.[0], 'lost');
});
