// How a spawned thread that never opens its end is reported, and what spawn refuses. The worker half is in this file.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isMainThread, type Worker, workerData } from 'node:worker_threads';
import { attach, CLOSED, channel, features, spawn } from '../../src/index.ts';

type Task = 'return' | 'exit' | 'throw' | 'wait' | 'handled' | 'unreferenced';
const here = new URL(import.meta.url);

function start(task: Task): ReturnType<typeof spawn> {
  return spawn(here, { worker: { workerData: { spawnTest: task }, stderr: true } });
}

async function work(task: Task): Promise<void> {
  if (task === 'exit') process.exit(0);
  if (task === 'throw') throw new Error('thrown on purpose by a test');
  if (task === 'wait') setInterval(() => {}, 1_000_000);
  if (task === 'handled') {
    const { parentPort } = await import('../../src/index.ts');
    const port = parentPort();
    process.once('uncaughtException', () => {
      // Removed by now, as `once` does; the thread goes on and ends by itself.
      port.postMessage('handled');
    });
    setTimeout(() => {
      throw new Error('thrown on purpose by a test');
    });
  }
  if (task === 'unreferenced') {
    const { port, remote } = channel();
    attach(remote).unref();
    port.unref();
    void port.receiveAsync({ timeoutMs: 1_000_000 });
  }
}

if (!isMainThread && (workerData as { spawnTest?: Task })?.spawnTest !== undefined) {
  await work((workerData as { spawnTest: Task }).spawnTest);
} else {
  for (const [task, reason] of [
    ['return', 'exit'],
    ['exit', 'exit'],
    ['throw', 'crash'],
    ['wait', 'terminated'],
  ] as const) {
    test(`a thread that never opened its end: ${task} is reported as ${reason}`, async () => {
      const { port, worker } = start(task);
      (worker as Worker).on('error', () => {});
      const received = port.receiveAsync();
      if (task === 'wait') await new Promise((resolve) => (worker as Worker).once('online', resolve));
      if (task === 'wait') await (worker as Worker).terminate();
      assert.equal(await received, CLOSED);
      assert.equal(await port.closed, reason);
      port.close();
    });
  }

  test('a module that is not there is reported as a crash', async () => {
    const { port, worker } = spawn(new URL('./not-there.js', here), { worker: { stderr: true } });
    (worker as Worker).on('error', () => {});
    assert.equal(await port.receiveAsync(), CLOSED);
    assert.equal(await port.closed, 'crash');
    port.close();
  });

  for (const [form, url] of [
    ['as it is', `data:text/javascript,const a = { b: 'x.y' }; throw new Error(a.b + 1 / 2)`],
    ['encoded', `data:text/javascript,${encodeURIComponent("const a = { b: 'x.y' }; throw new Error(a.b + 1 / 2)")}`],
    ['in base64', `data:text/javascript;base64,${btoa("const a = { b: 'x.y' }; throw new Error(a.b + 1 / 2)")}`],
  ] as const) {
    test(`the code in a data: URL may have dots in it, ${form}`, async () => {
      const { port, worker } = spawn(url, { worker: { stderr: true } });
      (worker as Worker).on('error', () => {});
      assert.equal(await port.receiveAsync(), CLOSED);
      assert.equal(await port.closed, 'crash');
      assert.equal((port.error as Error).message, 'x.y0.5');
      port.close();
    });
  }

  test('an error that the thread handles is no crash', async () => {
    // The test runner of Bun 1.4 takes it before the thread can.
    if (features().runtime === 'bun') return;
    const { port } = start('handled');
    assert.equal(await port.receiveAsync(), 'handled');
    assert.equal(await port.receiveAsync(), CLOSED);
    assert.equal(await port.closed, 'exit');
    port.close();
  });

  test('an unreferenced port with a time limit lets its thread end', async () => {
    const { port } = start('unreferenced');
    assert.equal(await port.receiveAsync(), CLOSED);
    port.close();
  });

  test('spawn refuses a relative URL, and options for the Worker that are none', () => {
    assert.throws(() => spawn('./worker.js'), { code: 'ERR_OPTION' });
    assert.throws(() => spawn(here, { worker: 5 as never }), { code: 'ERR_OPTION' });
  });
}
