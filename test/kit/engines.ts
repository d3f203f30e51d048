// What opens a door to a server between programs in tests: NATS, Redis by both of its clients, and hubs. Tests of a server that is not here are skipped by its name.
import process from 'node:process';
import { after, test } from 'node:test';
import type { Engine } from '../../src/engine/engine.ts';
import * as hub from '../../src/hub/index.ts';
import * as nats from '../../src/nats/index.ts';
import { connect } from '../../src/process/index.ts';
import * as redis from '../../src/redis/index.ts';
import { runtimeKind } from '../runtimes/program.ts';
import { type EngineServer, type Kind, missingServer, startServer } from './engine-servers.ts';

/** One way to a server. */
interface Way {
  readonly name: string;
  readonly kind: Kind;
  /** Why its tests are skipped, if they are. */
  readonly missing: string | false;
  open(server: EngineServer, options?: { prefix?: string }): Promise<Engine>;
}

interface IoredisPackage {
  readonly Redis: new (port: number) => redis.IoredisClient & { disconnect(): void };
}

/** All tests over one more server are minutes: of a cluster on one runtime. `cluster.test.ts` runs on each. */
const ALL_OF_CLUSTERS = runtimeKind === 'node' && Number.parseInt(process.versions.node, 10) >= 26;

const WAYS: readonly Way[] = [
  {
    name: 'a hub in a thread',
    kind: 'thread',
    missing: false,
    open: (server, options) => hub.open(() => server.member(), options),
  },
  {
    name: 'a hub in a process',
    kind: 'hub',
    missing: false,
    open: ({ url }, options) => hub.open(() => connect(url), options),
  },
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

const CLUSTER: Way = {
  name: 'a cluster of redis',
  kind: 'cluster',
  missing: missingServer('cluster'),
  open: ({ url }, options) => redis.open(url, options),
};

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
    this.#server ??= await startServer(this.kind);
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
  for (const way of ALL_OF_CLUSTERS ? [...WAYS, CLUSTER] : WAYS) {
    if (way.missing === false) {
      const world = new World(way);
      after(() => world.close());
      tests(world);
    } else test(`through ${way.name}`, { skip: way.missing }, () => {});
  }
}
