import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Bell } from './bell.ts';
import { Bells } from './bells.ts';

const READY = 2;

/** A bell, and how often its link was told. */
class TestBell implements Bell {
  readonly theirs = -1;
  readonly descriptor: number;
  state: 'rung' | 'silent' | 'over' = 'silent';
  told = 0;

  constructor(descriptor: number) {
    this.descriptor = descriptor;
  }
  take(): 'rung' | 'silent' | 'over' {
    const { state } = this;
    if (state === 'rung') this.state = 'silent';
    return state;
  }
  rungBlocked(): void {
    // Whoever is told looks: a ring from here on is to end the next sleep.
    assert.equal(this.state, 'silent');
    this.told++;
  }
  close(): void {}
}

function bells(count: number): { readonly all: TestBell[]; readonly bells: Bells; readonly polled: () => number[] } {
  const all = Array.from({ length: count }, (_, i) => new TestBell(100 + i));
  let polled: number[] = [];
  const bells = new Bells({
    poll(table, length, timeoutMs) {
      assert.ok(Number.isInteger(timeoutMs) && timeoutMs > 0, 'part of a millisecond is no sleep');
      polled = [];
      let ready = 0;
      for (let i = 0; i < length; i++) {
        const bell = all.find(({ descriptor }) => descriptor === table[i * 3]);
        polled.push(table[i * 3] as number);
        table[i * 3 + READY] = bell?.state === 'silent' ? 0 : 1;
        if (bell?.state !== 'silent') ready++;
      }
      return ready;
    },
  });
  for (const each of all) bells.add(each, each);
  return { all, bells, polled: () => polled };
}

test('sleep() ends by whichever bell is rung, silences it, and then tells its link', () => {
  const { all, bells: one } = bells(3);
  assert.equal(one.sleep(0.4), false, 'nobody has rung');
  all[1]!.state = 'rung';
  all[2]!.state = 'rung';
  assert.equal(one.sleep(5), true);
  assert.deepEqual(
    all.map(({ told }) => told),
    [0, 1, 1],
  );
  assert.equal(one.sleep(5), false, 'each ring ends one sleep');
});

test('a bell that will never ring again ends one sleep, and the others go on', () => {
  const { all, bells: one, polled } = bells(2);
  all[0]!.state = 'over';
  assert.equal(one.sleep(5), true);
  assert.equal(one.sleep(5), false);
  assert.deepEqual(polled(), [101]);
  all[1]!.state = 'rung';
  assert.equal(one.sleep(5), true);
  assert.deepEqual([all[0]!.told, all[1]!.told], [0, 1]);
});

test('of more bells than one call can wait for, one that found no place has that of one that goes', () => {
  const { all, bells: one, polled } = bells(66);
  one.sleep(1);
  assert.equal(polled().length, 64);
  one.remove(all[0]!);
  one.sleep(1);
  assert.ok(polled().includes(164) && !polled().includes(100) && polled().length === 64);
});
