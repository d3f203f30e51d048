import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../../test/kit/watchdog.ts';
import { LayoutError } from '../../errors.ts';
import { DESCRIPTOR_LINE_SHORT_MS, DESCRIPTOR_LINE_UNSENT_MAX } from '../../limits.ts';
import type { Primitives } from '../../native/primitives.ts';
import { DescriptorLine } from './descriptor-line.ts';

const REGION = 3;
const OURS = 7;

/** A line of which the system says this to what is sent. */
function line(answer: (bytes: Uint8Array) => number): { line: DescriptorLine; closed: number[] } {
  const closed: number[] = [];
  const native = {
    keep: () => {},
    close: (descriptor: number) => void closed.push(descriptor),
    send: (_: number, bytes: Uint8Array) => answer(bytes),
  };
  return { line: new DescriptorLine(native as unknown as Primitives, OURS), closed };
}

for (const code of ['ETOOMANYREFS', 'ENOBUFS', 'ENOMEM']) {
  test(`what the system does not take for now (${code}) waits and goes out in its order, each descriptor closed once`, async () => {
    let refusals = 3;
    const out: number[] = [];
    const { line: tried, closed } = line((bytes) => {
      if (refusals-- > 0) throw Object.assign(new Error(code), { code });
      out.push(new Int32Array(bytes.buffer, bytes.byteOffset)[1] as number);
      return bytes.length;
    });
    for (const number of [1, 2, 3]) tried.say(REGION, number, [], [100 + number]);
    assert.deepEqual([out, tried.unsent, closed], [[], 3, []]);
    await until('all is out', () => tried.unsent === 0);
    assert.deepEqual([out, closed, tried.over], [[1, 2, 3], [101, 102, 103], false]);
    tried.close();
    assert.deepEqual(closed.slice(3), [OURS]);
  });
}

test('a line whose other side takes nothing is over behind its bound, and nothing of it stays', () => {
  const { line: full, closed } = line(() => -1);
  for (let i = 0; i < DESCRIPTOR_LINE_UNSENT_MAX; i++) full.say(REGION, i, [], [100 + i]);
  assert.deepEqual([full.over, full.error, full.unsent], [false, undefined, DESCRIPTOR_LINE_UNSENT_MAX]);
  full.say(REGION, 1, [], [99]);
  assert.deepEqual([full.over, full.error instanceof LayoutError], [true, true]);
  assert.match(String(full.error), new RegExp(`${DESCRIPTOR_LINE_UNSENT_MAX + 1} messages untaken`));
  full.close();
  assert.equal(closed.length, DESCRIPTOR_LINE_UNSENT_MAX + 2);
  full.say(REGION, 1, [], [98]);
  assert.equal(closed.at(-1), 98);
});

/** A line that something has come on with a descriptor, in a process that has so many left. */
function crowded(free: number): { line: DescriptorLine; room: { free: number } } {
  const room = { free };
  const native = {
    keep: () => {},
    close: () => void room.free++,
    duplicate: () => {
      if (room.free === 0) throw Object.assign(new Error('EMFILE'), { code: 'EMFILE' });
      room.free--;
      return 100;
    },
    receive: (_: number, bytes: Uint8Array, came: Int32Array) => {
      came[0] = native.duplicate();
      new Int32Array(bytes.buffer)[0] = REGION;
      return bytes.length;
    },
  };
  return { line: new DescriptorLine(native as unknown as Primitives, OURS), room };
}

test('where no descriptor is left, what has come takes the place of one in reserve, which is there again as soon as there is another', () => {
  const { line, room } = crowded(1);
  line.reserve(1);
  assert.throws(() => line.reserve(2), { code: 'EMFILE' });
  line.reserve(1);
  assert.equal(room.free, 0);
  assert.equal(line.take()?.kind, REGION);
  assert.deepEqual([line.refill(), line.take(), line.short?.message, line.over], [false, undefined, 'EMFILE', false]);
  room.free = 2;
  assert.equal(line.take()?.kind, REGION);
  assert.deepEqual([line.refill(), line.short, room.free], [true, undefined, 0]);
});

test('what finds no descriptor for too long ends the line, and the error says what was missing', (context) => {
  const { line } = crowded(0);
  let nowMs = 0;
  context.mock.method(performance, 'now', () => nowMs);
  assert.equal(line.take(), undefined);
  nowMs = DESCRIPTOR_LINE_SHORT_MS - 1;
  assert.deepEqual([line.take(), line.over, line.error], [undefined, false, undefined]);
  nowMs = DESCRIPTOR_LINE_SHORT_MS;
  assert.deepEqual([line.take(), line.over, line.error?.message], [undefined, true, 'EMFILE']);
});
