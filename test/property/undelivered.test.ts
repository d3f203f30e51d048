// What was posted was dropped by policy, taken over by the peer, or counts as undelivered once the channel has ended: nothing
// goes unaccounted, whatever the sizes, the policy, and who ends it when. The seed is printed; SEED repeats it.
// asked for: node-22, node-26
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attach, CLOSED, channel, EMPTY, type OverflowPolicy, type Port } from '../../src/index.ts';
import '../kit/neighbours.ts';
import { cases, eachCase, type Random } from '../kit/prng.ts';

const POLICIES: readonly OverflowPolicy[] = ['wait', 'drop-oldest', 'drop-newest'];

function post(random: Random, port: Port): void {
  const size = random.chance(0.1) ? random.int(500, 8000) : random.skewed(200);
  if (random.chance(0.1)) {
    const buffer = new ArrayBuffer(size);
    port.postMessage({ buffer }, [buffer]);
  } else port.postMessage('p'.repeat(size));
}

/** Takes up to `count` messages; how many there were. */
function take(port: Port, count: number): number {
  for (let taken = 0; taken < count; taken++) {
    const value = port.tryReceive();
    if (value === EMPTY || value === CLOSED) return taken;
  }
  return count;
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
  let late = 0;
  let read = 0;
  const postSome = (count: number): void => {
    for (let i = 0; i < count; i++, posted++) post(random, a);
  };
  for (let step = random.int(1, 10); step > 0; step--) {
    postSome(random.skewed(30));
    read += take(b, random.skewed(40));
    if (random.chance(0.2)) a.moveOutbox();
    assert.equal(a.stats().undelivered, 0, 'it is open');
  }
  const missing = (): number => posted - a.stats().dropped - read;
  const postLate = (): void => {
    late = random.skewed(5);
    postSome(late);
  };
  const what = `by ${overflow}`;
  if (random.chance(0.5)) {
    b.close();
    assert.equal(a.stats().undelivered, missing(), what);
    postLate();
  } else {
    a.close();
    postLate();
    assert.equal(a.stats().undelivered, missing(), what);
    read += take(b, random.skewed(40));
    // What was left beside the ring is taken over at once, and read one by one.
    assert.ok(a.stats().undelivered <= missing() && a.stats().undelivered >= late, what);
    read += take(b, 10_000);
    assert.equal(b.tryReceive(), CLOSED);
    assert.deepEqual([a.stats().undelivered, b.stats().received], [late, read], what);
  }
  assert.equal(a.stats().undelivered, missing(), what);
  a.close();
  b.close();
  assert.equal(a.stats().undelivered, missing(), what);
}

test('dropped, received and undelivered add up to what was posted', () => {
  eachCase(0, cases(300, 20_000), (random) => oneChannel(random));
});
