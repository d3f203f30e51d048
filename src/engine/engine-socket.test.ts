// A line through a server that loses messages, says them twice, and goes: what the two ends of it are told.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Driver } from './driver.ts';
import { EngineSocket, message, PROBE } from './engine-socket.ts';

interface Side {
  readonly socket: EngineSocket;
  /** What it was told. */
  readonly told: unknown[];
  /** How often it has left what it listened for. */
  left: number;
}
/** What is said waits in `said` until it is carried. */
function line(): { near: Side; far: Side; said: [to: string, Uint8Array][]; carry(): void; down(): void } {
  const said: [string, Uint8Array][] = [];
  const downs = new Set<() => void>();
  const driver = {
    closed: false,
    up: true,
    publish(subject: string, bytes: Uint8Array) {
      said.push([subject, bytes]);
      return true;
    },
    async flush() {},
    onDown(told: () => void) {
      downs.add(told);
      return () => void downs.delete(told);
    },
  } as Partial<Driver> as Driver;
  const side = (there: string): Side => {
    const made: Side = { socket: new EngineSocket(driver, there, () => void made.left++), told: [], left: 0 };
    made.socket.addEventListener('message', ({ data }) => made.told.push(...(data as Uint8Array)));
    made.socket.addEventListener('error', ({ error }) => made.told.push((error as Error).message));
    made.socket.addEventListener('close', ({ code }) => made.told.push(code));
    return made;
  };
  const [near, far] = [side('far'), side('near')];
  const carry = (): void => {
    for (const [to, bytes] of said.splice(0)) (to === 'far' ? far : near).socket.heard(bytes);
  };
  const down = (): void => {
    for (const told of [...downs]) told();
    assert.equal(downs.size, 0);
  };
  return { near, far, said, carry, down };
}
const bytes = (...all: number[]): Uint8Array => new Uint8Array(all);

test('an end that is closed tells the other one, and both leave once', () => {
  const { near, far, carry } = line();
  near.socket.send(bytes(1));
  near.socket.close();
  near.socket.close();
  near.socket.send(bytes(2));
  carry();
  assert.deepEqual([far.told, near.told], [[1, 1000], [1000]]);
  assert.deepEqual([near.left, far.left], [1, 1]);
  assert.deepEqual([near.socket.readyState, far.socket.readyState], [3, 3]);
});

test('what is lost on the way ends the line on both sides, and nothing behind it is heard', () => {
  const { near, far, said, carry } = line();
  for (let i = 1; i <= 3; i++) near.socket.send(bytes(i));
  said.splice(1, 1);
  carry();
  carry();
  assert.deepEqual(far.told, [1, 'the server has lost messages: number 2 came in the place of 1', 1006]);
  assert.deepEqual(near.told, [1000]);
  assert.deepEqual([near.left, far.left], [1, 1]);
});

test('what is said twice is heard once; what is none of it is not heard', () => {
  const { near, far, said, carry } = line();
  near.socket.send(bytes(1));
  near.socket.send(bytes(2));
  said.push(...said, ['far', bytes()], ['far', bytes(77, 0, 0, 0, 0, 0, 0, 0)]);
  near.socket.send(bytes(3));
  carry();
  assert.deepEqual(far.told, [1, 2, 3]);
  assert.equal(far.socket.readyState, 1);
});

test('where this side loses its server its lines end, with the reason', () => {
  const { near, far, down } = line();
  down();
  assert.deepEqual([near.told, far.told], new Array(2).fill(['this side has lost its server', 1006]));
  assert.deepEqual([near.left, far.left], [1, 1]);
});

test('an end that asks whether anybody is there says how much it has said: what was lost last ends the line', () => {
  const { near, far, said, carry } = line();
  near.socket.send(bytes(1));
  carry();
  far.socket.heard(message(PROBE, 1, bytes()));
  // Of a version that says no number.
  far.socket.heard(message(PROBE, 0, bytes()));
  assert.deepEqual(far.told, [1]);
  near.socket.send(bytes(2));
  said.length = 0;
  far.socket.heard(message(PROBE, 2, bytes()));
  assert.deepEqual(far.told.slice(1), ['the server has lost messages: number 2 came in the place of 1', 1006]);
  carry();
  assert.deepEqual(near.told, [1000]);
});
