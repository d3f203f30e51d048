// The one-file build for classic workers and script tags defines SABMessagePortLib, and speaks with the module build in
// another thread: they are two copies of the code that share nothing but the init message.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { createContext, runInContext } from 'node:vm';
import { Worker } from 'node:worker_threads';
import { MWChannel, SABMessagePort } from '../../src/compat/sab-message-port.ts';

const file = new URL('../../iife/sab-message-port.global.js', import.meta.url);
const script = readFileSync(file, 'utf8');

/** A classic worker: what `importScripts` does (the file run as a script, its `var` a global), then the README's lines. */
const CLASSIC = `
  const { parentPort, workerData } = require('node:worker_threads');
  require('node:vm').runInThisContext(workerData.script);
  const { SABMessagePort, SABPipe, MWChannel } = SABMessagePortLib;
  const onmessage = (e) => {
    const port = (e.data.type === 'SABMessagePort' ? SABMessagePort : MWChannel).from(e.data);
    for (;;) {
      const value = port.read();
      port.postMessage({ type: e.data.type, value });
      if (value.end) break;
    }
  };
  parentPort.once('message', (data) => onmessage({ data }));
`;
const startClassic = (): Worker => new Worker(CLASSIC, { eval: true, workerData: { script } });

/** The globals of a window, and no more. */
const WINDOW = [
  ...['Atomics', 'SharedArrayBuffer', 'MessageChannel', 'MessagePort', 'EventTarget', 'TextEncoder', 'TextDecoder'],
  ...['performance', 'queueMicrotask', 'setTimeout', 'clearTimeout', 'structuredClone', 'AbortSignal'],
] as const;

test('a script tag gets SABMessagePortLib, and nothing of Node is needed', async () => {
  const globals: Record<string, unknown> = {};
  for (const name of WINDOW) globals[name] = (globalThis as Record<string, unknown>)[name];
  const context = createContext(globals);
  runInContext(script, context);
  const names = runInContext('Object.keys(SABMessagePortLib).sort()', context) as string[];
  assert.deepEqual([...names], ['MWChannel', 'SABMessagePort', 'SABPipe']);
  const answer = runInContext(
    `const writer = new SABMessagePortLib.SABPipe('w', 4096);
     const reader = new SABMessagePortLib.SABPipe('r', writer.buffer);
     const received = reader.asyncRead();
     writer.postMessage({ hello: 'world é漢😀' });
     received.then((value) => {
       reader.close();
       return JSON.stringify(value);
     });`,
    context,
  ) as Promise<string>;
  assert.equal(await answer, '{"hello":"world é漢😀"}');
});

test('a classic worker with the one-file build answers a SABMessagePort of the module build', async () => {
  const worker = startClassic();
  const port = new SABMessagePort();
  port.postInit(worker);
  for (let n = 0; n < 20; n++) {
    port.postMessage({ n, text: 'é'.repeat(n * 1000) });
    const answer = await port.asyncRead();
    assert.deepEqual(answer.value, { n, text: 'é'.repeat(n * 1000) });
  }
  port.postMessage({ end: true });
  await port.asyncRead();
  await worker.terminate();
});

test('a classic worker with the one-file build answers a MWChannel of the module build', async () => {
  const worker = startClassic();
  const channel = new MWChannel('m');
  channel.postInit(worker);
  const answers: unknown[] = [];
  const all = new Promise<void>((resolve) => {
    channel.onmessage = ({ data }) => {
      answers.push(data.value.n);
      if (data.value.end === true) resolve();
    };
  });
  for (let n = 0; n < 50; n++) channel.postMessage({ n, end: n === 49 });
  await all;
  assert.deepEqual(
    answers,
    Array.from({ length: 50 }, (_, n) => n),
  );
  await worker.terminate();
  channel.close();
});
