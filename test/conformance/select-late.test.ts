// What travels beside a ring may come later than the record that names it, once an end of the channel has moved; and a peer that lies can
// see to it that it never does. Whoever waits for many ports is handed none of which the next receive would wait for.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KIND_ELSEWHERE, KIND_LATEST, KIND_PACKED, KIND_SIDE, MORE } from '../../src/frame/header.ts';
import { attach, CLOSED, channel, EMPTY, LayoutError, type Port, select, selectAsync } from '../../src/index.ts';
import { markerOf } from '../../src/lane/backlog.ts';
import { CLOSE_CODES, CLOSED as CLOSED_WORD, MOVES, SPILLED } from '../../src/memory/layout.ts';
import { SPILL, VALUE } from '../../src/transport/thread/native-values.ts';
import { DONE } from '../../src/transport/thread/stretch.ts';
import { type News, Stranger } from '../kit/stranger.ts';
import { streamPair } from '../kit/stream-pair.ts';
import { startThread } from '../kit/thread.ts';
import { STEP_MS, turn, within } from '../kit/watchdog.ts';

const HANG = { timeoutMs: STEP_MS };
/** Long enough for several slices of a sleep, and for a port that is handed out wrongly. */
const WHILE = { timeoutMs: 60 };
/** Where a value has gone that nobody has heard of yet: far behind all that came on that line. */
const FAR_BEHIND = 100 << 8;

/** Moves a port within this thread. */
function moved(port: Port): Port {
  const { port: carrier, remote } = channel();
  const reader = attach(remote);
  carrier.postMessage({ port }, [port]);
  const arrived = reader.receive(HANG) as { port: Port };
  carrier.close();
  reader.close();
  return arrived.port;
}

function pair(): [Port, Port] {
  const { port, remote } = channel();
  return [port, attach(remote)];
}

interface Late {
  readonly stranger: Stranger;
  readonly port: Port;
  readonly news: News;
  /** What is received then. */
  readonly result: { readonly value: unknown } | { readonly error: string };
}
const CAME = { value: { came: 'late' } };

const waysToBeLate: Readonly<Record<string, () => Promise<Late>>> = {
  async 'a move was said and nothing is heard of it'() {
    const stranger = new Stranger();
    stranger.set(MOVES, 1);
    stranger.write(KIND_SIDE, 0, FAR_BEHIND);
    return { stranger, port: stranger.port, news: stranger.thatSays(VALUE, 0, 0, CAME.value), result: CAME };
  },
  async 'a move was said and then it was not'() {
    const stranger = new Stranger();
    stranger.set(MOVES, 1);
    stranger.write(KIND_SIDE, 0, FAR_BEHIND);
    return { stranger, port: stranger.port, news: stranger.thatSets(MOVES, 0), result: { error: 'ERR_DECODE' } };
  },
  async 'the end here has moved, and what comes for it is sent on'() {
    const stranger = new Stranger();
    const port = moved(stranger.port);
    stranger.write(KIND_SIDE, 0, 0);
    return { stranger, port, news: stranger.thatSays(VALUE, 0, 0, CAME.value), result: CAME };
  },
  async 'the end there has moved, and the line before is not done'() {
    const stranger = new Stranger();
    stranger.moves();
    for (let i = 0; i < 3; i++) await turn();
    stranger.write(KIND_SIDE, 0, FAR_BEHIND);
    return { stranger, port: stranger.port, news: stranger.thatSays(VALUE, 0, 0, CAME.value), result: CAME };
  },
  async 'the end here has moved, and the other one may not have heard of it'() {
    const stranger = new Stranger();
    const port = moved(stranger.port);
    stranger.say([DONE, 0, 0]);
    for (let i = 0; i < 3; i++) await turn();
    stranger.write(KIND_ELSEWHERE, 1000, 0, 1, 0);
    const news = stranger.thatSets(CLOSED_WORD, CLOSE_CODES.closed);
    return { stranger, port, news, result: { error: 'ERR_LAYOUT' } };
  },
  async 'the newest message names what has not come'() {
    const stranger = new Stranger();
    stranger.set(MOVES, 1);
    stranger.write(KIND_LATEST);
    stranger.latest(KIND_SIDE, 0, FAR_BEHIND);
    return { stranger, port: stranger.port, news: stranger.thatSays(VALUE, 0, 0, CAME.value), result: CAME };
  },
  async 'the peer has ended, and what it left over has not come'() {
    const stranger = new Stranger();
    stranger.set(MOVES, 1);
    stranger.set(SPILLED, 1);
    stranger.set(CLOSED_WORD, CLOSE_CODES.closed);
    return { stranger, port: stranger.port, news: stranger.thatSets(MOVES, 0), result: { error: 'ERR_DECODE' } };
  },
  async 'the peer has ended, and a value that it left over has not come'() {
    const stranger = new Stranger();
    stranger.set(MOVES, 1);
    stranger.say([SPILL, 0, [[KIND_SIDE, markerOf(0, FAR_BEHIND)]]]);
    stranger.set(SPILLED, 1);
    stranger.set(CLOSED_WORD, CLOSE_CODES.closed);
    return { stranger, port: stranger.port, news: stranger.thatSays(VALUE, 0, 0, CAME.value), result: CAME };
  },
  async 'the peer has ended, and a value that it left over never comes'() {
    const stranger = new Stranger();
    stranger.set(MOVES, 1);
    stranger.say([SPILL, 0, [[KIND_SIDE, markerOf(0, FAR_BEHIND)]]]);
    stranger.set(SPILLED, 1);
    stranger.set(CLOSED_WORD, CLOSE_CODES.closed);
    return { stranger, port: stranger.port, news: stranger.thatSets(MOVES, 0), result: { error: 'ERR_DECODE' } };
  },
  async 'the peer has ended behind a value that has not come'() {
    const stranger = new Stranger();
    stranger.set(MOVES, 1);
    stranger.write(KIND_SIDE, 0, FAR_BEHIND);
    stranger.set(CLOSED_WORD, CLOSE_CODES.closed);
    return { stranger, port: stranger.port, news: stranger.thatSays(VALUE, 0, 0, CAME.value), result: CAME };
  },
};

