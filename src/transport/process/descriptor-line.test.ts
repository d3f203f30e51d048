import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../../test/kit/watchdog.ts';
import { LayoutError } from '../../errors.ts';
import { DESCRIPTOR_LINE_UNSENT_MAX } from '../../limits.ts';
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
