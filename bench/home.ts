// Where this runs from: a clone, whose scripts and rivals' packages are at hand, or a package that npx has fetched.
import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { root } from './machine.ts';

/** The package brings dist/ only; a clone has the tools that made it. */
export const isClone: boolean = existsSync(join(root, 'tools/run.mjs'));

/** Set for the runs under other runtimes: their results carry the command that started them all. */
export const COMMAND_VARIABLE = 'MILLRACE_BENCH_COMMAND';

/** What the user can type to run this again. */
export function typedCommand(args: readonly string[]): string {
  const given = process.env[COMMAND_VARIABLE];
  if (given) return given;
  return [benchCommand(), ...args.map(quoted)].join(' ');
}

function benchCommand(): string {
  const { bun, deno } = process.versions as Record<string, string | undefined>;
  if (!isClone) {
    return bun ? 'bunx --bun millrace bench' : deno ? 'deno run -A npm:millrace bench' : 'npx millrace bench';
  }
  if (process.env['npm_lifecycle_event'] === 'bench') return 'npm run bench --';
  return `${bun ? 'bun' : deno ? 'deno run -A' : 'node'} dist/bench/cli.js bench`;
}

function quoted(arg: string): string {
  return /^[\w@%+=:,./-]+$/.test(arg) ? arg : `'${arg.replaceAll("'", "'\\''")}'`;
}

/** Folders in which rivals' packages may lie, the best first. */
export function rivalFolders(): string[] {
  const beside = dirname(root.replace(/[\\/]$/, ''));
  return [
    join(root, 'bench/node_modules'),
    join(root, 'node_modules'),
    ...(basename(beside) === 'node_modules' ? [beside] : []),
    join(process.cwd(), 'node_modules'),
  ];
}

/** The command that brings a rival's package to where it is looked for. */
export function installCommand(name: string): string {
  return isClone ? 'npm ci --prefix bench' : `npm install --no-save ${name}`;
}
