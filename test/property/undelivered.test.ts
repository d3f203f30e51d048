// What was posted was dropped by policy, taken over by the peer, or counts as undelivered once the channel has ended: nothing
// goes unaccounted, whatever the sizes, the policy, and who ends it when. The seed is printed; SEED repeats it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attach, CLOSED, channel, EMPTY, type OverflowPolicy, type Port } from '../../src/index.ts';
import { cases, eachCase, type Random } from '../kit/prng.ts';

const POLICIES: readonly OverflowPolicy[] = ['wait', 'drop-oldest', 'drop-newest'];

function post(random: Random, port: Port): void {
  const size = random.chance(0.1) ? random.int(500, 8000) : random.skewed(200);
  if (random.chance(0.1)) {
    const buffer = new ArrayBuffer(size);
    port.postMessage({ buffer }, [buffer]);
  } else port.postMessage('p'.repeat(size));
}

/** Takes up to `count` messages; whether there may be more. */
function take(port: Port, count: number): boolean {
  for (let i = 0; i < count; i++) {
    const value = port.tryReceive();
    if (value === CLOSED) return false;
    if (value === EMPTY) return true;
  }
  return true;
}

function oneChannel(random: Random): void {
  const overflow = random.pick(POLICIES);
  const { port: a, remote } = channel({
    capacityBytes: 1024 << random.int(0, 2),
    overflow,
    highWaterMarkBytes: random.int(0, 20_000),
    spinMicroseconds: 0,
  });
  const b = attach(remote);
  let posted = 0;
  const postSome = (count: number): void => {
    for (let i = 0; i < count; i++, posted++) post(random, a);
  };
  for (let step = random.int(1, 10); step > 0; step--) {
    postSome(random.skewed(30));
    take(b, random.skewed(40));
    if (random.chance(0.2)) a.moveOutbox();
    assert.equal(a.stats().undelivered, 0, 'it is open');
  }
  const account = (): void => {
    const { undelivered, dropped } = a.stats();
    assert.equal(undelivered, posted - dropped - b.stats().received, `of ${posted}, by ${overflow}`);
  };
  if (random.chance(0.5)) {
    b.close();
    account();
    postSome(random.skewed(5));
  } else {
    a.close();
    postSome(random.skewed(5));
    account();
    take(b, random.skewed(40));
    account();
    if (random.chance(0.5)) {
      const late = posted;
      postSome(random.skewed(5));
      while (take(b, 1000));
      assert.ok(a.stats().undelivered >= posted - late);
    }
  }
  account();
  a.close();
  b.close();
  account();
}

test('dropped, received and undelivered add up to what was posted', () => {
  eachCase(0, cases(300, 20_000), (random) => oneChannel(random));
});