for (const [why, make] of Object.entries(waysToBeLate)) {
  test(`a blocked receive hears of it: ${why}`, async () => {
    const { stranger, port, news, result } = await make();
    const thread = startThread(
      async ({ gates, data, pause }) => {
        await gates.passAsync(0);
        pause(20);
        if (data.side === undefined) Atomics.store(new Int32Array(data.memory), data.word, data.value);
        else {
          data.side.postMessage(data.message);
          data.tether.postMessage(1);
        }
        await gates.passAsync(1);
      },
      { data: news, transfer: news.message === undefined ? [] : [news.side, news.tether] },
    );
    assert.equal(port.tryReceive(), EMPTY);
    thread.gates.open(0);
    if ('error' in result) assert.throws(() => port.receive(HANG), { code: result.error });
    else assert.deepEqual(port.receive(HANG), result.value);
    port.close();
    thread.gates.open(1);
    await thread.done();
    stranger.close();
  });

  test(`select hands out others meanwhile: ${why}`, async () => {
    const { stranger, port, news, result } = await make();
    const { message, side, tether } = news;
    const { port: other, remote } = channel();
    const thread = startThread(
      async ({ port: own, gates, data, pause }) => {
        const end = own();
        for (let i = 0; i < 3; i++) {
          await gates.passAsync(i);
          pause(20);
          end.postMessage(i);
        }
        await gates.passAsync(3);
        pause(20);
        if (data.side === undefined) Atomics.store(new Int32Array(data.memory), data.word, data.value);
        else {
          data.side.postMessage(data.message);
          data.tether.postMessage(1);
        }
        await gates.passAsync(4);
      },
      { remote, data: news, transfer: message === undefined ? [] : [side, tether] },
    );
    const ports = [port, other];
    for (let i = 0; i < 2; i++) {
      assert.equal(select(ports, { timeoutMs: 0 }), EMPTY);
      assert.equal(select(ports, WHILE), EMPTY);
      thread.gates.open(i);
      assert.equal(select(ports, HANG), other);
      assert.equal(other.receive(), i);
      await turn();
    }
    const next = selectAsync(ports);
    thread.gates.open(2);
    assert.equal(await within('the other port', next), other);
    assert.equal(other.receive(), 2);
    assert.equal(select(ports, WHILE), EMPTY);
    thread.gates.open(3);
    assert.equal(select(ports, HANG), port);
    if ('error' in result) assert.throws(() => port.receive(HANG), { code: result.error });
    else assert.deepEqual(port.receive(HANG), result.value);
    port.close();
    other.close();
    thread.gates.open(4);
    await thread.done();
    stranger.close();
  });

  test(`selectAsync hands it out when that has come: ${why}`, async () => {
    const { stranger, port, news, result } = await make();
    const [other, far] = pair();
    const next = selectAsync([other, port], HANG);
    let told = false;
    void next.then(() => {
      told = true;
    });
    for (let i = 0; i < 5; i++) await turn();
    assert.equal(told, false);
    if (news.memory === undefined) stranger.say(news.message as unknown[]);
    else {
      Atomics.store(new Int32Array(news.memory), news.word as number, news.value as number);
      // No bell tells of a word. Whoever lies does not ring, and an end that is told of rings.
      stranger.say([]);
    }
    assert.equal(await next, port);
    if ('error' in result) await assert.rejects(async () => port.tryReceive(), { code: result.error });
    else assert.deepEqual(port.tryReceive(), result.value);
    far.close();
    other.close();
    stranger.close();
  });
}

