// How two ends without memory hear of each other's threads, with locks that are played.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AgentLocks } from '../../platform/contract.ts';
import { NativeWatch } from './native-watch.ts';
import { ThreadLock } from './thread-lock.ts';

/** Grants nothing by itself. */
class PlayedLocks implements AgentLocks {
  readonly mortal: boolean;
  readonly outlives: boolean;
  readonly scope = 'http://here';
  readonly log: string[] = [];
  grant: () => void = () => {};
  deny: () => void = () => {};
  found: () => void = () => {};
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
  await(): never {
    throw new Error('that is for channels with memory');
  }
  watch(name: string, found: () => void, granted: () => void): () => void {
    this.log.push(`watch ${name}`);
    this.found = found;
    this.gone = granted;
    return () => this.log.push(`cancel ${name}`);
  }
}

type Kind = 'document' | 'worker' | 'SharedWorker';
function scene(kind: Kind) {
  const locks = new PlayedLocks(kind !== 'document', kind === 'SharedWorker');
  const lock = new ThreadLock(locks, 'me');
  const said: unknown[] = [];
  let gone = 0;
  const make = (): NativeWatch =>
    new NativeWatch(
      locks,
      lock,
      (word) => said.push(word),
      () => gone++,
    );
  return { locks, said, make, watch: make(), gone: () => gone };
}
const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));
const MINE = 'millrace/native/http://here/me/1';
const YOURS = 'millrace/native/http://here/you/4';

test('a worker holds a lock before it says so, one for all its channels, and gives it back when all are over', async () => {
  const { locks, said, watch, make } = scene('worker');
  const second = make();
  watch.begin();
  second.begin();
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
  assert.equal(locks.log.at(-1), 'hold millrace/native/http://here/me/2');
});

test('a document holds none until it is asked by who outlives it', () => {
  const { locks, said, watch } = scene('document');
  watch.begin();
  assert.deepEqual([said, locks.log], [[false], []]);
  watch.heard(true);
  locks.grant();
  assert.deepEqual([said, locks.log], [[false, MINE], [`hold ${MINE}`]]);
});

test('who cannot hold one says so, when asked too', () => {
  const { locks, said, watch } = scene('document');
  watch.begin();
  watch.heard(true);
  locks.deny();
  watch.heard(true);
  assert.deepEqual(said, [false, '', '']);
});

test('the end of the thread whose lock was said is told, and after the end of the channel nothing is', () => {
  const { locks, watch, gone } = scene('document');
  watch.begin();
  watch.heard(YOURS);
  assert.deepEqual(locks.log, [`watch ${YOURS}`]);
  locks.gone();
  assert.equal(gone(), 1);
  watch.end();
  watch.heard(YOURS);
  assert.deepEqual(locks.log.slice(1), [`cancel ${YOURS}`]);
});

test('nothing is waited for that is of another origin, of this thread, or of nobody', () => {
  const { locks, watch } = scene('document');
  watch.begin();
  for (const name of [MINE, '', 'somebody', 'millrace/native/http://there/you/4']) watch.heard(name);
  assert.deepEqual(locks.log, []);
});

for (const [kind, steps] of [
  ['document', [(_: PlayedLocks, watch: NativeWatch) => watch.heard(false)]],
  ['worker', [(locks: PlayedLocks) => locks.grant(), (_: PlayedLocks, watch: NativeWatch) => watch.heard(false)]],
  [
    'worker',
    [
      (_: PlayedLocks, watch: NativeWatch) => watch.heard(YOURS),
      (locks: PlayedLocks) => locks.found(),
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
      (locks: PlayedLocks) => locks.found(),
    ],
  ],
] as const satisfies [Kind, unknown[]][]) {
  test(`a ${kind} waits until each would hear of the other's end (${steps.length} steps)`, () => {
    const { locks, watch } = scene(kind);
    watch.begin();
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
