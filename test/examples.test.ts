// Every program directly under examples/ ends with status 0. A line `// runtimes: node, bun` at its top names the only
// runtimes it is for, a line `// in tests: --quick` the arguments it gets here. Files with "worker" in their name are
// parts of others, and so is all that stands in folders below.
// Of the Nodes the oldest runs them: what an example calls is there on the newer ones, too, whose ports the suites ask.
// asked for: node-22, node-24, node-26
// watchdog: 300 s
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { runProgram, runtimeKind } from './runtimes/program.ts';

const PROGRAM_TIMEOUT_MS = 60_000;
const folder = fileURLToPath(new URL('../examples', import.meta.url));
const names = existsSync(folder) ? readdirSync(folder) : [];
const programs = names.filter((name) => name.endsWith('.js') && !name.includes('worker')).sort();

function directive(text: string, name: string): string[] | undefined {
  const line = text.split('\n').find((it) => it.startsWith(`// ${name}:`));
  return line
    ?.slice(line.indexOf(':') + 1)
    .split(/[\s,]+/)
    .filter((word) => word !== '');
}

test('the folder of examples was compiled', () => {
  const sources = fileURLToPath(new URL('../../examples', import.meta.url));
  const written = existsSync(sources) ? readdirSync(sources).filter((name) => name.endsWith('.ts')) : [];
  assert.deepEqual(
    names.filter((name) => name.endsWith('.js')).sort(),
    written.map((name) => `${name.slice(0, -3)}.js`).sort(),
  );
});

for (const name of programs) {
  const path = join(folder, name);
  const text = readFileSync(path, 'utf8');
  if (!(directive(text, 'runtimes') ?? [runtimeKind]).includes(runtimeKind)) continue;
  test(`examples/${name} runs to its end`, async () => {
    const { status, output } = await runProgram(path, directive(text, 'in tests') ?? [], PROGRAM_TIMEOUT_MS);
    assert.equal(status, 0, `examples/${name} ended with ${status} and said:\n${output}`);
  });
}
