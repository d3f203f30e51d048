// Regions that two agents have mapped, as processes will, under the suites of transports and ports; and what only they show: what
// they have in common is memory that nobody can sleep on, a socket and a bell each.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CLOSED, EMPTY, LayoutError, type Port, select, UnsupportedError } from '../../src/index.ts';
import { SLEEP } from '../../src/link/layout.ts';
import { CLOSED as CLOSED_WORD, LANE_0, SIDE_0, TAIL } from '../../src/memory/layout.ts';
import { DATA, DOORBELL } from '../../src/wait/signal.ts';
import { MAPPED } from '../kit/mapped-agents.ts';
import { Descriptor, OpenFile } from '../kit/mapped-beside.ts';
import { mappedPair } from '../kit/mapped-pair.ts';
import { MappedPlace } from '../kit/mapped-place.ts';
import { STEP_MS, turn, until, within } from '../kit/watchdog.ts';
import { portConformance } from './port.ts';
import { type TransportEnd, transportConformance } from './transport.ts';

for (const late of [false, true]) {
  transportConformance(late ? 'mapped region, its socket for event loops only' : 'mapped region', () => {
    const options = { capacityBytes: 1024, maxMessageBytes: 65536, highWaterMarkBytes: 4096, outboxBytes: 2 ** 20 };
    const ends = mappedPair({ late }).channel({ ...options, spinMicroseconds: 0 });
    const [a, b] = ends.map((open): TransportEnd => {
      let woken = 0;
      return { transport: open({ woken: () => void woken++, failed: () => {} }), woken: () => woken };
    });
    return [a as TransportEnd, b as TransportEnd];
  });
}

portConformance({
  name: 'mapped region',
  sharesMemory: false,
  blocks: true,
  moves: false,
  threads: false,
  latest: true,
  pair: (options) => mappedPair().ports(options),
  far: () => {
    throw new Error('there is no other process');
  },
});

function closing(...ports: readonly Port[]): void {
  for (const port of ports) port.close();
}

test('mapped region: it is memory that nobody can sleep on, and it carries what it is given', () => {
  const pair = mappedPair();
  const { a, b } = pair.ports();
  const words = new Int32Array(pair.memory);
  assert.throws(() => Atomics.wait(words, 0, 0, 0), TypeError);
  a.postMessage({ through: 'memory' });
  assert.ok((words[LANE_0 + TAIL] as number) > 0);
  assert.deepEqual(b.receive(), { through: 'memory' });
  closing(a, b);
});

const LARGE = 300_000;
const large = (i: number): Uint8Array => new Uint8Array(LARGE).fill(i);

for (const late of [false, true]) {
  const where = late ? ', also where only the event loop hears of it' : '';
  test(`mapped region: large messages lie in memory that the medium makes and hands over${where}`, async () => {
    const { agents, ports } = mappedPair({ late });
    const { a, b } = ports({ capacityBytes: 2 ** 20 });
    for (let i = 0; i < 8; i++) a.postMessage(large(i));
    for (let i = 0; i < 8; i++) assert.deepEqual(await within('a large one', b.receiveAsync()), large(i));
    assert.ok(agents[0].lent >= LARGE);
    assert.equal(agents[1].lent, 0);
    closing(a, b);
  });

  test(`mapped region: what is left over at the end comes over the socket${where}`, async () => {
    const { a, b } = mappedPair({ late }).ports({ capacityBytes: 1024 });
    for (let i = 0; i < 300; i++) a.postMessage(i);
    a.close();
    for (let i = 0; i < 300; i++) assert.equal(await within('a message', b.receiveAsync()), i);
    assert.equal(await within('the end', b.receiveAsync()), CLOSED);
    b.close();
  });
}

for (const late of [false, true]) {
  const where = late ? ', also where only the event loop hears of it' : '';
  // As of a process that is killed with words in its queue that no system call has taken.
  test(`mapped region: what was left over and never comes is told once the line is over${where}`, async () => {
    const { agents, ports } = mappedPair({ late });
    const { a, b } = ports({ capacityBytes: 1024 });
    for (let i = 0; i < 300; i++) a.postMessage(i);
    agents[0].say = () => {};
    a.close();
    agents[0].kill();
    let read = 0;
    const lost = async (): Promise<void> => {
      while ((await b.receiveAsync()) === read) read++;
    };
    await assert.rejects(within('what is lost', lost()), { code: 'ERR_DECODE' });
    assert.ok(read > 0 && read < 300);
    assert.equal(await within('the end', b.receiveAsync()), CLOSED);
  });

  test(`mapped region: a value that never comes is not waited for once the line is over${where}`, async () => {
    const { agents, ports } = mappedPair({ late, descriptors: true });
    const { a, b } = ports();
    const descriptor = new Descriptor();
    agents[0].say = () => {};
    a.postMessage([descriptor], [descriptor]);
    a.postMessage('behind');
    a.close();
    agents[0].kill();
    await assert.rejects(within('what is lost', b.receiveAsync()), { code: 'ERR_DECODE' });
    assert.equal(await within('a message', b.receiveAsync()), 'behind');
    assert.equal(await within('the end', b.receiveAsync()), CLOSED);
  });

  test(`mapped region: memory that never comes is not waited for once the line is over${where}`, async () => {
    const { agents, ports } = mappedPair({ late });
    const { a, b } = ports({ capacityBytes: 2 ** 20 });
    agents[0].say = () => {};
    // The ring takes the first ones, and the last one lies in memory of its own.
    for (let i = 0; i < 4; i++) a.postMessage(large(i));
    a.close();
    agents[0].kill();
    for (let i = 0; i < 3; i++) assert.deepEqual(await within('a message', b.receiveAsync()), large(i));
    await assert.rejects(within('the last one', b.receiveAsync()), LayoutError);
    assert.equal(await within('the end', b.receiveAsync()), CLOSED);
  });
}

