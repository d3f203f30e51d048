import assert from 'node:assert/strict';
import { test } from 'node:test';
import { turnWhileAsleep, wakesStayBehind } from './late-wakes.ts';

test('no runtime without a WorkerGlobalScope of WebKit has wake-ups that stay behind', () => {
  assert.equal(wakesStayBehind(), false);
});

test('the event loop is made to turn, ever more seldom, until the sleep is over', async () => {
  const real = globalThis.setTimeout;
  const delays: number[] = [];
  let due: (() => void) | undefined;
  const turn = (): void => {
    const task = due;
    due = undefined;
    task?.();
  };
  globalThis.setTimeout = ((task: () => void, ms: number) => {
    due = task;
    delays.push(ms);
  }) as unknown as typeof setTimeout;
  try {
    let wake: () => void = () => {};
    turnWhileAsleep(new Promise<void>((resolve) => (wake = resolve)));
    for (let i = 0; i < 5; i++) turn();
    assert.deepEqual(delays, [4, 8, 16, 32, 64, 64]);
    wake();
    await undefined;
    turn();
    assert.equal(due, undefined);
    turnWhileAsleep(Promise.resolve());
    assert.equal(delays.at(-1), 4);
  } finally {
    globalThis.setTimeout = real;
  }
});
