// `npm run ok`: everything that must be green before a push. Each step runs even if one before it failed, so that one
// run shows all there is to do. Arguments go to the tests: `npm run ok -- --only ring/`.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const node = (...args) => [process.execPath, args];
const steps = [
  ['types and build', node('tools/build.mjs')],
  ['lint', node('node_modules/@biomejs/biome/bin/biome', 'ci')],
  ['layers', node('tools/check-layers.mjs')],
  ['sync points', node('tools/check-sync-points.mjs')],
  ['tests', node('tools/test.mjs', ...process.argv.slice(2))],
];
if (existsSync(join(root, 'test/model/run.ts'))) steps.push(['model', node('tools/run.mjs', 'test/model/run.js')]);

const failed = [];
for (const [name, [command, args]] of steps) {
  console.log(`\n== ${name}`);
  const { status } = spawnSync(command, args, { cwd: root, stdio: 'inherit' });
  if (status !== 0) {
    failed.push(name);
    // Without a build the rest would only repeat its errors.
    if (name === 'types and build') break;
  }
}
console.log(failed.length === 0 ? '\nok' : `\nnot ok: ${failed.join(', ')}`);
process.exitCode = failed.length === 0 ? 0 : 1;
