// sab-message-port 1.0.4, sentence by sentence: MWChannel. See sab-message-port-readme.test.ts.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { setImmediate as immediate } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { MWChannel } from '../../src/compat/sab-message-port.ts';
import { inOneFile } from '../kit/in-one-file.ts';
import { within } from '../kit/watchdog.ts';
import type { Task } from './sab-message-port-worker.ts';

const url = inOneFile(new URL('./sab-message-port-worker.js', import.meta.url));
const start = (task: Task): Worker => new Worker(url, { workerData: { task } });
const message = async (worker: Worker): Promise<unknown> => (await once(worker, 'message'))[0];
const errorOf = (run: () => unknown): string => {
  try {
    run();
  } catch (error) {
    return (error as Error).message;
  }
  return 'no error';
};
/** Both sides in this thread. */
const pair = (sizeKB = 128): [MWChannel, MWChannel] => {
  const main = new MWChannel('m', sizeKB);
  return [main, MWChannel.from(main.postInit()[0])];
};
const next = (channel: MWChannel): Promise<unknown> =>
  new Promise((resolve) => {
    channel.onmessage = (e) => resolve(e.data);
  });

test('new MWChannel: "\'m\' or \'w\'. Throws if invalid"; "sabSizeKB = 128"', () => {
  for (const side of ['a', '', undefined] as never[]) {
    assert.equal(
      errorOf(() => new MWChannel(side)),
      "side must be 'm' or 'w'",
    );
  }
  const channel = new MWChannel('m');
  assert.equal(channel.buffer.byteLength, 128 * 1024);
  channel.close();
  const larger = new MWChannel('m', 256, 9);
  assert.equal(larger.buffer.byteLength, 256 * 1024);
  assert.equal(larger.queueLimit, 9);
  larger.close();
  assert.equal(MWChannel.length, 1);
  assert.throws(() => new MWChannel('w'), TypeError);
});

test('MWChannel.from: "the init message must have type: \'MWChannel\'"', () => {
  for (const wrong of [{ type: 'SABMessagePort' }, null, undefined] as never[]) {
    assert.equal(
      errorOf(() => MWChannel.from(wrong)),
      'Not a MWChannel init message',
    );
  }
});

test('port.postInit: "the init message contains { type, buffer, port, ...extraProps }. The MessagePort is included in the transfer list"', () => {
  const channel = new MWChannel('m');
  const [msg, transfer] = channel.postInit(null, { channel: 'events' });
  assert.deepEqual(Object.keys(msg), ['type', 'buffer', 'port', 'channel']);
  assert.equal(msg.type, 'MWChannel');
  assert.equal(msg.buffer, channel.buffer);
  assert.equal(msg.channel, 'events');
  assert.equal(transfer.length, 1);
  assert.equal(transfer[0], msg.port);
  channel.close();
});

test('MWChannel: main to a blocking worker and back; "returns a Promise in blocking mode", "worker side: returns undefined"', async () => {
  const worker = start('mw-echo');
  const channel = new MWChannel('m');
  assert.equal(channel.postInit(worker, { channel: 'events' }), undefined);
  for (let n = 0; n < 200; n++) {
    const answer = next(channel);
    const written = channel.postMessage({ n });
    assert.ok(written instanceof Promise);
    assert.deepEqual(await answer, { n });
  }
  const answer = next(channel);
  channel.postMessage({ end: true });
  assert.deepEqual(await answer, { end: true });
  await worker.terminate();
  channel.close();
});

test('MWChannel: a reply larger than any buffer leaves a worker that only ever blocks', async () => {
  const worker = start('mw-echo');
  const channel = new MWChannel('m', 8);
  channel.postInit(worker);
  const answer = next(channel);
  const text = 'x'.repeat(2_000_000);
  channel.postMessage({ text });
  assert.deepEqual(await answer, { text });
  const last = next(channel);
  channel.postMessage({ end: true });
  await last;
  await worker.terminate();
  channel.close();
});

test('port.onmessage, worker side: "only available in nonblocking mode. Setting onmessage in blocking mode throws"', () => {
  const [main, worker] = pair();
  assert.equal(
    errorOf(() => {
      worker.onmessage = () => {};
    }),
    'Cannot set onmessage in blocking mode — use read()/tryRead()',
  );
  worker.setMode('nonblocking');
  worker.onmessage = () => {};
  main.close();
  worker.close();
});

test('port.read, tryRead, tryPeek, asyncRead: "worker side, blocking mode only. Throws if called on main side or in nonblocking mode"', () => {
  const [main, worker] = pair();
  const calls = ['read', 'tryRead', 'tryPeek', 'asyncRead'] as const;
  for (const name of calls)
    assert.equal(
      errorOf(() => main[name]()),
      `${name}() is only for worker side`,
    );
  worker.setMode('nonblocking');
  for (const name of calls)
    assert.equal(
      errorOf(() => worker[name]()),
      `${name}() only available in blocking mode`,
    );
  assert.equal(
    errorOf(() => worker.postInit()),
    'postInit is only for main side',
  );
  main.close();
  worker.close();
});

