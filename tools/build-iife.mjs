// The one-file build of a compat door for classic workers and script tags: dist/iife/sab-message-port.global.js defines
// `SABMessagePortLib`, with the browser's platform inside.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

export function buildIife() {
  const entry = join(root, 'dist/src/compat/sab-message-port.js');
  if (!existsSync(entry) || !existsSync(join(root, 'dist/src/platform/browser.js'))) return false;
  buildSync({
    entryPoints: [entry],
    outfile: join(root, 'dist/iife/sab-message-port.global.js'),
    bundle: true,
    minify: true,
    legalComments: 'none',
    format: 'iife',
    globalName: 'SABMessagePortLib',
    platform: 'browser',
    conditions: ['browser'],
    target: 'es2022',
    logLevel: 'warning',
  });
  return true;
}
