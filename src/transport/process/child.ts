// A child process that has an extra pipe to its parent, from both its sides.
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { constants } from 'node:os';
import { env, execPath, pid, ppid } from 'node:process';
import { fileURLToPath } from 'node:url';
import { isMainThread } from 'node:worker_threads';
import { platform } from '#platform';
import { UsageError } from '../../errors.ts';
import { SOCKET_CLOSE_MS } from '../../limits.ts';
import type { EndReason } from '../../outcome.ts';
import type { ExitStatus } from '../transport.ts';
import { claimDescriptor } from './pipe.ts';
import { SocketStream } from './socket-stream.ts';

export type { ChildProcess };

/** Tells a child the descriptor of its pipe, and whose child that makes it: what it starts itself inherits its environment, and no pipe. */
const NAME = 'MILLRACE_PARENT';

export interface ChildOptions {
  /** What runs the file; default what runs this process. */
  readonly execPath?: string | undefined;
  /** Its arguments before the file; default none, on Deno `run --allow-all`. */
  readonly execArgv?: readonly string[] | undefined;
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  readonly cwd?: string | URL | undefined;
  /** Its first descriptors, as `child_process.spawn` takes them; default `inherit`. */
  readonly stdio?: 'inherit' | 'ignore' | 'pipe' | readonly unknown[] | undefined;
  /** Others of `child_process.spawn`: `detached`, `uid`, `gid`, `windowsHide` ... */
  readonly [other: string]: unknown;
}

export interface Started {
  readonly child: ChildProcess;
  readonly stream: SocketStream;
}

/** With a pipe that the runtime makes. @throws what `child_process.spawn` throws */
export function startChild(file: string, args: readonly string[], options: ChildOptions): Started {
  const child = startWith('pipe', file, args, options);
  return { child, stream: pipeTo(child) };
}

/** This side of the pipe that is the last of its descriptors. */
export function pipeTo(child: ChildProcess): SocketStream {
  // There is none where the system has refused, of which the child's `error` tells.
  const socket = (child.stdio?.[child.stdio.length - 1] as Socket | null | undefined) ?? new Socket();
  socket.allowHalfOpen = true;
  return new SocketStream(socket);
}

/** @param pipe its end of the pipe: one to be made, or a descriptor of this process */
export function startWith(
  pipe: 'pipe' | number,
  file: string,
  args: readonly string[],
  { execPath: program = execPath, execArgv = EXEC_ARGV, env: given = env, stdio = 'inherit', ...others }: ChildOptions,
): ChildProcess {
  const first = typeof stdio === 'string' ? [stdio, stdio, stdio] : [...stdio];
  while (first.length < 3) first.push('inherit');
  return spawn(program, [...execArgv, file, ...args], {
    ...others,
    stdio: [...first, pipe] as 'pipe'[],
    env: { ...given, ...parentIs(first.length) },
  });
}
/** What a child's environment is to say of its pipe. */
export function parentIs(descriptor: number): Readonly<Record<string, string>> {
  return { [NAME]: `${descriptor}:${pid}` };
}
const EXEC_ARGV: readonly string[] = platform.name === 'deno' ? ['run', '--allow-all'] : [];

/** @throws UsageError ERR_OPTION */
export function pathOf(file: unknown): string {
  if (typeof file === 'string' && file !== '') return file;
  if (file instanceof URL && file.protocol === 'file:') return fileURLToPath(file);
  throw new UsageError('ERR_OPTION', `Cannot fork ${String(file)}: expected a path or a file: URL`, {
    option: 'file',
    value: file,
  });
}

/** The descriptor of the pipe to the parent, if this process is such a child; once. */
export function parentDescriptor(): number | undefined {
  const [, fd, parent] = /^(\d+):(\d+)$/.exec(env[NAME] ?? '') ?? [];
  if (!isMainThread || Number(parent) !== ppid) return undefined;
  delete env[NAME];
  claimDescriptor(Number(fd));
  return Number(fd);
}

/** How a child has ended that may have said no goodbye. */
export interface ChildEnd {
  readonly reason: EndReason;
  readonly exit: ExitStatus;
}
/** Tells it once. On Deno what stands at the child itself is what it was sent, not what became of it. */
export function whenEnded(child: ChildProcess, tell: (end: ChildEnd) => void): void {
  child.once('exit', (code, name) => {
    tell(endOf(code, name));
  });
}

/**
 * The same for who blocks, and is told of nothing: read from /proc, as long as the event loop has not fetched it (Linux). Waits with the thread
 * until the process that has closed its pipe has ended, a second at the most; undefined where that cannot be known.
 */
export function endedNow({ pid: of, exitCode, signalCode }: ChildProcess): ChildEnd | undefined {
  if (exitCode !== null || signalCode !== null) return endOf(exitCode, signalCode);
  const nap = new Int32Array(new SharedArrayBuffer(4));
  for (const untilMs = performance.now() + SOCKET_CLOSE_MS; performance.now() < untilMs; Atomics.wait(nap, 0, 0, 1)) {
    const status = statusOf(of);
    if (status === undefined) return undefined;
    if (status < 0) continue;
    const number = status & 0x7f;
    if (number === 0) return endOf(status >>> 8, null);
    return endOf(null, Object.entries(constants.signals).find(([, value]) => value === number)?.[0] ?? `${number}`);
  }
  return undefined;
}
/** What `waitpid` would say of it; -1 while it lives; undefined where nobody tells. */
function statusOf(of: number | undefined): number | undefined {
  try {
    // Behind the name, which may have anything in it: the state first, the status last.
    const fields = readFileSync(`/proc/${of}/stat`, 'latin1')
      .replace(/^.*\) /s, '')
      .trim()
      .split(' ');
    return fields[0] === 'Z' ? Number(fields.at(-1)) : -1;
  } catch {
    return undefined;
  }
}
function endOf(code: number | null, name: string | null): ChildEnd {
  const exit = { code: code ?? undefined, signal: name ?? undefined };
  return { reason: name === null ? 'exit' : OF_ITSELF.has(name) ? 'crash' : 'terminated', exit };
}

/** Signals that a process gets for what it has done. */
const OF_ITSELF: ReadonlySet<string> = new Set([
  'SIGSEGV',
  'SIGABRT',
  'SIGBUS',
  'SIGILL',
  'SIGFPE',
  'SIGTRAP',
  'SIGSYS',
]);
