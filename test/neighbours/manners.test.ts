// A neighbour that is damaged, full, closed, slow or undecodable never delays or ends another channel of the same link.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CLOSED, channel, EMPTY, MillraceError, type Port, select } from '../../src/index.ts';
import { DATA, LANE_1, SEAT, SIDE_0, SIDE_1, TAIL } from '../../src/memory/layout.ts';
import { type Role, startThread } from '../kit/thread.ts';
import { STEP_MS, until } from '../kit/watchdog.ts';

const HANG = { timeoutMs: STEP_MS };
const MESSAGES = 20;
/** Half of the messages take less, on a machine that does other things too. */
const DELAY_MS_MAX = 1000;

const CAPACITY = 2048;
const WORDS = { LANE_1, TAIL, LANE_1_BYTES: DATA * 4 + CAPACITY, CAPACITY };

/** The far end of both: behaves on the one as it is told, and sends on the other when the reader asks. */
const role: Role = async (stage) => {
  const { remotes, manner, at } = stage.data;
  const [bad, good] = remotes.map((remote: unknown) => stage.millrace.attach(remote)) as [Port, Port];
  const words = new Int32Array(remotes[0].memory);
  const bytes = new Uint8Array(remotes[0].memory);
  const tail = at.LANE_1 + at.TAIL;
  await stage.hear();
  const misbehave = (): void => {
    if (bad.reason !== undefined) return;
    if (manner === 'closed') bad.close();
    else if (manner === 'full') while (bad.trySend('nobody reads this'));
    else if (manner === 'slow') {
      bad.trySend('now and then');
      bad.tryReceive();
    } else {
      const from = Atomics.load(words, tail);
      bad.trySend({ some: 'value' });
      if (manner === 'damaged') Atomics.store(words, tail, 12345);
      // Where a pad comes first, what stands 8 bytes on is the record's header: damage, and not a message that cannot be decoded.
      else if ((from & (at.CAPACITY - 1)) + (words[tail] as number) - from <= at.CAPACITY)
        for (let i = from + 8; i !== words[tail]; i++) bytes[at.LANE_1_BYTES + (i & (at.CAPACITY - 1))] = 255;
    }
  };
  const now = (): number => performance.timeOrigin + performance.now();
  for (let i = 0; i < stage.data.count; i++) {
    stage.gates.pass(0);
    stage.gates.set(0, 0);
    misbehave();
    // The reader is asleep by now, or not.
    if (i % 2 === 0) stage.pause(2);
    good.send({ i, sent: now() });
    misbehave();
  }
  good.close();
  await stage.hear();
};

type Manner = 'damaged' | 'full' | 'closed' | 'slow' | 'undecodable';
type How = 'receive' | 'select' | 'event loop';

async function play(manner: Manner, how: How): Promise<void> {
  const made = [0, 1].map(() => channel({ capacityBytes: CAPACITY }));
  const [bad, good] = made.map(({ port }) => port) as [Port, Port];
  const thread = startThread(role, {
    data: { remotes: made.map(({ remote }) => remote), manner, at: WORDS, count: MESSAGES },
    transfer: made.flatMap(({ remote }) => remote.transfer),
  });
  const seats = made.map(({ remote }) => new Int32Array(remote.memory));
  await until('both are linked', () =>
    seats.every((words) => words[SIDE_0 + SEAT] !== 0 && words[SIDE_1 + SEAT] !== 0),
  );
  if (manner === 'slow') for (let i = 0; i < 100; i++) bad.postMessage(`${i}`.padEnd(100));
  const read = reader(manner, how, bad, good);
  thread.tell('begin');
  const delays: number[] = [];
  for (let i = 0; i < MESSAGES; i++) {
    thread.gates.open(0);
    const value = (await read()) as { i: number; sent: number };
    assert.equal(value.i, i);
    delays.push(performance.timeOrigin + performance.now() - value.sent);
  }
  const median = delays.sort((a, b) => a - b)[MESSAGES / 2] as number;
  assert.ok(median < DELAY_MS_MAX, `${median} ms`);
  assert.equal(await read(), CLOSED);
  assert.equal(await good.closed, 'closed');
  if (manner === 'closed' || manner === 'damaged') {
    while (attempt(() => bad.tryReceive()) !== CLOSED);
    assert.equal(await bad.closed, manner === 'closed' ? 'closed' : 'lost');
  } else assert.equal(bad.reason, undefined);
  thread.tell('enough');
  await thread.done();
  bad.close();
}

function attempt(receive: () => unknown): unknown {
  try {
    return receive();
  } catch (error) {
    assert.ok(error instanceof MillraceError);
    return undefined;
  }
}

/** What takes the next message of `good`. */
function reader(manner: Manner, how: How, bad: Port, good: Port): () => unknown {
  if (how === 'receive') return () => good.receive(HANG);
  if (how === 'event loop') {
    if (manner !== 'full' && manner !== 'slow') bad.on('message', () => {});
    bad.onmessageerror = () => {};
    return () => good.receiveAsync(HANG);
  }
  let ports = [bad, good];
  return () => {
    for (;;) {
      const port = select(ports, HANG);
      assert.notEqual(port, EMPTY, 'hang: select');
      if (port === good) return good.tryReceive();
      // What is full stays so, and is returned again and again.
      if (manner !== 'full' && attempt(() => bad.tryReceive()) === CLOSED) ports = [good];
    }
  };
}

for (const manner of ['damaged', 'full', 'closed', 'slow', 'undecodable'] as const) {
  for (const how of ['receive', 'select', 'event loop'] as const) {
    test(`a neighbour that is ${manner}: nothing is late or lost for who waits by ${how}`, () => play(manner, how));
  }
}
