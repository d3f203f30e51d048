// Servers between programs for tests, each one's own: NATS, Redis, and hubs in a process and in a thread.
import { type ChildProcess, spawn as spawnProcess, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { channel, type Port, type Remote, spawn } from '../../src/index.ts';
import { RUN } from '../runtimes/program.ts';
import { inOneFile } from './in-one-file.ts';
import { within } from './watchdog.ts';

export type Kind = 'nats' | 'redis' | 'cluster' | 'hub' | 'thread';
/** Those that are one process. */
type OneProcess = 'nats' | 'redis' | 'hub';

const READY: Readonly<Record<OneProcess, RegExp>> = {
  nats: /Server is ready/,
  redis: /Ready to accept connections/,
  hub: /Hub is ready/,
};
/** What runs as a server: another build of it, or one that speaks the same, where the environment names it. */
const PROGRAMS = {
  nats: process.env['NATS_SERVER'] ?? 'nats-server',
  redis: process.env['REDIS_SERVER'] ?? 'redis-server',
};
const inFile = (name: string): URL => inOneFile(new URL(`../engines/${name}.js`, import.meta.url));

/** One at a port, or a path, of its own, which may be killed and started anew, with what it has kept on disk. */
export interface EngineServer {
  readonly kind: Kind;
  readonly port: number;
  readonly url: string;
  /** What else it is started with, each time. */
  readonly more: string[];
  start(): Promise<void>;
  /** As if the machine had lost its power. */
  kill(): Promise<void>;
  /** Takes nothing, and says nothing, until it is told to go on: from the moment this has settled. */
  freeze(frozen: boolean): Promise<void>;
  /** What it has on disk is gone. */
  forget(): void;
  stop(): Promise<void>;
  /** A port to a hub. */
  member(): Port;
}

export async function startServer(kind: Kind, more: readonly string[] = []): Promise<EngineServer> {
  const server = await serverOf(kind, more);
  await server.start();
  return server;
}
async function serverOf(kind: Kind, more: readonly string[]): Promise<EngineServer> {
  if (kind === 'thread') return new HubThread();
  if (kind === 'cluster') return new (await import('./redis-cluster.ts')).RedisCluster(more);
  return new ServerProcess(kind, await freePort(), [...more]);
}

class ServerProcess implements EngineServer {
  readonly kind: OneProcess;
  readonly port: number;
  readonly more: string[];
  readonly #folder = temporary();
  #process: ChildProcess | undefined;

  constructor(kind: OneProcess, port: number, more: string[]) {
    this.kind = kind;
    this.port = port;
    this.more = more;
  }
  get url(): string {
    return this.kind === 'hub' ? socketIn(this.#folder) : `${this.kind}://127.0.0.1:${this.port}`;
  }
  async start(): Promise<void> {
    const [program, ...args] = this.#command();
    const started = spawnProcess(program as string, [...args, ...this.more], { stdio: ['ignore', 'pipe', 'pipe'] });
    this.#process = started;
    const ready = new Promise<void>((resolve, reject) => {
      const heard = (text: Buffer): void => {
        if (READY[this.kind].test(String(text))) resolve();
      };
      started.stdout?.on('data', heard);
      started.stderr?.on('data', heard);
      started.once('error', reject);
      started.once('exit', (code) => reject(new Error(`the server (${this.kind}) has ended with ${code}`)));
    });
    await within(`a server (${this.kind})`, ready);
  }
  #command(): string[] {
    const [port, folder] = [String(this.port), this.#folder];
    if (this.kind === 'hub') return [process.execPath, ...RUN, fileURLToPath(inFile('hub-program')), this.url];
    if (this.kind === 'nats') return [PROGRAMS.nats, '-a', '127.0.0.1', '-p', port, '-js', '-sd', folder];
    const kept = ['--dir', folder, '--save', '', '--appendonly', 'yes', '--appendfsync', 'always'];
    return [PROGRAMS.redis, '--bind', '127.0.0.1', '--port', port, ...kept];
  }
  async kill(): Promise<void> {
    const ended = this.#process;
    if (ended === undefined) return;
    this.#process = undefined;
    const gone = once(ended, 'exit');
    ended.kill('SIGKILL');
    await gone;
  }
  async freeze(frozen: boolean): Promise<void> {
    // On Deno a child's own `kill` works once.
    const { pid } = this.#process ?? {};
    if (pid !== undefined) process.kill(pid, frozen ? 'SIGSTOP' : 'SIGCONT');
  }
  forget(): void {
    rmSync(this.#folder, { recursive: true, force: true });
    mkdirSync(this.#folder);
  }
  async stop(): Promise<void> {
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }
  member(): never {
    throw new Error('whoever is in another process connects');
  }
}

/** What a thread with a hub is told. */
export type HubOrder =
  | { readonly address: string }
  | { readonly remote: Remote }
  | { readonly frozen: Int32Array<SharedArrayBuffer> };

class HubThread implements EngineServer {
  readonly kind = 'thread';
  readonly port = 0;
  readonly more: string[] = [];
  readonly #folder = temporary();
  #thread: ReturnType<typeof spawn<'ready' | 'frozen', HubOrder>> | undefined;
  #frozen = new Int32Array(new SharedArrayBuffer(4));

  get url(): string {
    return socketIn(this.#folder);
  }
  async start(): Promise<void> {
    const thread = spawn<'ready' | 'frozen', HubOrder>(inFile('hub-thread'));
    this.#thread = thread;
    thread.port.postMessage({ address: this.url });
    await within('a hub', thread.port.receiveAsync());
  }
  async kill(): Promise<void> {
    // Deno says that a thread has ended while it still answers: from here on it does not. Nor does one end there that stands still.
    if (Atomics.load(this.#frozen, 0) === 0) await this.freeze(true);
    const thread = this.#thread;
    this.#thread = undefined;
    const ended = thread?.worker.terminate();
    await this.freeze(false);
    await ended;
    await thread?.port.closed;
  }
  async freeze(frozen: boolean): Promise<void> {
    const words = this.#frozen;
    Atomics.store(words, 0, frozen ? 1 : 0);
    if (!frozen) Atomics.notify(words, 0);
    else if (this.#thread !== undefined) {
      // What is said to it by another port may be read before this.
      this.#thread.port.postMessage({ frozen: words });
      await within('a thread that stands still', this.#thread.port.receiveAsync());
    }
  }
  /** It keeps nothing on disk. */
  forget(): void {}
  async stop(): Promise<void> {
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }
  member(): Port {
    const { port, remote } = channel();
    if (this.#thread === undefined) throw new Error('there is no hub now');
    this.#thread.port.postMessage({ remote }, remote.transfer);
    return port;
  }
}

function temporary(): string {
  return mkdtempSync(join(tmpdir(), 'millrace-engine-'));
}
function socketIn(folder: string): string {
  return `unix:${join(folder, 'hub.sock')}`;
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Why tests with such a server are skipped, if they are. */
export function missingServer(kind: Kind): string | false {
  if (kind === 'hub' || kind === 'thread') return false;
  const program = PROGRAMS[kind === 'cluster' ? 'redis' : kind];
  const found = spawnSync(program, ['--version']);
  return found.error !== undefined && `no ${program} here: bash bench/install-servers.sh brings it on Debian`;
}
