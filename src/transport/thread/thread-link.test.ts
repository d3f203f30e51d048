import assert from 'node:assert/strict';
import { test } from 'node:test';
import { turn, within } from '../../../test/kit/watchdog.ts';
import { createLifePage, tellEnded } from '../../memory/life-page.ts';
import { createNatives } from '../../memory/native-pair.ts';
import type { CloseReason } from '../../outcome.ts';
import type { Member } from './members.ts';
import { ThreadLink } from './thread-link.ts';

/** A member, and what it is told of the end. */
function memberOf(link: ThreadLink): { readonly gone: Promise<unknown>; readonly looks: () => number } {
  let tell!: (how: unknown) => void;
  let looks = 0;
  const gone = new Promise((resolve) => {
    tell = resolve;
  });
  const member: Member = { accept() {}, arrived: () => void looks++, gone: (how) => tell(how) };
  link.found(member);
  return { gone, looks: () => looks };
}

test('all links with a thread that somebody watches tell of one reason for its end, also those that hear of it first', async () => {
  const life = createLifePage();
  const pairs = [createNatives(), createNatives()];
  const links = pairs.map(({ near }) => new ThreadLink(near));
  const members = links.map(memberOf);
  for (const link of links) link.watchLife(life);
  for (const { far } of pairs) for (const port of [far.tether, far.side]) port.close();
  while (members.some(({ looks }) => looks() === 0)) await turn();
  tellEnded(life, 'crash');
  for (const { gone } of members) assert.equal(await within('a member is told', gone), 'crash');
});

test('a watched thread of which nothing is written down is told of all the same', async () => {
  const { near, far } = createNatives();
  const link = new ThreadLink(near);
  const { gone } = memberOf(link);
  link.watchLife(createLifePage());
  for (const port of [far.tether, far.side]) port.close();
  assert.equal(await within('a member is told', gone), undefined);
});

test('who is told that the thread is gone may ask at once', async () => {
  for (const watched of [false, true]) {
    const { near, far } = createNatives();
    const link = new ThreadLink(near);
    if (watched) link.watchLife(createLifePage());
    const asked = new Promise((resolve) => {
      let asks = 0;
      const ask = (): void => {
        if (asks++ === 0) resolve(link.peerGone());
      };
      link.found({ accept() {}, arrived: ask, gone: ask });
    });
    for (const port of [far.tether, far.side]) port.close();
    await within('it has asked', asked);
  }
});

test('the first page of life that is told of is believed, whoever tells of another one', () => {
  const { near, far } = createNatives();
  const link = new ThreadLink(near);
  const told: (CloseReason | undefined)[] = [];
  link.enter({ accept: () => {}, arrived: () => {}, gone: (how) => told.push(how) });
  const [its, somebodys] = [createLifePage(), createLifePage()];
  link.watchLife(its);
  link.watchLife(somebodys);
  tellEnded(somebodys, 'crash');
  assert.equal(link.peerGone(), undefined);
  assert.deepEqual(told, []);
  tellEnded(its, 'exit');
  assert.equal(link.peerGone(), 'exit');
  assert.deepEqual(told, ['exit']);
  link.retire();
  far.tether.close();
  far.side.close();
});
