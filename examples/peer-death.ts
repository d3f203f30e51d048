// Step 3. The peer closes, ends, exits, throws or is terminated while calls are pending here. Each call is settled
// with the reason, in milliseconds. Nothing hangs.
import type { Worker } from 'node:worker_threads';
import { CLOSED, ClosedError, spawn } from '../src/index.ts';
import { heading, isProgram, say, table } from './screen.ts';

const ENDINGS = ['close', 'return', 'exit', 'throw', 'compute'] as const;

export async function peerDeath(): Promise<void> {
  heading('3  The peer dies, and nobody hangs');
  say('A receive and a flush are pending here when the worker ends.');
  const rows: string[][] = [['the worker ...', 'port.closed', 'receiveAsync()', 'flush()', 'settled after']];
  for (const how of ENDINGS) {
    const { port, worker } = spawn(new URL('./workers/mortal.js', import.meta.url), { worker: { stderr: true } });
    const thread = worker as Worker;
    thread.on('error', () => {}); // "throw" is reported here too, as by any worker
    const farewell = port.receiveAsync();
    const received = port.receiveAsync();
    port.postMessage(how);
    port.postMessage('this one the worker never takes');
    const flushed = port.flush().catch((error: unknown) => error);
    await farewell;
    const start = performance.now();
    if (how === 'compute') void thread.terminate();
    const value = await received;
    const failure = await flushed;
    const took = performance.now() - start;
    rows.push([
      how === 'compute' ? 'computes, is terminated' : `${how}s`,
      await port.closed,
      value === CLOSED ? 'CLOSED' : String(value),
      failure instanceof ClosedError ? failure.code : 'delivered',
      `${took.toFixed(1)} ms`,
    ]);
    port.close();
    await thread.terminate();
  }
  table(rows);
}

if (isProgram(import.meta.url)) await peerDeath();
