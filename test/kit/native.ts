// The addon as `npm run native` has built it, for tests; and programs that run beside a test as processes of their own.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { native as found } from '../../src/native/load.ts';
import { platformName } from '../../src/native/platform-name.ts';
import type { Primitives } from '../../src/native/primitives.ts';
import { inOneFile } from './in-one-file.ts';
import { within } from './watchdog.ts';

export function addonFile(): string {
  return fileURLToPath(new URL(`../../native/${platformName()}/millrace.node`, import.meta.url));
}

/** MILLRACE_NATIVE may name another file, such as the one with sanitizers, or say `ffi`. */
export const nativeChoice: string = process.env['MILLRACE_NATIVE'] ?? addonFile();
export const native: Primitives = find(nativeChoice);
function find(choice: string): Primitives {
  return choice === 'ffi' ? (found().primitives as Primitives) : createRequire(import.meta.url)(choice);
}

/**
 * Descriptors that this process has: without the one that asks, and without what comes some time after a test's start and stays: the spare one that libuv opens with
 * the first stream of a loop, and the file of the test runner's report (tools/test-file.mjs).
 */
export function descriptors(): string[] {
  const folder = '/proc/self/fd';
  return readdirSync(folder).filter((fd) => {
    try {
      const target = readlinkSync(`${folder}/${fd}`);
      return target !== '/dev/null' && !target.endsWith('/report.xml');
    } catch {
      return false;
    }
  });
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

/** What another agent has said and nobody has asked for yet; its last words may come together with its end. */
abstract class Other {
  readonly #words: unknown[] = [];
  #end: string | undefined;
  #changed: () => void = () => {};

  protected heard(word: unknown): void {
    this.#words.push(word);
    this.#changed();
  }
  protected over(how: string): void {
    this.#end = how;
    this.#changed();
  }
  /** What it says next. */
  said(): Promise<unknown> {
    return within('a word of the other side', this.#next());
  }
  async #next(): Promise<unknown> {
    while (this.#words.length === 0) {
      if (this.#end !== undefined) throw new Error(`it ended without a word: ${this.#end}`);
      await new Promise<void>((resolve) => {
        this.#changed = resolve;
      });
    }
    return this.#words.shift();
  }
}

/** The first descriptor that a program is given. */
export const FIRST_GIVEN = 4;

const running = new Set<ChildProcess>();
/** Ends what a test that failed has left; nobody would. */
export function endPrograms(): void {
  for (const child of running) child.kill('SIGKILL');
}

/** A process that runs a role of test/native/program.ts, and is told and tells by Node's own IPC. */
export class Program extends Other {
  readonly child: ChildProcess;
  readonly ended: Promise<{ code: number | null; signal: string | null }>;

  /** @param given descriptors; the program has them from FIRST_GIVEN on */
  constructor(role: string, given: readonly number[] = []) {
    super();
    const program = fileURLToPath(inOneFile(new URL('../native/program.js', import.meta.url)));
    this.child = spawn(process.execPath, [program, role], { stdio: ['ignore', 'inherit', 'inherit', 'ipc', ...given] });
    running.add(this.child);
    this.child.on('message', (message) => this.heard(message));
    this.ended = once(this.child, 'exit').then(([code, signal]) => ({ code, signal }));
    // What it said before its end may come behind it, but not behind the end of the channel.
    this.child.on('disconnect', () => this.over('disconnected'));
    this.ended.then(() => running.delete(this.child));
  }
  get pid(): number {
    return this.child.pid!;
  }
  tell(message: unknown): void {
    this.child.send(message as object);
  }
  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await within('the program to be gone', this.ended);
  }
}

/** A thread that runs a role of test/native/thread.ts. */
export class Thread extends Other {
  readonly #worker: Worker;
  readonly #ended: Promise<unknown>;

  constructor(role: string, data: object = {}) {
    super();
    this.#worker = new Worker(inOneFile(new URL('../native/thread.js', import.meta.url)), {
      workerData: { role, ...data },
    });
    this.#worker.on('message', (message) => this.heard(message));
    this.#ended = once(this.#worker, 'exit').then(([code]) => this.over(`exit ${code}`));
  }
  ended(): Promise<unknown> {
    return within('the thread to end', this.#ended);
  }
  terminate(): Promise<unknown> {
    return within('the thread to be terminated', this.#worker.terminate());
  }
}
