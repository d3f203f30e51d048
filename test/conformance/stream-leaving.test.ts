// A side that leaves: it begins nothing new, answers what it was asked, and ends with its last channel or when its time is over. Both
// sides know, whoever leaves, whatever crosses, and whatever comes between.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CLOSED, type Port, RefusedError } from '../../src/index.ts';
import type { StreamChannel } from '../../src/transport/stream/channel.ts';
import { StreamConnection } from '../../src/transport/stream/connection.ts';
import * as frames from '../../src/transport/stream/frames.ts';
import type { Leaving } from '../../src/transport/transport.ts';
import { Random, seed } from '../kit/prng.ts';
import { acceptFrame, chunk, leavingFrame, openFrame, StreamBench, WINDOW } from '../kit/stream-bench.ts';
import { portOver } from '../kit/stream-pair.ts';
import { turn, until, within } from '../kit/watchdog.ts';
import { Wire } from '../kit/wire.ts';

interface Side {
  readonly connection: StreamConnection;
  readonly heard: (Leaving | string)[];
}

/** Two connections over a wire that delivers when it is told to. */
function linked(): { wire: Wire; sides: readonly [Side, Side] } {
  const wire = new Wire({ random: new Random(seed), chunkMax: 50 });
  const side = (i: 0 | 1): Side => {
    const heard: (Leaving | string)[] = [];
    const connection = new StreamConnection(
      wire.ends[i],
      { initiator: i === 0, windowBytes: WINDOW },
      {
        opened() {},
        leaving: (leaving) => void heard.push(leaving),
        ended: (reason) => void heard.push(reason),
      },
    );
    return { connection, heard };
  };
  const sides = [side(0), side(1)] as const;
  wire.connect(0, sides[0].connection);
  wire.connect(1, sides[1].connection);
  wire.delayed = true;
  settle(wire);
  return { wire, sides };
}
function settle(wire: Wire): void {
  while (wire.step());
}
/** A channel that both sides have asked for. */
function joined(sides: readonly [Side, Side], wire: Wire, name = 'x'): readonly [Port, Port] {
  const ports = sides.map(({ connection }) => portOver(connection, connection.open(name))) as [Port, Port];
  settle(wire);
  return ports;
}
function refusalOf(it: { error: unknown }): number | undefined {
  return it.error instanceof RefusedError ? it.error.refusal : undefined;
}

