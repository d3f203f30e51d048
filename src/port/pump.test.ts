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

test('while it polls, what comes is handed out in a later turn and nobody sleeps, also after a long idle time', async () => {
  const now = performance.now.bind(performance);
  let clock = 1_000_000;
  performance.now = () => clock;
  try {
    const handed: string[] = [];
    let wanted = false;
    let next: string | undefined;
    let parks = 0;
    const medium = {
      ended: undefined,
      loop: { spin: new Spin(50_000), stirs: () => next !== undefined, park: () => ++parks > 0, unpark() {} },
    };
    const host = {
      wantsData: () => wanted,
      wantsSpace: () => false,
      deliver() {
        if (next === undefined) return false;
        handed.push(next);
        next = undefined;
        return true;
      },
      settle() {},
    };
    const pump = new Pump(medium, host);
    const turns = async (): Promise<void> => {
      for (let i = 0; i < 3; i++) await new Promise<void>((resolve) => platform.turn(resolve));
    };
    // Nobody wants anything: idle.
    pump.kick();
    await turns();
    clock += 1_000_000;
    wanted = true;
    pump.kick();
    await turns();
    for (const text of ['one', 'two']) {
      next = text;
      await turns();
      assert.equal(handed.at(-1), text);
    }
    assert.equal(parks, 0);
    clock += 51;
    await turns();
    assert.equal(parks, 1, 'the window has passed');
  } finally {
    performance.now = now;
  }
});
