// A module that `spawn` starts sees what it would see in a Worker of the runtime's own, and the Worker says the same of it.
import assert from 'node:assert/strict';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { features, spawn } from '../../src/index.ts';
import { within } from '../kit/watchdog.ts';

const FACTS = `
  argv: process.argv.slice(1), execArgv: process.execArgv, title: typeof process._eval, code: process.exitCode,
  isMainThread, workerData, env: process.env.MILLRACE_FACT,
  globals: ['require', 'module', 'exports', '__filename', '__dirname'].filter((name) => name in globalThis),
  depth: new Error('a').stack.split('\\n').filter((line) => line.includes('facts')).length`;
const MODULES: Readonly<Record<string, string>> = {
  'facts.mjs': `
    import process from 'node:process';
    import * as threads from 'node:worker_threads';
    import other, { isMainThread, parentPort, workerData } from 'node:worker_threads';
    import { value } from './beside.mjs';
    const top = await Promise.resolve('awaited');
    parentPort.postMessage({ url: import.meta.url, main: import.meta.main, top, value, more: [threads.workerData, other.workerData], ${FACTS} });
    process.exitCode = 3;`,
  'facts.cjs': `
    const { isMainThread, parentPort, workerData } = require('node:worker_threads');
    parentPort.postMessage({ main: require.main === module, filename: __filename, again: require('./beside.cjs'), ${FACTS} });`,
  'facts-throw.mjs': `
    import process from 'node:process';
    import { parentPort } from 'node:worker_threads';
    process.on('exit', (code) => parentPort.postMessage({ code }));
    throw Object.assign(new RangeError('on purpose'), { code: 'E_FACT' });`,
  'facts-caught.mjs': `
    import process from 'node:process';
    import { parentPort } from 'node:worker_threads';
    process.on('uncaughtException', (error) => parentPort.postMessage({ caught: error.message }));
    setTimeout(() => { throw new Error('on purpose'); });`,
  'beside.mjs': 'export const value = import.meta.url;',
  'beside.cjs': 'module.exports = [__filename, module.parent !== null];',
};
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'millrace-facts-')));
after(() => rmSync(folder, { recursive: true, force: true }));
for (const [file, text] of Object.entries(MODULES)) writeFileSync(join(folder, file), text);

interface Heard {
  readonly messages: unknown[];
  readonly errors: unknown[];
  readonly code: number;
}

/** Everything that a Worker tells its maker. Deno keeps no order between messages and errors. */
function heard(worker: Worker): Promise<Heard> {
  const messages: unknown[] = [];
  const errors: unknown[] = [];
  worker.on('message', (value) => messages.push(value));
  worker.on('error', (error: Error & { code?: unknown }) => errors.push([error.name, error.message, error.code]));
  return within(
    'the worker to end',
    new Promise((resolve) => worker.on('exit', (code) => resolve({ messages, errors, code }))),
  );
}

const { runtime } = features();
const files = Object.keys(MODULES).filter((file) => file.startsWith('facts'));
for (const file of files) {
  // The test runner of Bun 1.4 takes it before the thread can.
  if (file === 'facts-caught.mjs' && runtime === 'bun') continue;
  test(`${file} sees what it sees in the runtime's own Worker`, async () => {
    const url = pathToFileURL(join(folder, file));
    const env = { ...process.env, MILLRACE_FACT: 'given' };
    for (const workerData of [{ a: 1 }, 'text', [1, new Map([[1, 2]])], undefined]) {
      const options = { argv: ['x', 'y'], env, workerData, stderr: true };
      const wanted = await heard(new Worker(url, options));
      const { port, worker } = spawn(url, { worker: options });
      const seen = await heard(worker as unknown as Worker);
      port.close();
      // Deno has no way for a module to be the main one behind another, and starts CommonJS through a module of its own.
      if (runtime === 'deno') {
        for (const facts of [wanted.messages[0], seen.messages[0]] as { main?: unknown; depth?: unknown }[]) {
          delete facts?.main;
          delete facts?.depth;
        }
      }
      assert.deepEqual(seen, wanted);
    }
  });
}
