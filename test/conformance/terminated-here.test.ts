// A thread that terminates its own worker and then blocks: no event can tell it that the worker is gone.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { Worker as NodeWorker } from 'node:worker_threads';
import { CLOSED, type Port, spawn } from '../../src/index.ts';
import { STEP_MS, within } from '../kit/watchdog.ts';

const open = `
  import { parentPort } from ${JSON.stringify(new URL('../../src/index.js', import.meta.url).href)};
  const port = parentPort();
  await port.ready;
  port.cork(() => {
    port.postMessage('first');
    port.postMessage('last');
  });`;
const MODULES: Readonly<Record<string, string>> = {
  'busy.mjs': `${open} for (;;);`,
  'blocked.mjs': `${open} port.receive();`,
  'idle.mjs': `${open} port.on('message', () => {});`,
  'silent.mjs': `
    import { parentPort } from 'node:worker_threads';
    (parentPort ?? globalThis).postMessage('up');
    setInterval(() => {}, 1_000_000);`,
  'ends.mjs': `${open} import process from 'node:process'; process.exit(0);`,
};
const folder = mkdtempSync(join(tmpdir(), 'millrace-terminated-'));
after(() => rmSync(folder, { recursive: true, force: true }));
for (const [file, text] of Object.entries(MODULES)) writeFileSync(join(folder, file), text);
const urlOf = (file: string): URL => pathToFileURL(join(folder, file));

interface Started {
  readonly port: Port;
  readonly worker: { terminate(): unknown };
}

/** Until a worker says something beside its port. */
function heard(worker: object): Promise<unknown> {
  return within(
    'the worker',
    new Promise((resolve) => {
      if ('once' in worker) (worker as NodeWorker).once('message', resolve);
      else (worker as Worker).addEventListener('message', resolve);
    }),
  );
}

const WAYS: [string, (file: string) => Started][] = [
  ['a URL', (file) => spawn(urlOf(file))],
  ['a Worker of node:worker_threads', (file) => spawn(() => new NodeWorker(urlOf(file)))],
];
if (typeof globalThis.Worker === 'function') {
  WAYS.push(['a web Worker', (file) => spawn(() => new globalThis.Worker(urlOf(file), { type: 'module' }))]);
}

for (const [name, start] of WAYS) {
  for (const file of ['busy.mjs', 'blocked.mjs', 'idle.mjs', 'silent.mjs']) {
    test(`${name}: whoever terminates ${file} and then blocks reads what was sent, and learns of the end`, async () => {
      const { port, worker } = start(file);
      if (file === 'silent.mjs') await heard(worker);
      else await within('both ends', port.ready);
      if (file !== 'silent.mjs') assert.equal(port.receive({ timeoutMs: STEP_MS }), 'first');
      // Published together with the first.
      const returned = worker.terminate();
      if (file !== 'silent.mjs') assert.equal(port.receive({ timeoutMs: STEP_MS }), 'last');
      assert.equal(port.receive({ timeoutMs: STEP_MS / 4 }), CLOSED);
      assert.equal(port.reason, 'terminated');
      assert.equal(
        typeof (returned as Promise<unknown> | undefined)?.then,
        name === 'a web Worker' ? 'undefined' : 'function',
      );
      await within('the thread to be gone', Promise.resolve(returned));
      assert.equal(await port.closed, 'terminated');
    });
  }

  for (const blocks of [false, true]) {
    const who = blocks ? 'a blocked thread' : 'an event loop';
    test(`${name}: whoever terminates it while it starts is told so, ${who}`, async () => {
      // Wherever it is by then.
      for (const delayMs of [0, 0, 5, 20]) {
        const { port, worker } = start('silent.mjs');
        if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
        void worker.terminate();
        if (blocks) assert.equal(port.receive({ timeoutMs: STEP_MS / 4 }), CLOSED);
        assert.equal(await within('the end', port.closed), 'terminated');
      }
    });
  }

  test(`${name}: terminating what has ended by itself changes nothing`, async () => {
    const { port, worker } = start('ends.mjs');
    await within('both ends', port.ready);
    const end = performance.now() + STEP_MS;
    // Its event loop does not run meanwhile.
    while (port.reason === undefined && performance.now() < end);
    void worker.terminate();
    assert.equal(port.reason, 'exit');
    for (const value of ['first', 'last', CLOSED]) assert.equal(port.receive({ timeoutMs: STEP_MS }), value);
    assert.equal(await port.closed, 'exit');
  });
}
