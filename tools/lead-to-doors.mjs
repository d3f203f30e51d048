// In dist/, tests and tools import single modules, as the model does. Programs get what is shipped: in dist/bin, dist/bench and
// dist/examples each import of a door's module leads to the door's own file in dist/lib; in what the benchmark runs in pages, to
// that in dist/browser. And so do those of the conformance tests in dist/packed, which run once more over that.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const dist = join(dirname(dirname(fileURLToPath(import.meta.url))), 'dist');

/** One of each kind is enough: what differs between releases is asked of the modules. */
const ON_EACH_KIND = '// runtimes: node-24, bun, deno';
/** What runs over dist/lib too, and where: each door, and how threads start and end. */
const PACKED = {
  'conformance/memory-port.test.js': ON_EACH_KIND,
  'conformance/pair.test.js': ON_EACH_KIND,
  'conformance/passed-on.test.js': ON_EACH_KIND,
  'conformance/process-port.test.js': ON_EACH_KIND,
  'conformance/spawn-factory.test.js': ON_EACH_KIND,
  'conformance/spawn.test.js': ON_EACH_KIND,
  'conformance/thread-exit.test.js': ON_EACH_KIND,
  'conformance/thread-port.test.js': ON_EACH_KIND,
  // It takes the classes of error from the front door, and Deno's `assert.throws` does not ask `instanceof`.
  'compat/nxtedition-shared.test.js': '// runtimes: node-24, bun',
  'compat/sab-message-port-channel.test.js': ON_EACH_KIND,
  'compat/sab-message-port-readme.test.js': ON_EACH_KIND,
};

/** What runs in pages. */
const IN_PAGES = /^bench\/(browser\/measure|page)\//;

/** `text` with each path of a door's module led to the file of the door; other modules stay as they are. */
export function led(text, doors, inPage = false) {
  const shipped = doors.map(({ module, file, browserFile }) => ({ module, file: (inPage && browserFile) || file }));
  const files = new Map(
    shipped.map(({ module, file }) => [module.replace('./dist/', ''), file.replace('./dist/', '')]),
  );
  return text.replace(/(['"])((?:\.\.\/)+)(src\/[\w/-]+\.js)\1/g, (all, quote, up, module) =>
    files.has(module) ? `${quote}${up}${files.get(module)}${quote}` : all,
  );
}

const scripts = (folder) =>
  readdirSync(join(dist, folder), { recursive: true })
    .map((path) => `${folder}/${path}`.replaceAll('\\', '/'))
    .filter((path) => path.endsWith('.js'));

export function leadToDoors(doors) {
  for (const path of ['bin', 'bench', 'examples'].flatMap(scripts)) {
    const text = readFileSync(join(dist, path), 'utf8');
    const better = led(text, doors, IN_PAGES.test(path));
    if (better !== text) writeFileSync(join(dist, path), better);
  }
  for (const path of ['test/conformance', 'test/compat', 'test/kit'].flatMap(scripts)) {
    const inPacked = path.replace('test/', '');
    if (path.endsWith('.test.js') && !(inPacked in PACKED)) continue;
    // One file of modules of dist/src: here the other side is over dist/lib, too.
    if (path.endsWith('.bundle.js')) continue;
    const target = join(dist, 'packed', inPacked);
    const text = led(readFileSync(join(dist, path), 'utf8'), doors);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, inPacked in PACKED ? `${PACKED[inPacked]}\n${text}` : text);
  }
}
