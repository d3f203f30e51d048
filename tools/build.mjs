// Makes node_modules and dist/ when they are missing or older than what they are made of. Run by `npm start`, `npm test`
// and every other script, so that each works straight after `git clone` and costs nothing when all is up to date.
import { spawnSync } from 'node:child_process';
import { existsSync, lstatSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
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

/** `#platform` becomes the path of the module that notices the runtime: nothing in dist/ asks package.json for it. */
function replacePlatform() {
  const target = join(root, 'dist/src/platform/current.js');
  for (const path of readdirSync(join(root, 'dist'), { recursive: true })) {
    if (!/\.(js|d\.ts)$/.test(path)) continue;
    const file = join(root, 'dist', path);
    const text = readFileSync(file, 'utf8');
    if (!text.includes('#platform')) continue;
    const way = relative(dirname(file), target).replaceAll('\\', '/');
    const specifier = way.startsWith('.') ? way : `./${way}`;
    writeFileSync(file, text.replace(/^((?:im|ex)port\b[^;'"]*['"])#platform(?=['"])/gm, `$1${specifier}`));
  }
}

/**
 * A CommonJS file that imports a door gets the ESM file, by `require(esm)`, and so that door's ESM types. TypeScript's
 * node16 refuses such an import wherever it stands, and needs a declaration file that says CommonJS: index.d.cts beside
 * index.d.ts. It only passes the names on, so that the types of both ways are one; where it does so the refusal is
 * wrong, and silenced.
 */
function declareForCommonJs() {
  const { exports: doors } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  for (const { types } of Object.values(doors)) {
    if (types === undefined) continue;
    const esm = `./${basename(types.default, '.d.ts')}.js`;
    writeFileSync(join(root, types.require), `// @ts-ignore: see tools/build.mjs\nexport * from '${esm}';\n`);
  }
}

export async function build() {
  // A node_modules that is a link belongs to somebody else: use it, and leave it as it is.
  const ours = existsSync(installed) && !lstatSync(join(root, 'node_modules')).isSymbolicLink();
  const stale = ours && changed(installed) < changed(join(root, 'package-lock.json'));
  if (stale || !existsSync(join(root, 'node_modules/typescript'))) {
    console.log('installing the build tools (npm ci) ...');
    // When an npm that somebody started with options of his own started us, they come along in the environment.
    const own = ['--include=dev', '--no-global', '--no-dry-run', '--no-package-lock-only'];
    run('npm', ['ci', ...own, '--no-audit', '--no-fund', '--loglevel=error'], { shell: process.platform === 'win32' });
  }
  if (changed(stamp) > Math.max(...inputs.map((path) => newest(join(root, path))))) return;
  console.log('building (tsc) ...');
  // What `npm run native` made stays: it is of no source of ours here.
  for (const name of existsSync(join(root, 'dist')) ? readdirSync(join(root, 'dist')) : [])
    if (name !== 'native') rmSync(join(root, 'dist', name), { recursive: true, force: true });
  run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.json']);
  replacePlatform();
  declareForCommonJs();
  // Imported here, for they need what the install brought.
  const { bundle, bundleStarted, doors } = await import('./bundle.mjs');
  await bundle();
  await bundleStarted();
  (await import('./lead-to-doors.mjs')).leadToDoors(doors());
  await (await import('./doc-examples.mjs')).extract();
  writeFileSync(stamp, '');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await build();
