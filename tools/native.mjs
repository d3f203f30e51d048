// `npm run native`: compiles native/*.c into dist/native/<platform>-<arch>[-musl]/millrace.node, if what is there is older. Tests say
// `// needs: native`.
//
//   npm run native -- --all         for Linux on x64 and arm64, with glibc and with musl, and for macOS, by zig (on PATH, or `pip install ziglang`)
//   npm run native -- --packages    of what is built, what npm publishes: a package per platform (after --all, or with it)
//   npm run native -- --sanitize    beside the others, with the address and the undefined behaviour sanitizer (docs/decisions/0040)
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { build } from './build.mjs';
import { isPeer, layOut } from './native-packages.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const home = join(root, 'native');
const headers = join(root, 'node_modules/node-api-headers/include');

export const NATIVE_COMMAND = 'npm run native';

/** As the loader looks for it (src/native/platform-name.ts). */
export function ownName() {
  const musl = process.platform === 'linux' && process.report.getReport().header.glibcVersionRuntime === undefined;
  return `${process.platform}-${process.arch}${musl ? '-musl' : ''}`;
}
const fileOf = (name) => join(root, 'dist/native', name, 'millrace.node');
const changed = (path) => (existsSync(path) ? statSync(path).mtimeMs : 0);
const sources = readdirSync(home)
  .filter((name) => /\.[ch]$/.test(name))
  .map((name) => join(home, name));
/** One file for each system: what it has its own way for (native/system.h). */
const SYSTEMS = ['linux', 'darwin'];
const systemOf = (name) => name.split('-')[0];
const compiled = (name) =>
  sources.filter(
    (path) => path.endsWith('.c') && !SYSTEMS.some((it) => it !== systemOf(name) && path.endsWith(`/${it}.c`)),
  );

function isFresh(name) {
  const inputs = [...sources, fileURLToPath(import.meta.url)].map(changed);
  return changed(fileOf(name)) > Math.max(...inputs);
}
export const nativeBuilt = () => isFresh(ownName());

/** The oldest glibc that Node 20 runs on. */
const GLIBC = '2.28';
const TARGETS = [
  ['linux-x64', `x86_64-linux-gnu.${GLIBC}`],
  ['linux-arm64', `aarch64-linux-gnu.${GLIBC}`],
  ['linux-x64-musl', 'x86_64-linux-musl'],
  ['linux-arm64-musl', 'aarch64-linux-musl'],
  ['darwin-x64', 'x86_64-macos.11.0'],
  ['darwin-arm64', 'aarch64-macos.11.0'],
];
/** What nobody has run yet is built, and no package (docs/decisions/0051). */
const PACKAGED = TARGETS.filter(([platform]) => systemOf(platform) === 'linux');

function runs([command, ...args], ask) {
  return spawnSync(command, [...args, ask], { stdio: 'ignore' }).status === 0;
}

function fail(message) {
  console.error(message);
  process.exit(1);
}

const LINKED = {
  // Never unloaded: a thread that loaded it alone may end before its last buffer is finalized.
  linux: ['-Wl,-z,nodelete'],
  // What Node-API has is Node's own.
  darwin: ['-undefined', 'dynamic_lookup'],
};

/** @param compiler command and what comes first */
function compile(name, compiler, more) {
  const file = fileOf(name);
  const shown = relative(root, file);
  mkdirSync(dirname(file), { recursive: true });
  // Under another name first: a process may have the old one mapped, and must not see it change.
  const next = `${file}.${process.pid}`;
  const [command, ...first] = compiler;
  const args = [
    ...[...first, '-std=c11', '-O2', '-fPIC', '-shared', '-fvisibility=hidden', '-Wall', '-Wextra', '-Werror'],
    ...[...(LINKED[systemOf(name)] ?? []), ...more, '-isystem', headers, ...compiled(name), '-o', next, '-ldl'],
  ];
  const { status } = spawnSync(command, args, { cwd: root, stdio: 'inherit' });
  if (status !== 0) fail(`${shown}: the compiler failed`);
  renameSync(next, file);
  console.log(`${shown}: ${statSync(file).size} bytes`);
}

function ownCompiler() {
  const cc = (process.env.CC ?? 'cc').split(' ');
  if (runs(cc, '--version')) return cc;
  return fail(`There is no C compiler ("${cc[0]}"; CC may name another). On Debian: apt-get install gcc libc6-dev`);
}

function zig() {
  const found = [['zig'], ['python3', '-m', 'ziglang']].find((command) => runs(command, 'version'));
  return found ?? fail('There is no zig, which compiles for other machines: pip install ziglang');
}

/** Makes packages of what is built for these platforms. */
function layOutPackages() {
  for (const [platform] of PACKAGED) {
    if (!isFresh(platform)) console.log(`absent: ${platform}; "${NATIVE_COMMAND} -- --all" builds it`);
    else if (!isPeer(platform))
      fail(`package.json lacks ${platform} among its optional peerDependencies, in its own version`);
    else console.log(`${relative(root, dirname(fileOf(platform)))}: ${layOut(platform, fileOf(platform), GLIBC)}`);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const asked = process.argv.slice(2);
  const known = ['--all', '--packages', '--sanitize'];
  const unknown = asked.find((it) => !known.includes(it));
  if (unknown !== undefined) fail(`Unknown option ${unknown}; there are ${known.join(', ')}`);
  if (!SYSTEMS.includes(process.platform) && !asked.includes('--all'))
    fail(`The addon is written for ${SYSTEMS.join(' and ')}; on ${process.platform} there is nothing to build yet`);
  await build();
  if (!existsSync(headers)) fail('node-api-headers is missing: npm ci');
  const name = ownName();
  if (asked.includes('--all')) {
    const cc = zig();
    // All of them: one that is here already may want a newer glibc.
    for (const [platform, target] of TARGETS) compile(platform, [...cc, 'cc', '-target', target], ['-s']);
  } else if (asked.includes('--sanitize'))
    compile(`${name}-sanitize`, ownCompiler(), ['-g', '-fsanitize=address,undefined', '-fno-omit-frame-pointer']);
  else if (isFresh(name)) console.log(`${relative(root, fileOf(name))} is up to date`);
  else compile(name, ownCompiler(), ['-s']);
  if (asked.includes('--packages')) layOutPackages();
}
