import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as frames from '../stream/frames.ts';
import { Heard, POSITION, positionFrame } from './heard.ts';

function frame(type: number, channel: number, bytes: number, fill = 0x41): Uint8Array {
  const made = new Uint8Array(8 + bytes).fill(fill);
  new Int32Array(made.buffer).set([frames.frameHead(type, bytes), channel]);
  return made;
}
function streamOf(...all: Uint8Array[]): Uint8Array {
  return Uint8Array.from(all.flatMap((each) => [...each]));
}
const HELLO = frame(frames.HELLO, 0, 56);

test('however its chunks fall, positions are heard, and counted from behind the HELLO', () => {
  // A body that looks like a position is none.
  const body = frame(frames.DATA, 1, 16);
  body.set(positionFrame(7), 8);
  const stream = streamOf(HELLO, body, positionFrame(64), frame(frames.PING, 0, 8), positionFrame(2 ** 40 + 8));
  for (let size = 1; size <= stream.length; size++) {
    const told: number[] = [];
    const heard = new Heard({ told: (position) => told.push(position) });
    for (let at = 0; at < stream.length; at += size) heard.feed(stream.subarray(at, at + size));
    assert.deepEqual(told, [64, 2 ** 40 + 8], `in chunks of ${size}`);
    assert.equal(heard.position, stream.length - HELLO.length);
    assert.equal(heard.last, false);
  }
});

test('GOODBYE and RESET of the connection are last words once they are whole, those of a channel are none', () => {
  for (const type of [frames.GOODBYE, frames.RESET]) {
    const heard = new Heard({ told: () => assert.fail('it is no position') });
    heard.feed(HELLO);
    heard.feed(frame(frames.RESET, 3, 16));
    const last = frame(type, 0, 24);
    heard.feed(last.subarray(0, 31));
    assert.equal(heard.last, false);
    heard.feed(last.subarray(31));
    assert.equal(heard.last, true);
  }
});

test('a position in a channel, of another length, or that can be none is told as none', () => {
  const told: number[] = [];
  const heard = new Heard({ told: (position) => told.push(position) });
  heard.feed(streamOf(HELLO, frame(POSITION, 2, 8), frame(POSITION, 0, 16)));
  assert.deepEqual(told, []);
  heard.feed(frame(POSITION, 0, 8, 0xff));
  assert.deepEqual(told, [Number.NaN]);
});
