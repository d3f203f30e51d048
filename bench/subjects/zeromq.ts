// ZeroMQ: no server, a router in the master and a dealer in each worker.
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join as joinPath } from 'node:path';
import { isClone } from '../home.ts';
import type { Note, ProcessSubject } from '../process-subject.ts';
import type { Missing } from '../subject.ts';
import { loadRival, missingRival, rivalUrl } from './rival.ts';

interface Socket extends AsyncIterable<Uint8Array[]> {
  bind(address: string): Promise<void>;
  connect(address: string): void;
  send(parts: (string | Uint8Array)[]): Promise<void>;
  close(): void;
}

interface Package {
  Router: new (options: object) => Socket;
  Dealer: new (options: object) => Socket;
}

const FILE = 'lib/index.js';
/** Parts that may wait in a socket: enough for every stream of every worker. */
const QUEUES = { sendHighWaterMark: 10_000, receiveHighWaterMark: 10_000 };
const decoder = new TextDecoder();

async function load(): Promise<Package> {
  const found = await loadRival<Package & { default?: Package }>('zeromq', FILE);
  return found.Router ? found : found.default!;
}

/** The addon is loaded to see whether it runs here at all. */
async function missing(): Promise<Missing | undefined> {
  const absent = missingRival('zeromq', FILE);
  if (absent) return absent;
  // Deno and Bun have crashed on addons of this kind: an attempt could take the whole run along.
  if (process.versions['deno'] || process.versions['bun'])
    return {
      reason: 'its addon needs what only Node has (Bun ends at uv_poll_init_socket)',
      remedy: 'run it under Node',
    };
  try {
    await import(rivalUrl('zeromq', FILE)!);
    return undefined;
  } catch (error) {
    return {
      reason: `its addon does not load: ${(error as Error).message.split('\n')[0]}`,
      remedy: isClone ? 'npm rebuild --prefix bench zeromq' : 'npm rebuild zeromq',
    };
  }
}

/** Sends one after the other: a ZeroMQ socket takes one send at a time. */
function sender(socket: Socket): (parts: (string | Uint8Array)[]) => void {
  const waiting: (string | Uint8Array)[][] = [];
  let sending = false;
  const drain = async (): Promise<void> => {
    sending = true;
    for (let parts = waiting.shift(); parts; parts = waiting.shift()) await socket.send(parts);
    sending = false;
  };
  return (parts) => {
    waiting.push(parts);
    if (!sending) drain().catch(() => {});
  };
}

let hubCount = 0;

export const subjects: readonly ProcessSubject[] = [
  {
    name: 'zeromq',
    label: 'ZeroMQ router and dealer, ipc',
    use: 'A router in the master, a dealer per worker, ipc transport, JSON; each socket sends as soon as the send before is done, as it demands.',
    absent: missing,
    serve: async () => {
      const { Router } = await load();
      const path = joinPath(tmpdir(), `millrace-zmq-${process.pid}-${hubCount++}.sock`);
      const router = new Router(QUEUES);
      await router.bind(`ipc://${path}`);
      const send = sender(router);
      const serve = async (): Promise<void> => {
        for await (const [who, text] of router) {
          const { id, payload } = JSON.parse(decoder.decode(text)) as Note;
          send([who!, JSON.stringify({ id, payload })]);
        }
      };
      serve().catch(() => {});
      return {
        address: path,
        close: () => {
          router.close();
          rmSync(path, { force: true });
        },
      };
    },
    join: async (address, _index, onAnswer) => {
      const { Dealer } = await load();
      const dealer = new Dealer(QUEUES);
      dealer.connect(`ipc://${address as string}`);
      const send = sender(dealer);
      const listen = async (): Promise<void> => {
        for await (const [text] of dealer) onAnswer(JSON.parse(decoder.decode(text)) as Note);
      };
      listen().catch(() => {});
      return { send: (note) => send([JSON.stringify(note)]), close: () => dealer.close() };
    },
  },
];
