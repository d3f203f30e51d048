// Our own ports and requests through NATS and Redis, with the same clients as the contenders that publish by hand.
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import type { Engine } from '../../src/engine/engine.ts';
import * as hub from '../../src/hub/index.ts';
import type { Port } from '../../src/index.ts';
import * as nats from '../../src/nats/index.ts';
import { connect, listen } from '../../src/process/index.ts';
import * as redis from '../../src/redis/index.ts';
import { type Home, type Note, type ProcessSubject, sendBy } from '../process-subject.ts';
import type { Missing } from '../subject.ts';
import { natsClient, natsMissing, startNats } from './nats.ts';
import { nodeRedisClient, nodeRedisMissing, redisClient, redisMissing, startRedis } from './redis.ts';

/** A server, and how to reach it. */
interface Kind {
  absent(): Missing | undefined;
  start(): Promise<{ readonly address: unknown; close(): void }>;
  open(address: unknown): Promise<Engine & { close(): Promise<void> }>;
}

const NATS: Kind = {
  absent: natsMissing,
  start: async () => {
    const { port, close } = await startNats();
    return { address: port, close };
  },
  open: async (port) =>
    ending(
      await natsClient(port as number),
      (client) => nats.open(client as never),
      (client) => client.close(),
    ),
};
/** Hubs of this process, by their addresses. */
const hubs = new Map<string, hub.Hub>();
const HUB: Kind = {
  absent: () => undefined,
  start: async () => {
    const address = `unix:${join(tmpdir(), `millrace-hub-${process.pid}-${hubs.size}.sock`)}`;
    const own = new hub.Hub();
    hubs.set(address, own);
    const listener = await listen(address);
    void (async () => {
      for await (const port of listener) own.join(port);
    })();
    const close = (): void => {
      own.close();
      void listener.close();
    };
    return { address, close };
  },
  open: async (address) => {
    const own = hubs.get(address as string);
    return await hub.open(own ?? (await connect(address as string)));
  },
};
const IOREDIS: Kind = {
  absent: redisMissing,
  start: startedRedis,
  open: async (path) => {
    const client = await redisClient(path as string);
    const engine = await redis.open(client as never);
    client.disconnect();
    return engine;
  },
};
const NODE_REDIS: Kind = {
  absent: nodeRedisMissing,
  start: startedRedis,
  open: async (path) => {
    const client = await nodeRedisClient(path as string);
    const engine = await redis.open(client as never);
    client.destroy();
    return engine;
  },
};
async function startedRedis(): Promise<{ readonly address: unknown; close(): void }> {
  const { path, close } = await startRedis();
  return { address: path, close };
}
/** An engine that ends the client which it was given. */
async function ending<C>(
  client: C,
  open: (client: C) => Promise<Engine>,
  end: (client: C) => Promise<unknown>,
): Promise<Engine> {
  const engine = await open(client);
  const close = engine.close.bind(engine);
  engine.close = async () => {
    await close();
    await end(client);
  };
  return engine;
}

async function serve({ start, open }: Kind, ready: (engine: Engine) => Promise<() => Promise<unknown>>): Promise<Home> {
  const { address, close } = await start();
  const engine = await open(address);
  const stop = await ready(engine);
  return {
    address,
    close: async () => {
      await stop();
      await engine.close();
      close();
    },
  };
}
async function listening(engine: Engine, opened: (port: Port) => void): Promise<() => Promise<unknown>> {
  const listener = await engine.listen('master');
  void (async () => {
    for await (const port of listener) opened(port);
  })();
  return () => listener.close();
}

