import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createNatives } from '../../memory/handshake.ts';
import { createLifePage, tellEnded } from '../../memory/life-page.ts';
import type { CloseReason } from '../../outcome.ts';
import { ThreadLink } from './thread-link.ts';

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
