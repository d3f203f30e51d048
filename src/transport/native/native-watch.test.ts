// How two ends without memory hear of each other's threads, with locks that are played.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AgentLocks } from '../../platform/contract.ts';
import { LockSpace } from './lock-space.ts';
import { NativeWatch } from './native-watch.ts';
import { ThreadLock } from './thread-lock.ts';

/** Grants nothing by itself. */
class PlayedLocks implements AgentLocks {
  readonly mortal: boolean;
  readonly outlives: boolean;
  readonly available = true;
  readonly log: string[] = [];
  grant: () => void = () => {};
  deny: () => void = () => {};
  /** Who has asked for all names. */
  #asked: ((names: readonly string[]) => void)[] = [];
  gone: () => void = () => {};
  constructor(mortal: boolean, outlives: boolean) {
    this.mortal = mortal;
    this.outlives = outlives;
  }
  hold(name: string, held: () => void, denied: () => void): () => void {
    this.log.push(`hold ${name}`);
    this.grant = held;
    this.deny = denied;
    return () => this.log.push(`free ${name}`);
  }
  await(name: string, granted: () => void): () => void {
    this.log.push(`await ${name}`);
    this.gone = granted;
    return () => this.log.push(`cancel ${name}`);
  }
  names(then: (names: readonly string[]) => void): void {
    this.#asked.push(then);
  }
  /** These are all. */
  seen(...names: string[]): void {
    for (const then of this.#asked.splice(0)) then(names);
  }
}

type Kind = 'document' | 'worker' | 'SharedWorker';
function scene(kind: Kind) {
  const locks = new PlayedLocks(kind !== 'document', kind === 'SharedWorker');
  const space = new LockSpace(locks, 'me');
  const lock = new ThreadLock(locks, space);
  const said: unknown[] = [];
  let gone = 0;
  const make = (): NativeWatch =>
    new NativeWatch(
      locks,
      space,
      lock,
      (word) => said.push(word),
      () => gone++,
    );
  return { locks, said, make, watch: make(), gone: () => gone };
}
const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));
const MINE = 'millrace/native/me/me/1';
const YOURS = 'millrace/native/you/you/4';

test('a worker holds a lock before it says so, one for all its channels, and gives it back when all are over', async () => {
  const { locks, said, watch, make } = scene('worker');
  const second = make();
  watch.begin();
  second.begin();
  locks.seen();
  assert.deepEqual([locks.log, said], [[`hold ${MINE}`], []]);
  locks.grant();
  assert.deepEqual(said, [MINE, MINE]);
  watch.end();
  await turn();
  assert.equal(locks.log.length, 1, 'one goes on');
  second.end();
  const third = make();
  third.begin();
  await turn();
  assert.equal(locks.log.length, 1, 'one channel follows another');
  third.end();
  await turn();
  assert.equal(locks.log.at(-1), `free ${MINE}`);
  make().begin();
  assert.equal(locks.log.at(-1), 'hold millrace/native/me/me/2');
});

test('a channel that is over before its thread knows what to call its lock holds none', async () => {
  const { locks, said, watch } = scene('worker');
  watch.begin();
  watch.end();
  await turn();
  locks.seen();
  assert.deepEqual([locks.log, said], [[], []]);
});

test('a document holds none until it is asked by who outlives it', () => {
  const { locks, said, watch } = scene('document');
  watch.begin();
  assert.deepEqual([said, locks.log], [[false], []]);
  watch.heard(true);
  locks.seen();
  locks.grant();
  assert.deepEqual([said, locks.log], [[false, MINE], [`hold ${MINE}`]]);
});

test('who cannot hold one says so, when asked too', () => {
  const { locks, said, watch } = scene('document');
  watch.begin();
  watch.heard(true);
  locks.seen();
  locks.deny();
  watch.heard(true);
  assert.deepEqual(said, [false, '', '']);
});

test('the end of the thread whose lock was said is told, and after the end of the channel nothing is', () => {
  const { locks, watch, gone } = scene('document');
  watch.begin();
  watch.heard(YOURS);
  locks.seen(YOURS);
  assert.deepEqual(locks.log, [`await ${YOURS}`]);
  locks.gone();
  assert.equal(gone(), 1);
  watch.end();
  watch.heard(YOURS);
  assert.deepEqual(locks.log.slice(1), [`cancel ${YOURS}`]);
});

test('a channel that is over before all names are there waits for none of them', () => {
  const { locks, watch } = scene('document');
  watch.begin();
  watch.heard(YOURS);
  watch.end();
  locks.seen(YOURS);
  assert.deepEqual(locks.log, []);
});

test('nothing is waited for that is held where other locks are, by this thread, or by nobody', () => {
  const { locks, watch } = scene('document');
  watch.begin();
  for (const name of [MINE, '', 'somebody', 'somebody/native/you/you/4', YOURS]) {
    watch.heard(name);
    locks.seen(MINE, 'somebody/native/you/you/4', '');
  }
  assert.deepEqual(locks.log, []);
});

for (const [kind, steps] of [
  ['document', [(_: PlayedLocks, watch: NativeWatch) => watch.heard(false)]],
  ['worker', [(locks: PlayedLocks) => locks.grant(), (_: PlayedLocks, watch: NativeWatch) => watch.heard(false)]],
  [
    'worker',
    [
      (_: PlayedLocks, watch: NativeWatch) => watch.heard(YOURS),
      (locks: PlayedLocks) => locks.seen(YOURS),
      (locks: PlayedLocks) => locks.deny(),
    ],
  ],
  [
    'SharedWorker',
    [
      (locks: PlayedLocks) => locks.grant(),
      // Said before it has heard that it is asked for one.
      (_: PlayedLocks, watch: NativeWatch) => watch.heard(false),
      (_: PlayedLocks, watch: NativeWatch) => watch.heard(YOURS),
      (locks: PlayedLocks) => locks.seen(YOURS),
    ],
  ],
] as const satisfies [Kind, unknown[]][]) {
  test(`a ${kind} waits until each would hear of the other's end (${steps.length} steps)`, () => {
    const { locks, watch } = scene(kind);
    watch.begin();
    locks.seen();
    let watched = 0;
    watch.whenWatched(() => watched++);
    for (const step of steps) {
      assert.equal(watched, 0);
      step(locks, watch);
    }
    assert.equal(watched, 1);
    watch.whenWatched(() => watched++);
    assert.equal(watched, 2);
  });
}

test('an end whose other one is in this thread, and one that is over, wait for nothing', () => {
  const { watch, make, said } = scene('worker');
  let watched = 0;
  watch.whenWatched(() => watched++);
  const second = make();
  second.begin();
  second.whenWatched(() => watched++);
  second.end();
  assert.deepEqual([watched, said], [2, []]);
});
