// Compiles limits.cpp once, when a compiler is there.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../machine.ts';
import type { Missing } from '../subject.ts';

const COMPILERS = ['g++', 'clang++', 'c++'];
const REMEDY = 'apt-get install g++ (or: brew install gcc)';

let result: string | Missing | undefined;

/** The path of the executable, or why there is none. */
export function limitsProgram(): string | Missing {
  result ??= compile();
  return result;
}

function compile(): string | Missing {
  const source = join(root, 'bench/native/limits.cpp');
  if (!existsSync(source))
    return { reason: 'the C++ source is not part of the package', remedy: 'run it from a clone' };
  const hash = createHash('sha256').update(readFileSync(source)).digest('hex').slice(0, 12);
  const folder = join(tmpdir(), 'millrace-bench');
  const program = join(folder, `limits-${hash}${process.platform === 'win32' ? '.exe' : ''}`);
  if (existsSync(program)) return program;
  mkdirSync(folder, { recursive: true });
  // Under another name first: two benchmarks may compile at once.
  const fresh = `${program}.${process.pid}`;
  for (const compiler of COMPILERS) {
    const done = spawnSync(compiler, ['-O2', '-std=c++17', '-pthread', '-o', fresh, source], { encoding: 'utf8' });
    if (done.error) continue;
    if (done.status !== 0) return { reason: `${compiler} refused the source: ${done.stderr.split('\n')[0]}` };
    renameSync(fresh, program);
    return program;
  }
  return { reason: 'no C++ compiler here', remedy: REMEDY };
}
