// dist/ as others load it: by address without our package.json, bundled into one file, and in its build for browsers.
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { after, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { buildSync } from 'esbuild';

type Door = typeof import('../src/index.ts');

const built = fileURLToPath(new URL('../', import.meta.url));
const here = process.versions['bun'] ? 'bun' : process.versions['deno'] ? 'deno' : 'node';
const folder = mkdtempSync(join(tmpdir(), 'millrace-built-'));
after(() => rmSync(folder, { recursive: true, force: true }));
// All that Node needs to take .js for a module; it names no import.
writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');

const load = async (file: string): Promise<Door> => (await import(pathToFileURL(file).href)) as Door;

/** One message through `door`, which knows where it runs. */
function tryOut(door: Door, runtime: string): void {
  assert.equal(door.features().runtime, runtime);
  const { port, remote } = door.channel();
  const other = door.attach(remote);
  port.postMessage({ answer: 42 });
  assert.deepEqual(other.tryReceive(), { answer: 42 });
  port.close();
  other.close();
}

test('the front door opens by its address, away from our package.json', async () => {
  cpSync(join(built, 'src'), join(folder, 'src'), { recursive: true });
  tryOut(await load(join(folder, 'src/index.js')), here);
});

test('a bundle made for Node knows which runtime it landed on', async () => {
  const entryPoints = [join(built, 'src/index.js')];
  const outfile = join(folder, 'bundle.js');
  buildSync({ entryPoints, outfile, bundle: true, platform: 'node', format: 'esm', minify: true });
  tryOut(await load(outfile), here);
});

test("the browser's build names nothing of Node, and passes messages", async () => {
  const files = readdirSync(join(built, 'browser'));
  assert.ok(files.includes('index.js'));
  const entryPoints = files.map((file) => join(built, 'browser', file));
  // Minified, so that no comment is left that may name what it likes; and nothing is left to somebody else to find.
  const { outputFiles } = buildSync({
    entryPoints,
    outdir: folder,
    bundle: true,
    minify: true,
    platform: 'browser',
    format: 'esm',
    write: false,
  });
  for (const { path, text } of outputFiles) assert.doesNotMatch(text, /['"`](node:|#platform)/, path);
  tryOut(await load(join(built, 'browser/index.js')), 'browser');
});

test("the doors of the browser's build share what they have in common: a class of error is one class", async () => {
  const door = await import(pathToFileURL(join(built, 'browser/ring.js')).href);
  const { UsageError } = await load(join(built, 'browser/index.js'));
  assert.throws(() => door.allocate(-1), UsageError);
});
