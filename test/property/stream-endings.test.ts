// Two sides whose programs send, read, close, drain and leave as they like, over media that fill up and deliver late: when both have done,
// both connections end by themselves, nothing is out of order, and what did not arrive is counted. Seeds are printed; SEED and CASE repeat one.
// asked for: node-22, node-26
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClosedError } from '../../src/errors.ts';
import type { Port } from '../../src/port/port.ts';
import type { StreamChannel } from '../../src/transport/stream/channel.ts';
import { StreamConnection } from '../../src/transport/stream/connection.ts';
import type { Opening } from '../../src/transport/stream/opening.ts';
import { cases, eachCaseAsync, type Random, seed } from '../kit/prng.ts';
import { portOver } from '../kit/stream-pair.ts';
import { turn, within } from '../kit/watchdog.ts';
import { Wire } from '../kit/wire.ts';

interface End {
  readonly port: Port;
  readonly channel: StreamChannel;
  sent: number;
  read: number;
  closed: boolean;
  /** What was waited for; all of it settles. */
  readonly waits: Promise<unknown>[];
}
interface Side {
  readonly connection: StreamConnection;
  readonly ends: End[];
  readonly openings: Opening[];
}

const CASES = cases(100, 30_000);
test(`two sides end as they like, ${CASES} cases (SEED=${seed})`, async () => {
  await eachCaseAsync(0, CASES, async (random) => {
    const bufferBytes = random.chance(0.5) ? random.int(200, 3000) : Number.POSITIVE_INFINITY;
    const wire = new Wire({ random, chunkMax: random.int(20, 600), bufferBytes });
    wire.delayed = true;
    const sides = [sideOf(wire, 0, random), sideOf(wire, 1, random)] as const;
    for (let i = 0; i < 150; i++) {
      act(random, random.pick(sides));
      for (let steps = random.skewed(30); steps > 0; steps--) wire.step();
      if (random.chance(0.1)) await turn();
    }
    const last = random.pick(['close', 'drain', 'read'] as const);
    for (const [i, { connection, ends }] of sides.entries()) {
      if (last === 'close' || (last === 'read' && i === 0)) for (const { port } of ends) port.close();
      if (last === 'drain') connection.close({ drain: true });
      connection.leave();
    }
    for (let idle = 0; idle < 10; idle++) {
      while (wire.step()) idle = 0;
      for (const side of sides) {
        for (const opening of side.openings) opening.refuse();
        if (last === 'read') for (const end of side.ends) read(end, Number.POSITIVE_INFINITY);
      }
      await turn();
    }
    for (const { channel } of sides.flatMap(({ ends }) => ends))
      assert.notEqual(channel.ended, 'lost', `${channel.error}`);
    assert.deepEqual([sides.map(({ connection }) => connection.ended), wire.held], [['closed', 'closed'], 0], last);
    await within('whoever waits', Promise.allSettled(sides.flatMap(({ ends }) => ends.flatMap(({ waits }) => waits))));
    for (const [i, { ends }] of sides.entries()) {
      for (const { channel, port, sent } of ends) {
        const same = (other: End): boolean => other.channel.number === channel.number && other.channel.attached;
        const peer = channel.attached ? sides[i === 0 ? 1 : 0].ends.find(same) : undefined;
        const { undelivered } = port.stats();
        if (peer === undefined) assert.equal(undelivered, sent);
        else assert.ok(sent - undelivered <= peer.port.stats().received, `${sent} ${undelivered}`);
      }
    }
  });
});

function sideOf(wire: Wire, side: 0 | 1, random: Random): Side {
  const openings: Opening[] = [];
  const answer = side === 1 ? random.pick([undefined, () => undefined, () => turn().then(() => undefined)]) : undefined;
  const connection = new StreamConnection(
    wire.ends[side],
    { initiator: side === 0, windowBytes: random.pick([1024, 4096]), answer },
    { opened: (opening) => void openings.push(opening), ended: () => {} },
  );
  wire.connect(side, connection);
  return { connection, ends: [], openings };
}

function endOf(port: Port, channel: StreamChannel): End {
  return { port, channel, sent: 0, read: 0, closed: false, waits: [port.closed] };
}

function act(random: Random, { connection, ends, openings }: Side): void {
  const take = (channel: StreamChannel): void => void ends.push(endOf(portOver(connection, channel), channel));
  const opening = openings[0];
  if (opening !== undefined && random.chance(0.2)) {
    openings.shift();
    if (random.chance(0.8)) take(connection.accept(opening));
    else opening.refuse();
  }
  const canOpen = connection.ended === undefined && connection.leaving === undefined;
  if (canOpen && ends.length < 6 && random.chance(0.1)) take(connection.open(random.pick(['', 'a'])));
  if (random.chance(0.005)) connection.leave();
  if (random.chance(0.005)) connection.close({ drain: true });
  if (random.chance(0.001)) connection.close();
  if (ends.length === 0) return;
  const end = random.pick(ends);
  if (random.chance(0.05)) {
    end.closed = true;
    end.port.close();
  }
  if (end.closed) return;
  if (random.chance(0.1)) end.waits.push(random.chance(0.7) ? end.port.flush() : end.port.drained());
  if (random.chance(0.5)) read(end, random.int(0, 30));
  else for (let i = random.skewed(40); i > 0; i--) end.port.postMessage([end.sent++, 'x'.repeat(random.skewed(1500))]);
}

/** Reads so many, each behind the last one. A port that was closed here refuses to be read. */
function read(end: End, most: number): void {
  for (let i = 0; i < most && !end.closed; i++) {
    let value: unknown;
    try {
      value = end.port.tryReceive();
    } catch (error) {
      if (!(error instanceof ClosedError)) throw error;
      return;
    }
    if (!Array.isArray(value)) return;
    assert.equal(value[0], end.read++);
  }
}
