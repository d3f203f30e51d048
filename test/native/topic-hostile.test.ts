// A peer that lies about a topic which is asked for, or shared with it: what it says ends that promise with an error of ours, or the connection, or means
// nothing. Nobody hangs, no descriptor stays, and another connection of the same process goes on.
// watchdog: 120 s
// asked for: node-22, node-26
// needs: native
import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { after, before, test } from 'node:test';
import { CLOSED, EMPTY, MillraceError } from '../../src/index.ts';
import { connect, type Listener, listen, type Port, processMemory } from '../../src/process/index.ts';
import { createTopic, type ProcessTopicHandle, subscribe, type Topic } from '../../src/topic/index.ts';
import * as layout from '../../src/topic/layout.ts';
import { topicBytes } from '../../src/topic/memory.ts';
import { DONE, LEFT, LENT, NO_REGION, REGION, TOPIC } from '../../src/transport/process/memory-link.ts';
import { MEMORY } from '../../src/transport/process/memory-meeting.ts';
import { ASKS, FOR_TOPIC, SHARES } from '../../src/transport/process/topic-channel.ts';
import * as frames from '../../src/transport/stream/frames.ts';
import type { TopicPiece } from '../../src/transport/topic-medium.ts';
import { MemoryPeer } from '../kit/memory-peer.ts';
import { descriptors, native } from '../kit/native.ts';
import { text } from '../kit/stream-bench.ts';
import { until, within } from '../kit/watchdog.ts';

const place = (name: string): string => join(tmpdir(), `millrace-topic-hostile-${process.pid}-${name}`);
const FILE = place('file');
const CAPACITY = 1024;
const IS_TOPIC = MEMORY | FOR_TOPIC;
const SLEEPS = topicBytes(CAPACITY, 0) >> 2;

let server: Listener;
/** Of this process with itself, beside all that follows. */
let near: Port;
let far: Port;

const nextPort = async (): Promise<Port> =>
  (await within('a connection', server[Symbol.asyncIterator]().next())).value as Port;

before(async () => {
  writeFileSync(FILE, 'nobody writes here');
  server = await listen(place('sock'));
  const taken = nextPort();
  near = await connect(server.address);
  far = await taken;
});
after(async () => {
  near.close();
  await server.close();
  rmSync(FILE);
});

/** A topic with one message, and the memory that it is in. */
function topicWithPiece(): { topic: Topic<number>; piece: TopicPiece } {
  let piece: TopicPiece | undefined;
  const make = (bytes: number): TopicPiece => (piece = processMemory().make(bytes));
  const topic = createTopic<number>({ memory: { make }, capacityBytes: CAPACITY });
  topic.publish(41);
  return { topic, piece: piece as TopicPiece };
}

interface Stage {
  readonly peer: MemoryPeer;
  readonly main: Port;
  /** The peer's, with which it may be honest. */
  readonly topic: Topic<number>;
  readonly piece: TopicPiece;
}

/** What came of a promise: `there`, or the code of an error of ours. */
const outcome = (promise: Promise<unknown>): Promise<unknown> =>
  within(
    'an answer',
    promise.then(
      () => 'there',
      (error) => (error instanceof MillraceError ? error.code : error),
    ),
  );

async function staged(use: (stage: Stage) => unknown): Promise<void> {
  const had = descriptors().length;
  const peer = await MemoryPeer.to(server.address.slice('unix:'.length));
  const taken = nextPort();
  await peer.met();
  const main = await taken;
  await within('its channel', main.ready);
  const { topic, piece } = topicWithPiece();
  try {
    await use({ peer, main, topic, piece });
    near.postMessage('goes on');
    assert.equal(await within('the other connection', far.receiveAsync()), 'goes on');
  } finally {
    topic.close();
    peer.close();
    main.close();
    await within('the end', main.link!.closed);
  }
  await until('no descriptor is left', () => descriptors().length <= had);
}

// ---- we ask ----------------------------------------------------------------------------------------------------------

interface Told {
  readonly kind?: number;
  /** BYTES, SLEEPS, NUMBER, where they are not the true ones. */
  readonly words?: (bytes: number) => readonly number[];
  readonly descriptors?: (stage: Stage) => readonly number[];
  readonly flags?: number;
  /** Before it is sent, in the topic's memory. */
  readonly scribble?: readonly (readonly [word: number, value: number])[];
}

function tellTopic(stage: Stage, number: number, told: Told = {}): void {
  const { peer, piece } = stage;
  const words = new Int32Array(piece.buffer);
  for (const [word, value] of told.scribble ?? []) words[word] = value;
  const bytes = piece.buffer.byteLength;
  peer.tell(
    told.kind ?? TOPIC,
    number,
    told.words?.(bytes) ?? [bytes, SLEEPS, 1],
    told.descriptors?.(stage) ?? [piece.descriptor],
  );
}
/** Asks; the answer is TOPIC, with its lie, in front of ACCEPT or behind it. */
async function ask(stage: Stage, told: Told = {}, early = false): Promise<Asked> {
  const { peer, main } = stage;
  const handle = main.link!.topic('numbers');
  handle.catch(() => {});
  const { channel } = await peer.heard(frames.OPEN);
  if (early) tellTopic(stage, channel, told);
  peer.accept(channel, told.flags ?? IS_TOPIC | SHARES);
  if (!early) tellTopic(stage, channel, told);
  return { handle, channel };
}
interface Asked {
  readonly handle: Promise<ProcessTopicHandle>;
  readonly channel: number;
}

