// Our own ports to processes: over memory that both map, where the addon is built, and over the sockets that everybody has.
import { rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join as joinPath } from 'node:path';
import process from 'node:process';
import type { Port } from '../../src/index.ts';
import { type ConnectOptions, connect, listen } from '../../src/process/index.ts';
import { type Home, type Hub, LAST, type Link, type Note, type ProcessSubject, sendBy } from '../process-subject.ts';
import type { End, Missing } from '../subject.ts';

let count = 0;

/** One way of the same port. */
interface Kind {
  readonly address: 'unix' | 'tcp' | 'pipe';
  /** By what it is to go: what went by another would be measured under its name. */
  readonly way: string;
  readonly options: ConnectOptions;
}

function checkWay(port: Port, { way }: Kind): void {
  const taken = port.link?.way;
  if (taken?.name !== way) throw new Error(`it goes by ${taken?.name} and not by ${way}: ${taken?.why}`);
}

/** @param opened called with the port of each worker */
async function open(kind: Kind, opened: (port: Port) => void): Promise<Home> {
  if (kind.address === 'pipe') return openPipe(kind, opened);
  const path = joinPath(tmpdir(), `millrace-bench-ours-${process.pid}-${count++}.sock`);
  const server = await listen(kind.address === 'unix' ? path : 'tcp:127.0.0.1:0', kind.options);
  const ports: Port[] = [];
  const taking = (async () => {
    for await (const port of server) {
      ports.push(port);
      opened(port);
    }
  })();
  return {
    address: server.address,
    close: async () => {
      for (const port of ports) port.close();
      await server.close();
      await taking;
      rmSync(path, { force: true });
    },
  };
}

/** Behind the three of every program and that of `send`. */
const PIPE = 4;

function openPipe(kind: Kind, opened: (port: Port) => void): Home {
  const ports: Promise<Port>[] = [];
  return {
    address: `pipe:${PIPE}`,
    forkOptions: { stdio: ['ignore', 'inherit', 'inherit', 'ipc', 'pipe'] },
    adopt: (child) => {
      const port = connect(child.stdio[PIPE] as Socket, kind.options);
      ports.push(port);
      port.then(opened, () => {});
    },
    close: async () => {
      for (const port of await Promise.allSettled(ports)) if (port.status === 'fulfilled') port.value.close();
    },
  };
}

function echo(port: Port): void {
  port.on('message', (note) => port.postMessage(note));
}

/** Of channels of which there are many: a request has room many times over. */
const SMALL = { capacityBytes: 16 << 10 };
/** Opened at a time, well below what may wait over there. */
const OPENING = 50;

function serve(kind: Kind): () => Promise<Hub> {
  return () =>
    open(kind, (port) => {
      echo(port);
      (async () => {
        for await (const offer of port.link!.channels) echo(offer.accept(SMALL));
      })();
    });
}

function joinMany(kind: Kind): Required<ProcessSubject>['joinMany'] {
  return async (address, count, onAnswer): Promise<Link> => {
    const { link } = await joined(kind, address);
    const ports: Port[] = [];
    while (ports.length < count) {
      const some = Array.from({ length: Math.min(OPENING, count - ports.length) }, (_, i) =>
        link!.channel(`channel ${ports.length + i}`, SMALL),
      );
      await Promise.all(some.map((port) => port.ready));
      ports.push(...some);
    }
    for (const port of ports) port.on('message', (note) => onAnswer(note as Note));
    return { send: (note) => ports[count >> 1]!.postMessage(note), close: () => link!.close() };
  };
}

const ANSWER_MS = 20_000;

function received(port: Port): Note {
  const note = port.receive({ timeoutMs: ANSWER_MS });
  if (typeof note === 'object') return note as Note;
  throw new Error(`no note came, but ${String(note)}`);
}

async function serveBlocked(kind: Kind): Promise<Hub> {
  let port: Port | undefined;
  const home = await open(kind, (opened) => {
    port = opened;
  });
  const answerBlocked = (): void => {
    for (let id = 0; id !== LAST; ) {
      const note = received(port!);
      id = note.id;
      port!.send(note);
    }
  };
  return { ...home, answerBlocked };
}

function joinBlocked(kind: Kind) {
  return async (address: unknown): Promise<Link> => {
    const port = await joined(kind, address);
    const ask = (note: Note): Note => {
      port.send(note);
      return received(port);
    };
    return { send: (note) => port.send(note), ask, close: () => port.close() };
  };
}

