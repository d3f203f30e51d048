// Facts that must travel with every number: machine, runtime, commit.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import os from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Machine, Runtime } from './schema.ts';

/** The folder that holds package.json: this file runs from dist/bench/. */
export const root: string = fileURLToPath(new URL('../../', import.meta.url));

export function machineFacts(): Machine {
  return {
    cpu: os.cpus()[0]?.model.trim() ?? 'unknown',
    cores: os.availableParallelism?.() ?? os.cpus().length,
    memoryBytes: os.totalmem(),
    os: osName(),
    kernel: `${os.type()} ${os.release()}`,
    arch: os.arch(),
  };
}

function osName(): string {
  try {
    const line = readFileSync('/etc/os-release', 'utf8').match(/^PRETTY_NAME="?([^"\n]*)/m);
    if (line) return line[1]!;
  } catch {
    // Not a Linux with that file: the kernel's name has to do.
  }
  return os.type();
}

export function runtimeFacts(packages: Readonly<Record<string, string>>): Runtime {
  const versions = process.versions as Record<string, string | undefined>;
  const name = versions['bun'] ? 'bun' : versions['deno'] ? 'deno' : 'node';
  const version = versions[name] ?? process.version;
  const engine = name === 'bun' ? `jsc ${versions['webkit'] ?? ''}`.trim() : `v8 ${versions['v8'] ?? ''}`.trim();
  return { name, version, engine, packages };
}

export function commit(): string {
  // The package lies in somebody else's repository, if in any.
  if (!existsSync(`${root}.git`)) return '';
  try {
    const git = (...args: string[]): string =>
      execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
    return git('rev-parse', '--short=12', 'HEAD') + (git('status', '--porcelain', '-uno') === '' ? '' : '+');
  } catch {
    return '';
  }
}