test('port.read and its like: the return values of SABPipe', async () => {
  const [main, worker] = pair();
  assert.equal(worker.tryRead(), null);
  assert.deepEqual(worker.tryRead(3), []);
  assert.equal(worker.read(0), null);
  assert.equal(await worker.asyncRead(0), null);
  for (const n of [1, 2, 3, 4]) main.postMessage(n);
  assert.equal(worker.tryPeek(), 1);
  assert.equal(worker.read(), 1);
  assert.deepEqual(worker.read(0, false, 2), [3, 2]);
  assert.equal(await worker.asyncRead(), 4);
  main.close();
  worker.close();
});

test("port.setMode: \"mode must be 'blocking' or 'nonblocking'. No-op if already in the requested mode\"", () => {
  const [main, worker] = pair();
  assert.equal(
    errorOf(() => main.setMode('other' as never)),
    "mode must be 'blocking' or 'nonblocking'",
  );
  main.setMode('blocking');
  worker.setMode('nonblocking');
  let handled = 0;
  worker.onmessage = () => handled++;
  worker.setMode('nonblocking');
  assert.notEqual(worker.onmessage, null);
  worker.setMode('blocking');
  assert.equal(worker.onmessage, null, 'switching to blocking detaches the handler');
  assert.equal(handled, 0);
  main.close();
  worker.close();
});

test('port.postMessage, main side, nonblocking: "sends via native MessagePort", structured clone, returns undefined', async () => {
  const [main, worker] = pair();
  main.setMode('nonblocking');
  worker.setMode('nonblocking');
  const value = { map: new Map([[1, new Date(0)]]), bytes: new Uint8Array([1, 2]), big: 10n };
  const answer = next(worker);
  assert.equal(main.postMessage(value), undefined);
  assert.deepEqual(await answer, value);
  main.close();
  worker.close();
});

test('worker to main: "always uses native MessagePort", structured clone', async () => {
  const [main, worker] = pair();
  const value = { set: new Set(['a']), error: new RangeError('mine'), nothing: undefined };
  const answer = next(main);
  assert.equal(worker.postMessage(value), undefined);
  const got = (await answer) as typeof value;
  assert.deepEqual(got.set, value.set);
  assert.ok(got.error instanceof RangeError);
  assert.ok('nothing' in got);
  main.close();
  worker.close();
});

test('port.setMode, worker, to nonblocking: "drained messages are delivered to the onmessage handler when it is set"', async () => {
  const [main, worker] = pair();
  for (const n of [1, 2, 3]) main.postMessage(n);
  worker.setMode('nonblocking');
  const seen: unknown[] = [];
  await new Promise<void>((resolve) => {
    worker.onmessage = (e) => {
      seen.push(e.data);
      if (seen.length === 3) resolve();
    };
  });
  assert.deepEqual(seen, [1, 2, 3]);
  main.close();
  worker.close();
});

test('mode switches lose nothing and keep the order, whichever side switches first', async () => {
  const [main, worker] = pair();
  const seen: unknown[] = [];
  const handler = (e: { data: unknown }): void => void seen.push(e.data);
  main.postMessage(0);
  main.setMode('nonblocking');
  main.postMessage(1);
  // The worker still blocks: what was sent over the native port is read in its place.
  assert.deepEqual(worker.tryRead(10), [1, 0]);
  main.postMessage(2);
  main.setMode('blocking');
  main.postMessage(3);
  worker.setMode('nonblocking');
  main.postMessage(4);
  worker.onmessage = handler;
  main.postMessage(5);
  main.setMode('nonblocking');
  main.postMessage(6);
  while (seen.length < 5) await immediate();
  main.postMessage(7);
  worker.setMode('blocking');
  main.postMessage(8);
  assert.equal(worker.read(), 7);
  assert.equal(worker.read(), 8);
  assert.deepEqual(seen, [2, 3, 4, 5, 6]);
  main.close();
  worker.close();
});