/** Both processes stand still in `receive` and `send`. */
function blocked(name: string, label: string, use: string, kind: Kind): ProcessSubject {
  return {
    name: `millrace-process:${name}`,
    label: `millrace/process, ${label}, both block`,
    use,
    wait: 'block/block',
    ...(kind.way === 'memory' && { absent: withoutMemory }),
    serve: () => serveBlocked(kind),
    join: joinBlocked(kind),
  };
}

async function joined(kind: Kind, address: unknown): Promise<Port> {
  const port = await connect(address as string, kind.options);
  await port.ready;
  checkWay(port, kind);
  return port;
}

function join(kind: Kind) {
  return async (address: unknown, _index: number, onAnswer: (note: Note) => void): Promise<Link> => {
    const port = await joined(kind, address);
    port.on('message', (note) => onAnswer(note as Note));
    return { send: (note) => port.postMessage(note), close: () => port.close() };
  };
}

/** What is posted waits within the port's own bounds. */
function sendingEnd(port: Port): End {
  const post = (value: unknown): Promise<void> | undefined => {
    port.postMessage(value);
    return port.full ? port.drained() : undefined;
  };
  return { send: sendBy(post)!, close: () => {} };
}

function receivingEnd(port: Port): End {
  let handler: ((value: unknown) => void) | null = null;
  port.on('message', (value) => handler?.(value));
  return {
    listen: (next) => {
      handler = next;
    },
    close: () => port.close(),
  };
}

/** The addon is asked for by what it is for. */
async function withoutMemory(): Promise<Missing | undefined> {
  const path = joinPath(tmpdir(), `millrace-bench-asks-${process.pid}-${count++}.sock`);
  await using server = await listen(path);
  const port = await connect(server.address);
  const way = port.link?.way;
  return way?.name === 'memory' ? undefined : { reason: way?.why ?? 'no memory', remedy: 'npm run native' };
}

function subject(name: string, label: string, use: string, kind: Kind): ProcessSubject {
  const absent = kind.way === 'memory' ? { absent: withoutMemory } : {};
  return {
    name: `millrace-process:${name}`,
    label: `millrace/process, ${label}`,
    use,
    ...absent,
    serve: serve(kind),
    join: join(kind),
    joinMany: joinMany(kind),
    stream: {
      forms: ['bytes', 'object'],
      serve: async () => {
        let opened: (port: Port) => void = () => {};
        const port = new Promise<Port>((resolve) => {
          opened = resolve;
        });
        return { ...(await open(kind, opened)), end: async () => sendingEnd(await port) };
      },
      join: async (address) => receivingEnd(await joined(kind, address)),
    },
  };
}

export const subjects: readonly ProcessSubject[] = [
  subject(
    'memory',
    'shared memory',
    'listen and connect with their defaults, where the addon is built: values in and out through rings that both processes map; event loops look again for a while before they sleep. Streams wait for drained() when the port is full.',
    { address: 'unix', way: 'memory', options: {} },
  ),
  subject(
    'memory-parked',
    'shared memory, parked',
    'The same with spinMicroseconds: 0: each waits asleep in its event loop, and is rung.',
    { address: 'unix', way: 'memory', options: { spinMicroseconds: 0 } },
  ),
  subject(
    'unix',
    'unix socket',
    'listen and connect with memory: false, as where there is no addon: values in and out, flow control and acknowledgements included; one write a turn.',
    { address: 'unix', way: 'unix', options: { memory: false } },
  ),
  subject('tcp', 'TCP', 'The same over 127.0.0.1.', { address: 'tcp', way: 'tcp', options: {} }),
  subject(
    'pipe',
    'pipe',
    'The same over an extra descriptor of a child of fork(), which both connect to: what there is without an address.',
    { address: 'pipe', way: 'pipe', options: { memory: false } },
  ),
  blocked(
    'memory-blocked',
    'shared memory',
    'receive() and send() in both processes, which never return to their event loops: for a worker that has one thing to do. One stream of one worker.',
    { address: 'unix', way: 'memory', options: {} },
  ),
  blocked(
    'unix-blocked',
    'unix socket',
    'The same over a socket, with blocking: true: another thread of each process has the socket.',
    { address: 'unix', way: 'unix', options: { memory: false, blocking: true } },
  ),
];
