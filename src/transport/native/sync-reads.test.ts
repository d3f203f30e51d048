import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SyncAnswer } from '../../platform/contract.ts';
import { BESIDE, readPieces, writePieces } from './kept-pieces.ts';
import { GONE, SyncReads } from './sync-reads.ts';

const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values);
const answerOf = (...pieces: Parameters<typeof writePieces>[0]): SyncAnswer => ({
  status: 200,
  ours: true,
  bytes: writePieces(pieces),
});

/** A reader with answers that are given one after the other, and the numbers that it asks for. */
function readerOf(...answers: (SyncAnswer | undefined)[]) {
  const asked: string[] = [];
  const reads = new SyncReads('/read?channel=1', (url) => {
    asked.push(/first=(-?\d+)/.exec(url)?.[1] as string);
    return answers.shift();
  });
  const taken: unknown[] = [];
  const read = (timeoutMs = 1000): boolean =>
    reads.read(timeoutMs, (piece) => taken.push(piece instanceof Uint8Array ? [...piece] : piece));
  return { reads, read, taken, asked };
}

test('pieces are read as they were written', () => {
  const pieces = [bytes(1, 2), BESIDE, bytes(), null] as const;
  assert.deepEqual(readPieces(writePieces(pieces)), pieces);
  assert.deepEqual(readPieces(bytes()), []);
});

test('what is no list of pieces is no answer', () => {
  const whole = writePieces([bytes(1, 2, 3)]);
  for (let length = 1; length < whole.length; length++) assert.equal(readPieces(whole.subarray(0, length)), undefined);
  assert.equal(readPieces(bytes(3, 0, 0, 0, 0)), undefined);
});

test('a piece that a request has brought is dropped when the native port brings it, and the next one is not', () => {
  const { reads, read, taken } = readerOf(answerOf(bytes(1), bytes(2)));
  assert.equal(read(), true);
  assert.deepEqual(taken, [[1], [2]]);
  assert.deepEqual(
    [reads.arrived(1), reads.ahead, reads.arrived(1), reads.ahead, reads.arrived(1)],
    [false, true, false, false, true],
  );
});

test('a request asks for the first piece that neither way has brought', () => {
  const { reads, read, asked } = readerOf(answerOf(bytes(3)), answerOf(null));
  for (let i = 0; i < 3; i++) assert.equal(reads.arrived(1), true);
  read();
  read();
  assert.deepEqual(asked, ['3', '4']);
});

test('a value beside the bytes has a number, and is not handed over', () => {
  const { reads, read, taken, asked } = readerOf(answerOf(BESIDE, bytes(1)), answerOf(bytes(2)));
  read();
  read();
  assert.deepEqual([taken, asked, reads.ahead], [[[1], [2]], ['0', '2'], true]);
});

test('nothing until the time limit is false, and the end of the page is told', () => {
  assert.equal(readerOf(answerOf()).read(0), false);
  const { read, taken } = readerOf({ status: 410, ours: true, bytes: bytes() });
  assert.deepEqual([read(), taken], [true, [GONE]]);
});

test('an answer of somebody else is an error that says where it was looked for, and a broken request is made again', () => {
  const page: SyncAnswer = { status: 200, ours: false, bytes: bytes(1) };
  assert.throws(() => readerOf(page).read(), { code: 'ERR_UNSUPPORTED', message: /\/read\?channel=1.*status 200/ });
  assert.throws(() => readerOf(undefined, undefined).read(), { code: 'ERR_UNSUPPORTED', message: /status none/ });
  assert.equal(readerOf(undefined, answerOf(bytes(1))).read(), true);
});

test('who keeps pieces is told of many, or of many bytes', () => {
  const { reads } = readerOf();
  const told: (number | undefined)[] = [];
  for (let i = 0; i < 20; i++) {
    reads.arrived(i === 18 ? 100_000 : 1);
    told.push(reads.due());
  }
  assert.deepEqual(
    told.map((it, i) => [i, it]).filter(([, it]) => it !== undefined),
    [
      [15, 16],
      [18, 19],
    ],
  );
});
