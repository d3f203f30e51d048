// The library as a browser gets it: one file that a bundler made, with the browser's platform inside. Runs wherever the
// web's globals are.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { buildSync } from 'esbuild';
import type * as millrace from '../../src/index.ts';

const folder = mkdtempSync(join(tmpdir(), 'millrace-browser-'));
const outfile = join(folder, 'millrace.mjs');
buildSync({
  entryPoints: [fileURLToPath(new URL('../../src/index.js', import.meta.url))],
  outfile,
  bundle: true,
  format: 'esm',
  platform: 'browser',
  conditions: ['browser'],
  target: 'es2022',
  logLevel: 'warning',
});
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

let copies = 0;

/** A copy of its own, with its modules run anew. */
export function browserBundle(): Promise<typeof millrace> {
  return import(`${pathToFileURL(outfile)}?copy=${copies++}`);
}
