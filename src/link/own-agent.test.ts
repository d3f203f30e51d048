import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BlockingWait } from '../wait/block.ts';
import type { ParkPlace } from '../wait/park-place.ts';
import { sharedParking } from '../wait/parking.ts';
import { AWAKE, BLOCKED, DATA, DOORBELL } from '../wait/signal.ts';
import { Spin } from '../wait/spin.ts';
import { SLEEP, SLEEPS } from './layout.ts';
import { type AgentLink, OwnAgent } from './own-agent.ts';

const KIND = 77;

/** Sleeps for a bell and not for its word, as a thread in poll() does: what others do meanwhile is `meanwhile`. */
class BellPlace implements ParkPlace {
  readonly blocks = DOORBELL;
  readonly sliceMsMax = Number.POSITIVE_INFINITY;
  readonly words: Int32Array;
  readonly index: number;
  announced = AWAKE;
  rung = 0;
  meanwhile: () => void = () => {};
  constructor(words: Int32Array, index: number) {
    this.words = words;
    this.index = index;
  }
  sleep(): boolean {
    this.announced = Atomics.load(this.words, this.index);
    this.meanwhile();
    return this.rung > 0;
  }
  wake(): void {
    assert.fail('a notify does not end this sleep');
  }
}

test('an agent that sleeps by a bell says so in its word, and is rung by who knows that kind', () => {
  let place!: BellPlace;
  const sleeper = new OwnAgent(
    (words, index) => {
      place = new BellPlace(words, index);
      return place;
    },
    { kind: KIND },
  );
  const ringers = new Map([[KIND, () => (): void => void place.rung++]]);
  const other = new OwnAgent(undefined, undefined, ringers);
  assert.equal(other.knows(sleeper.bell), true);
  const wake = other.wakerOf(sleeper.page, sleeper.bell, sharedParking('doorbell')) as () => void;
  wake();
  assert.equal(place.rung, 0, 'it is awake');
  let news = false;
  place.meanwhile = () => {
    news = true;
    wake();
    wake();
  };
  const wait = new BlockingWait(
    sleeper.sleeps,
    SLEEPS,
    new Spin(0),
    () => Number.POSITIVE_INFINITY,
    () => {},
  );
  assert.equal(
    wait.wait(DATA, () => news, Number.POSITIVE_INFINITY),
    true,
  );
  assert.equal(place.announced, DOORBELL | DATA);
  assert.equal(place.rung, 1, 'one bell a sleep');
  assert.equal(new Int32Array(sleeper.page)[SLEEPS], 1);
});

test('an agent whose kind of bell nobody here knows cannot be woken, and one without a bell is by a notify', () => {
  const agent = new OwnAgent();
  const parking = sharedParking('doorbell');
  assert.equal(agent.knows({ kind: KIND }), false);
  assert.equal(agent.wakerOf(agent.page, { kind: KIND }, parking), undefined);
  assert.equal(agent.knows(undefined), true);
  const words = new Int32Array(agent.page);
  const wake = agent.wakerOf(agent.page, undefined, parking) as () => void;
  Atomics.store(words, SLEEP, BLOCKED | DATA);
  wake();
  assert.equal(words[SLEEP], AWAKE);
});

test('the list of links is the same one as long as there is nothing new', () => {
  const agent = new OwnAgent();
  const link = (): AgentLink => ({ end: undefined, rest() {}, peerGone: () => undefined });
  const [one, other] = [link(), link()];
  agent.add(one);
  agent.add(other);
  const { links } = agent;
  agent.add(one);
  assert.equal(agent.links, links);
  assert.deepEqual(links, [one, other]);
  agent.remove(one);
  agent.remove(one);
  assert.deepEqual(agent.links, [other]);
  assert.deepEqual(links, [one, other], 'who holds it sees no change');
});
