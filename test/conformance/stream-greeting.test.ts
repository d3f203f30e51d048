// What the two sides of a connection agree on as they greet, and one that says its own greeting only when it has heard the other's:
// both see the same, whoever waits, whatever comes first, however the bytes are cut.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RefusedError } from '../../src/index.ts';
import type { ChannelWish } from '../../src/transport/stream/channel.ts';
import type { ConnectionOptions } from '../../src/transport/stream/connection.ts';
import * as frames from '../../src/transport/stream/frames.ts';
import type { Greeting, GreetingOptions } from '../../src/transport/stream/greeting.ts';
import { cases, eachCase, seed } from '../kit/prng.ts';
import { chunk, goodbyeFrame, HELLO, openFrame, StreamBench, TERMS, WINDOW } from '../kit/stream-bench.ts';
import { linked, portOver, settle } from '../kit/stream-pair.ts';
import { within } from '../kit/watchdog.ts';

const CUT_SMALL = { chunkMax: 30 };
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

test('a side that answers says its greeting when it has heard the other one, and decides what it says', () => {
  let asked: Greeting | undefined;
  const answer = (peer: Greeting): GreetingOptions | undefined => {
    asked = peer;
    const ticket = new TextDecoder().decode(peer.fields[0]?.bytes);
    return ticket === 'gold'
      ? { maxMessageBytes: 9999, channelsMax: 5, fields: [{ kind: 8, bytes: bytes('hello') }] }
      : undefined;
  };
  for (const [ticket, messageMax] of [
    ['gold', 9999],
    ['tin', 1000],
  ] as const) {
    const { wire, sides } = linked(
      { fields: [{ kind: 7, bytes: bytes(ticket) }] },
      { maxMessageBytes: 1000, answer },
      CUT_SMALL,
    );
    settle(wire);
    assert.deepEqual(asked?.fields, [{ kind: 7, bytes: bytes(ticket) }]);
    assert.deepEqual(sides[1].peer, asked);
    assert.equal(sides[0].peer?.messageMax, messageMax);
    assert.deepEqual(
      sides[0].peer?.fields.map(({ kind }) => kind),
      ticket === 'gold' ? [8] : [],
    );
    const [a, b] = sides.map((side) => portOver(side, side.open('x')));
    settle(wire);
    a?.postMessage('x'.repeat(900));
    settle(wire);
    assert.equal(b?.tryReceive(), 'x'.repeat(900));
  }
});

test('what a side says before it greets waits for the greeting, in its order', async () => {
  const bench = new StreamBench(null, { initiator: false, answer: () => ({ features: 0x10000 }) });
  const port = bench.portOver(bench.connection.open('mine'));
  const gone = bench.connection.open('gone');
  gone.end('closed');
  bench.connection.ping();
  bench.connection.leave({ text: 'soon' });
  port.postMessage(1);
  assert.deepEqual([bench.heard, bench.connection.features], [[], undefined]);
  bench.connection.received(chunk([frames.HELLO, 0, ...HELLO], openFrame(1, 'mine')));
  assert.deepEqual(
    bench.heard.map((each) => each.split(' ').slice(0, 2).join(' ')),
    ['1 0:', '2 2:', '2 4:', '8 4:', '10 0:', '13 0:'],
  );
  assert.equal(port.reason, undefined);
  await within('it has crossed', port.ready);
  assert.equal(bench.connection.features, 0);
});

test('a side that refuses as it answers greets all the same, and so does one that ends, or finds damage, before', () => {
  const ends: readonly (readonly [(bench: StreamBench) => void, string, string])[] = [
    [(bench) => bench.say(frames.HELLO, 0, ...HELLO), '9 0: 300', 'closed'],
    [(bench) => bench.connection.close(), '12 0: 1 0 0', 'closed'],
    [(bench) => bench.connection.endThread('exit'), '12 0: 2 0 0', 'exit'],
    [(bench) => bench.say(frames.PING, 0, 1, 1), '9 0: 1', 'lost'],
    [(bench) => bench.connection.received(bytes('GET / HTTP/1.1\r\nHost: x\r\n\r\n')), '9 0: 1', 'lost'],
    [(bench) => bench.say(frames.HELLO, 0, ...HELLO.map((word, i) => (i === 3 ? 1 : word))), '9 0: 2', 'lost'],
  ];
  for (const [end, said, reason] of ends) {
    const bench: StreamBench = new StreamBench(null, {
      initiator: false,
      answer: () => {
        bench.connection.refuse(300, 'not you');
        return undefined;
      },
    });
    end(bench);
    assert.deepEqual([bench.heard.length, bench.heard[0]?.slice(0, 4), bench.heard[1]], [2, '1 0:', said]);
    assert.deepEqual([bench.over?.[0], bench.greeted, bench.streamEnded], [reason, 0, true]);
  }
  const { wire, sides } = linked({}, { answer: () => void sides[1].refuse(300, 'not you') as undefined }, CUT_SMALL);
  const port = portOver(sides[0], sides[0].open('x'));
  settle(wire);
  assert.deepEqual([sides[0].ended, (port.error as RefusedError).text], ['closed', 'not you']);
  assert.throws(() => linked({ answer: () => undefined }, {}), { code: 'ERR_OPTION' });
});

