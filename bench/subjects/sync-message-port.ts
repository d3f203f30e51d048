// sync-message-port: a port whose messages a thread can wait for, blocked.
import type { MessageChannel, MessagePort } from 'node:worker_threads';
import { api, type CallSubject, callWorker } from '../call-subject.ts';
import { loadRival, missingRival } from './rival.ts';

interface SyncPort {
  postMessage(value: unknown): void;
  receiveMessage(options?: { timeout?: number }): unknown;
  on(event: 'message', handler: (message: [number, number]) => void): void;
  close(): void;
}
interface Package {
  SyncMessagePort: (new (port: MessagePort) => SyncPort) & { createChannel(): MessageChannel };
}

const FILE = 'dist/lib/index.js';

export const subjects: readonly CallSubject[] = [
  {
    name: 'sync-message-port',
    label: 'sync-message-port',
    use: 'SyncMessagePort at both ends of its own channel: the caller posts and waits in receiveMessage, the worker listens on its event loop, as its documentation shows for what is asynchronous over there.',
    can: ['addBlocked'],
    wait: 'block/block',
    absent: async () => missingRival('sync-message-port', FILE),
    open: async () => {
      const { SyncMessagePort } = await loadRival<Package>('sync-message-port', FILE);
      const { port1, port2 } = SyncMessagePort.createChannel();
      const worker = await callWorker('sync-message-port', port2, [port2]);
      const port = new SyncMessagePort(port1);
      return {
        addBlocked: (a, b) => {
          port.postMessage([a, b]);
          return port.receiveMessage({ timeout: 20_000 }) as number;
        },
        close: async () => {
          port.close();
          await worker.terminate();
        },
      };
    },
    serve: async (data) => {
      const { SyncMessagePort } = await loadRival<Package>('sync-message-port', FILE);
      const port = new SyncMessagePort(data as MessagePort);
      port.on('message', ([a, b]) => port.postMessage(api.add(a, b)));
    },
  },
];
