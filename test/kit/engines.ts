// Servers between programs for tests, each one's own, and what opens a door to them: NATS, and Redis by both of its clients. Tests of a server that is not
// here are skipped by its name.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { after, test } from 'node:test';
import type { Engine } from '../../src/engine/engine.ts';
import * as nats from '../../src/nats/index.ts';
import * as redis from '../../src/redis/index.ts';
import { within } from './watchdog.ts';

type Kind = 'nats' | 'redis';

const READY: Readonly<Record<Kind, RegExp>> = { nats: /Server is ready/, redis: /Ready to accept connections/ };

/** A server at a port of its own, which may be killed and started anew, with what it has kept on disk. */
export class EngineServer {
  readonly kind: Kind;
  readonly port: number;
  readonly #folder = mkdtempSync(join(tmpdir(), 'millrace-engine-'));
  /** What else it is started with, each time. */
  readonly more: string[];
  #process: ChildProcess | undefined;

  private constructor(kind: Kind, port: number, more: string[]) {
    this.kind = kind;
    this.port = port;
    this.more = more;
  }
  static async start(kind: Kind, more: readonly string[] = []): Promise<EngineServer> {
    const server = new EngineServer(kind, await freePort(), [...more]);
    await server.start();
    return server;
  }
  get url(): string {
    return `${this.kind}://127.0.0.1:${this.port}`;
  }
  async start(): Promise<void> {
    const started = spawn(`${this.kind}-server`, [...this.#options(), ...this.more], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#process = started;
    const ready = new Promise<void>((resolve, reject) => {
      const heard = (text: Buffer): void => {
        if (READY[this.kind].test(String(text))) resolve();
      };
      started.stdout?.on('data', heard);
      started.stderr?.on('data', heard);
      started.once('error', reject);
      started.once('exit', (code) => reject(new Error(`${this.kind}-server has ended with ${code}`)));
    });
    await within(`${this.kind}-server`, ready);
  }
  #options(): string[] {
    const port = String(this.port);
    if (this.kind === 'nats') return ['-a', '127.0.0.1', '-p', port, '-js', '-sd', this.#folder];
    return [
      '--bind',
      '127.0.0.1',
      '--port',
      port,
      '--dir',
      this.#folder,
      '--save',
      '',
      '--appendonly',
      'yes',
      '--appendfsync',
      'always',
    ];
  }
  /** As if the machine had lost its power. */
  async kill(): Promise<void> {
    const ended = this.#process;
    if (ended === undefined) return;
    this.#process = undefined;
    const gone = once(ended, 'exit');
    ended.kill('SIGKILL');
    await gone;
  }
  /** Takes nothing, and says nothing, until it is told to go on. */
  freeze(frozen: boolean): void {
    // On Deno a child's own `kill` works once.
    const { pid } = this.#process ?? {};
    if (pid !== undefined) process.kill(pid, frozen ? 'SIGSTOP' : 'SIGCONT');
  }
  /** What it has on disk is gone. */
  forget(): void {
    rmSync(this.#folder, { recursive: true, force: true });
    mkdirSync(this.#folder);
  }
  async stop(): Promise<void> {
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** One way to a server. */
interface Way {
  readonly name: string;
  readonly kind: Kind;
  /** Why its tests are skipped, if they are. */
  readonly missing: string | false;
  open(server: EngineServer, options?: { prefix?: string }): Promise<Engine>;
}

/** Why tests with such a server are skipped, if they are. */
export function missingServer(kind: Kind): string | false {
  const found = spawnSync(`${kind}-server`, ['--version']);
  return found.error !== undefined && `no ${kind}-server here: bash bench/install-servers.sh brings it on Debian`;
}
interface IoredisPackage {
  readonly Redis: new (port: number) => redis.IoredisClient & { disconnect(): void };
}

const WAYS: readonly Way[] = [
  { name: 'nats', kind: 'nats', missing: missingServer('nats'), open: ({ url }, options) => nats.open(url, options) },
  {
    name: 'redis',
    kind: 'redis',
    missing: missingServer('redis'),
    open: ({ url }, options) => redis.open(url, options),
  },
  {
    name: 'ioredis',
    kind: 'redis',
    missing: missingServer('redis'),
    open: async ({ port }, options) => {
      const name = 'ioredis';
      const { Redis } = (await import(name)) as IoredisPackage;
      const client = new Redis(port);
      try {
        return await redis.open(client, options);
      } finally {
        client.disconnect();
      }
    },
  },
];

/** What the tests of one way share: a server, started for the first of them, and doors that are closed behind the last. */
export class World {
  readonly name: string;
  readonly kind: Kind;
  readonly #way: Way;
  readonly #engines: Engine[] = [];
  #server: EngineServer | undefined;

  constructor(way: Way) {
    this.name = way.name;
    this.kind = way.kind;
    this.#way = way;
  }
  get server(): EngineServer {
    if (this.#server === undefined) throw new Error('no engine was opened yet');
    return this.#server;
  }
  async open(count: number): Promise<Engine[]> {
    this.#server ??= await EngineServer.start(this.kind);
    const opened: Engine[] = [];
    while (opened.length < count) opened.push(await this.another(this.#server));
    return opened;
  }
  async another(server: EngineServer, options?: { prefix?: string }): Promise<Engine> {
    const engine = await this.#way.open(server, options);
    this.#engines.push(engine);
    return engine;
  }
  async close(): Promise<void> {
    // Some of what tests answer with never comes.
    await Promise.all(this.#engines.map((engine) => engine.close({ drainMs: 100 })));
    await this.#server?.stop();
  }
}

/** Registers the tests of each way, or one that is skipped and says why. */
export function overEngines(tests: (world: World) => void): void {
  for (const way of WAYS) {
    if (way.missing === false) {
      const world = new World(way);
      after(() => world.close());
      tests(world);
    } else test(`through ${way.name}`, { skip: way.missing }, () => {});
  }
}