const REFUSED: Readonly<Record<string, Told>> = {
  'no memory': { descriptors: () => [] },
  'two of them': { descriptors: ({ piece }) => [piece.descriptor, piece.descriptor] },
  'a file': { descriptors: ({ peer }) => [peer.file(FILE, 'r+')] },
  'a bell': { descriptors: ({ peer }) => [peer.own(native.createBell())] },
  'memory that can only be read': {
    descriptors: ({ peer, piece }) => [peer.file(`/proc/self/fd/${piece.descriptor}`, 'r')],
  },
  'more bytes than there are': { words: (bytes) => [bytes + 8, SLEEPS, 1] },
  'fewer bytes': { words: (bytes) => [bytes - 8, SLEEPS, 1] },
  'no bytes': { words: () => [0, SLEEPS, 1] },
  'less than no bytes': { words: () => [-8, SLEEPS, 1] },
  'all bytes': { words: () => [2 ** 31 - 1, SLEEPS, 1] },
  'a reader without a number': { words: (bytes) => [bytes, SLEEPS, 0] },
  'a reader below': { words: (bytes) => [bytes, SLEEPS, -(2 ** 31)] },
  'a REGION': { kind: REGION },
  'no REGION': { kind: NO_REGION },
};
const DAMAGED: Readonly<Record<string, Told>> = {
  'memory of zeros': { descriptors: ({ peer, piece }) => [peer.memory(piece.buffer.byteLength)] },
  'one byte': { words: () => [1, 0, 1], descriptors: ({ peer }) => [peer.memory(1)] },
  'memory of something else': { scribble: [[layout.MAGIC, 0x43415249]] },
  'another version': { scribble: [[layout.VERSION, 2]] },
  'no capacity': { scribble: [[layout.CAPACITY, 0]] },
  'a capacity below': { scribble: [[layout.CAPACITY, -CAPACITY]] },
  'a capacity that is no power': { scribble: [[layout.CAPACITY, CAPACITY - 8]] },
  'more capacity than memory': { scribble: [[layout.CAPACITY, 2 ** 30]] },
  'messages of the whole ring': { scribble: [[layout.MESSAGE_MAX, CAPACITY]] },
  'messages below': { scribble: [[layout.MESSAGE_MAX, -1]] },
  'more seats than memory': { scribble: [[layout.SEATS, 64]] },
  'more seats than there can be': { scribble: [[layout.SEATS, 2 ** 30]] },
  'seats below': { scribble: [[layout.SEATS, -1]] },
  'a place to sleep in the header': { words: (bytes) => [bytes, layout.TAIL, 1] },
  'a place to sleep in the ring': { words: (bytes) => [bytes, SLEEPS - 1, 1] },
  'a place to sleep below': { words: (bytes) => [bytes, -1, 1] },
  'a place to sleep behind it': { words: (bytes) => [bytes, bytes >> 2, 1] },
  'a place to sleep far behind it': { words: (bytes) => [bytes, 2 ** 31 - 1, 1] },
};

for (const early of [false, true]) {
  const when = early ? 'before ACCEPT' : 'behind it';
  for (const [what, told] of Object.entries(REFUSED)) {
    test(`asked for a topic, told ${what} (${when}): the promise rejects`, () =>
      staged(async (stage) => {
        const { handle } = await ask(stage, told, early);
        assert.equal(await outcome(handle), 'ERR_LAYOUT');
        assert.equal(stage.main.reason, undefined);
      }));
  }
}
for (const [what, told] of Object.entries(DAMAGED)) {
  test(`asked for a topic, told ${what}: nobody can subscribe`, () =>
    staged(async (stage) => {
      const handle = await within('a handle', (await ask(stage, told)).handle);
      assert.throws(() => subscribe(handle), { code: 'ERR_LAYOUT' });
      assert.equal(stage.main.reason, undefined);
    }));
}

test('asked for a topic, told the truth: it is read, and ends with the connection', () =>
  staged(async (stage) => {
    const reader = subscribe<number>(await within('a handle', (await ask(stage)).handle));
    assert.deepEqual([reader.tryReceive(), reader.tryReceive()], [41, EMPTY]);
    stage.peer.close();
    assert.equal(await within('the end', reader.receiveAsync()), CLOSED);
    assert.equal(reader.reason, 'lost');
  }));

for (const flags of [0, MEMORY, FOR_TOPIC, IS_TOPIC | ASKS, -1]) {
  test(`asked for a topic, accepted as something else (flags ${flags}): the promise rejects`, () =>
    staged(async (stage) => {
      const { handle } = await ask(stage, { flags });
      assert.equal(await outcome(handle), 'ERR_REFUSED');
      assert.equal(stage.main.reason, undefined);
    }));
}

