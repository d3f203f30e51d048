// Two sides that open, close and accept channels of few names over a wire that delivers when it likes: whoever waits meets whoever
// waits, both sides agree on who is whose, and nothing stays. Seeds are printed; SEED and CASE repeat one.
// asked for: node-22, node-26
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StreamChannel } from '../../src/transport/stream/channel.ts';
import { StreamConnection } from '../../src/transport/stream/connection.ts';
import { cases, eachCase, type Random, seed } from '../kit/prng.ts';
import { settle } from '../kit/stream-pair.ts';
import { Wire } from '../kit/wire.ts';

// A side that leaves, or both, at any moment of the same: nobody waits for an answer that never comes.
const LEAVING_CASES = cases(3000, 300_000);
test(`sides that leave while names meet, ${LEAVING_CASES} cases (SEED=${seed})`, () => {
  eachCase(0, LEAVING_CASES, (random) => {
    const wire = new Wire({ random, chunkMax: 2000 });
    wire.delayed = true;
    const sides = sidesOf(wire, random.pick([2, 1000]));
    const leavers = random.pick([[0], [1], [0, 1]]);
    for (const who of [undefined, ...leavers]) {
      if (who !== undefined) (sides[who as 0 | 1] as Side).connection.leave();
      for (let step = random.int(0, 20); step > 0; step--) {
        const side = random.pick(sides);
        if (side.connection.leaving === undefined && side.connection.ended === undefined) act(random, side);
        for (let i = random.skewed(6); i > 0; i--) wire.step();
      }
    }
    settle(wire);
    const all = sides.flatMap(({ channels }) => channels);
    if (sides[0].connection.ended !== undefined) assert.ok(all.every(({ ended }) => ended !== undefined));
    for (const [i, { connection, channels }] of sides.entries()) {
      const other = sides[i === 0 ? 1 : 0];
      assert.ok([undefined, 'closed'].includes(connection.ended), `${connection.error}`);
      if (other.connection.leaving === undefined) continue;
      for (const channel of rest(channels)) {
        assert.equal(channel.attached, true, 'who stays waits for nobody');
        const peers = rest(other.channels).filter(({ number, attached }) => attached && number === channel.number);
        assert.deepEqual(
          peers.map(({ name, peerTerms }) => [name, peerTerms]),
          [[channel.name, channel.terms]],
        );
      }
      for (const { ended, attached, error } of channels)
        if (ended !== undefined && !attached && error !== undefined)
          assert.equal((error as { code: string }).code, 'ERR_REFUSED');
    }
    endAll(wire, sides);
    assert.deepEqual(
      sides.map(({ connection }) => [connection.ended, connection.channels]),
      Array(2).fill(['closed', 0]),
    );
    assert.equal(wire.held, 0);
  });
});

const NAMES = ['', 'a'];

interface Side {
  readonly connection: StreamConnection;
  /** What it has asked for and not closed. */
  readonly channels: StreamChannel[];
}

function sidesOf(wire: Wire, waitingMax: number): readonly [Side, Side] {
  const side = (i: 0 | 1): Side => {
    const channels: StreamChannel[] = [];
    const connection = new StreamConnection(
      wire.ends[i],
      { initiator: i === 0, windowBytes: 1024, waitingMax },
      { opened() {}, ended() {} },
    );
    wire.connect(i, connection);
    return { connection, channels };
  };
  return [side(0), side(1)];
}

function act(random: Random, { connection, channels }: Side): void {
  const what = random.int(0, 9);
  if (what < 6) channels.push(connection.open(random.pick(NAMES)));
  else if (what < 9 && channels.length > 0) {
    const [channel] = channels.splice(random.int(0, channels.length - 1), 1) as [StreamChannel];
    if (channel.ended === undefined) channel.end('closed');
    else channel.finish('closed');
  } else for (const opening of [...connection.waiting].slice(0, 1)) opening.refuse();
}

/** Every channel ends, and nobody waits any more. */
function endAll(wire: Wire, sides: readonly Side[]): void {
  for (const { connection, channels } of sides) {
    for (const channel of channels) channel.end('closed');
    for (const opening of [...connection.waiting]) opening.refuse();
  }
  settle(wire);
  for (const { channels } of sides) for (const channel of channels) channel.finish('closed');
  settle(wire);
}

function rest(channels: readonly StreamChannel[]): StreamChannel[] {
  return channels.filter(({ ended }) => ended === undefined);
}

const CASES = cases(3000, 300_000);
test(`names meet, whatever crosses, ${CASES} cases (SEED=${seed})`, () => {
  eachCase(0, CASES, (random) => {
    const wire = new Wire({ random, chunkMax: 2000 });
    wire.delayed = true;
    const sides = sidesOf(wire, random.pick([2, 1000]));
    for (let step = random.int(2, 40); step > 0; step--) {
      act(random, random.pick(sides));
      for (let i = random.skewed(6); i > 0; i--) wire.step();
    }
    settle(wire);
    const [left, right] = sides;
    for (const { connection } of sides) assert.equal(connection.ended, undefined, (connection.error as Error)?.message);
    for (const [side, other] of [
      [left, right],
      [right, left],
    ] as const) {
      const open = rest(side.channels);
      const waits = open.filter(({ attached }) => !attached);
      // Whom nobody has met waits over there, in the order of asking.
      for (const name of NAMES) {
        const here = waits.filter((channel) => channel.name === name);
        const there = [...other.connection.waiting].filter((opening) => opening.name === name);
        assert.deepEqual(
          there.map(({ number }) => number),
          here.map(({ number }) => number),
        );
        const theirs = rest(other.channels).filter((channel) => channel.name === name && !channel.attached);
        assert.ok(here.length === 0 || theirs.length === 0, 'two wait for each other');
      }
      // Who has met has one peer, of the same name, with the same number.
      for (const channel of open.filter(({ attached }) => attached)) {
        const peers = rest(other.channels).filter(({ number, attached }) => attached && number === channel.number);
        assert.deepEqual(
          peers.map(({ name, peerTerms }) => [name, peerTerms]),
          [[channel.name, channel.terms]],
        );
      }
    }
    endAll(wire, sides);
    assert.deepEqual([left.connection.channels, right.connection.channels], [0, 0]);
  });
});
