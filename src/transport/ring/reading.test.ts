import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KIND_SIDE } from '../../frame/header.ts';
import { markerOf } from '../../lane/backlog.ts';
import type { LaneInbound } from '../../lane/inbound.ts';
import { awaitedIn, type LeftOver, type SpilledFrame } from '../../lane/left-over.ts';
import { CLOSED, EMPTY } from '../../outcome.ts';
import type { Damage } from './damage.ts';
import { Reading } from './reading.ts';
import type { SendingLane } from './writing.ts';

/** An end whose peer has left frames over that name these values, of which one after the other comes. */
function stage(numbers: readonly number[]) {
  const frames = numbers.map((number): SpilledFrame => [KIND_SIDE, markerOf(number, 0)]);
  const state = {
    looks: 0,
    late: true,
    came: new Set<number>(),
    taken: 0,
    coming: [] as unknown[],
    order: [] as string[],
  };
  const beside = {
    get late(): boolean {
      return state.late;
    },
    has(number: number): boolean {
      state.looks++;
      return state.came.has(number);
    },
  };
  const lane = {
    whole: false,
    awaitsSide: false,
    stopped: false,
    /** What is published while somebody looks: found by the look behind the next. */
    tryReceive: (): unknown => {
      const [value = EMPTY] = state.coming.splice(0, 1);
      if (value !== EMPTY) state.order.push('ring');
      return value;
    },
    awaitedIn: (frames: readonly SpilledFrame[]) => awaitedIn(frames, beside),
    takeLeftOver: () => {
      state.taken++;
      state.order.push('left over');
    },
  };
  const leftOver = {
    late: true,
    spillArrived: true,
    lookForSpill: (): readonly SpilledFrame[] | undefined => frames,
    takeSpill: () => frames,
  };
  const life = { over: true, follows: false, spilled: frames.length };
  const reading = new Reading(
    lane as unknown as LaneInbound,
    { backlog: 0, sink: { publish() {} } } as unknown as SendingLane,
    life,
    leftOver as unknown as LeftOver,
    { is: false, looked: (look: () => boolean) => look(), judged: (error: unknown) => error } as unknown as Damage,
  );
  return { reading, state, leftOver, life };
}

test('a left-over that waits for a value in it is not looked through at each call', () => {
  const { reading, state } = stage([0, ...Array.from({ length: 999 }, () => 1)]);
  state.came.add(1);
  for (let call = 0; call < 100; call++) {
    assert.equal(reading.tryReceive(), EMPTY);
    assert.deepEqual([reading.whole, reading.ready, reading.awaitsSide], [false, false, true]);
  }
  assert.ok(state.looks < 2000, `${state.looks} looks`);
  assert.equal(state.taken, 0);
  state.came.add(0);
  assert.equal(reading.tryReceive(), CLOSED);
  assert.equal(state.taken, 1);
});

test('nor when its values come one by one, whatever their order', () => {
  const last = 499;
  const { reading, state } = stage(Array.from({ length: last + 1 }, (_, i) => i));
  for (let number = last; number > 0; number--) {
    state.came.add(number);
    assert.equal(reading.tryReceive(), EMPTY);
  }
  assert.ok(state.looks < 5000, `${state.looks} looks`);
  state.late = false;
  assert.equal(reading.tryReceive(), CLOSED);
  assert.equal(state.taken, 1);
});

test('a left-over that did not come, and cannot any more, is waited for no longer', () => {
  const { reading, state, leftOver } = stage([0]);
  leftOver.lookForSpill = () => undefined;
  leftOver.spillArrived = false;
  assert.equal(reading.tryReceive(), EMPTY);
  assert.deepEqual([reading.whole, reading.ready, reading.awaitsSide], [false, false, true]);
  // The thread that was to send it on is gone.
  leftOver.late = false;
  assert.deepEqual([reading.ready, reading.awaitsSide], [true, false]);
  leftOver.lookForSpill = () => [];
  assert.equal(reading.tryReceive(), CLOSED);
  assert.equal(state.taken, 1);
});

test('what came into the ring between two looks, of which the second saw the end, is before what was left over', () => {
  const { reading, state } = stage([0]);
  state.came.add(0);
  state.coming = [EMPTY, 'the last in the ring'];
  assert.equal(reading.tryReceive(), 'the last in the ring');
  assert.equal(reading.tryReceive(), CLOSED);
  assert.deepEqual(state.order, ['ring', 'left over']);
});

test('while what the peer had accepted follows through the ring no end is told, and none of it is missed', () => {
  const { reading, state, life } = stage([0]);
  state.came.add(0);
  life.follows = true;
  assert.equal(reading.tryReceive(), EMPTY);
  assert.deepEqual([reading.whole, reading.ready, reading.awaitsSide, state.taken], [false, false, false, 0]);
  // It comes, and the peer is through, between the look at the ring and the one at its words.
  state.coming = [EMPTY, 'the last that followed'];
  life.follows = false;
  assert.equal(reading.tryReceive(), 'the last that followed');
  assert.equal(reading.tryReceive(), CLOSED);
  assert.deepEqual(state.order, ['ring', 'left over']);
});