for (const late of [false, true]) {
  const where = late ? ', also where only the event loop hears of it' : '';
  test(`mapped region: what comes with a value is opened for who asks for it, and its medium lets go of what nobody reads${where}`, async () => {
    const { a, b } = mappedPair({ late, descriptors: true }).ports({ capacityBytes: 1024 });
    const descriptors = Array.from({ length: 100 }, () => new Descriptor());
    for (const each of descriptors) a.postMessage([each], [each]);
    a.close();
    // Up to there the ring held them; the others were left over, and taken in together.
    const read = descriptors.slice(0, 70);
    for (const each of read) {
      const [file] = (await within('a message', b.receiveAsync())) as [OpenFile];
      assert.ok(file instanceof OpenFile);
      assert.equal(file.descriptor, each);
    }
    b.close();
    assert.deepEqual(
      descriptors.map((each) => each.letGo),
      descriptors.map((each) => (read.includes(each) ? 0 : 1)),
    );
  });
}

test('mapped region: a medium lets go of what cannot be opened, and the next message comes', () => {
  const { a, b } = mappedPair({ descriptors: true }).ports();
  const descriptors = [new Descriptor(), new Descriptor()] as const;
  descriptors[1].broken = true;
  a.postMessage([...descriptors], [...descriptors]);
  a.postMessage('next');
  assert.throws(() => b.receive(), { code: 'ERR_DECODE', message: /it leads nowhere/ });
  assert.equal(b.receive(), 'next');
  assert.deepEqual(
    descriptors.map((each) => each.letGo),
    [1, 1],
  );
  closing(a, b);
});

test('mapped region: a medium lets go of what an outbox drops', () => {
  const { a, b } = mappedPair({ descriptors: true }).ports({
    capacityBytes: 1024,
    overflow: 'drop-oldest',
    highWaterMarkBytes: 4096,
  });
  const descriptors = Array.from({ length: 400 }, () => new Descriptor());
  for (const each of descriptors) a.postMessage([each], [each]);
  const dropped = descriptors.filter((each) => each.letGo > 0);
  assert.equal(dropped.length, a.stats().dropped);
  assert.ok(dropped.length > 0 && dropped.every((each) => each.letGo === 1));
  closing(a, b);
});

test('mapped region: where there is no memory to lend large messages go in parts, and the newest is no longer than a slot', async () => {
  const { agents, ports } = mappedPair({ lends: false });
  const { a, b } = ports({ capacityBytes: 2 ** 20 });
  for (let i = 0; i < 8; i++) a.postMessage(large(i));
  for (let i = 0; i < 8; i++) assert.deepEqual(await within('a large one', b.receiveAsync()), large(i));
  assert.equal(agents[0].lent, 0);
  const newest = ports({ capacityBytes: 1024, overflow: 'latest' });
  newest.a.postMessage('stays');
  assert.throws(() => newest.a.postMessage(large(1)), { code: 'ERR_TOO_LARGE' });
  assert.equal(newest.b.receive(), 'stays');
  closing(a, b, newest.a, newest.b);
});

test('mapped region: an agent that is gone without a word is found by who is blocked, and what it had published is read', () => {
  const pair = mappedPair();
  const { a, b } = pair.ports();
  for (let i = 0; i < 10; i++) a.postMessage(i);
  pair.agents[0].kill();
  for (let i = 0; i < 10; i++) assert.equal(b.receive(), i);
  assert.equal(new Int32Array(pair.memory)[SIDE_0 + CLOSED_WORD], 0);
  assert.equal(b.receive(), CLOSED);
  assert.equal(b.reason, 'terminated');
  closing(a, b);
});

