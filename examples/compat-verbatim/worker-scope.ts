// The inside of a worker of page.ts: `self.onmessage` as in a browser, where messages wait until the script has run.
import { parentPort, workerData } from 'node:worker_threads';

const scope: { onmessage: ((event: { data: unknown }) => void) | null } = { onmessage: null };
Object.defineProperty(globalThis, 'self', { value: scope, configurable: true, writable: true });
await import((workerData as { module: string }).module);
parentPort!.on('message', (data) => scope.onmessage?.({ data }));
