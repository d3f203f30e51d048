// The same benchmark under other runtimes: each is a process of its own that runs this very command line.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { COMMAND_VARIABLE, isClone } from './home.ts';
import { root } from './machine.ts';

export interface OtherRuntime {
  readonly name: string;
  /** Executable and its leading arguments; undefined when it isn't here. */
  readonly command: readonly string[] | undefined;
  readonly reason?: string;
}

/** Takes names of the test runtimes (node-24, bun), commands on the PATH, paths, and `name=path`. */
export function runtimesNamed(names: readonly string[]): OtherRuntime[] {
  return names.map((given) => {
    const [name, path] = given.includes('=') ? given.split('=', 2) : [basename(given), locate(given)];
    if (!path)
      return {
        name: name!,
        command: undefined,
        reason: isClone
          ? 'not found; `npm run runtimes` installs the runtimes of the tests'
          : 'not found: give its path',
      };
    return { name: name!, command: /deno/.test(basename(path)) ? [path, 'run', '-A'] : [path] };
  });
}

/** The command that runs `file` (a name in this folder) under the runtime that we are, with `flags` of that runtime. */
export function ownCommand(file: string, flags: readonly string[] = []): readonly [string, ...string[]] {
  const path = fileURLToPath(new URL(`./${file}`, import.meta.url));
  return process.versions['deno']
    ? [process.execPath, 'run', '-A', ...flags, path]
    : [process.execPath, ...flags, path];
}

function locate(given: string): string | undefined {
  if (/[\\/]/.test(given)) return existsSync(given) ? given : undefined;
  const home = join(root, 'test/runtimes/node_modules', given);
  const places = [join(home, 'bin/node'), join(home, 'bin/bun.exe'), join(home, 'deno')];
  for (const folder of (process.env['PATH'] ?? '').split(process.platform === 'win32' ? ';' : ':')) {
    places.push(join(folder, given), join(folder, `${given}.exe`));
  }
  return places.find(existsSync);
}

/** @param command what the user typed, for the results of the child */
export function spawnRuntime(runtime: OtherRuntime, args: readonly string[], command: string): Promise<number> {
  const [executable, ...leading] = runtime.command!;
  const cli = fileURLToPath(new URL('./cli.js', import.meta.url));
  console.log(`\n# ${runtime.name}`);
  return new Promise((resolve, reject) => {
    // The child has its own Ctrl-C handler in the same terminal; this process must outlive it.
    const ignore = (): void => {};
    process.on('SIGINT', ignore);
    const env = { ...process.env, [COMMAND_VARIABLE]: command };
    const child = spawn(executable!, [...leading, cli, ...args], { stdio: 'inherit', cwd: process.cwd(), env });
    // A SIGTERM is sent to one process, not to all of a terminal.
    const pass = (): void => void process.kill(child.pid!, 'SIGTERM');
    process.on('SIGTERM', pass);
    child.on('error', reject);
    child.on('exit', (code) => {
      process.off('SIGINT', ignore);
      process.off('SIGTERM', pass);
      resolve(code ?? 1);
    });
  });
}