for (const leaver of [0, 1] as const) {
  const stayer = leaver === 0 ? 1 : 0;

  test(`side ${leaver} leaves: what it was asked it answers, and it ends with its last channel`, async () => {
    const { wire, sides } = linked();
    const ports = joined(sides, wire);
    const [server, client] = [ports[leaver], ports[stayer]];
    for (let i = 0; i < 100; i++) client.postMessage({ question: i });
    sides[leaver].connection.leave({ text: 'restarting' });
    settle(wire);
    assert.deepEqual(sides[stayer].heard, [{ timeoutMs: undefined, text: 'restarting' }]);
    assert.deepEqual(sides[stayer].connection.peerLeaving, sides[leaver].connection.leaving);
    assert.deepEqual([server.reason, client.reason, wire.held > 0], [undefined, undefined, true]);
    for (let i = 0; i < 100; i++) {
      server.postMessage({ answer: server.tryReceive() });
      settle(wire);
      assert.deepEqual(client.tryReceive(), { answer: { question: i } });
      settle(wire);
      await undefined;
    }
    assert.equal(sides[leaver].connection.ended, undefined);
    client.close();
    settle(wire);
    assert.equal(server.tryReceive(), CLOSED);
    settle(wire);
    assert.deepEqual([sides[0].connection.ended, sides[1].connection.ended, wire.held], ['closed', 'closed', 0]);
    assert.deepEqual([server.reason, client.reason, client.error], ['closed', 'closed', undefined]);
    assert.equal(sides[stayer].heard.at(-1), 'closed');
  });

  test(`side ${leaver} leaves: what was not answered is refused at once, on either side, and nothing new begins`, async () => {
    const { wire, sides } = linked();
    joined(sides, wire);
    const stays = sides[stayer].connection;
    const goes = sides[leaver].connection;
    const waiting = portOver(stays, stays.open('waits over there'));
    settle(wire);
    assert.equal([...goes.waiting].length, 1);
    // On its way when the other begins to leave.
    const crossing = portOver(stays, stays.open('on its way'));
    const gone = stays.open('given up');
    gone.end('closed');
    goes.leave();
    assert.equal([...goes.waiting].length, 0);
    settle(wire);
    for (const port of [waiting, crossing]) {
      assert.deepEqual([port.reason, refusalOf(port)], ['closed', frames.CODE_LEAVING]);
      await assert.rejects(within('ready', port.ready), { code: 'ERR_CLOSED' });
    }
    const late = stays.open('too late');
    assert.deepEqual([late.ended, refusalOf(late), gone.ended], ['closed', frames.CODE_LEAVING, 'closed']);
    assert.throws(() => goes.open('ours'), { code: 'ERR_UNSUPPORTED', message: /is leaving/ });
    assert.deepEqual([goes.channels, stays.channels], [1, 1]);
    settle(wire);
    assert.deepEqual([goes.ended, stays.ended], [undefined, undefined]);
  });

  test(`side ${leaver} leaves: what it had asked for itself the other may still accept, or cross`, () => {
    const { wire, sides } = linked();
    const goes = sides[leaver].connection;
    const stays = sides[stayer].connection;
    const [asked, crossed] = ['asked', 'crossed'].map((name) => portOver(goes, goes.open(name))) as [Port, Port];
    const other = portOver(stays, stays.open('crossed'));
    goes.leave();
    settle(wire);
    const accepted = portOver(stays, stays.open('asked'));
    settle(wire);
    for (const [one, two] of [
      [asked, accepted],
      [crossed, other],
    ] as const) {
      one.postMessage('there');
      two.postMessage('back');
      settle(wire);
      assert.deepEqual([one.tryReceive(), two.tryReceive()], ['back', 'there']);
      one.close();
      settle(wire);
      assert.equal(two.tryReceive(), CLOSED);
    }
    settle(wire);
    assert.deepEqual([goes.ended, stays.ended, wire.held], ['closed', 'closed', 0]);
  });
}

test('both leave at once: the channels that there are go on, what nobody answered is refused on both sides', () => {
  const { wire, sides } = linked();
  const [a, b] = joined(sides, wire);
  const lonely = sides.map(({ connection }, i) => connection.open(`lonely ${i}`)) as [StreamChannel, StreamChannel];
  for (const { connection } of sides) connection.leave({ text: 'both' });
  settle(wire);
  assert.deepEqual(lonely.map(refusalOf), [frames.CODE_LEAVING, frames.CODE_LEAVING]);
  assert.deepEqual(
    sides.map(({ heard }) => heard),
    Array(2).fill([{ timeoutMs: undefined, text: 'both' }]),
  );
  a.postMessage(1);
  b.postMessage(2);
  settle(wire);
  assert.deepEqual([a.tryReceive(), b.tryReceive()], [2, 1]);
  a.close();
  b.close();
  settle(wire);
  assert.deepEqual([sides[0].connection.ended, sides[1].connection.ended, wire.held], ['closed', 'closed', 0]);
  assert.deepEqual([a.error, b.error], [undefined, undefined]);
});

