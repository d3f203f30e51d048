// dist/ as others load it: by address without our package.json, bundled into one file, and in its build for browsers.
import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
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
  cpSync(join(built, 'lib'), join(folder, 'lib'), { recursive: true });
  tryOut(await load(join(folder, 'lib/index.js')), here);
});

test('a bundle made for Node knows which runtime it landed on', async () => {
  const entryPoints = [join(built, 'lib/index.js')];
  const outfile = join(folder, 'bundle.js');
  buildSync({ entryPoints, outfile, bundle: true, platform: 'node', format: 'esm', minify: true });
  tryOut(await load(outfile), here);
});

test("the browser's build names nothing of Node, and passes messages", async () => {
  const files = readdirSync(join(built, 'browser')).filter((it) => it.endsWith('.js'));
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

/** What `file` loads from beside it, and itself. */
function loadedBy(file: string, found: Set<string> = new Set()): Set<string> {
  if (found.has(file)) return found;
  found.add(file);
  for (const [, name] of readFileSync(file, 'utf8').matchAll(/\bfrom\s*"(\.[^"]+)"|\bimport\s*"(\.[^"]+)"/g)) {
    loadedBy(join(dirname(file), name as string), found);
  }
  return found;
}

for (const build of ['lib', 'browser']) {
  test(`dist/${build}: a door loads one file beside its own at most, one to what is elsewhere two, ring and nxtedition-shared none`, () => {
    const count = (door: string): number => loadedBy(join(built, build, door)).size;
    assert.deepEqual(['index.js', 'sab-message-port.js', 'ring.js', 'nxtedition-shared.js'].map(count), [2, 2, 1, 1]);
    assert.deepEqual(['net.js', 'hub.js'].map(count), [3, 3]);
    if (build === 'lib') assert.equal(count('process.js'), 3);
    else assert.equal(existsSync(join(built, build, 'process.js')), false, 'no browser has processes');
  });

  test(`dist/${build}: each file has a map to the source, and names what a stack should tell`, async () => {
    for (const file of readdirSync(join(built, build)).filter((it) => it.endsWith('.js'))) {
      const map = JSON.parse(readFileSync(join(built, build, `${file}.map`), 'utf8'));
      assert.ok(map.sources.length > 0);
      for (const source of map.sources) assert.ok(existsSync(join(built, build, source)), source);
    }
    const { Port, UsageError } = await load(join(built, build, 'index.js'));
    assert.deepEqual([Port.name, UsageError.name], ['Port', 'UsageError']);
  });

  test(`dist/${build}: an error is known by the class that any door exports`, async () => {
    const door = await import(pathToFileURL(join(built, build, 'ring.js')).href);
    const { UsageError, LayoutError } = await load(join(built, build, 'index.js'));
    assert.throws(
      () => door.allocate(-1),
      (error) => error instanceof UsageError && !(error instanceof LayoutError),
    );
  });
}
