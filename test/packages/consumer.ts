// A stranger's project: a temporary folder in which the package is installed as npm would publish it, beside the tools of
// test/packages/package.json.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const home = join(root, 'test/packages');

/** Where a tool of test/packages/package.json is installed, or one that the library itself is built with. */
export function tool(path: string): string {
  const own = join(home, 'node_modules', path);
  return existsSync(own) ? own : join(root, 'node_modules', path);
}

export interface Ran {
  readonly status: number | null;
  readonly output: string;
}

/** Runs a program in `cwd` to its end. */
export function run(cwd: string, command: string, ...args: string[]): Ran {
  return runWith(process.env, cwd, command, ...args);
}
export function runWith(env: NodeJS.ProcessEnv, cwd: string, command: string, ...args: string[]): Ran {
  const done = spawnSync(command, args, { cwd, env, encoding: 'utf8', timeout: 120_000 });
  return { status: done.status, output: `${done.stderr}${done.error ?? ''}\n${done.stdout}` };
}
/** Runs Node in `cwd` to its end. */
export const node = (cwd: string, ...args: string[]): Ran => run(cwd, process.execPath, ...args);

/**
 * Makes the project: a copy of test/packages/fixtures/`name` with millrace and `packages` in its node_modules. Whoever
 * asks removes it.
 */
export function makeConsumer(name: string, packages: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), `millrace-${name}-`));
  cpSync(join(home, 'fixtures', name), folder, { recursive: true });
  const modules = join(folder, 'node_modules');
  mkdirSync(modules);
  const npm = ['pack', '--ignore-scripts', '--loglevel=error', `--pack-destination=${modules}`];
  const packed = spawnSync('npm', npm, { cwd: root, encoding: 'utf8', shell: process.platform === 'win32' });
  const tarball = packed.stdout.trim().split('\n').at(-1) ?? '';
  const unpacked = spawnSync('tar', ['-xzf', tarball], { cwd: modules });
  if (packed.status !== 0 || unpacked.status !== 0) throw new Error(`npm pack: ${packed.stdout}${packed.stderr}`);
  renameSync(join(modules, 'package'), join(modules, 'millrace'));
  rmSync(join(modules, tarball));
  for (const it of packages) {
    mkdirSync(join(modules, it, '..'), { recursive: true });
    symlinkSync(tool(it), join(modules, it), 'junction');
  }
  if (!existsSync(join(folder, 'package.json'))) writeFileSync(join(folder, 'package.json'), '{ "private": true }');
  return folder;
}
