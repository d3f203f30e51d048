// What people get who install from git, or pack a fresh clone: the same files as from the registry, with dist/, and every
// door opens. Asks npm and git, and takes half a minute: npm installs the build tools each time.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import process from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from './build.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'millrace-install-'));
const clone = join(folder, 'clone');
const user = join(folder, 'user');
const problems = [];

/** Standard output; a command that fails ends all, with what it said. */
function run(cwd, command, ...args) {
  // Not the options of the npm that may have started us.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(npm_|INIT_CWD$)/.test(name)));
  const shell = process.platform === 'win32' && command === 'npm';
  const done = spawnSync(command, args, { cwd, env, shell, encoding: 'utf8', timeout: 240_000 });
  if (done.status !== 0) {
    console.error(`${command} ${args.join(' ')}\n${done.error ?? ''}${done.stdout}${done.stderr}`);
    rmSync(folder, { recursive: true, force: true });
    process.exit(1);
  }
  return done.stdout;
}
const quiet = ['--no-audit', '--no-fund', '--loglevel=error'];

await build();
const published = JSON.parse(run(root, 'npm', 'pack', '--dry-run', '--json', '--ignore-scripts', '--loglevel=error'));
const wanted = published[0].files.map((it) => it.path).sort();

/** What is in the folder of an installed package, held against what would be published. */
function compare(what, names) {
  const missing = wanted.filter((it) => !names.includes(it));
  const extra = names.filter((it) => !wanted.includes(it));
  if (missing.length + extra.length > 0)
    problems.push(
      `${what} lacks ${missing.length} files (${missing[0] ?? '-'}), has ${extra.length} more (${extra[0] ?? '-'})`,
    );
  else console.log(`${what}: ${names.length} files, as published`);
}

// The tree at hand, committed or not, as a repository of its own.
mkdirSync(clone);
mkdirSync(user);
for (const file of run(root, 'git', 'ls-files', '-z', '--cached', '--others', '--exclude-standard').split('\0')) {
  if (file !== '' && existsSync(join(root, file))) cpSync(join(root, file), join(clone, file));
}
run(clone, 'git', 'init', '--quiet');
run(clone, 'git', 'add', '--all');
run(clone, 'git', '-c', 'user.name=check', '-c', 'user.email=check@localhost', 'commit', '--quiet', '-m', 'as it is');

writeFileSync(join(user, 'package.json'), '{ "private": true, "type": "module" }');
run(user, 'npm', 'install', ...quiet, `git+${pathToFileURL(clone).href}`);
const installed = join(user, 'node_modules/millrace');
const files = readdirSync(installed, { recursive: true, withFileTypes: true })
  .filter((it) => it.isFile())
  .map((it) => relative(installed, join(it.parentPath, it.name)).replaceAll('\\', '/'));
compare('an install from git', files);

const { exports: doors } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const modules = Object.keys(doors).filter((door) => typeof doors[door] !== 'string');
writeFileSync(join(user, 'open.js'), modules.map((door) => `import 'millrace${door.slice(1)}';\n`).join(''));
run(user, process.execPath, 'open.js');

const tarball = run(clone, 'npm', 'pack', '--loglevel=error').trim().split('\n').at(-1);
const listed = run(clone, 'tar', '-tzf', tarball).trim().split('\n');
compare(
  'npm pack in a fresh clone',
  listed.map((it) => it.replace(/^package\//, '')),
);

rmSync(folder, { recursive: true, force: true });
for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;
