// What is bundled at build time, with the browser's platform inside:
//   dist/browser/   a file per door and what they share, for the `browser` condition of package.json's `exports`
//   dist/iife/      sab-message-port.global.js, which defines `SABMessagePortLib` for classic workers and script tags
import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** `#platform` leads to current.js (tools/build.mjs); here it leads to what that one would be in a browser. */
const browserPlatform = {
  name: 'browser-platform',
  setup({ onResolve }) {
    onResolve({ filter: /\/platform\/current\.js$/ }, ({ resolveDir, path }) => ({
      path: join(resolveDir, dirname(path), 'browser.js'),
    }));
  },
};

const options = {
  absWorkingDir: root,
  bundle: true,
  legalComments: 'none',
  platform: 'browser',
  conditions: ['browser'],
  target: 'es2022',
  logLevel: 'warning',
  plugins: [browserPlatform],
};

/** Each door's file in dist/browser/ and the module that it bundles, as package.json's `exports` have them. */
export function browserDoors() {
  const { exports: doors } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return Object.values(doors)
    .filter((entry) => entry.browser !== undefined)
    .map((entry) => ({ file: entry.browser, source: entry.default }));
}

export async function bundle() {
  const doors = browserDoors();
  // The doors share their chunks, so that a class that two of them export is one class.
  await build({
    ...options,
    entryPoints: doors.map(({ file, source }) => ({ in: source, out: basename(file, '.js') })),
    outdir: 'dist/browser',
    format: 'esm',
    splitting: true,
    chunkNames: 'shared-[hash]',
  });
  await build({
    ...options,
    entryPoints: ['dist/src/compat/sab-message-port.js'],
    outfile: 'dist/iife/sab-message-port.global.js',
    minify: true,
    format: 'iife',
    globalName: 'SABMessagePortLib',
  });
}
