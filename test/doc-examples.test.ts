// The examples in doc comments and documents run to their end; tools/doc-examples.mjs takes them out.
// Of the Nodes the oldest runs them, as in examples.test.ts.
// asked for: node-22, node-24, node-26
// watchdog: 300 s
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type EngineServer, missingServer, startServer } from './kit/engine-servers.ts';
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

/** The servers that examples name, at the ports that they have by themselves; here each has another one. */
const SERVERS = { nats: 'nats://127.0.0.1:4222', redis: 'redis://127.0.0.1:6379' } as const;
const started = new Map<string, EngineServer>();
after(() => Promise.all([...started.values()].map((server) => server.stop())));

const kindOf = (text: string): 'nats' | 'redis' | undefined =>
  (['nats', 'redis'] as const).find((kind) => text.includes(SERVERS[kind]));

/** Why an example is skipped, if it is. */
function missingFor(name: string): string | false {
  const kind = kindOf(readFileSync(join(folder, name), 'utf8'));
  return kind !== undefined && missingServer(kind);
}

/** The program, or a copy that asks for the server which is there. */
async function withServer(name: string): Promise<string> {
  const path = join(folder, name);
  const text = readFileSync(path, 'utf8');
  const kind = kindOf(text);
  if (kind === undefined) return path;
  const server = started.get(kind) ?? (await startServer(kind));
  started.set(kind, server);
  const copy = path.replace(/\.js$/, '.here.mjs');
  writeFileSync(copy, text.replaceAll(SERVERS[kind], server.url));
  return copy;
}

for (const name of names) {
  const [, where = name, line = ''] = /^(.+)\.(\d+)\.js$/.exec(name) ?? [];
  test(`the example in ${where.replaceAll('.', '/')}, line ${line}, runs to its end`, {
    skip: missingFor(name),
  }, async () => {
    const { status, output } = await runProgram(await withServer(name), [], PROGRAM_TIMEOUT_MS);
    assert.equal(status, 0, `the example ended with ${status} and said:\n${output}`);
  });
}
