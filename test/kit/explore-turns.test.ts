// The checker of turns by worlds whose states can be counted by hand.
// runtimes: once
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Digest } from './explore-digest.ts';
import { exploreTurns, type Touched, type World } from './explore-turns.ts';

const STEPS = 3;
const digest = new Digest(['touches'], /\bname-\d+\b/g);

/** Threads that count, each for itself; the last step of each goes to a word that all can see, if `shared`. */
class Counting implements World {
  readonly counts: number[] = [0, 0, 0];
  word = '';
  readonly shared: boolean;
  touches: Touched | undefined;
  constructor(shared: boolean) {
    this.shared = shared;
  }
  moves(): string[] {
    return [...this.counts.entries()].filter(([, count]) => count < STEPS).map(([i]) => String(i));
  }
  step(move: string): void {
    const i = Number(move);
    const changed = new Set([i]);
    this.counts[i] = (this.counts[i] as number) + 1;
    if (this.shared && this.counts[i] === STEPS) {
      changed.add(100);
      this.word += move;
    }
    this.touches = { read: new Set(), changed };
  }
  key(): string {
    return digest.of(this);
  }
  wrong(): string | undefined {
    return this.word === '210' ? 'the word is 210' : undefined;
  }
  unfinished(): undefined {
    return undefined;
  }
  outcome(): string {
    return this.word;
  }
}
/** The same, and says what it touches. */
class Telling extends Counting {
  touched(): Touched | undefined {
    return this.touches;
  }
}

test('turns that have nothing to do with each other are made in one order, and counted in both', () => {
  const all = exploreTurns({ make: () => new Counting(false) });
  const { runs, ...told } = exploreTurns({ make: () => new Telling(false) });
  assert.deepEqual({ ...told, runs: all.runs }, all);
  assert.equal(told.states, (STEPS + 1) ** 3);
  assert.equal(told.steps, 3 * STEPS * (STEPS + 1) ** 2);
  // Each state but the first one is come to once, and by no way that was walked before.
  assert.ok(runs < all.runs / 2, `${runs} of ${all.runs} runs`);
});

test('turns that share something are made in each order, and the trace of a failure is a shortest one', () => {
  const all = exploreTurns({ make: () => new Counting(true) });
  const { runs, ...told } = exploreTurns({ make: () => new Telling(true) });
  assert.deepEqual({ ...told, runs: all.runs }, all);
  assert.deepEqual(told.failure, { kind: 'invariant', message: 'the word is 210' });
  assert.equal(told.trace.length, 3 * STEPS);
  assert.ok(runs < all.runs, `${runs} of ${all.runs} runs`);
});

test('a digest tells what differs, and not what names are called', () => {
  class Some {
    readonly a: unknown;
    touches = Math.random();
    constructor(a: unknown) {
      this.a = a;
    }
  }
  const texts = [undefined, null, true, false, 0, -0, 1, -1, 1.5, 1n, '1', '', [], [[]], [1, 2], [[1], 2]].map((a) =>
    digest.of(new Some(a)),
  );
  const more = [new Map([[1, 2]]), new Set([1, 2]), new Int32Array([0, 5]), new Int32Array([5, 0]), { a: 1 }, { b: 1 }];
  texts.push(...more.map((a) => digest.of(new Some(a))));
  assert.equal(new Set(texts).size, texts.length);
  assert.equal(digest.of(new Some({ a: 1 })), digest.of(new Some({ a: 1 })));
  assert.equal(digest.of(['to name-1', 'name-2', 'name-1']), digest.of(['to name-8', 'name-3', 'name-8']));
  assert.notEqual(digest.of(['name-1', 'name-2', 'name-1']), digest.of(['name-1', 'name-2', 'name-2']));
  const both = {};
  assert.notEqual(digest.of([both, both]), digest.of([{}, {}]));
});
