// What a queue of a hub keeps, by itself.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type KeptJob, KeptQueue } from './kept-queue.ts';

test('dead letters take no more than there is room for, whatever their last tries said', () => {
  const budget = { used: 0, max: 65_536 };
  const queue = new KeptQueue<string>(30_000, budget);
  const [bytes, why] = [new Uint8Array(50), 'é€'.repeat(500)];
  let count = 0;
  while (queue.put(bytes, 0, undefined)) count++;
  const jobs: KeptJob[] = [];
  queue.take('ada', count, 0, (given) => void jobs.push(...given));
  assert.equal(jobs.length, count);
  queue.done((jobs.pop() as KeptJob).number);
  for (const { number, attempt } of jobs) {
    queue.bury('ada', { number, attempt }, 1, why);
    assert.ok(budget.used <= budget.max, `${budget.used} of ${budget.max}`);
  }
  const dead = queue.takeDead('ada', count);
  assert.equal(dead.length, count - 1);
  // What was said of the first one had the room of a job that was done, and nothing is left for the last one.
  assert.equal(dead[0]?.why, why.slice(0, dead[0]?.why.length));
  assert.ok((dead[0]?.why.length ?? 0) > 100);
  assert.equal(dead.at(-1)?.why, '');
  for (const { number } of dead) queue.settleDead(number, false);
  queue.close();
  assert.equal(budget.used, 0);
});
