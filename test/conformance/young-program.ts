// Program for young.test.ts: opens channels in batches and closes them; prints the bytes a channel that a collection of young
// objects leaves. Argument: what is done with them meanwhile.
import process from 'node:process';
import { attach, channel, type Port } from '../../src/index.ts';
import { turn } from '../kit/watchdog.ts';

const { gc } = globalThis as unknown as { gc(options?: { type: 'minor' }): void };
const BATCHES = 10;
const BATCH = 100;
const how = process.argv[2];

async function batch(): Promise<void> {
  const ends: Port[] = [];
  for (let i = 0; i < BATCH; i++) {
    const { port, remote } = channel({ capacityBytes: 1024 });
    const far = attach(remote);
    ends.push(port, far);
    if (how === 'used') {
      port.postMessage({ number: i });
      far.tryReceive();
    }
  }
  await turn();
  for (const end of ends) end.close();
  await turn();
}

async function batches(): Promise<void> {
  for (let i = 0; i < BATCHES; i++) await batch();
  await turn();
}

await batches();
gc();
await turn();
gc();
await turn();
const before = process.memoryUsage().heapUsed;
await batches();
gc({ type: 'minor' });
process.stdout.write(String(Math.round((process.memoryUsage().heapUsed - before) / (BATCHES * BATCH))));
process.exit(0);
