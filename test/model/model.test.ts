// The models of `npm run model`, as tests. On Node only: the models bring their own Atomics, so other
// runtimes would repeat the same steps; and some of those report the rejections that suspended actors leave behind.
// runtimes: once
// watchdog: 1800 s
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { dump } from '../kit/explore-actor.ts';
import { checkModel, models } from './check.ts';
import { loadShipped, type Shipped } from './shipped.ts';
import { laneOf } from './stage.ts';

let shipped: Shipped;
before(async () => {
  shipped = await loadShipped();
});

for (const model of models) {
  test(`in every interleaving: ${model.name} (${model.about})`, async (t) => {
    const { states, steps, endings } = await checkModel(model, shipped);
    t.diagnostic(`${states} states, ${steps} steps, ${endings} endings`);
    assert.ok(endings > 0);
  });
}

test('a checkpoint sees the private fields of the shipped classes', () => {
  const memory = { words: () => new Int32Array(1024), bytes: () => new Uint8Array(4096) };
  const producer = new shipped.Producer(laneOf(memory, 64));
  const before = dump(producer);
  producer.tryClaim(8);
  producer.commit(4);
  assert.notEqual(dump(producer), before);
  assert.match(before, /\$tail:0/);
});
