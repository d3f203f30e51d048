import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { attach, channel } from './channels.ts';

// The worker half of the test: reads in batches, blocking, and reports every number that is not the next one.
const COUNT = 5_000;
const SIZE = 1024;

if (!isMainThread && (workerData as { sendOnce?: object })?.sendOnce) {
  const port = attach<Uint32Array>((workerData as { sendOnce: object }).sendOnce);
  const wrong: string[] = [];
  let seen = 0;
  while (seen < COUNT) {
    const batch = port.receiveMany(64, { timeoutMs: 20_000 });
    if (batch.length === 0) break;
    for (const value of batch) {
      if (value[0] !== seen && wrong.length < 5) wrong.push(`${value[0]} instead of ${seen}`);
      seen++;
    }
  }
  parentPort!.postMessage({ seen, wrong });
} else {
  test('send() that had to wait for room sends its value once', async () => {
    const { port, remote } = channel({ capacityBytes: 64 * 1024 });
    const worker = new Worker(new URL(import.meta.url), {
      workerData: { sendOnce: remote },
      transferList: remote.transfer as never,
    });
    const report = new Promise((resolve, reject) => {
      worker.once('message', resolve);
      worker.once('error', reject);
    });
    for (let i = 0; i < COUNT; i++) {
      const value = new Uint32Array(SIZE / 4);
      value[0] = i;
      assert.equal(port.send(value, { timeoutMs: 20_000 }), true);
    }
    assert.deepEqual(await report, { seen: COUNT, wrong: [] });
    port.close();
    await worker.terminate();
  });
}
