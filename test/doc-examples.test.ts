// The examples in doc comments and documents run to their end; tools/doc-examples.mjs takes them out.
// Of the Nodes the oldest runs them, as in examples.test.ts.
// asked for: node-22, node-24, node-26
// watchdog: 300 s
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { runProgram } from './runtimes/program.ts';

const PROGRAM_TIMEOUT_MS = 60_000;
const folder = fileURLToPath(new URL('../doc-examples', import.meta.url));
/** Folders hold the files that examples name. */
const names = readdirSync(folder)
  .filter((name) => name.endsWith('.js'))
  .sort();

test('a program that throws is told from one that ends well', async () => {
  const path = join(mkdtempSync(join(tmpdir(), 'millrace-examples-')), 'program.mjs');
  writeFileSync(path, 'console.log("so far"); throw new Error("no further");');
  const { status, output } = await runProgram(path, [], PROGRAM_TIMEOUT_MS);
  assert.notEqual(status, 0);
  assert.match(output, /so far[\s\S]*no further/);
  writeFileSync(path, '');
  assert.deepEqual(await runProgram(path, [], PROGRAM_TIMEOUT_MS), { status: 0, output: '' });
});

for (const name of names) {
  const [, where = name, line = ''] = /^(.+)\.(\d+)\.js$/.exec(name) ?? [];
  test(`the example in ${where.replaceAll('.', '/')}, line ${line}, runs to its end`, async () => {
    const { status, output } = await runProgram(join(folder, name), [], PROGRAM_TIMEOUT_MS);
    assert.equal(status, 0, `the example ended with ${status} and said:\n${output}`);
  });
}