test('port.setMode: the typical pattern, across threads, to nonblocking and back', async () => {
  const worker = start('mw-modes');
  const channel = new MWChannel('m');
  channel.postInit(worker);
  const heard: unknown[] = [];
  let listener: (() => void) | undefined;
  channel.onmessage = (e) => {
    heard.push(e.data);
    listener?.();
  };
  const hear = async (): Promise<unknown> => {
    if (heard.length === 0)
      await new Promise<void>((resolve) => {
        listener = resolve;
      });
    return heard.shift();
  };
  channel.postMessage({ n: 0 });
  channel.postMessage({ cmd: 'nonblocking' });
  channel.postMessage({ n: 1 });
  assert.equal(await hear(), 'nonblocking');
  channel.setMode('nonblocking');
  channel.postMessage(new Map([['x', 1]]));
  channel.postMessage({ cmd: 'blocking' });
  channel.postMessage({ n: 2 });
  assert.equal(await hear(), 'blocking');
  channel.setMode('blocking');
  channel.postMessage({ n: 3 });
  channel.postMessage({ cmd: 'end' });
  assert.deepEqual(await hear(), [
    { n: 0 },
    { cmd: 'nonblocking' },
    { n: 1 },
    { map: ['x'] },
    { cmd: 'blocking' },
    { n: 2 },
    { n: 3 },
    { cmd: 'end' },
  ]);
  channel.close();
  await worker.terminate();
});

test('port.queueLimit and port.onQueueOverflow: "delegates to the underlying SABPipe", and count in the drain', async () => {
  const [main, worker] = pair();
  assert.equal(main._sabWriter?.queueLimit, null);
  assert.equal(worker._sabReader?.queueLimit, null);
  main.queueLimit = 2;
  assert.equal(main._sabWriter?.queueLimit, 2);
  await Promise.all([1, 2, 3].map((n) => main.postMessage(n)));
  main.queueLimit = null;
  main.postMessage(4);
  const shown: unknown[][] = [];
  worker.queueLimit = 2;
  worker.onQueueOverflow = (queue) => shown.push([...queue]);
  worker.setMode('nonblocking');
  assert.deepEqual(shown, [[2, 3, 4]]);
  const seen: unknown[] = [];
  await new Promise<void>((resolve) => {
    worker.onmessage = (e) => {
      seen.push(e.data);
      if (e.data === 4) resolve();
    };
  });
  assert.deepEqual(seen, [3, 4]);
  main.close();
  worker.close();
});

test('port.close: "destroys the SABPipe and closes the native MessagePort. All subsequent operations throw"', () => {
  for (const mode of ['blocking', 'nonblocking'] as const) {
    const [main, worker] = pair();
    main.setMode(mode);
    main.close();
    main.close();
    assert.equal(
      errorOf(() => main.postMessage(1)),
      'SABPipe disposed',
    );
    assert.equal(
      errorOf(() => worker.read()),
      'SABPipe disposed',
    );
    worker.close();
    assert.equal(
      errorOf(() => worker.postMessage(1)),
      'SABPipe disposed',
    );
    assert.equal(
      errorOf(() => worker.setMode('nonblocking')),
      'SABPipe disposed',
    );
    assert.ok(main.buffer instanceof SharedArrayBuffer);
  }
});

test('postInit to another worker, once the former one is gone: both directions go on', async () => {
  const channel = new MWChannel('m', 8);
  for (let round = 0; round < 3; round++) {
    const worker = start('mw-echo');
    channel.postInit(worker);
    for (let n = 0; n < 3; n++) {
      const answer = within('the echo', next(channel));
      channel.postMessage({ round, n });
      assert.deepEqual(await answer, { round, n });
    }
    await worker.terminate();
  }
  channel.close();
});

test('postInit to another worker while the former one lives: it is heard', async () => {
  const main = new MWChannel('m', 4);
  const seats = [new MessageChannel(), new MessageChannel()];
  const workers: MWChannel[] = [];
  for (const { port1, port2 } of seats) {
    const arrived = new Promise<{ data: never }>((resolve) => {
      port2.onmessage = resolve as never;
    });
    main.postInit(port1 as never);
    const worker = MWChannel.from((await within('the init message', arrived)).data);
    const heard = next(main);
    workers.push(worker);
    worker.postMessage('to main');
    assert.equal(await within('the message', heard), 'to main');
  }
  for (const end of [main, ...workers]) end.close();
  for (const { port1 } of seats) port1.close();
});

test('postInit by hand may be asked for again before anything is sent', async () => {
  const channel = new MWChannel('m', 8);
  const [first] = channel.postInit(null);
  const [second, transfer] = channel.postInit(null, { more: 1 });
  assert.equal(first.port, second.port);
  const worker = start('mw-echo');
  worker.postMessage(second, transfer as never);
  const answer = within('the echo', next(channel));
  channel.postMessage('here');
  assert.equal(await answer, 'here');
  await worker.terminate();
  channel.close();
});

test('a worker that was killed settles what waits for it', async () => {
  const worker = start('mw-quiet');
  const channel = new MWChannel('m', 4);
  channel.postInit(worker);
  assert.equal(await message(worker), 'up');
  const written = Promise.allSettled([channel.postMessage('x'.repeat(50_000))]);
  await worker.terminate();
  assert.equal(((await written)[0] as PromiseRejectedResult).reason.message, 'SABPipe disposed');
  channel.close();
});
