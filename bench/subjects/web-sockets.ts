// WebSockets of the package `ws` with JSON: what most programs have between machines.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Home, type Note, type ProcessSubject, sendBy } from '../process-subject.ts';
import type { End } from '../subject.ts';
import { loadRival, missingRival } from './rival.ts';

interface Socket {
  readonly bufferedAmount: number;
  send(text: string, sent?: () => void): void;
  on(type: 'message', heard: (data: Buffer) => void): void;
  once(type: 'open', opened: () => void): void;
  close(): void;
}
interface Package {
  readonly WebSocket: new (url: string, options: object) => Socket;
  readonly WebSocketServer: new (options: object) => { on(type: 'connection', opened: (socket: Socket) => void): void };
}

const NAME = 'ws';
const FILE = 'wrapper.mjs';
/** On loopback, compression only costs. */
const OPTIONS = { perMessageDeflate: false };
/** From so many unsent bytes on a sender waits. */
const HIGH_WATER = 1 << 20;

async function open(opened: (socket: Socket) => void): Promise<Home> {
  const { WebSocketServer } = await loadRival<Package>(NAME, FILE);
  const server: Server = createServer();
  server.on('connection', (socket) => socket.setNoDelay(true));
  new WebSocketServer({ server, ...OPTIONS }).on('connection', opened);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    address: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
async function joined(address: unknown): Promise<Socket> {
  const { WebSocket } = await loadRival<Package>(NAME, FILE);
  const socket = new WebSocket(address as string, OPTIONS);
  await new Promise<void>((resolve) => socket.once('open', resolve));
  return socket;
}

function sendingEnd(socket: Socket): End {
  const post = (value: unknown): Promise<void> | undefined => {
    const text = JSON.stringify(value);
    if (socket.bufferedAmount < HIGH_WATER) {
      socket.send(text);
      return undefined;
    }
    return new Promise((resolve) => socket.send(text, resolve));
  };
  return { send: sendBy(post)!, close: () => {} };
}
function receivingEnd(socket: Socket): End {
  let handler: ((value: unknown) => void) | null = null;
  socket.on('message', (data) => handler?.(JSON.parse(String(data))));
  return {
    listen: (next) => {
      handler = next;
    },
    close: () => socket.close(),
  };
}

export const subjects: readonly ProcessSubject[] = [
  {
    name: 'ws-json',
    label: 'WebSocket of ws, JSON',
    use: 'The package ws at both ends, without compression, which on loopback only costs; a text of JSON for each message. Streams wait for the callback of send() where more than 1 MiB is unsent.',
    absent: async () => missingRival(NAME, FILE),
    serve: () =>
      open((socket) => socket.on('message', (data) => socket.send(JSON.stringify(JSON.parse(String(data)))))),
    join: async (address, _index, onAnswer) => {
      const socket = await joined(address);
      socket.on('message', (data) => onAnswer(JSON.parse(String(data)) as Note));
      return { send: (note) => socket.send(JSON.stringify(note)), close: () => socket.close() };
    },
    stream: {
      forms: ['object'],
      serve: async () => {
        let opened: (socket: Socket) => void = () => {};
        const socket = new Promise<Socket>((resolve) => {
          opened = resolve;
        });
        return { ...(await open(opened)), end: async () => sendingEnd(await socket) };
      },
      join: async (address) => receivingEnd(await joined(address)),
    },
  },
];
