// Runs a compiled program in a process of its own, on the runtime that runs the test.
import { spawn } from 'node:child_process';
import process from 'node:process';
import { programInOneFile } from '../kit/in-one-file.ts';

export interface ProgramEnd {
  /** Exit code, or the signal's name. */
  readonly status: number | string;
  /** Standard output and standard error, in the order in which they came. */
  readonly output: string;
}

/** The kind of runtime this is: as in `// runtimes: node, bun` at the top of a test or example. */
export const runtimeKind: 'node' | 'bun' | 'deno' =
  process.versions['bun'] !== undefined ? 'bun' : process.versions['deno'] !== undefined ? 'deno' : 'node';

/** What stands between the runtime and a program on its command line. */
export const RUN: readonly string[] = { node: [], bun: ['run'], deno: ['run', '-A', '--no-lock'] }[runtimeKind];

/** What makes the garbage collector callable; Bun has `Bun.gc` always. */
export const WITH_GC: readonly string[] = { node: ['--expose-gc'], bun: [], deno: ['--v8-flags=--expose-gc'] }[
  runtimeKind
];

/** Never rejects for what the program does; after `timeoutMs` the program is killed and `status` is SIGKILL. */
export function runProgram(
  file: string,
  args: readonly string[],
  timeoutMs: number,
  flags: readonly string[] = [],
): Promise<ProgramEnd> {
  return new Promise((resolve, reject) => {
    const env: NodeJS.ProcessEnv = { ...process.env, NO_COLOR: '1' };
    // bun test sets NODE_ENV, node --test its context; neither is the program's business.
    for (const name of ['NODE_TEST_CONTEXT', 'NODE_ENV', 'FORCE_COLOR', 'MILLRACE_STRAY']) delete env[name];
    const child = spawn(process.execPath, [...RUN, ...flags, programInOneFile(file), ...args], {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const watchdog = setTimeout(() => child.kill('SIGKILL'), timeoutMs);
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    }
    child.on('error', reject);
    child.on('close', (code, signal) => {
      clearTimeout(watchdog);
      resolve({ status: code ?? signal ?? 'unknown', output });
    });
  });
}
