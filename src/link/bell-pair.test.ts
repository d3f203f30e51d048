import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BELL, BellPairs, HELD, type LoopBell, THERE } from './bell-pair.ts';
import { LoopBells, type RungLink } from './loop-bells.ts';

/** Numbers as a process gives them: whose bell has which now. What is held stays whose it was. */
class Numbers {
  readonly owners = new Map<number, string>();
  readonly rung: string[] = [];
  readonly held: string[] = [];

  bell(number: number, owner: string): LoopBell {
    this.owners.set(number, owner);
    return {
      number,
      hold: (other) => {
        const whose = this.owners.get(other as number);
        if (whose === undefined) return undefined;
        this.held.push(whose);
        return {
          ring: () => this.rung.push(whose),
          close: () => this.held.splice(this.held.indexOf(whose), 1),
        };
      },
    };
  }
}

/** A thread with one link. */
class Side implements RungLink {
  readonly said: [unknown, unknown][] = [];
  readonly loop = new LoopBells();
  ringer: (() => void) | undefined;
  heardTimes = 0;
  constructor() {
    this.loop.add(this);
  }
  sayOfBells(what: unknown, number?: unknown): void {
    this.said.push([what, number]);
  }
  heard(): void {
    this.heardTimes++;
  }
  use(bell: LoopBell): void {
    this.loop.ringBy(() => new BellPairs(bell));
  }
  hear(what: unknown, number?: unknown): void {
    this.loop.hear(this, what, number);
  }
}

/** All that is said is heard, until nothing more is; how much that was. */
function talk(one: Side, other: Side): number {
  let count = 0;
  while (one.said.length + other.said.length > 0) {
    for (const [from, to] of [
      [one, other],
      [other, one],
    ] as const)
      for (const [what, number] of from.said.splice(0)) {
        to.hear(what, number);
        count++;
      }
  }
  return count;
}

test('two threads ring each other once both have a bell, whoever had it first', () => {
  for (const late of [false, true]) {
    const numbers = new Numbers();
    const one = new Side();
    const other = new Side();
    one.use(numbers.bell(7, 'one'));
    if (late) {
      talk(one, other);
      assert.deepEqual([one.ringer, other.ringer, numbers.held], [undefined, undefined, []]);
    }
    other.use(numbers.bell(8, 'other'));
    assert.ok(talk(one, other) <= 8);
    one.ringer?.();
    other.ringer?.();
    assert.deepEqual(numbers.rung, ['other', 'one']);
    one.loop.remove(one);
    other.loop.remove(other);
    assert.deepEqual([numbers.held, one.ringer, other.ringer], [[], undefined, undefined]);
  }
});

test('a number that something else has by now is held, never rung, and let go of', () => {
  const numbers = new Numbers();
  const one = new Side();
  const other = new Side();
  one.use(numbers.bell(7, 'one'));
  // It ends here, and its number is given away before it is asked for.
  const [, number] = one.said[0]!;
  numbers.owners.set(7, 'a stranger');
  other.use(numbers.bell(8, 'other'));
  other.hear(BELL, number);
  assert.deepEqual(
    other.said.map(([what]) => what),
    [BELL, BELL, HELD],
  );
  assert.deepEqual([numbers.held, other.ringer], [['a stranger'], undefined]);
  other.loop.remove(other);
  assert.deepEqual([numbers.rung, numbers.held], [[], []]);
});

test('a number that nothing has leaves all as it was', () => {
  const numbers = new Numbers();
  const one = new Side();
  one.use(numbers.bell(7, 'one'));
  one.hear(BELL, 99);
  one.hear(THERE);
  assert.deepEqual([one.said.map(([what]) => what), one.ringer], [[BELL, BELL], undefined]);
});

test('who says what was not asked for comes to nothing: one bell is held a link, none over one that is over', () => {
  const numbers = new Numbers();
  const one = new Side();
  for (const what of [THERE, HELD, BELL, 4, undefined]) one.hear(what, 8);
  assert.deepEqual([one.said, one.ringer], [[], undefined]);
  numbers.owners.set(8, 'first').set(9, 'second');
  one.use(numbers.bell(7, 'one'));
  for (const number of [8, 9, 8]) one.hear(BELL, number);
  assert.deepEqual(numbers.held, ['first']);
  one.loop.remove(one);
  one.hear(BELL, 9);
  one.hear(THERE);
  assert.deepEqual([numbers.held, one.ringer], [[], undefined]);
});

test('a thread has one bell, which is heard for all its links', () => {
  const one = new Side();
  let made = 0;
  let rung!: () => void;
  for (let i = 0; i < 2; i++)
    one.loop.ringBy((heard) => {
      made++;
      rung = heard;
      return new BellPairs(new Numbers().bell(7, 'one'));
    });
  const later = new Side();
  one.loop.add(later);
  rung();
  assert.deepEqual([made, one.loop.any, one.heardTimes, later.heardTimes], [1, true, 1, 1]);
});