test('a channel that nobody ever accepts holds a side that leaves until its time is over, or the other says that it leaves', async () => {
  const { wire, sides } = linked();
  const [goes, stays] = [sides[0].connection, sides[1].connection];
  const asked = portOver(goes, goes.open('never'));
  asked.postMessage('nobody reads it');
  goes.leave({ timeoutMs: 20 });
  settle(wire);
  assert.deepEqual(stays.peerLeaving, { timeoutMs: 20, text: '' });
  assert.equal(goes.ended, undefined);
  await until('its time is over', () => goes.ended !== undefined);
  settle(wire);
  assert.deepEqual(
    [goes.ended, stays.ended, asked.reason, asked.stats().undelivered],
    ['closed', 'closed', 'closed', 1],
  );
  const again = linked();
  const other = again.sides[0].connection.open('never');
  again.sides[0].connection.leave();
  settle(again.wire);
  again.sides[1].connection.leave();
  settle(again.wire);
  assert.deepEqual([again.sides[0].connection.ended, refusalOf(other)], ['closed', frames.CODE_LEAVING]);
});

test('when its time is over all channels end as closed, what was accepted goes as far as credit allows, and the rest counts', async () => {
  const bench = new StreamBench();
  const { port } = bench.port();
  for (let i = 0; i < 100; i++) port.postMessage('x'.repeat(100));
  bench.connection.leave({ timeoutMs: 5, text: 'soon' });
  assert.deepEqual([bench.heard.at(-1), bench.held], ['13 0: 5 soon', 1]);
  await until('its time is over', () => bench.over !== undefined);
  assert.deepEqual([bench.over, bench.heard.at(-1), bench.held], [['closed', undefined], '12 0: 1 0 0', 0]);
  assert.ok(port.stats().undelivered > 80);
  bench.connection.leave({ timeoutMs: 5 });
  await turn();
  assert.equal(bench.heard.at(-1), '12 0: 1 0 0', 'nothing follows');
});

test('leaving again has another time; the end of the time is forgotten with the connection', async () => {
  const bench = new StreamBench();
  const { port } = bench.port();
  bench.connection.leave({ timeoutMs: 1 });
  bench.connection.leave();
  bench.connection.leave({ timeoutMs: 1e6 });
  assert.deepEqual(bench.heard.splice(0), ['13 0: 1', '13 0: 0', '13 0: 1000000']);
  await new Promise((resolve) => setTimeout(resolve, 10));
  assert.deepEqual([bench.over, bench.held], [undefined, 1]);
  port.close();
  bench.say(frames.CLOSE, 1, 1, 0);
  assert.deepEqual([bench.over?.[0], bench.held], ['closed', 0]);
  for (const timeoutMs of [-1, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31])
    assert.throws(() => bench.connection.leave({ timeoutMs }), { code: 'ERR_OPTION' });
});

test('a side that leaves may crash, be closed, break, or drain what it has: told as it is', async () => {
  const cases: readonly [string, (bench: StreamBench) => void, string, string | undefined][] = [
    ['a crash', (bench) => bench.connection.endThread('crash'), 'crash', '12 0: 3 0 0'],
    ['an exit', (bench) => bench.connection.endThread('exit', { code: 7 }), 'exit', '12 0: 2 1 7'],
    ['close()', (bench) => bench.connection.close(), 'closed', '12 0: 1 0 0'],
    ['the medium', (bench) => bench.connection.closed('terminated'), 'terminated', undefined],
    ['damage', (bench) => bench.say(77, 0), 'lost', '9 0: 1'],
  ];
  for (const [what, end, reason, said] of cases) {
    const bench = new StreamBench();
    const { port } = bench.port();
    bench.connection.leave({ timeoutMs: 1e6 });
    bench.heard.splice(0);
    end(bench);
    assert.deepEqual([bench.over?.[0], port.reason, bench.held], [reason, reason, 0], what);
    assert.equal(bench.heard.at(-1), said, what);
    assert.equal(await within('the end', port.closed), reason);
  }
  const bench = new StreamBench();
  const { port } = bench.port();
  for (let i = 0; i < 50; i++) port.postMessage('x'.repeat(100));
  bench.connection.leave();
  bench.heard.splice(0);
  bench.connection.close({ drain: true });
  assert.deepEqual([bench.over, bench.heard], [undefined, [`6 1: -1 ${2 ** 21 - 1}`]], 'said once');
  for (let sent = 0; bench.over === undefined && sent < port.stats().sentBytes; ) {
    sent = port.stats().sentBytes;
    bench.say(frames.ACK, 1, sent, 0, sent + WINDOW, 0, 0, 0, 0, 0);
  }
  bench.say(frames.CLOSE, 1, 1, 50);
  assert.deepEqual([bench.over?.[0], bench.heard.slice(-2), bench.held], ['closed', ['8 1: 1 0', '12 0: 1 0 0'], 0]);
});

