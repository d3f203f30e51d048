// What one direction does, whatever it is made of: values in, the same values out, in order.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DataCloneError, EMPTY, UsageError } from '../../src/index.ts';
import type { LaneInbound } from '../../src/lane/inbound.ts';
import type { LaneOutbound } from '../../src/lane/outbound.ts';
import type { OverflowPolicy } from '../../src/lane/outbox.ts';

export interface LaneBench {
  readonly out: Pick<LaneOutbound, 'trySend' | 'post' | 'pump' | 'backlog' | 'writable' | 'accepted' | 'moved'>;
  readonly in: Pick<LaneInbound, 'tryReceive' | 'ready' | 'stash' | 'stashedBytes'>;
  /** Ends the sending side: what waits in the outbox reaches the other one behind what is in the lane. */
  spill(): void;
  close(): void;
}
export interface LaneOptions {
  readonly overflow?: OverflowPolicy;
  readonly highWaterMark?: number;
  readonly outboxLimit?: number;
}

/** @param make a lane that holds about 1 KiB and takes messages of up to 64 KiB */
export function laneConformance(name: string, make: (options?: LaneOptions) => LaneBench): void {
  const lane = (what: string, options: LaneOptions, body: (bench: LaneBench) => void): void => {
    test(`${name}: ${what}`, () => {
      const bench = make(options);
      try {
        body(bench);
      } finally {
        bench.close();
      }
    });
  };
  const drain = ({ in: inbound }: LaneBench): unknown[] => {
    const values: unknown[] = [];
    for (let value = inbound.tryReceive(); value !== EMPTY; value = inbound.tryReceive()) values.push(value);
    return values;
  };

  lane('values come out as they went in, in order; ready tells before', {}, (bench) => {
    assert.equal(bench.in.ready, false);
    const values = [1, 'two', null, { three: [3] }, '', 4.5, [[]], true];
    for (const value of values) assert.equal(bench.out.trySend(value), true);
    assert.equal(bench.in.ready, true);
    assert.deepEqual(drain(bench), values);
    assert.equal(bench.in.ready, false);
  });

  lane('trySend() answers false when full, has sent nothing then, and writable follows', {}, (bench) => {
    let sent = 0;
    while (bench.out.trySend(`message ${sent}`)) sent++;
    assert.equal(bench.out.writable, false);
    assert.equal(bench.out.accepted, sent);
    assert.equal(drain(bench).length, sent);
    assert.equal(bench.out.writable, true);
    assert.equal(bench.out.trySend('more'), true);
  });

  lane('post() goes on through the outbox, and pump() moves it along in order', {}, (bench) => {
    for (let i = 0; i < 500; i++) bench.out.post(i);
    assert.ok(bench.out.backlog > 0);
    assert.ok(bench.out.moved < 500);
    const read: unknown[] = [];
    while (read.length < 500) {
      bench.out.pump();
      read.push(...drain(bench));
    }
    assert.deepEqual(read, [...Array(500).keys()]);
    assert.equal(bench.out.pump(), true);
    assert.equal(bench.out.moved, 500);
  });

  lane('trySend() does not overtake what waits in the outbox', {}, (bench) => {
    for (let i = 0; i < 200; i++) bench.out.post(i);
    assert.equal(bench.out.trySend('later'), false);
    while (!bench.out.pump()) drain(bench);
    assert.equal(bench.out.trySend('later'), true);
    assert.equal(drain(bench).at(-1), 'later');
  });

  lane('trySend() with room at hand first moves the outbox along', {}, (bench) => {
    for (let i = 0; i < 80; i++) bench.out.post(i);
    const waiting = bench.out.backlog;
    assert.ok(waiting > 0 && waiting < 40, `${waiting} wait`);
    const read = drain(bench);
    assert.equal(bench.out.trySend('later'), true);
    assert.deepEqual([...read, ...drain(bench)], [...Array(80).keys(), 'later']);
  });

  lane('messages larger than the lane go in parts, between smaller ones', {}, (bench) => {
    const values = ['small', 'x'.repeat(10_000), 'between', 'y'.repeat(50_000), 'last'];
    for (const value of values) bench.out.post(value);
    const read: unknown[] = [];
    while (read.length < values.length) {
      bench.out.pump();
      read.push(...drain(bench));
    }
    assert.deepEqual(read, values);
  });

  lane('a message above the limit is refused, and nothing of it is sent', {}, (bench) => {
    const refused = (error: unknown): boolean => error instanceof UsageError && error.code === 'ERR_TOO_LARGE';
    assert.throws(() => bench.out.trySend('z'.repeat(70_000)), refused);
    assert.throws(() => bench.out.post('z'.repeat(70_000)), refused);
    bench.out.post('goes on');
    assert.deepEqual(drain(bench), ['goes on']);
  });

  lane('a value that cannot be carried is refused, and nothing of it is sent', {}, (bench) => {
    for (const value of [() => 1, Symbol('s')]) {
      assert.throws(() => bench.out.trySend(value), DataCloneError);
      assert.throws(() => bench.out.post(value), DataCloneError);
    }
    bench.out.post('goes on');
    assert.deepEqual(drain(bench), ['goes on']);
  });

  lane('stash() sets messages aside, which then come first and in order', {}, (bench) => {
    for (let i = 0; i < 5; i++) bench.out.post(i);
    assert.equal(bench.in.stash(), true);
    assert.equal(bench.in.stash(), true);
    assert.ok(bench.in.stashedBytes > 0);
    bench.out.post(5);
    assert.deepEqual(drain(bench), [0, 1, 2, 3, 4, 5]);
    assert.equal(bench.in.stashedBytes, 0);
    assert.equal(bench.in.stash(), false);
  });

  lane('what waits in the outbox when the sender ends comes behind the rest', {}, (bench) => {
    const values = [...Array(300).keys(), 'x'.repeat(30_000), 'last'];
    for (const value of values) bench.out.post(value);
    const read: unknown[] = [];
    for (let i = 0; i < 3; i++) {
      bench.out.pump();
      read.push(bench.in.tryReceive());
    }
    bench.spill();
    assert.deepEqual([...read, ...drain(bench)], values);
  });

  lane('the outbox refuses, drops the oldest or the newest, by name', {}, () => {
    for (const overflow of ['reject', 'drop-oldest', 'drop-newest'] as const) {
      const bench = make({ overflow, highWaterMark: 300 });
      let refused = 0;
      for (let i = 0; i < 400; i++) {
        try {
          bench.out.post(i);
        } catch (error) {
          assert.equal((error as UsageError).code, 'ERR_OUTBOX_FULL');
          refused++;
        }
      }
      const inRing = drain(bench);
      bench.spill();
      const read = [...inRing, ...drain(bench)] as number[];
      assert.ok(read.length < 400, overflow);
      assert.deepEqual(
        read,
        [...read].sort((a, b) => a - b),
      );
      assert.equal(refused > 0, overflow === 'reject');
      if (overflow === 'drop-oldest') assert.equal(read.at(-1), 399);
      else assert.deepEqual(read, [...Array(read.length).keys()]);
      bench.close();
    }
  });
}
