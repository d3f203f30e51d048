import assert from 'node:assert/strict';
import { test } from 'node:test';
import { platform } from '#platform';
import { SILENCES, watchSilence } from './watch.ts';

test('who is without a line is not asked for a sign: it would be kept for the next one, and hold the process', () => {
  const { later } = platform;
  let next = (): void => {};
  platform.later = (task) => {
    next = task;
  };
  try {
    let pings = 0;
    let silent = 0;
    const stream = { isApart: true };
    watchSilence({ heard: 0, ping: () => pings++ }, stream, 10, () => silent++);
    for (let i = 0; i <= SILENCES; i++) next();
    assert.deepEqual([pings, silent], [0, 0]);
    // Nor is one that has just come silent at once.
    stream.isApart = false;
    next();
    assert.deepEqual([pings, silent], [1, 0]);
    for (let i = 1; i < SILENCES; i++) next();
    assert.deepEqual([pings, silent], [SILENCES, 1]);
  } finally {
    platform.later = later;
  }
});
