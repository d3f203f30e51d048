// Ways to say the same to many processes: what the master does for each message, and what each reader does.
import { Buffer } from 'node:buffer';
import type { ChildProcess, ForkOptions } from 'node:child_process';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join as joinPath } from 'node:path';
import type { Port, PortLink } from '../src/process/index.ts';
import type { TopicReader } from '../src/topic/index.ts';
import { openDoor } from './doors.ts';
import type { Home } from './process-subject.ts';
import type { Missing, Wait } from './subject.ts';
import { type Client, redisClient, redisMissing, startRedis } from './subjects/redis.ts';
import { connectTo, serveSockets } from './subjects/socket-home.ts';

export interface BroadcastHome extends Home {
  /** Says it to all that have joined. */
  publish(value: unknown): void;
  /** Publishes what goes together, where there is a way to say so. */
  together?(body: () => void): void;
  /** Lets go of what was kept back for more. */
  flush?(): void;
}

/** In a process that reads. */
export interface Inlet {
  /** Blocks the thread for messages until the home closes, where that is its way. */
  block?(): void;
  close(): void;
}

export interface Broadcast {
  readonly subject: string;
  readonly label: string;
  readonly wait: Wait;
  absent?(): Missing | undefined | Promise<Missing | undefined>;
  serve(readers: number): Promise<BroadcastHome>;
  join(address: unknown, heard: (value: unknown) => void): Promise<Inlet>;
}

let topics = 0;

/** Ours. */
function topic(name: string, label: string, blocks: boolean, wakes: 'writer' | 'thread'): Broadcast {
  return {
    subject: name,
    label,
    wait: blocks ? 'loop/block' : 'loop/loop',
    absent: async () => {
      const { features } = await openDoor<typeof import('../src/process/index.ts')>('./process');
      const { name, why } = features().processWay;
      return name === 'memory' ? undefined : { reason: why ?? name, remedy: 'npm run native' };
    },
    serve: async (readers) => {
      const { listen, processMemory } = await openDoor<typeof import('../src/process/index.ts')>('./process');
      const { createTopic } = await openDoor<typeof import('../src/topic/index.ts')>('./topic');
      const made = createTopic({ memory: processMemory(), reliableReaders: readers, wakes });
      const server = await listen(joinPath(tmpdir(), `millrace-bench-topic-${process.pid}-${topics++}.sock`));
      const ports: Port[] = [];
      const taking = (async () => {
        for await (const port of server) {
          ports.push(port);
          void (port.link as PortLink).shareTopic('bench', made);
        }
      })();
      return {
        address: server.address,
        publish: (value) => made.publish(value),
        together: (body) => made.cork(body),
        close: async () => {
          made.close();
          for (const port of ports) port.close();
          await server.close();
          await taking;
        },
      };
    },
    join: async (address, heard) => {
      const { connect } = await openDoor<typeof import('../src/process/index.ts')>('./process');
      const { subscribe } = await openDoor<typeof import('../src/topic/index.ts')>('./topic');
      const port = await connect(address as string);
      const reader = subscribe(await (port.link as PortLink).topic('bench'), { slow: 'reliable' });
      if (!blocks) void listenTo(reader, heard);
      return {
        ...(blocks && {
          block: () => {
            for (const value of reader.blocking()) heard(value);
          },
        }),
        close: () => {
          reader.close();
          port.close();
        },
      };
    },
  };
}
async function listenTo(reader: TopicReader, heard: (value: unknown) => void): Promise<void> {
  for await (const value of reader) heard(value);
}

function childProcessSend(serialization: 'json' | 'advanced'): Broadcast {
  return {
    subject: serialization === 'json' ? 'child-process-send' : 'child-process-send:advanced',
    label: `child_process.send to each, ${serialization}`,
    wait: 'loop/loop',
    serve: async () => {
      const children: ChildProcess[] = [];
      const forkOptions: ForkOptions = { serialization };
      return {
        address: undefined,
        forkOptions,
        adopt: (child) => void children.push(child),
        publish: (value) => {
          for (const child of children) child.send(value as object);
        },
        close: () => {},
      };
    },
    join: async (_address, heard) => {
      process.on('message', (message: unknown) => {
        if ((message as { ctl?: string }).ctl === undefined) heard(message);
      });
      return { close: () => {} };
    },
  };
}

/** A line of JSON for each message, made once; what is said in one turn is one write to each socket. */
const sockets: Broadcast = {
  subject: 'unix-json',
  label: 'a unix socket to each, JSON lines made once',
  wait: 'loop/loop',
  serve: async () => {
    const readers: Socket[] = [];
    const home = await serveSockets('unix', (socket) => {
      readers.push(socket);
      socket.write('\n');
    });
    let gathered = '';
    return {
      ...home,
      publish: (value) => {
        gathered += `${JSON.stringify(value)}\n`;
      },
      flush: () => {
        const bytes = Buffer.from(gathered);
        gathered = '';
        for (const reader of readers) reader.write(bytes);
      },
    };
  },
  join: async (address, heard) => {
    const socket = await connectTo(address);
    socket.setEncoding('utf8');
    let rest = '';
    // Who is connected may still stand in the server's backlog: an empty line says that it is among the readers.
    await new Promise<void>((resolve) => {
      socket.on('data', (text: string) => {
        const lines = (rest + text).split('\n');
        rest = lines.pop() as string;
        for (const line of lines) {
          if (line === '') resolve();
          else heard(JSON.parse(line));
        }
      });
    });
    return { close: () => void socket.destroy() };
  },
};

/** One command a message, whose pipeline goes out in one write. */
const redis: Broadcast = {
  subject: 'redis',
  label: 'Redis pub/sub (ioredis, unix socket)',
  wait: 'loop/loop',
  absent: redisMissing,
  serve: async () => {
    const { path, close } = await startRedis();
    const publisher = await redisClient(path);
    let gathered = publisher.pipeline();
    return {
      address: path,
      publish: (value) => void gathered.publish('bench', JSON.stringify(value)),
      flush: () => {
        void gathered.exec();
        gathered = publisher.pipeline();
      },
      close: () => {
        publisher.disconnect();
        close();
      },
    };
  },
  join: async (address, heard) => {
    const subscriber: Client = await redisClient(address as string);
    subscriber.on('message', (_channel, message) => heard(JSON.parse(message)));
    await subscriber.subscribe('bench');
    return { close: () => subscriber.disconnect() };
  },
};

export const broadcasts: readonly Broadcast[] = [
  topic('millrace-process-topic', 'topic, readers on event loops', false, 'writer'),
  topic('millrace-process-topic:thread', 'topic, readers on event loops, a thread wakes them', false, 'thread'),
  topic('millrace-process-topic:blocked', 'topic, readers block', true, 'writer'),
  childProcessSend('json'),
  childProcessSend('advanced'),
  sockets,
  redis,
];
