// The runtimes that the tests cover. test/runtimes/package.json is the one list of names and exact versions;
// `npm run runtimes` installs them all (about 1 GB) into test/runtimes/node_modules, apart from the library's own.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const home = join(dirname(dirname(fileURLToPath(import.meta.url))), 'test/runtimes');
const exe = process.platform === 'win32' ? '.exe' : '';

export const INSTALL_COMMAND = 'npm run runtimes';

/** Each runtime: `name` (node-24, bun, deno), `kind` (node, bun, deno), `version`, `path` and whether it is `installed`. */
export function runtimes() {
  const { dependencies } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'));
  return Object.entries(dependencies)
    .map(([name, spec]) => {
      const kind = name.split('-')[0];
      const folder = join(home, 'node_modules', name);
      // Bun's package calls its binary bun.exe everywhere.
      const path = {
        node: join(folder, 'bin', `node${exe}`),
        bun: join(folder, 'bin/bun.exe'),
        deno: join(folder, `deno${exe}`),
      }[kind];
      return { name, kind, version: spec.split('@').at(-1), path, installed: existsSync(path) };
    })
    .sort((a, b) => order(a) - order(b));
}

function order({ name, kind }) {
  return kind === 'node' ? Number(name.split('-')[1]) : kind === 'bun' ? 1000 : 1001;
}

/** What the binary says of itself, or `undefined` when it does not run. */
function answered({ path }) {
  const done = spawnSync(path, ['--version'], { encoding: 'utf8' });
  return done.status === 0 ? /\d+\.\d+\.\d+/.exec(done.stdout)?.[0] : undefined;
}

function install() {
  const works = (runtime) => answered(runtime) === runtime.version;
  if (!runtimes().every(works)) {
    // Not `npm ci`: it refuses when a registry lacks the packages of some other operating system.
    const npm = ['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error'];
    spawnSync('npm', npm, { cwd: home, stdio: ['ignore', 'inherit', 'inherit'], shell: process.platform === 'win32' });
  }
  // An npm that runs no install scripts leaves the packages without their binaries: run the scripts here.
  for (const runtime of runtimes().filter((it) => !works(it))) {
    const cwd = join(home, 'node_modules', runtime.name);
    const script = { node: 'installArchSpecificPackage.js', bun: 'install.js', deno: 'install.cjs' }[runtime.kind];
    if (existsSync(join(cwd, script)))
      spawnSync(process.execPath, [script], { cwd, stdio: ['ignore', 'inherit', 'inherit'] });
  }
  for (const runtime of runtimes()) {
    const version = answered(runtime);
    const good = version === runtime.version;
    console.log(
      `${runtime.name.padEnd(8)} ${version ?? 'does not run'}${good ? '' : `, wanted ${runtime.version}: ${runtime.path}`}`,
    );
    if (!good) process.exitCode = 1;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) install();
