// What becomes of a session in whose place no other line is to be had. Time is the test's: what is to wait goes on at once, and is written down.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { platform } from '#platform';
import type { Line } from '../transport/network/line.ts';
import type { ResumingStream } from '../transport/network/resuming-stream.ts';
import { Redial } from './redial.ts';

const ANSWER_MS = 1000;
const { later } = platform;
const clock = performance.now.bind(performance);
/** What was to wait for so long. */
let waited: number[] = [];
beforeEach(() => {
  waited = [];
  let now = 0;
  performance.now = () => now;
  platform.later = (task, ms) => {
    waited.push(ms);
    setTimeout(() => {
      now += ms;
      task();
    }, 0);
  };
});
afterEach(() => {
  platform.later = later;
  performance.now = clock;
});

function looking(dial: (signal: AbortSignal) => Promise<Line>, isLost: boolean, lineMs = 1) {
  const failures: (Error | undefined)[] = [];
  const told = { back: 0 };
  const stream = {
    isLost,
    isApart: isLost,
    heard: 0,
    hello() {
      this.isApart = true;
      return new Uint8Array(8);
    },
    lineFailed(error: Error | undefined) {
      this.isLost = true;
      failures.push(error);
    },
  };
  const times = { lineMs, answerMs: ANSWER_MS, resumeMs: 60_000 };
  const redial = new Redial({ dial }, stream as unknown as ResumingStream, times, () => told.back++);
  return { redial, failures, stream, told };
}
function line(destroyed: () => void = () => {}): Line {
  return { write: () => true, destroy: destroyed, connect() {} } as unknown as Line;
}
/** Opens no line, and says nothing, until it is given up for the `count`th time, and has been asked once more. */
function shut(count: number): { dial(signal: AbortSignal): Promise<Line>; done: Promise<void> } {
  let tell = (): void => {};
  const done = new Promise<void>((resolve) => {
    tell = resolve;
  });
  let tries = 0;
  const dial = (signal: AbortSignal): Promise<Line> => {
    if (++tries > count) tell();
    return hanging(signal);
  };
  return { dial, done };
}
/** Opens no line until it is given up. */
function hanging(signal: AbortSignal): Promise<Line> {
  return new Promise((_, reject) => {
    // It may be looked at late.
    const holding = setInterval(() => {}, 1000);
    signal.addEventListener('abort', () => {
      clearInterval(holding);
      reject(signal.reason);
    });
  });
}
/** A later turn of the event loop, after timers have had theirs. */
const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));
/** In as many turns as it takes, up to more than any of these needs. */
async function until(look: () => boolean): Promise<void> {
  for (let i = 0; i < 1000 && !look(); i++) await turn();
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

test('in silence a line that is not answered is waited for twice as long as the one before; who has not answered in ten minutes is gone', async () => {
  const { redial, failures } = looking(async () => line(), false);
  redial.start();
  await until(() => failures.length > 0);
  redial.stop();
  assert.equal(failures[0]?.message, 'lines open, and nobody answers over them');
  const answers = waited.filter((ms) => ms >= ANSWER_MS && Number.isInteger(ms / ANSWER_MS));
  assert.deepEqual(
    answers.slice(0, 8),
    [1, 2, 4, 8, 16, 32, 64, 128].map((n) => n * ANSWER_MS),
  );
  const all = waited.reduce((sum, ms) => sum + ms, 0);
  assert.ok(all >= 600_000 && all < 700_000, `${all} ms`);
});

for (const how of ['opens', 'is late', 'is refused'])
  test(`a line that was silent and speaks again stays, also where another one ${how}`, async () => {
    let destroyed = 0;
    const { redial, failures, stream, told } = looking(async (signal) => {
      stream.heard += 100;
      if (how === 'is refused') throw new Error('refused');
      if (how === 'opens') return line(() => destroyed++);
      return await hanging(signal);
    }, false);
    redial.start();
    await until(() => told.back > 0);
    assert.deepEqual([told.back, failures, stream.isApart, destroyed], [1, [], false, how === 'opens' ? 1 : 0]);
    // Silent once more, it is looked for anew.
    redial.start();
    await until(() => told.back > 1);
    assert.equal(told.back, 2);
    redial.stop();
  });

test('a silent line that speaks while another one is dialled stays at once; one that is silent then is looked for by itself', async () => {
  const signals: AbortSignal[] = [];
  const { redial, failures, stream, told } = looking(
    (signal) => {
      signals.push(signal);
      return hanging(signal);
    },
    false,
    60_000,
  );
  redial.came();
  assert.equal(told.back, 0);
  redial.start();
  await until(() => signals.length === 1);
  redial.came();
  assert.equal(told.back, 0, 'nothing has come');
  stream.heard++;
  redial.came();
  redial.came();
  assert.deepEqual([told.back, signals.length, signals[0]?.aborted], [1, 1, true]);
  redial.start();
  await until(() => signals.length === 2);
  assert.deepEqual([told.back, signals.length, failures], [1, 2, []]);
  redial.stop();
  assert.equal(signals[1]?.aborted, true);
});
