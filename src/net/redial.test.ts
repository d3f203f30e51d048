// What becomes of a session in whose place no other line is to be had. Time is the test's: what is to wait goes on at once, and is written down.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { platform } from '#platform';
import type { Line } from '../transport/network/line.ts';
import type { ResumingStream } from '../transport/network/resuming-stream.ts';
import { Redial } from './redial.ts';

const ANSWER_MS = 1000;
const { later } = platform;
/** What was to wait for so long. */
let waited: number[] = [];
beforeEach(() => {
  waited = [];
  platform.later = (task, ms) => {
    waited.push(ms);
    setTimeout(task, 0);
  };
});
afterEach(() => {
  platform.later = later;
});

function looking(dial: (signal: AbortSignal) => Promise<Line>, isLost: boolean) {
  const failures: (Error | undefined)[] = [];
  const stream = {
    isLost,
    hello: () => new Uint8Array(8),
    lineFailed: (error: Error | undefined) => failures.push(error),
  } as unknown as ResumingStream;
  const redial = new Redial({ dial }, stream, { lineMs: 1, answerMs: ANSWER_MS, resumeMs: 60_000 });
  return { redial, failures };
}
/** Opens no line, and says nothing, until it is given up for the `count`th time, and has been asked once more. */
function shut(count: number): { dial(signal: AbortSignal): Promise<Line>; done: Promise<void> } {
  let tell = (): void => {};
  const done = new Promise<void>((resolve) => {
    tell = resolve;
  });
  let tries = 0;
  const dial = (signal: AbortSignal): Promise<Line> =>
    new Promise((_, reject) => {
      if (++tries > count) tell();
      // It may be looked at late.
      const holding = setInterval(() => {}, 1000);
      signal.addEventListener('abort', () => {
        clearInterval(holding);
        reject(signal.reason);
      });
    });
  return { dial, done };
}

test('as long as a line is silent, one that does not open in its place ends nothing', async () => {
  const { dial, done } = shut(3);
  const { redial, failures } = looking(dial, false);
  redial.start();
  await done;
  redial.stop();
  assert.deepEqual(failures, []);
});

test('where there is none, one that does not open is one that has failed', async () => {
  const { dial, done } = shut(2);
  const { redial, failures } = looking(dial, true);
  redial.start();
  await done;
  redial.stop();
  assert.deepEqual(
    failures.map((error) => error?.message),
    ['nobody has answered in 1 ms', 'nobody has answered in 1 ms'],
  );
});

test('in silence, too, a line that is refused is one that has failed', async () => {
  let refused = (): void => {};
  const done = new Promise<void>((resolve) => {
    refused = resolve;
  });
  const { redial, failures } = looking(async () => {
    refused();
    throw new Error('refused');
  }, false);
  redial.start();
  await done;
  await new Promise(setImmediate);
  redial.stop();
  assert.equal(failures[0]?.message, 'refused');
});

test('in silence a line that is not answered is waited for twice as long as the one before, and ten minutes at the most', async () => {
  let lines = 0;
  let tell = (): void => {};
  const done = new Promise<void>((resolve) => {
    tell = resolve;
  });
  const { redial, failures } = looking(async () => {
    if (++lines > 12) tell();
    return { write: () => true, destroy() {}, connect() {} } as unknown as Line;
  }, false);
  redial.start();
  await done;
  redial.stop();
  assert.deepEqual(failures, []);
  const answers = waited.filter((ms) => ms >= ANSWER_MS && Number.isInteger(ms / ANSWER_MS)).slice(0, 12);
  assert.deepEqual(
    answers,
    [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600].map((n) => n * ANSWER_MS),
  );
});
