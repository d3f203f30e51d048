// Our own ports between machines, over loopback here.
import type { Port } from '../../src/index.ts';
import { type ConnectOptions, connect, listen } from '../../src/net/index.ts';
import { type Home, type Note, type ProcessSubject, sendBy } from '../process-subject.ts';
import type { End, Missing } from '../subject.ts';
import { loadRival, missingRival } from './rival.ts';

interface Kind {
  readonly address: string;
  readonly options?: () => Promise<ConnectOptions>;
}

/** @param opened called with the port of each worker */
async function open({ address }: Kind, opened: (port: Port) => void): Promise<Home> {
  const server = await listen(address);
  const taking = (async () => {
    for await (const port of server) opened(port);
  })();
  return {
    address: server.address,
    close: async () => {
      await server.close();
      await taking;
    },
  };
}
async function joined(kind: Kind, address: unknown): Promise<Port> {
  const port = await connect(address as string, await kind.options?.());
  await port.ready;
  return port;
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

function subject(name: string, label: string, use: string, kind: Kind): ProcessSubject {
  return {
    name: `millrace-net:${name}`,
    label: `millrace/net, ${label}`,
    use,
    ...(name === 'ws' && { absent: withoutWs }),
    serve: () => open(kind, (port) => void port.on('message', (note) => port.postMessage(note))),
    join: async (address, _index, onAnswer) => {
      const port = await joined(kind, address);
      port.on('message', (note) => onAnswer(note as Note));
      return { send: (note) => port.postMessage(note), close: () => port.link!.close() };
    },
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

async function withoutWs(): Promise<Missing | undefined> {
  try {
    await (await listen('ws://127.0.0.1:0/')).close();
  } catch (error) {
    return { reason: (error as Error).message, remedy: 'npm install ws' };
  }
  return missingRival('ws', 'wrapper.mjs');
}
interface WsPackage {
  readonly WebSocket: new (url: string, options: object) => object;
}
/** The same client as the contender that has JSON over it, and not the runtime's own. */
async function withWs(): Promise<ConnectOptions> {
  const { WebSocket } = await loadRival<WsPackage>('ws', 'wrapper.mjs');
  return { webSocket: (url: string) => new WebSocket(url, { perMessageDeflate: false }) as never };
}

export const subjects: readonly ProcessSubject[] = [
  subject(
    'ws',
    'WebSocket of ws',
    'listen and connect with their defaults, over the package ws at both ends: values in and out, flow control, acknowledgements, and what is kept for a line that breaks.',
    { address: 'ws://127.0.0.1:0/', options: withWs },
  ),
  subject('tcp', 'TCP', 'The same over a socket.', { address: 'tcp:127.0.0.1:0' }),
];
