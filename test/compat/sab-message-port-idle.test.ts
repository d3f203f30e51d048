// Whoever waits on the event loop sleeps: nothing polls.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { layOut } from '../../src/compat/sab-message-port/layout.ts';
import { SABPipe } from '../../src/compat/sab-message-port.ts';
import { viewsOf } from '../../src/memory/region.ts';
import { turn, until, within } from '../kit/watchdog.ts';

const BYTES = 4096;

for (const [name, wait] of [
  ['a pending asyncRead', (reader: SABPipe): Promise<unknown> => reader.asyncRead()],
  [
    'onmessage',
    (reader: SABPipe): Promise<unknown> =>
      new Promise((resolve) => {
        reader.onmessage = ({ data }) => resolve(data);
      }),
  ],
] as const) {
  test(`${name} has nothing to do until there is a message`, async () => {
    const memory = new SharedArrayBuffer(BYTES);
    const reader = new SABPipe('r', memory);
    const writer = new SABPipe('w', memory);
    const { views, readerPark } = layOut(viewsOf(memory), 0, BYTES)!;
    const message = wait(reader);
    // Asleep, and it stays so: a poll would have to take the announcement back.
    await until('the reader sleeps', () => Atomics.load(views.words, readerPark) !== 0);
    for (let i = 0; i < 10; i++) {
      await turn();
      assert.notEqual(Atomics.load(views.words, readerPark), 0, `awake after ${i} turns`);
    }
    void writer.postMessage('here');
    assert.equal(await within('the message', message), 'here');
    writer.close();
    reader.close();
  });
}
