// The command line as the user meets it.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { HELP } from './help.ts';
import { root } from './machine.ts';
import { ownCommand } from './runtimes.ts';
import { scenarios } from './scenarios/list.ts';
import type { Results } from './schema.ts';
import { allThreadSubjects } from './subjects/list.ts';
import { allProcessSubjects } from './subjects/process-list.ts';

const names = (text: string): string[] => text.match(/[a-z0-9]+(-[a-z0-9]+)*/g) ?? [];

test('--help names every scenario and every family of contenders', async () => {
  const words = new Set(names(HELP));
  for (const { name } of scenarios) assert.ok(words.has(name), name);
  for (const { name } of [...(await allThreadSubjects()), ...(await allProcessSubjects())]) {
    assert.ok(words.has(name.split(':')[0]!), name);
  }
});

for (const flag of ['--version', '-v']) {
  test(`millrace ${flag} prints the version of the package`, () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
    const bin = fileURLToPath(new URL('../bin/millrace.js', import.meta.url));
    const [executable, ...leading] = ownCommand('cli.js').slice(0, -1) as [string, ...string[]];
    const done = spawnSync(executable, [...leading, bin, flag], { encoding: 'utf8' });
    assert.equal(done.stdout.trim(), version);
  });
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  test(`${signal} ends a run and keeps what was measured`, { skip: process.platform === 'win32' }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'millrace-bench-'));
    const file = join(folder, 'results.json');
    const [executable, ...leading] = ownCommand('cli.js');
    const wishes = ['--quick', '--scenario', 'smp-1000', '--subjects', 'native-port', '--rounds', '100000'];
    const child = spawn(executable, [...leading, 'bench', ...wishes, '--json', file], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    // The line about the first row: the handlers are in place by then. Not child.kill: Deno then reports that the
    // signal ended the child, whatever the child makes of it.
    child.stderr.on('data', (text: Buffer) => {
      if (String(text).includes('smp-1000:')) process.kill(child.pid!, signal);
    });
    const code = await new Promise((resolve) => child.once('exit', resolve));
    assert.equal(code, 0);
    const results = JSON.parse(readFileSync(file, 'utf8')) as Results;
    assert.equal(results.partial, true);
    assert.match(results.command, /bench .*--scenario smp-1000/);
    rmSync(folder, { recursive: true });
  });
}