for (const way of ['select', 'selectAsync'] as const) {
  test(`${way} hands out a port, and what was there is taken back: its receive throws`, async () => {
    const stranger = new Stranger();
    const [other, far] = pair();
    const ask = (): unknown =>
      way === 'select' ? select([other, stranger.port], HANG) : selectAsync([other, stranger.port], HANG);
    stranger.write(KIND_PACKED, 1000, 0, 1, 0);
    assert.equal(await ask(), stranger.port);
    stranger.rewrite(KIND_ELSEWHERE);
    stranger.set(MOVES, 1);
    assert.throws(() => stranger.port.receive(), LayoutError);
    assert.equal(stranger.port.receive(), CLOSED);
    far.close();
    other.close();
    stranger.close();
  });

  test(`${way} hands out a port, and its newest message is replaced by one that has not come: that counts as lost`, async () => {
    const stranger = new Stranger();
    const [other, far] = pair();
    const ask = (): unknown =>
      way === 'select' ? select([other, stranger.port], HANG) : selectAsync([other, stranger.port], HANG);
    stranger.write(KIND_LATEST);
    stranger.latest(KIND_SIDE, 0, FAR_BEHIND);
    assert.equal(await ask(), stranger.port);
    stranger.set(MOVES, 1);
    assert.throws(() => stranger.port.receive(), { code: 'ERR_DECODE' });
    assert.equal(stranger.port.reason, undefined);
    far.close();
    other.close();
    stranger.close();
  });
}

test('a left-over that is lost is told once, also where the end moves before it is', () => {
  const stranger = new Stranger();
  stranger.set(SPILLED, 1);
  stranger.set(CLOSED_WORD, CLOSE_CODES.closed);
  assert.equal(select([stranger.port]), stranger.port);
  const port = moved(stranger.port);
  assert.throws(() => port.receive(HANG), { code: 'ERR_DECODE' });
  assert.equal(port.receive(HANG), CLOSED);
  port.close();
  stranger.close();
});

test('selectAsync hands out no port of which only the beginning of a message has come', async () => {
  const { port: early, remote } = channel({ capacityBytes: 1024 });
  const far = attach(remote);
  const [other, farOther] = pair();
  const ports = [early, other];
  // Nobody moves its outbox along: this thread takes part, and does not get to it before.
  far.postMessage(Array.from({ length: 5000 }, (_, i) => i));
  farOther.postMessage('other');
  assert.equal(await selectAsync(ports), other);
  assert.equal(other.tryReceive(), 'other');
  assert.equal(await selectAsync(ports, HANG), early);
  assert.equal((early.tryReceive() as number[]).length, 5000);
  for (const port of [...ports, far, farOther]) port.close();
});

test('nor over a stream, where what can be no message is thrown at who reads', async () => {
  const { wire, channels, portsOf, ports: open } = streamPair({ capacityBytes: 4096 });
  const ends = channels();
  const [{ a, b }, { a: farOther, b: other }] = [portsOf(ends), open()];
  wire.delayed = true;
  a.postMessage(Array.from({ length: 5000 }, (_, i) => i));
  // The beginning of it, on its way as far as the window lets it.
  for (let i = 0; i < 5; i++) wire.step();
  const next = selectAsync([b, other]);
  let told = false;
  void next.then(() => {
    told = true;
  });
  for (let i = 0; i < 5; i++) await turn();
  assert.equal(told, false);
  wire.delayed = false;
  while (wire.step());
  assert.equal(await within('the whole of it', next), b);
  assert.equal((b.tryReceive() as number[]).length, 5000);
  const { sink } = ends[0];
  sink.tryClaim(8);
  sink.commit(8, KIND_SIDE + 1000);
  sink.publish();
  assert.equal(await within('the damage', selectAsync([b, other])), b);
  assert.throws(() => b.tryReceive(), LayoutError);
  assert.equal(b.tryReceive(), CLOSED);
  for (const port of [a, b, other, farOther]) port.close();
});

test('what can be no beginning of a message ends its channel alone, where selectAsync meets it first', async () => {
  const { channels, portsOf, ports: open } = streamPair({ capacityBytes: 4096 });
  const ends = channels();
  const [{ a, b }, { a: farOther, b: other }] = [portsOf(ends), open()];
  const next = selectAsync([b, other]);
  const { sink } = ends[0];
  const offset = sink.tryClaim(16);
  // A first part, of a message longer than any.
  sink.views.words.fill(-1, offset >>> 2, (offset + 16) >>> 2);
  sink.commit(16, KIND_PACKED | MORE);
  sink.publish();
  assert.equal(await within('the damage', next), b);
  assert.throws(() => b.tryReceive(), LayoutError);
  assert.equal(b.tryReceive(), CLOSED);
  assert.deepEqual([b.reason, await within('the end over there', a.closed)], ['lost', 'lost']);
  farOther.postMessage('goes on');
  assert.equal(await within('the other one', selectAsync([other])), other);
  assert.equal(other.tryReceive(), 'goes on');
  for (const port of [farOther, other]) port.close();
});

test('an end that leaves while selectAsync waits for it takes along what stands in its ring', async () => {
  const { port, remote } = channel({ capacityBytes: 1024 });
  const end = attach(remote);
  const text = 'in parts '.repeat(700);
  port.postMessage(text);
  const found = selectAsync([end]);
  // What was taken in has made room, and the sender goes on.
  assert.equal(port.full, false);
  const there = moved(end);
  assert.equal(await found, end);
  assert.equal(await there.receiveAsync(HANG), text);
  assert.equal(port.reason, undefined);
  there.close();
});