test('the peer of one that leaves may crash, be closed or break: the leaver is over too, once', () => {
  const { wire, sides } = linked();
  const ports = joined(sides, wire);
  sides[0].connection.leave({ timeoutMs: 1e6 });
  settle(wire);
  sides[1].connection.endThread('crash', { thrown: { error: new Error('died meanwhile') } });
  settle(wire);
  assert.deepEqual(
    [sides[0].heard, ports[0].reason, (ports[0].error as Error).message, wire.held],
    [['crash'], 'crash', 'died meanwhile', 0],
  );
});

test('a peer that says again and again that it leaves has the newest believed, and costs nothing', () => {
  const bench = new StreamBench();
  const { port } = bench.port();
  for (let i = 1; i <= 1000; i++) bench.say(...leavingFrame(i, `${i}`));
  assert.deepEqual(bench.connection.peerLeaving, { timeoutMs: 1000, text: '1000' });
  assert.deepEqual([bench.left.length, bench.heard, port.reason, bench.over], [1000, [], undefined, undefined]);
});

test('frames that leave crossed: ACCEPT, OPEN and CLOSE of what LEAVING has answered mean nothing', () => {
  const bench = new StreamBench();
  bench.open(2, 'waits');
  const asked = bench.connection.open('ours');
  bench.connection.received(chunk(leavingFrame(), acceptFrame(asked.number), [frames.CLOSE, asked.number, 1, 0]));
  assert.deepEqual([asked.ended, refusalOf(asked), bench.over], ['closed', frames.CODE_LEAVING, undefined]);
  const taken = bench.connection.accept(bench.openings[0] as never);
  assert.equal(taken.ended, undefined, 'one that the leaver had opened is taken all the same');
  const leaver = new StreamBench();
  leaver.open(2, 'waits');
  leaver.port();
  leaver.connection.leave();
  leaver.heard.splice(0);
  leaver.connection.received(chunk([frames.CLOSE, 2, 1, 0], openFrame(4), [frames.CLOSE, 4, 1, 0], openFrame(6)));
  assert.deepEqual([leaver.heard, leaver.connection.channels, leaver.over], [[], 1, undefined]);
  leaver.open(6);
  assert.equal(leaver.over?.[0], 'lost', 'a number that was passed over is used all the same');
});

test('a side that leaves with a medium that is full, or before it was greeted, says so first', () => {
  const bench = new StreamBench();
  const { port } = bench.port();
  bench.full = true;
  for (let i = 0; i < 5; i++) port.postMessage(i);
  bench.heard.splice(0);
  bench.connection.leave();
  port.close();
  assert.deepEqual(bench.heard.splice(0), ['13 0: 0', `6 1: -1 ${2 ** 21 - 1}`]);
  bench.full = false;
  bench.connection.drained();
  assert.deepEqual(bench.heard.splice(0), [...Array(4).fill('4 1: 16'), '8 1: 1 0']);
  bench.say(frames.CLOSE, 1, 1, 5);
  assert.deepEqual([bench.heard, bench.over?.[0]], [['12 0: 1 0 0'], 'closed']);
  const early = new StreamBench(null);
  early.connection.leave();
  assert.deepEqual([early.heard, early.over?.[0]], [['13 0: 0', '12 0: 1 0 0'], 'closed']);
});
