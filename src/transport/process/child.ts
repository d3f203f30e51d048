// A child process that has an extra pipe to its parent, from both its sides.
import { type ChildProcess, spawn } from 'node:child_process';
import { connect, Socket } from 'node:net';
import { env, execPath, pid, ppid } from 'node:process';
import { fileURLToPath } from 'node:url';
import { isMainThread } from 'node:worker_threads';
import { platform } from '#platform';
import { UsageError } from '../../errors.ts';
import type { EndReason } from '../../outcome.ts';
import type { ExitStatus } from '../transport.ts';
import { ReadPlace, SocketStream } from './socket-stream.ts';

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

/** @throws what `child_process.spawn` throws */
export function startChild(file: string, args: readonly string[], options: ChildOptions): Started {
  const {
    execPath: program = execPath,
    execArgv = EXEC_ARGV,
    env: given = env,
    stdio = 'inherit',
    ...others
  } = options;
  const first = typeof stdio === 'string' ? [stdio, stdio, stdio] : [...stdio];
  while (first.length < 3) first.push('inherit');
  const child = spawn(program, [...execArgv, file, ...args], {
    ...others,
    stdio: [...first, 'pipe'] as 'pipe'[],
    env: { ...given, [NAME]: `${first.length}:${pid}` },
  });
  // There is none where the system has refused, of which the child's `error` tells.
  const socket = (child.stdio?.[first.length as 3] as Socket | null | undefined) ?? new Socket();
  socket.allowHalfOpen = true;
  return { child, stream: new SocketStream(socket) };
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

/** The pipe to the parent, if this process is such a child; once. */
export function parentStream(): SocketStream | undefined {
  const [, fd, parent] = /^(\d+):(\d+)$/.exec(env[NAME] ?? '') ?? [];
  if (!isMainThread || Number(parent) !== ppid) return undefined;
  delete env[NAME];
  const place = new ReadPlace();
  const options = { fd: Number(fd), readable: true, writable: true, allowHalfOpen: true, ...place.options };
  // On Bun a socket that is made of a descriptor delivers nothing, and one that connects to it does.
  const socket = platform.name === 'bun' ? connect(options as never) : new Socket(options);
  socket.pause();
  return new SocketStream(socket, place);
}

/** How a child has ended that may have said no goodbye. */
export interface ChildEnd {
  readonly reason: EndReason;
  readonly exit: ExitStatus;
}
/** Tells it once. On Deno what stands at the child itself is what it was sent, not what became of it. */
export function whenEnded(child: ChildProcess, tell: (end: ChildEnd) => void): void {
  child.once('exit', (code, name) => {
    const exit = { code: code ?? undefined, signal: name ?? undefined };
    tell({ reason: name === null ? 'exit' : OF_ITSELF.has(name) ? 'crash' : 'terminated', exit });
  });
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
