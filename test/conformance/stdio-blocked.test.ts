// A worker that has written to its console ends as any other when its parent is blocked, and nothing that it wrote is lost.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { STEP_MS } from '../kit/watchdog.ts';
import { runProgram, runtimeKind } from '../runtimes/program.ts';

const index = JSON.stringify(new URL('../../src/index.js', import.meta.url).href);
const LINES = 10_000;
const WORKERS: Readonly<Record<string, string>> = {
  // Never calls parentPort().
  'logs.mjs': 'console.log("line 0"); console.error("line 1");',
  'ends.mjs': `import { parentPort } from ${index};
    const port = parentPort();
    console.error('line', port.receive());
    port.postMessage('last');`,
  'many.mjs': `import { parentPort } from ${index};
    parentPort();
    for (let i = 0; i < ${LINES}; i++) console.log('line', i);`,
  // Goes on when what it wrote has been taken, as pipeline() into process.stdout does.
  'awaits.mjs': `import { parentPort } from ${index};
    const port = parentPort();
    for (let i = 0; i < 3; i++) await new Promise((done) => process.stdout.write('line ' + i + '\\n', done));
    for (let i = 3; i < 6; i++) {
      if (!process.stdout.write('line ' + i + ' '.repeat(100_000) + '\\n')) {
        await new Promise((done) => process.stdout.once('drain', done));
      }
    }
    port.postMessage('last');`,
  'crashes.mjs': `console.log('line 0'); await null; throw new Error('on purpose');`,
};
/** Prints what it received, the reason, and after it all whatever the worker's streams hold. */
const PARENT = `
  import { CLOSED, spawn } from ${index};
  const [name, how] = process.argv.slice(-2);
  const { port, worker } = spawn(new URL(name, import.meta.url), { worker: { stdout: how === 'own' } });
  worker.on('error', () => {});
  let own = '';
  if (how === 'own') worker.stdout.setEncoding('utf8').on('data', (text) => (own += text));
  const ended = new Promise((done) => (how === 'own' ? worker.stdout.on('end', done) : worker.on('exit', done)));
  port.postMessage('heard');
  const receive = () => (how === 'loop' ? port.receiveAsync() : port.receive({ timeoutMs: ${STEP_MS} }));
  for (let message; (message = await receive()) !== CLOSED; ) console.log('received', message);
  console.log('reason', port.reason);
  await ended;
  process.stdout.write(own);`;

const folder = mkdtempSync(join(tmpdir(), 'millrace-stdio-'));
after(() => rmSync(folder, { recursive: true, force: true }));
for (const [file, text] of Object.entries({ ...WORKERS, 'parent.mjs': PARENT }))
  writeFileSync(join(folder, file), text);

const numbers = (count: number): string[] => Array.from({ length: count }, (_, i) => `line ${i}`);
const CASES: readonly { file: string; lines: readonly string[]; received: readonly string[]; reason?: string }[] = [
  { file: 'logs.mjs', lines: numbers(2), received: [] },
  { file: 'ends.mjs', lines: ['line heard'], received: ['received last'] },
  { file: 'many.mjs', lines: numbers(LINES), received: [] },
  { file: 'awaits.mjs', lines: numbers(6), received: ['received last'] },
  { file: 'crashes.mjs', lines: numbers(1), received: [], reason: 'crash' },
];
for (const { file, lines, received, reason = 'exit' } of CASES) {
  for (const how of ['blocked', 'loop', 'own']) {
    // A Worker of Deno writes to the process's streams itself.
    if (how === 'own' && runtimeKind === 'deno') continue;
    // An event loop that hears of a crash on Bun has seen the thread's last output go missing.
    if (how === 'loop' && reason === 'crash' && runtimeKind === 'bun') continue;
    test(`${file}, parent ${how}: the end is told, and every line arrives`, async () => {
      const { output, status } = await runProgram(join(folder, 'parent.mjs'), [file, how], STEP_MS);
      const all = output.split('\n').map((line) => line.trimEnd());
      assert.deepEqual(
        all.filter((line) => line.startsWith('received')),
        received,
        output.slice(-500),
      );
      assert.deepEqual(
        all.filter((line) => line.startsWith('reason')),
        [`reason ${reason}`],
        output.slice(-500),
      );
      const seen = all.filter((line) => line.startsWith('line'));
      // Two streams have no order between them.
      assert.deepEqual(file === 'logs.mjs' ? seen.sort() : seen, lines);
      assert.equal(status, 0, output.slice(-500));
    });
  }
}