function ports(name: string, label: string, use: string, kind: Kind): ProcessSubject {
  return {
    name,
    label,
    use,
    absent: async () => kind.absent(),
    serve: () =>
      serve(kind, (engine) => listening(engine, (port) => void port.on('message', (note) => port.postMessage(note)))),
    join: async (address, _index, onAnswer) => {
      const engine = await kind.open(address);
      const port = await engine.connect('master');
      port.on('message', (note) => onAnswer(note as Note));
      return {
        send: (note) => port.postMessage(note),
        close: async () => {
          await port.link!.close();
          await engine.close();
        },
      };
    },
    stream: {
      forms: ['bytes', 'object'],
      serve: async () => {
        let opened: (port: Port) => void = () => {};
        const port = new Promise<Port>((resolve) => {
          opened = resolve;
        });
        const home = await serve(kind, (engine) => listening(engine, opened));
        const end = async () => {
          const to = await port;
          const post = (value: unknown): Promise<void> | undefined => {
            to.postMessage(value);
            return to.full ? to.drained() : undefined;
          };
          return { send: sendBy(post)!, close: () => {} };
        };
        return { ...home, end };
      },
      join: async (address) => {
        const engine = await kind.open(address);
        const port = await engine.connect('master');
        let handler: ((value: unknown) => void) | null = null;
        port.on('message', (value) => handler?.(value));
        return {
          listen: (next) => {
            handler = next;
          },
          close: async () => {
            await port.link!.close();
            await engine.close();
          },
        };
      },
    },
  };
}

/** Published to a topic, and read by who listens: once at the most. */
function topics(name: string, label: string, use: string, kind: Kind): ProcessSubject {
  return {
    name,
    label,
    use,
    absent: async () => kind.absent(),
    serve: () =>
      serve(kind, async (engine) => {
        const served = await engine.serve('master', (note) => note);
        return () => served.close();
      }),
    join: async (address, _index, onAnswer) => {
      const engine = await kind.open(address);
      return {
        send: (note) => void engine.request('master', note).then((answer) => onAnswer(answer as Note)),
        close: () => engine.close(),
      };
    },
    stream: {
      forms: ['object'],
      serve: async () => {
        const own: { engine?: Engine } = {};
        const home = await serve(kind, async (engine) => {
          own.engine = engine;
          return async () => {};
        });
        const topic = own.engine!.topic('stream');
        let count = 0;
        const post = (value: unknown): Promise<void> | undefined => {
          topic.publish(value);
          return ++count % FLUSHED === 0 ? topic.flush() : undefined;
        };
        return { ...home, end: () => ({ send: sendBy(post)!, close: () => {} }) };
      },
      join: async (address) => {
        const engine = await kind.open(address);
        const reader = await engine.subscribe('stream', { capacity: 1_000_000 });
        const own: { handler?: ((value: unknown) => void) | null } = {};
        void (async () => {
          for await (const value of reader) own.handler?.(value);
        })();
        return {
          listen: (next) => {
            own.handler = next;
          },
          close: async () => {
            reader.close();
            await engine.close();
          },
        };
      },
    },
  };
}
/** As the contenders that publish by hand. */
const FLUSHED = 512;

const PORT =
  'engine.listen and engine.connect with their defaults, over the same client as the contender beside it: ordered, with back-pressure, and with what is kept for a server that is lost.';
const TOPIC =
  'engine.topic and engine.subscribe, engine.request and engine.serve with their defaults, over the same client: once at the most, numbered. Streams flush with each 512th message, as the contender beside it does.';

const THROUGH_A_HUB = 'through a hub in the process that serves, which the others reach as millrace/process does.';

export const subjects: readonly ProcessSubject[] = [
  ports('millrace-hub:port', 'millrace/hub, a port', `engine.listen and engine.connect ${THROUGH_A_HUB}`, HUB),
  topics(
    'millrace-hub:topic',
    'millrace/hub, topic and request',
    `engine.topic and engine.request ${THROUGH_A_HUB}`,
    HUB,
  ),
  ports('millrace-nats:port', 'millrace/nats, a port', PORT, NATS),
  topics('millrace-nats:topic', 'millrace/nats, topic and request', TOPIC, NATS),
  ports('millrace-redis:port', 'millrace/redis, a port (ioredis)', PORT, IOREDIS),
  topics('millrace-redis:topic', 'millrace/redis, topic and request (ioredis)', TOPIC, IOREDIS),
  ports('millrace-redis:port-node-redis', 'millrace/redis, a port (node-redis)', PORT, NODE_REDIS),
  topics('millrace-redis:topic-node-redis', 'millrace/redis, topic and request (node-redis)', TOPIC, NODE_REDIS),
];
