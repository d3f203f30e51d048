// Topics against an oracle: random values, readers that come, go and sleep, in one thread. What a reader gets is what was published, in order, and with
// what it is told to have missed it is everything from where it began. The seed is printed; SEED and CASE repeat one.
// asked for: node-22, node-26
import assert from 'node:assert/strict';
import process from 'node:process';
import { test } from 'node:test';
import { CLOSED, createTopic, EMPTY, subscribe, type Topic, type TopicReader } from '../../src/topic/index.ts';
import { cases, Random, seed } from '../kit/prng.ts';
import { difference } from '../kit/same-clone.ts';
import { randomValue } from '../kit/values.ts';
import { within } from '../kit/watchdog.ts';

const OPERATIONS_A_CASE = 150;
const CASES = cases(200, 10_000);

interface Message {
  readonly i: number;
  readonly value: unknown;
}

class Follower {
  readonly reader: TopicReader<Message>;
  readonly newestOnly: boolean;
  readonly #published: readonly Message[];
  /** The next message that it may get, and what it was told to have missed. */
  #next: number;
  #missed = 0;

  constructor(topic: Topic<Message>, published: readonly Message[], random: Random) {
    const start = random.pick(['latest', 'next', 'oldest'] as const);
    const slow = random.pick(['skip', 'skip', 'newest'] as const);
    this.newestOnly = slow === 'newest';
    this.#published = published;
    this.reader = subscribe<Message>(topic.handle(), {
      start,
      slow,
      onMissed: (count) => {
        assert.ok(count > 0);
        this.#missed += count;
      },
    });
    // Of `oldest` only the reader knows where that is.
    this.#next = start === 'next' ? published.length : start === 'latest' ? Math.max(0, published.length - 1) : -1;
  }

  take(message: Message | typeof EMPTY | typeof CLOSED): boolean {
    if (message === EMPTY || message === CLOSED) {
      assert.ok(this.#next < 0 || this.#next === this.#published.length, 'a message was there');
      return false;
    }
    if (this.#next < 0) this.#next = message.i - this.#missed;
    assert.equal(message.i, this.#next + this.#missed, 'what was missed was told');
    this.#next = message.i + 1;
    this.#missed = 0;
    if (this.newestOnly) assert.equal(message.i, this.#published.length - 1);
    assert.equal(difference((this.#published[message.i] as Message).value, message.value), undefined);
    return true;
  }
}

async function play(random: Random): Promise<void> {
  const capacityBytes = 1 << random.int(12, 16);
  const topic = createTopic<Message>({ capacityBytes, arrayProperties: 'always' });
  const published: Message[] = [];
  const followers: Follower[] = [];
  for (let step = 0; step < OPERATIONS_A_CASE; step++) {
    const follower = followers.length > 0 ? random.pick(followers) : undefined;
    switch (random.int(0, 7)) {
      case 0:
        if (followers.length < 8) followers.push(new Follower(topic, published, random));
        break;
      case 1:
        if (follower === undefined || !random.chance(0.2)) break;
        follower.reader.close();
        followers.splice(followers.indexOf(follower), 1);
        break;
      case 2:
        follower?.take(follower.reader.tryReceive());
        break;
      case 3:
        while (follower?.take(follower.reader.tryReceive()) === true);
        break;
      case 4: {
        while (follower?.take(follower.reader.tryReceive()) === true);
        const pending = follower?.reader.receiveAsync();
        while (!publish(topic, published, random));
        if (pending !== undefined) follower?.take(await within('a message', pending));
        break;
      }
      default:
        for (let count = random.skewed(60); count >= 0; count--) publish(topic, published, random);
    }
  }
  topic.close();
  for (const follower of followers) while (follower.take(follower.reader.tryReceive()));
}

function publish(topic: Topic<Message>, published: Message[], random: Random): boolean {
  const value = random.chance(0.1)
    ? 'long '.repeat(random.int(1, 150))
    : random.pick([null, undefined, 0, 'text', random.bits(), randomValue(random, { budget: 4, causes: false })]);
  const message = { i: published.length, value };
  try {
    topic.publish(message);
    published.push(message);
    return true;
  } catch (error) {
    // Too long for so small a ring, or for structured clone alone: it was published to nobody.
    assert.match(String((error as { code?: string }).code), /ERR_TOO_LARGE|ERR_DATA_CLONE/);
    return false;
  }
}

const only = process.env['CASE'];
test(`topics against an oracle, ${CASES * OPERATIONS_A_CASE} operations (SEED=${seed})`, async () => {
  for (let index = 0; index < CASES; index++) {
    if (only !== undefined && Number(only) !== index) continue;
    try {
      await play(new Random(seed, index));
    } catch (cause) {
      throw new Error(`${(cause as Error).message}\n  repeat with SEED=${seed} CASE=${index}`, { cause });
    }
  }
});
