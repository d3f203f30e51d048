// Damaged bytes of topics between processes: what is said on the line of descriptors about topics that were asked for or shared, and what stands in the
// memory of one, whoever's it is. Of memory-hostile.ts, which has the connection and what has to hold behind each.
import assert from 'node:assert/strict';
import { CLOSED, CodecError, EMPTY, MillraceError } from '../../src/index.ts';
import type { PortLink } from '../../src/process/index.ts';
import { processMemory } from '../../src/process/index.ts';
import {
  createTopic,
  type ProcessTopicHandle,
  subscribe,
  type Topic,
  type TopicReader,
} from '../../src/topic/index.ts';
import * as layout from '../../src/topic/layout.ts';
import { topicBytes } from '../../src/topic/memory.ts';
import { DONE, LEFT, LENT, NO_REGION, REGION, TOPIC } from '../../src/transport/process/memory-link.ts';
import { MEMORY } from '../../src/transport/process/memory-meeting.ts';
import { ASKS, FOR_TOPIC, SHARES } from '../../src/transport/process/topic-channel.ts';
import * as frames from '../../src/transport/stream/frames.ts';
import type { TopicPiece } from '../../src/transport/topic-medium.ts';
import type { Random } from '../kit/prng.ts';
import { text } from '../kit/stream-bench.ts';
import { randomValue } from '../kit/values.ts';
import { within } from '../kit/watchdog.ts';
import { typed } from './hostile.ts';
import type { Stage } from './memory-hostile.ts';

const CAPACITY = 1024;
const SEATS = 2;
const SLEEPS = topicBytes(CAPACITY, SEATS) >> 2;
const KINDS = [TOPIC, TOPIC, TOPIC, REGION, NO_REGION, LEFT, LENT, DONE];
const FLAGS = [0, MEMORY, FOR_TOPIC, MEMORY | FOR_TOPIC | SHARES, MEMORY | FOR_TOPIC | ASKS, -1];
const WORDS = [0, 1, -1, 8, 4096, CAPACITY, SLEEPS, SLEEPS + 1023, SLEEPS + 1024, 2 ** 30, 2 ** 31 - 1, -(2 ** 31)];
/** Inputs of one connection at the most: most end it sooner on the line. */
const LINE_INPUTS = 12;
const MEMORY_INPUTS = 60;

const step = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A topic with a few messages, and the memory that it is in. */
function topicWithPiece(): { topic: Topic<unknown>; piece: TopicPiece } {
  let piece: TopicPiece | undefined;
  const memory = { make: (bytes: number): TopicPiece => (piece = processMemory().make(bytes)) };
  // Whoever sits down there costs its writer a millisecond, once.
  const topic = createTopic<unknown>({ memory, capacityBytes: CAPACITY, reliableReaders: SEATS, patienceMs: 1 });
  for (let i = 0; i < 3; i++) topic.publish(i);
  return { topic, piece: piece as TopicPiece };
}

/** Only errors of ours; what there is. */
function drain(random: Random, reader: TopicReader): void {
  for (let i = 0; i < 20; i++) {
    let value: unknown = EMPTY;
    typed(() => {
      value = random.chance(0.9) ? reader.tryReceive() : reader.receive({ timeoutMs: random.int(0, 1) });
    });
    if (value === EMPTY || value === CLOSED) return;
  }
}
function reads(random: Random, handle: ProcessTopicHandle): TopicReader | undefined {
  const start = random.pick(['latest', 'next', 'oldest'] as const);
  const slow = random.pick(['skip', 'newest', 'reliable'] as const);
  let reader: TopicReader | undefined;
  typed(() => {
    reader = subscribe(handle, { start, slow });
  });
  return reader;
}

/** Changes something in the memory of a topic, most often where it hurts. */
function scribble(random: Random, { buffer }: TopicPiece): void {
  const words = new Int32Array(buffer);
  const data = SLEEPS - CAPACITY / 4;
  const word = random.pick([
    random.pick([layout.INTENT, layout.TAIL, layout.NEWEST]),
    random.pick([layout.PARK, layout.SIGNAL, layout.WRITER_PARK, layout.WRITER_PARKS]),
    random.chance(0.05) ? layout.CLOSED : random.int(0, data - 1),
    layout.SEAT_0 + random.int(0, SEATS - 1) * layout.SEAT_WORDS + random.int(0, 1),
    // The header of a record, if one starts there; its bytes.
    data + random.int(0, CAPACITY / 16 - 1) * 4 + random.int(0, 3),
    random.int(data, SLEEPS - 1),
    random.int(SLEEPS, words.length - 1),
  ]);
  const near = (words[word] as number) + random.pick([-32, -16, -1, 1, 16, 32, CAPACITY, -CAPACITY]);
  words[word] = random.pick([near, near, random.pick(WORDS), random.int(-9, 9), random.bits()]);
}

// ---- the line --------------------------------------------------------------------------------------------------------

/** Two topics are asked for and one is shared, by names; what became of each is known behind the end. */
class Expected {
  readonly readers: TopicReader[] = [];
  readonly settled: Promise<unknown>;

