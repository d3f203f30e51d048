// Makes node_modules and dist/ when they are missing or older than what they are made of. Run by `npm start`, `npm test`
// and every other script, so that each works straight after `git clone` and costs nothing when all is up to date.
import { spawnSync } from 'node:child_process';
import { existsSync, lstatSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const stamp = join(root, 'dist/.built');
const installed = join(root, 'node_modules/.package-lock.json');
const inputs = [
  'src',
  'bin',
  'test',
  'bench',
  'examples',
  'tools',
  'docs',
  'README.md',
  'tsconfig.json',
  'package.json',
];

export function run(command, args, options = {}) {
  const done = spawnSync(command, args, { cwd: root, stdio: 'inherit', ...options });
  if (done.error) throw done.error;
  if (done.status !== 0) process.exit(done.status ?? 1);
}

const changed = (path) => (existsSync(path) ? statSync(path).mtimeMs : 0);

/** When `path` or anything below it was last changed. A folder's own time counts: it tells of files that went. */
function newest(path) {
  let latest = changed(path);
  if (latest === 0 || !statSync(path).isDirectory()) return latest;
  for (const name of readdirSync(path)) {
    if (name !== 'node_modules' && name !== 'results' && name !== 'out')
      latest = Math.max(latest, newest(join(path, name)));
  }
  return latest;
}

export async function build() {
  // A node_modules that is a link belongs to somebody else: use it, and leave it as it is.
  const ours = existsSync(installed) && !lstatSync(join(root, 'node_modules')).isSymbolicLink();
  const stale = ours && changed(installed) < changed(join(root, 'package-lock.json'));
  if (stale || !existsSync(join(root, 'node_modules/typescript'))) {
    console.log('installing the build tools (npm ci) ...');
    run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], { shell: process.platform === 'win32' });
  }
  if (changed(stamp) > Math.max(...inputs.map((path) => newest(join(root, path))))) return;
  console.log('building (tsc) ...');
  rmSync(join(root, 'dist'), { recursive: true, force: true });
  run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.json']);
  // Imported here, for it needs what the install brought.
  (await import('./build-iife.mjs')).buildIife();
  await (await import('./doc-examples.mjs')).extract();
  writeFileSync(stamp, '');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await build();
