// Which rejections of calls are unhandled ones. The test runners of Bun and Deno keep such rejections to themselves.
// runtimes: node
import assert from 'node:assert/strict';
import process from 'node:process';
import { test } from 'node:test';
import { attach, channel } from '../../src/index.ts';
import { expose, wrap } from '../../src/rpc/index.ts';

test('a call that fails and is not awaited is an unhandled rejection, one of a function that was given away is none', async () => {
  const { port, remote } = channel();
  let held: (() => unknown) | undefined;
  const api = {
    boom(): never {
      throw new Error('boom');
    },
    keep(callback: () => unknown): void {
      held = callback;
    },
  };
  expose(api, attach(remote));
  const calls = wrap<typeof api>(port);
  const unhandled: unknown[] = [];
  const hear = (reason: unknown): void => {
    unhandled.push((reason as Error).message);
  };
  const others = process.listeners('unhandledRejection');
  process.removeAllListeners('unhandledRejection');
  process.on('unhandledRejection', hear);
  try {
    await calls.keep(() => {
      throw new Error('of a callback');
    });
    void held?.();
    void calls.boom();
    // Told in order: that of the callback would have come first.
    while (unhandled.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    assert.deepEqual(unhandled, ['boom']);
  } finally {
    process.off('unhandledRejection', hear);
    for (const other of others) process.on('unhandledRejection', other);
    port.close();
  }
});
