// The inside of a worker of page.ts: `self.onmessage` as in a browser, where messages wait until the script has run.
import { parentPort, workerData } from 'node:worker_threads';

const scope: { onmessage: ((event: { data: unknown }) => void) | null } = { onmessage: null };
Object.defineProperty(globalThis, 'self', { value: scope, configurable: true, writable: true });
// Listening comes first: Deno loses what arrives before anybody does.
const early: unknown[] = [];
let deliver = (data: unknown): void => void early.push(data);
parentPort!.on('message', (data) => deliver(data));
await import((workerData as { module: string }).module);
deliver = (data) => scope.onmessage?.({ data });
early.forEach(deliver);