test('mapped region: the event loop hears of an agent that is gone', async () => {
  const { agents, ports } = mappedPair();
  const { a, b } = ports();
  const pending = b.receiveAsync();
  agents[0].kill();
  assert.equal(await within('the end', pending), CLOSED);
  assert.equal(await within('the reason', b.closed), 'terminated');
  closing(a, b);
});

test('mapped region: select() sleeps in poll(), says so, and is rung once for many channels', async () => {
  const { agents, ports } = mappedPair();
  const channels = Array.from({ length: 5 }, () => ports());
  const [here] = agents;
  const mine = channels.map(({ a }) => a);
  const heard: unknown[] = [];
  const elsewhere = ports();
  elsewhere.a.on('message', (value) => void heard.push(value));
  const before = here.bell.rings;
  let announced = 0;
  here.polls.meanwhile = () => {
    announced = Atomics.load(here.polls.words, SLEEP);
    // Of this one the event loop is to hear, whose bell the blocked thread takes.
    elsewhere.b.postMessage('for the event loop');
    for (const i of [3, 1]) (channels[i] as { b: Port }).b.postMessage(i);
  };
  const first = select(mine);
  assert.equal(announced, DOORBELL | DATA);
  assert.equal(here.bell.rings - before, 1);
  const second = select(mine);
  assert.deepEqual(new Set([first, second]), new Set([mine[1], mine[3]]));
  assert.deepEqual([first.receive(), second.receive()].sort(), [1, 3]);
  await until('the event loop has heard', () => heard.length > 0);
  assert.deepEqual(heard, ['for the event loop']);
  // And it rests again.
  elsewhere.b.postMessage('again');
  await until('it has heard again', () => heard.length === 2);
  closing(...mine, ...channels.map(({ b }) => b), elsewhere.a, elsewhere.b);
});

test('mapped region: select() finds an agent that goes without a word, blocked or after the event loop has heard', async () => {
  for (const blocked of [true, false]) {
    const { agents, ports } = mappedPair();
    const [one, other] = [ports(), ports()];
    assert.equal(select([one.a, other.a], { timeoutMs: 1 }), EMPTY);
    if (blocked) agents[0].polls.meanwhile = () => agents[1].kill();
    else {
      agents[1].kill();
      await within('the event loop', one.a.closed);
    }
    const found = select([one.a, other.a], { timeoutMs: STEP_MS });
    assert.ok(found !== EMPTY);
    assert.equal(found.receive(), CLOSED);
    closing(one.a, one.b, other.a, other.b);
  }
});

test('mapped region: after a select() that was in vain the event loop rests again for the other channels', async () => {
  const { ports } = mappedPair();
  const [one, quiet] = [ports(), ports()];
  let heard = 0;
  quiet.a.on('message', () => void heard++);
  await until('it rests', () => quiet.a.stats().parks === 1);
  assert.equal(select([one.a], { timeoutMs: 1 }), EMPTY);
  await turn();
  quiet.b.postMessage(1);
  await until('the event loop has heard', () => heard === 1);
  closing(one.a, one.b, quiet.a, quiet.b);
});

test('mapped region: where no thread can sleep on its words, calls that block are refused and the event loop serves', async () => {
  const place: typeof MAPPED.place = (words, index) => Object.assign(new MappedPlace(index, words), { blocks: 0 });
  const { a, b } = mappedPair({ parking: { ...MAPPED, place } }).ports();
  assert.throws(() => b.receive({ timeoutMs: 1 }), UnsupportedError);
  const pending = b.receiveAsync();
  a.postMessage('by the event loop');
  assert.equal(await within('the message', pending), 'by the event loop');
  closing(a, b);
});

test('mapped region: a channel leads to its connection, and tells how the other process has ended', async () => {
  const { agents, channel } = mappedPair();
  const [, open] = channel();
  let woken = 0;
  const transport = open({ woken: () => void woken++, failed: () => {} });
  assert.equal(transport.link, agents[1]);
  assert.deepEqual([transport.link?.ended, transport.inspect().exit], [undefined, undefined]);
  assert.equal(transport.inspect().way?.name, 'mapped memory');
  agents[1].exit = { code: undefined, signal: 'SIGKILL' };
  agents[0].kill();
  await until('the end is heard of', () => woken > 0);
  assert.deepEqual([transport.ended, transport.link?.ended], ['terminated', 'terminated']);
  assert.deepEqual(transport.inspect().exit, { code: undefined, signal: 'SIGKILL' });
  transport.close('closed');
});

test('mapped region: the socket is held for as long as somebody waits', () => {
  const { agents, ports } = mappedPair();
  const { a, b } = ports();
  assert.equal(agents[1].held, 0);
  const listener = (): void => {};
  b.on('message', listener);
  assert.equal(agents[1].held, 1);
  b.off('message', listener);
  assert.equal(agents[1].held, 0);
  closing(a, b);
});
