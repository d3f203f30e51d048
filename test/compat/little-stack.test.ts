// Calls that run out of stack half way: what is written after them arrives, of this pipe and of all others in the thread.
import assert from 'node:assert/strict';
import process from 'node:process';
import { test } from 'node:test';
import { alloc, reader, writer } from '../../src/compat/nxtedition-shared.ts';
import { SABPipe } from '../../src/compat/sab-message-port.ts';
import { withLittleStack } from '../kit/little-stack.ts';
import { turn } from '../kit/watchdog.ts';

test('a writer that ran out of stack publishes at the end of a turn, and so do the others', async () => {
  for (let round = 0; round < 5; round++) {
    const [buffers, others] = [alloc(1 << 20), alloc(1 << 20)];
    const [wrote, other] = [writer(buffers), writer(others)];
    withLittleStack(1500, () => {
      try {
        wrote.tryWrite(8, ({ offset }) => offset + 8);
      } catch {
        // It may not have been written.
      }
    });
    await turn();
    const read = reader(buffers);
    while (read.readSome(() => {}) > 0);
    for (const each of [wrote, other]) each.tryWrite(8, ({ offset }) => offset + 8);
    await turn();
    assert.equal(
      read.readSome(() => {}),
      1,
    );
    assert.equal(
      reader(others).readSome(() => {}),
      1,
    );
    for (const each of [wrote, other]) each.close();
  }
});

// Node 20 and 22 end with a rejection that nobody could be told of, because there was no stack for `catch` either.
const pipes = /^v2[02]\./.test(process.version) ? () => {} : test;
pipes(
  'a pipe whose writer ran out of stack carries every message that it accepts, and no other in its place',
  async () => {
    for (let round = 0; round < 6; round++) {
      // A small one, so that some of them wait.
      const sender = new SABPipe('w', round % 2 === 0 ? 8192 : 1 << 20);
      const receiver = new SABPipe('r', sender.buffer);
      const accepted = new Set<number>();
      const got: number[] = [];
      let id = 0;
      let posted: Promise<void> = Promise.resolve();
      const post = (): void => {
        const n = id++;
        const big = n % 3 === 0 ? { big: 'x'.repeat(6000 + n) } : {};
        posted = sender.postMessage({ n, [`key${n % 50}`]: 1, ...big });
        accepted.add(n);
        posted.catch(() => accepted.delete(n));
      };
      withLittleStack(1500, () => {
        try {
          post();
        } catch {
          // It has not accepted that one.
        }
      });
      for (let i = 0; i < 50; i++) post();
      receiver.onmessage = ({ data }) => void got.push((data as { n: number }).n);
      await posted;
      for (let before = -1; got.length > before; ) {
        before = got.length;
        for (let i = 0; i < 20; i++) await turn();
      }
      const arrived = new Set(got);
      assert.deepEqual(
        [...accepted].filter((n) => !arrived.has(n)),
        [],
      );
      assert.ok(got.every((n, i) => i === 0 || n > (got[i - 1] as number)));
      sender.destroy();
    }
  },
);