// ---- what ends the connection ----------------------------------------------------------------------------------------

const ENDS: Record<string, (stage: Stage) => unknown> = {
  'TOPIC twice, before ACCEPT': async (stage) => {
    stage.main.link!.topic('numbers').catch(() => {});
    const { channel } = await stage.peer.heard(frames.OPEN);
    for (let i = 0; i < 2; i++) tellTopic(stage, channel);
  },
  'TOPIC for two channels that nobody has asked for': async (stage) => {
    stage.main.link!.topic('numbers').catch(() => {});
    for (const number of [97, 99]) tellTopic(stage, number);
  },
  'TOPIC for a channel that has memory': (stage) => tellTopic(stage, 1),
};
for (const [kind, name] of Object.entries({ TOPIC, REGION, NO_REGION, LEFT, LENT, DONE })) {
  ENDS[`${kind} behind TOPIC`] = async (stage: Stage) => {
    const { handle, channel } = await ask(stage);
    subscribe(await within('a handle', handle));
    stage.peer.tell(name, channel, [8, 1, 0], [stage.peer.memory(8)]);
  };
  ENDS[`${kind} of who has the topic`] = async (stage: Stage) => {
    const channel = await share(stage);
    stage.peer.tell(name, channel, [8, 1, 0], [stage.peer.memory(8)]);
  };
}
/** The peer has been given a topic of ours. */
async function share({ peer, main, topic }: Stage): Promise<number> {
  const shared = main.link!.shareTopic('ours', topic);
  const { channel } = await peer.heard(frames.OPEN);
  peer.accept(channel, IS_TOPIC | ASKS);
  await within('who asks', shared);
  let said = peer.take();
  while (said !== undefined && said.kind !== TOPIC) said = peer.take();
  assert.deepEqual([said?.number, said?.descriptors.length], [channel, 1]);
  assert.equal(topic.stats().handles, 1);
  return channel;
}
for (const [what, lie] of Object.entries(ENDS)) {
  test(`${what}: the end of the connection, and of no topic`, () =>
    staged(async (stage) => {
      const { main, topic } = stage;
      await lie(stage);
      assert.equal(await within('the end', main.link!.closed), 'lost');
      assert.equal((main.link!.error as { code?: string }).code, 'ERR_LAYOUT');
      await until('nobody has it', () => topic.stats().handles === 0);
      topic.publish(42);
    }));
}

// ---- what means nothing ----------------------------------------------------------------------------------------------

test('of a topic that is asked for: LEFT, LENT and DONE, then the truth', () =>
  staged(async (stage) => {
    const { peer, main } = stage;
    const asked = main.link!.topic('numbers');
    const { channel } = await peer.heard(frames.OPEN);
    for (const kind of [LEFT, LENT, DONE]) peer.tell(kind, channel, [8, 1, 0], [peer.memory(8)]);
    peer.accept(channel, IS_TOPIC | SHARES);
    tellTopic(stage, channel);
    subscribe(await within('a handle', asked)).close();
    // Behind its end.
    for (let i = 0; i < 3; i++) tellTopic(stage, channel);
    await within('who asks again', (await ask(stage)).handle);
  }));

test('TOPIC for what was asked for as a channel ends that', () =>
  staged(async (stage) => {
    const { peer, main } = stage;
    const channel = main.link!.channel('numbers');
    const { channel: number } = await peer.heard(frames.OPEN);
    peer.accept(number);
    tellTopic(stage, number);
    await assert.rejects(within('the damage', channel.receiveAsync()), { code: 'ERR_LAYOUT' });
    assert.deepEqual([await within('the end', channel.closed), main.reason], ['lost', undefined]);
  }));

test('who asks by an OPEN of its own, with TOPIC in front of it: it has the topic', () =>
  staged(async (stage) => {
    const { peer, main, topic } = stage;
    const shared = main.link!.shareTopic('numbers', topic);
    await peer.heard(frames.OPEN);
    tellTopic(stage, 3);
    peer.open(3, text('numbers'), IS_TOPIC | ASKS);
    assert.equal(await outcome(shared), 'there');
    assert.deepEqual([topic.stats().handles, main.reason], [1, undefined]);
  }));

test('a topic that is asked for 1,000 times at once, and never read: as many handles, and none behind the end', () =>
  staged(async ({ peer, main, topic }) => {
    const all = Array.from({ length: 1030 }, (_, i) => outcome(main.link!.shareTopic(`${i}`, topic)));
    for (const _ of all) peer.accept((await peer.heard(frames.OPEN)).channel, IS_TOPIC | ASKS);
    const taken = setInterval(() => peer.take());
    const answers = await Promise.all(all);
    clearInterval(taken);
    assert.deepEqual(
      [answers.filter((it) => it === 'there').length, answers.filter((it) => it === 'ERR_OPTION').length],
      [1024, 6],
    );
    peer.close();
    await until('none is left', () => topic.stats().handles === 0);
  }));
