// Handles and native ports in messages that nobody will ever read: who has the other end of what is in them learns of it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MessageChannel } from 'node:worker_threads';
import { attach, type ChannelOptions, channel, type Port, type Remote } from '../../src/index.ts';
import { within } from '../kit/watchdog.ts';

/** Loses one message, which has `value` in it and moves `transfer`. Whoever is in the way of the end is closed by `after`. */
interface Loss {
  readonly options?: ChannelOptions;
  lose(near: Port, far: Port, value: unknown, transfer: readonly unknown[]): void;
}

/** So much that what follows has to wait in the outbox. */
function fill(port: Port): void {
  while (port.trySend('x'.repeat(100)));
  while (port.trySend(0));
  port.postMessage('waits');
}

const LOSSES: Record<string, Loss> = {
  'drop-oldest lets it go': {
    options: { capacityBytes: 1024, overflow: 'drop-oldest', highWaterMarkBytes: 1 },
    lose(near, _, value, transfer) {
      fill(near);
      near.postMessage(value, transfer);
      near.postMessage('newest');
    },
  },
  'the newest message of `latest` replaces it where it waits': {
    options: { overflow: 'latest' },
    lose(near, _, value, transfer) {
      near.cork(() => {
        near.postMessage(value, transfer);
        near.postMessage('newest');
      });
    },
  },
  'the reader of `latest` finds a newer one': {
    options: { overflow: 'latest' },
    lose(near, far, value, transfer) {
      near.postMessage(value, transfer);
      near.postMessage('newest');
      assert.equal(far.tryReceive(), 'newest');
    },
  },
  'a getter of it closes the port that it was to wait in': {
    options: { capacityBytes: 1024 },
    lose(near, _, value, transfer) {
      fill(near);
      const closing = {
        value,
        get closes() {
          near.close();
          return 1;
        },
      };
      near.postMessage(closing, transfer);
    },
  },
  'a getter of it closes the port that was sending it': {
    lose(near, far, value, transfer) {
      const closing = {
        value,
        get closes() {
          near.close();
          return 1;
        },
      };
      near.postMessage(closing, transfer);
      far.close();
    },
  },
  'its reader closes while it waits in the outbox': {
    options: { capacityBytes: 1024 },
    lose(near, far, value, transfer) {
      fill(near);
      near.postMessage(value, transfer);
      far.close();
    },
  },
  'its reader closes before the newest message of `latest` goes out': {
    options: { overflow: 'latest' },
    lose(near, far, value, transfer) {
      near.cork(() => {
        near.postMessage(value, transfer);
        far.close();
      });
    },
  },
  'its reader closes': {
    lose(near, far, value, transfer) {
      near.postMessage(value, transfer);
      far.close();
    },
  },
  'what its sender left over is not read': {
    options: { capacityBytes: 1024 },
    lose(near, far, value, transfer) {
      fill(near);
      near.postMessage(value, transfer);
      near.close();
      far.close();
    },
  },
};

for (const [how, { options, lose }] of Object.entries(LOSSES)) {
  test(`the other ends learn of it when ${how}`, async () => {
    const { port, remote } = channel(options);
    const far = attach(remote);
    const lost: { port: Port; remote: Remote } = channel();
    const { port1, port2 } = new MessageChannel();
    const closed = new Promise<void>((resolve) => port1.once('close', resolve));
    // Without a listener, Deno hears of nothing.
    port1.on('message', () => {});
    lose(port, far, { remote: lost.remote, native: port2 }, [...lost.remote.transfer, port2]);
    assert.equal(await within('the end of the channel', lost.port.closed), 'dropped');
    await within('the end of the native port', closed);
    port.close();
    far.close();
  });
}