test('fields that have no room in a greeting are refused before anything is said', () => {
  const field = { kind: 1, bytes: new Uint8Array(4088) };
  assert.equal(new StreamBench(null, { fields: [field] }).over, undefined);
  for (const fields of [[field, { kind: 2, bytes: new Uint8Array(0) }], [{ kind: 1, bytes: new Uint8Array(4089) }]])
    assert.throws(() => new StreamBench(null, { fields }), { code: 'ERR_OPTION' });
});

const FEATURE_CASES = cases(500, 50_000);
test(`features and flags: both sides see the same, or neither talks, ${FEATURE_CASES} cases (SEED=${seed})`, () => {
  eachCase(0, FEATURE_CASES, (random) => {
    const some = (): number => (random.bits() & random.bits() & 0x10003) | (random.bits() & 0x7fff0000);
    const low = (): number => random.int(0, 3);
    const options = [0, 1].map(() => ({ features: some(), knownFeatures: low(), knownFlags: 3 }));
    const late = random.chance(0.5);
    const [left, right] = options as [ConnectionOptions, ConnectionOptions];
    const second = late ? { ...right, features: 0, answer: () => ({ features: right.features }) } : right;
    const { wire, sides } = linked(left, second, { random, ...CUT_SMALL });
    const flags = [0, 1].map(() => some() & 0x7fff0003);
    const wishes = flags.map((each): ChannelWish => ({ flags: each })) as [ChannelWish, ChannelWish];
    const how = random.int(0, 2);
    const near = sides[0].open('x', wishes[0]);
    if (how === 0) settle(wire);
    for (let i = random.skewed(5); i > 0; i--) wire.step();
    const seen = [...sides[1].waiting].map((opening) => opening.flags);
    const far = sides[1].ended === undefined ? sides[1].open('x', wishes[1]) : undefined;
    settle(wire);
    const [a, b] = [left.features as number, right.features as number];
    const unknown = (a & 0xffff & ~(right.knownFeatures as number)) | (b & 0xffff & ~(left.knownFeatures as number));
    if (unknown !== 0) {
      assert.deepEqual([sides[0].ended, sides[1].ended], ['lost', 'lost']);
      return;
    }
    assert.deepEqual([sides[0].ended, sides[1].ended], [undefined, undefined]);
    const agreed = ((a | b) & 0xffff) | (a & b & ~0xffff);
    assert.deepEqual([sides[0].features, sides[1].features], [agreed, agreed]);
    for (const each of seen) assert.equal(each, flags[0]);
    const [one, two] = flags as [number, number];
    const both = ((one | two) & 0xffff) | (one & two & ~0xffff);
    assert.deepEqual([near.flags, far?.flags, near.attached], [both, both, true]);
  });
});

test('an opening shows what its side requires and offers; what is required and not known is refused', () => {
  const bench = new StreamBench(HELLO, { knownFlags: 1 });
  bench.open(2, 'x', TERMS, 0x30001);
  bench.open(4, 'y', TERMS, 0x2);
  assert.deepEqual([bench.openings.length, bench.openings[0]?.flags, bench.heard], [1, 0x30001, ['9 4: 4']]);
  const channel = bench.connection.accept(bench.openings[0] as never, { flags: 0x20000 });
  assert.equal(channel.flags, 0x20001);
  assert.equal(bench.heard[1], `3 2: ${WINDOW} 4096 0 0 ${0x20000} 0`);
  const ours = bench.connection.open('ours', { flags: 1 });
  assert.equal(bench.heard[2], `2 ${ours.number}: ${WINDOW} 4096 0 0 1 "ours"`);
  bench.say(frames.ACCEPT, ours.number, ...TERMS, 2, 0);
  assert.deepEqual([ours.ended, bench.heard[3]], ['closed', `9 ${ours.number}: 4`]);
});

test('a greeting cut at each of its bytes, with all behind it, is answered the same', () => {
  const all = chunk(
    [frames.HELLO, 0, ...HELLO, 7, 3, 0x636261, 0],
    openFrame(1, 'x'),
    [frames.PING, 0, 1, 2],
    goodbyeFrame(1),
  );
  const hear = (cut: number): unknown => {
    const bench = new StreamBench(null, { initiator: false, answer: (peer) => ({ channelsMax: peer.fields.length }) });
    bench.connection.received(all.slice(0, cut));
    bench.connection.received(all.slice(cut));
    return [bench.heard, bench.over, bench.greeted, bench.connection.peer];
  };
  const whole = hear(0);
  assert.match(JSON.stringify(whole), /"1 0: [^"]* 1 16777216 0/);
  for (let cut = 1; cut < all.length; cut++) assert.deepEqual(hear(cut), whole, `${cut}`);
});
