import assert from 'node:assert/strict';
import { test } from 'node:test';
import { platform } from '#platform';
import { BUDGET_MESSAGES } from '../limits.ts';
import { Spin } from '../wait/spin.ts';
import { Pump } from './pump.ts';

test('a flood is handed out by so many messages a turn, when the clock says nothing', async () => {
  const now = performance.now.bind(performance);
  const frozen = now();
  performance.now = () => frozen;
  try {
    let handed = 0;
    let flooding = true;
    const medium = {
      ended: undefined,
      loop: { spin: new Spin(0), stirs: () => true, park: () => true, unpark() {} },
    };
    const host = {
      wantsData: () => flooding,
      wantsSpace: () => false,
      deliver: () => ++handed > 0,
      settle() {},
    };
    const pump = new Pump(medium, host);
    const turns: number[] = [];
    await new Promise<void>((resolve) => {
      const look = (): void => {
        turns.push(handed);
        if (turns.length < 3) platform.turn(look);
        else resolve();
      };
      pump.kick();
      platform.turn(look);
    });
    flooding = false;
    const each = turns.map((count, i) => count - (turns[i - 1] ?? 0));
    assert.equal(each[0], BUDGET_MESSAGES);
    for (const count of each) assert.ok(count === 0 || count === BUDGET_MESSAGES, `${each}`);
  } finally {
    performance.now = now;
  }
});
