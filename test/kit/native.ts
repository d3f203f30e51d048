// The addon as `npm run native` has built it, for tests; and programs that run beside a test as processes of their own.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import type { NativeAddon } from './native-addon.ts';
import { within } from './watchdog.ts';

function file(): string {
  const musl = readdirSync('/lib').some((name) => name.startsWith('ld-musl-'));
  const platform = `${process.platform}-${process.arch}${musl ? '-musl' : ''}`;
  return fileURLToPath(new URL(`../../native/${platform}/millrace.node`, import.meta.url));
}

/** MILLRACE_NATIVE may name another file, such as the one with sanitizers. */
export const native: NativeAddon = createRequire(import.meta.url)(process.env['MILLRACE_NATIVE'] ?? file());

/** Descriptors that this process has, without those that come and go with asking. */
export function descriptors(): string[] {
  return readdirSync('/proc/self/fd').sort();
}

/** The `code` that a call throws with. */
export function codeOf(call: () => unknown): unknown {
  try {
    call();
  } catch (error) {
    return (error as { code?: unknown }).code;
  }
  return 'nothing thrown';
}

/** The first descriptor that a program is given. */
export const FIRST_GIVEN = 4;

const running = new Set<ChildProcess>();
/** Ends what a test that failed has left; nobody would. */
export function endPrograms(): void {
  for (const child of running) child.kill('SIGKILL');
}

/** A process that runs a role of test/native/program.ts, and is told and tells by Node's own IPC. */
export class Program {
  readonly child: ChildProcess;
  readonly #said: unknown[] = [];
  readonly #listeners: (() => void)[] = [];
  readonly ended: Promise<{ code: number | null; signal: string | null }>;

  /** @param given descriptors; the program has them from FIRST_GIVEN on */
  constructor(role: string, given: readonly number[] = []) {
    const program = fileURLToPath(new URL('../native/program.js', import.meta.url));
    this.child = spawn(process.execPath, [program, role], { stdio: ['ignore', 'inherit', 'inherit', 'ipc', ...given] });
    running.add(this.child);
    this.child.on('message', (message) => {
      this.#said.push(message);
      for (const listener of this.#listeners.splice(0)) listener();
    });
    this.ended = once(this.child, 'exit').then(([code, signal]) => ({ code, signal }));
    this.ended.then(() => {
      running.delete(this.child);
      for (const listener of this.#listeners.splice(0)) listener();
    });
  }
  get pid(): number {
    return this.child.pid!;
  }
  tell(message: unknown): void {
    this.child.send(message as object);
  }
  /** What it says next. */
  said(): Promise<unknown> {
    return within('a word of the program', this.#next());
  }
  async #next(): Promise<unknown> {
    while (this.#said.length === 0) {
      if (this.child.exitCode !== null || this.child.signalCode !== null)
        throw new Error(`the program ended with ${this.child.exitCode ?? this.child.signalCode}`);
      await new Promise<void>((resolve) => this.#listeners.push(resolve));
    }
    return this.#said.shift();
  }
  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await within('the program to be gone', this.ended);
  }
}