  constructor(random: Random, link: PortLink, topic: Topic<unknown>) {
    const asked = ['a', 'b'].map(async (name) => {
      const reader = reads(random, await link.topic(name));
      if (reader !== undefined) this.readers.push(reader);
    });
    this.settled = Promise.all([...asked, link.shareTopic('c', topic)].map((each) => each.catch(ours)));
  }
}
function ours(error: unknown): void {
  assert.ok(error instanceof MillraceError, String((error as Error).stack));
}

export async function damageTopicLine(stage: Stage): Promise<number> {
  const { random, peer, main } = stage;
  const link = main.link as PortLink;
  const { topic, piece } = topicWithPiece();
  const own = createTopic<unknown>({ memory: processMemory() });
  const expected = new Expected(random, link, own);
  const numbers = [1];
  try {
    for (const name of ['a', 'b', 'c']) {
      const { channel } = await peer.heard(frames.OPEN);
      const flags = random.chance(0.8) ? MEMORY | FOR_TOPIC | (name === 'c' ? ASKS : SHARES) : random.pick(FLAGS);
      const meets = random.chance(0.2);
      if (meets) peer.open(5 + 2 * numbers.length, text(name), flags);
      else if (random.chance(0.8)) peer.accept(channel, flags);
      numbers.push(meets ? 5 + 2 * numbers.length : channel);
    }
    let count = 0;
    while (count < LINE_INPUTS && link.reason === undefined && !peer.over) {
      const bytes = piece.buffer.byteLength;
      const words = new Int32Array(8);
      words.set([random.pick(KINDS), random.pick(numbers), bytes, SLEEPS + random.int(0, 3), random.int(1, 3)]);
      for (let i = random.int(0, 2); i > 0; i--) {
        if (random.chance(0.5)) words[random.int(0, 4)] = random.pick(WORDS);
        else words[random.int(0, 4)]! ^= 1 << random.int(0, 31);
      }
      const descriptors = random.chance(0.8) ? [piece.descriptor] : [peer.memory(random.pick([1, 8, bytes]))];
      if (random.chance(0.1)) descriptors.push(piece.descriptor);
      if (random.chance(0.1)) descriptors.length = 0;
      if (random.chance(0.1)) scribble(random, piece);
      const length = random.chance(0.03) ? random.int(1, 31) : 32;
      peer.write(new Uint8Array(words.buffer, 0, length), descriptors);
      count++;
      if (random.chance(0.7)) peer.ring();
      if (random.chance(0.5)) await step();
      own.publish(count);
      for (const reader of expected.readers) drain(random, reader);
      if (random.chance(0.02)) {
        own.close();
        break;
      }
    }
    return count;
  } finally {
    topic.close();
    own.close();
    peer.close();
    void link.close();
    await within('all that was asked for', expected.settled);
    for (const reader of expected.readers) {
      drain(random, reader);
      reader.close();
    }
  }
}

// ---- memory ----------------------------------------------------------------------------------------------------------

/** One topic is the peer's, which we read, and one ours, which it has: both are scribbled on. Our writer goes on whatever stands there. */
export async function damageTopicMemory({ random, peer, main }: Stage): Promise<number> {
  const link = main.link as PortLink;
  const [theirs, ours] = [topicWithPiece(), topicWithPiece()];
  const asked = link.topic('theirs');
  const shared = link.shareTopic('ours', ours.topic);
  const [forUs, forThem] = [await peer.heard(frames.OPEN), await peer.heard(frames.OPEN)];
  peer.accept(forUs.channel, MEMORY | FOR_TOPIC | SHARES);
  peer.tell(TOPIC, forUs.channel, [theirs.piece.buffer.byteLength, SLEEPS, 1], [theirs.piece.descriptor]);
  peer.accept(forThem.channel, MEMORY | FOR_TOPIC | ASKS);
  await within('both topics', shared);
  const handle = await within('both topics', asked);
  let count = 0;
  try {
    for (let i = random.int(0, 5); i > 0; i--) scribble(random, theirs.piece);
    const reader = reads(random, handle);
    for (; count < MEMORY_INPUTS && reader !== undefined; count++) {
      scribble(random, theirs.piece);
      scribble(random, ours.piece);
      const value = randomValue(random, { budget: 5, large: 40, causes: false });
      if (random.chance(0.7)) typed(() => theirs.topic.publish(value));
      ours.topic.publish(count);
      drain(random, reader);
      if (random.chance(0.1)) peer.ring();
      if (random.chance(0.05)) await step();
    }
    assert.deepEqual([ours.topic.stats().published, main.reason], [count + 3, undefined]);
    peer.close();
    if (reader !== undefined) readOut(reader);
  } finally {
    theirs.topic.close();
    ours.topic.close();
  }
  return count + 1;
}

/** To its end, with the thread: what follows once it is known is no more than a ring of it. */
function readOut(reader: TopicReader): void {
  for (let left = CAPACITY / 16 + 2; ; ) {
    // Damage has ended it, in this call or before.
    let value: unknown = CLOSED;
    typed(() => {
      try {
        value = reader.receive();
      } catch (error) {
        if (error instanceof CodecError) value = EMPTY;
        throw error;
      }
    });
    if (value === CLOSED) break;
    if (reader.reason !== undefined) left--;
    assert.ok(left > 0, 'more behind the end than there is room for');
  }
  reader.close();
}
