// What is bundled at build time, from src/, with maps to it (the package holds it, too):
//   dist/lib/       what Node, Bun and Deno load: a file a door
//   dist/browser/   the same with the browser's platform inside, for the `browser` condition of package.json's `exports`
//   dist/iife/      sab-message-port.global.js, which defines `SABMessagePortLib` for classic workers and script tags
// docs/decisions/0023 tells why they look as they do.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Doors that have all they need in one file. The others share `core.js`, so that each of them loads two files. */
const ALONE = ['./ring', './compat/nxtedition-shared'];

const shared = {
  absWorkingDir: root,
  bundle: true,
  legalComments: 'none',
  target: 'es2022',
  logLevel: 'warning',
};
/** `#platform` leads to current.ts, which notices the runtime (tsconfig.json); in a browser's build to what that would be there. */
const browser = {
  ...shared,
  platform: 'browser',
  conditions: ['browser'],
  plugins: [
    {
      name: 'browser-platform',
      setup({ onResolve }) {
        onResolve({ filter: /^#platform$/ }, () => ({ path: join(root, 'src/platform/browser.ts') }));
      },
    },
  ],
};
const node = { ...shared, platform: 'node' };

/** Each door of the package that is a module: its name in `exports`, its files and the module behind it. */
export function doors() {
  const { exports: entries } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return Object.entries(entries)
    .filter(([, entry]) => entry.types !== undefined)
    .map(([name, { types, default: file, browser: browserFile }]) => ({
      name,
      file,
      browserFile,
      /** Where tsc puts it, and what it is made of. */
      module: types.default.replace(/\.d\.ts$/, '.js'),
      source: types.default.replace(/^\.\/dist\/(.*)\.d\.ts$/, '$1.ts'),
    }));
}

async function bundleDoors(outdir, options) {
  const entry = ({ file, source }) => ({ in: source, out: basename(file, '.js') });
  const common = { ...options, outdir, format: 'esm', sourcemap: 'linked', sourcesContent: false };
  // A name without a hash for what they share: should splitting ever want a second chunk, this fails.
  const together = doors().filter(({ name }) => !ALONE.includes(name));
  await build({ ...common, entryPoints: together.map(entry), splitting: true, chunkNames: 'core' });
  for (const door of doors().filter(({ name }) => ALONE.includes(name))) {
    await build({ ...common, entryPoints: [entry(door)] });
  }
}

/**
 * A class that names itself in its own body comes out as `var Port = class _Port`, and would be called so in stacks and by
 * `util.inspect`. A blank in place of the underscore keeps the columns that the map knows.
 */
function nameClasses(outdir) {
  for (const name of readdirSync(join(root, outdir)).filter((it) => it.endsWith('.js'))) {
    const file = join(root, outdir, name);
    let text = readFileSync(file, 'utf8');
    for (const [, known] of text.matchAll(/\bvar (\w+) = class _\1\b/g)) {
      text = text.replace(new RegExp(`(?<![\\w$#.])_${known}\\b`, 'g'), ` ${known}`);
    }
    writeFileSync(file, text);
  }
}

export async function bundle() {
  for (const [outdir, options] of [
    ['dist/lib', node],
    ['dist/browser', browser],
  ]) {
    await bundleDoors(outdir, options);
    nameClasses(outdir);
  }
  await build({
    ...browser,
    entryPoints: ['src/compat/sab-message-port.ts'],
    outfile: 'dist/iife/sab-message-port.global.js',
    minify: true,
    format: 'iife',
    globalName: 'SABMessagePortLib',
  });
}
