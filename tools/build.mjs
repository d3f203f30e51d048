// Makes node_modules and dist/ when they are missing or older than the source. Run by `npm start`, `npm test` and
// every other script, so that each works straight after `git clone` and costs nothing when all is up to date.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const stamp = join(root, 'dist/.built');
const inputs = ['src', 'test', 'bench', 'examples', 'tools', 'tsconfig.json', 'package.json'];

export function run(command, args, options = {}) {
  const done = spawnSync(command, args, { cwd: root, stdio: 'inherit', ...options });
  if (done.error) throw done.error;
  if (done.status !== 0) process.exit(done.status ?? 1);
}

function newest(path) {
  const info = statSync(path);
  if (!info.isDirectory()) return info.mtimeMs;
  let latest = 0;
  for (const name of readdirSync(path)) {
    if (name !== 'node_modules' && name !== 'results') latest = Math.max(latest, newest(join(path, name)));
  }
  return latest;
}

export function build() {
  if (!existsSync(join(root, 'node_modules/typescript'))) {
    console.log('installing the build tools (npm ci) ...');
    run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], { shell: process.platform === 'win32' });
  }
  const present = inputs.map((path) => join(root, path)).filter(existsSync);
  if (existsSync(stamp) && statSync(stamp).mtimeMs > Math.max(...present.map(newest))) return;
  console.log('building (tsc) ...');
  rmSync(join(root, 'dist'), { recursive: true, force: true });
  run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.json']);
  writeFileSync(stamp, '');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) build();
