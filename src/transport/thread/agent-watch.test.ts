// What a thread holds and waits for, with locks that are played: when it asks, when it gives back, and whose end that is not.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEATHS, HELD } from '../../link/layout.ts';
import { createLifePage, endedOn } from '../../memory/life-page.ts';
import type { AgentLocks } from '../../platform/contract.ts';
import type { AgentCard, KnownLink } from './agent-links.ts';
import { AgentWatch } from './agent-watch.ts';
import type { ThreadLink } from './thread-link.ts';

/** Grants nothing by itself. */
class PlayedLocks implements AgentLocks {
  readonly mortal: boolean;
  readonly outlives = false;
  readonly available = true;
  readonly log: string[] = [];
  grant: () => void = () => {};
  deny: () => void = () => {};
  gone: () => void = () => {};
  constructor(mortal: boolean) {
    this.mortal = mortal;
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
  names(): never {
    throw new Error('that is for channels without memory');
  }
}

function scene(mortal: boolean) {
  const locks = new PlayedLocks(mortal);
  const page = new SharedArrayBuffer(64);
  const said: KnownLink[] = [];
  const rung: AgentCard[] = [];
  const watch = new AgentWatch(
    locks,
    'me',
    { page },
    (to) => said.push(to),
    (card) => () => rung.push(card),
  );
  const card = { id: 'you', page: new SharedArrayBuffer(64) };
  const ends: unknown[] = [];
  const link = {
    living: 1,
    peopled: () => {},
    peerLife: createLifePage(),
    tellGone: (how: unknown): void => void ends.push(how),
  };
  const known = { agent: 'you', link, confirmed: true, waiting: new Set() } as unknown as KnownLink;
  const people = (count: number): void => {
    link.living = count;
    link.peopled();
  };
  return {
    locks,
    watch,
    card,
    known,
    link,
    people,
    said,
    rung,
    ends,
    own: new Int32Array(page),
    theirs: new Int32Array(card.page),
  };
}
const microtasks = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

test('a thread asks for its lock when it has a channel, says so when it has it, and gives it back with the last one', async () => {
  const { locks, watch, card, known, people, said, own } = scene(true);
  watch.begin(known, card);
  assert.deepEqual([locks.log, said.length, own[HELD]], [['hold millrace/me/1'], 0, 0]);
  locks.grant();
  assert.deepEqual([said, own[HELD]], [[known], 1]);
  people(0);
  people(1);
  await microtasks();
  assert.equal(locks.log.length, 1, 'one channel follows another');
  people(0);
  await microtasks();
  assert.deepEqual([locks.log.at(-1), own[HELD]], ['free millrace/me/1', 0]);
  people(1);
  assert.equal(locks.log.at(-1), 'hold millrace/me/2');
});

test('one that tells of its own end holds none', async () => {
  const { locks, watch, card, known } = scene(false);
  watch.begin(known, card);
  let told = false;
  watch.whenWatched(undefined, () => {
    told = true;
  });
  await microtasks();
  assert.deepEqual([locks.log, told], [[], true]);
});

test('whoever waits to be watched is told when the lock is held, or that there are none', async () => {
  for (const how of ['grant', 'deny'] as const) {
    const { locks, watch } = scene(true);
    let told = 0;
    watch.whenWatched(undefined, () => told++);
    await microtasks();
    assert.equal(told, 0);
    locks[how]();
    await microtasks();
    assert.equal(told, 1);
    watch.whenWatched(undefined, () => told++);
    await microtasks();
    assert.equal(told, how === 'deny' ? 2 : 1);
  }
});

test('whoever waits for a worker to be watched is told when its lock is waited for, or that it can hold none', async () => {
  for (const number of [7, -1]) {
    const { locks, watch, card, known, theirs, link } = scene(false);
    watch.begin(known, { ...card, mortal: true });
    let told = 0;
    const waits = (): void => watch.whenWatched(link as unknown as ThreadLink, () => told++);
    waits();
    await microtasks();
    watch.look(known);
    assert.equal(told, 0);
    theirs[HELD] = number;
    watch.look(known);
    assert.deepEqual([told, locks.log], [1, number < 0 ? [] : ['await millrace/you/7']]);
    waits();
    await microtasks();
    assert.equal(told, 2);
  }
});

test('whoever waits for a worker to be watched is told that the link is over', async () => {
  const { watch, card, known, link } = scene(false);
  watch.begin(known, { ...card, mortal: true });
  let told = 0;
  watch.whenWatched(link as unknown as ThreadLink, () => told++);
  await microtasks();
  assert.equal(told, 0);
  watch.end(known);
  assert.equal(told, 1);
});

test('a worker that can hold none says so, to who comes later too', () => {
  const { locks, watch, card, known, said, own } = scene(true);
  watch.begin(known, card);
  locks.deny();
  assert.deepEqual([said.length, own[HELD]], [1, -1]);
  watch.begin({ ...known, agent: 'other' } as KnownLink, card);
  assert.equal(said.length, 2);
});

test('who is given the lock of another thread knows that it is gone, and writes it down', () => {
  const { locks, watch, card, known, link, theirs, ends } = scene(false);
  watch.begin(known, card);
  assert.deepEqual(locks.log, [], 'it holds none yet');
  theirs[HELD] = 7;
  watch.look(known);
  watch.look(known);
  assert.deepEqual(locks.log, ['await millrace/you/7']);
  locks.gone();
  assert.deepEqual([ends, endedOn(link.peerLife)], [['terminated'], 'terminated']);
});

test('the end of one thread is told to all that this one has links with, once it is written down', () => {
  const { locks, watch, card, known, link, rung } = scene(false);
  const other = { id: 'other', page: new SharedArrayBuffer(64) };
  watch.begin(known, card);
  watch.begin({ ...known, agent: 'other', link: { ...link } } as unknown as KnownLink, other);
  new Int32Array(card.page)[HELD] = 7;
  watch.look(known);
  link.tellGone = (how) => {
    assert.deepEqual([rung, endedOn(link.peerLife)], [[card, other], how]);
  };
  locks.gone();
  assert.equal(new Int32Array(other.page)[DEATHS], 1);
});

test('a lock that was given back is no end', () => {
  const { locks, watch, card, known, link, theirs, ends } = scene(false);
  theirs[HELD] = 7;
  watch.begin(known, card);
  theirs[HELD] = 0;
  locks.gone();
  assert.deepEqual([ends, endedOn(link.peerLife)], [[], undefined]);
  theirs[HELD] = 8;
  watch.look(known);
  assert.equal(locks.log.at(-1), 'await millrace/you/8');
});

test('nobody waits for a thread with which there is no channel any more', () => {
  const { locks, watch, card, known, people, theirs } = scene(false);
  theirs[HELD] = 7;
  watch.begin(known, card);
  people(0);
  assert.equal(locks.log.at(-1), 'cancel millrace/you/7');
  watch.look(known);
  people(1);
  assert.deepEqual(locks.log.slice(2), ['await millrace/you/7']);
  watch.end(known);
  assert.equal(locks.log.at(-1), 'cancel millrace/you/7');
});
