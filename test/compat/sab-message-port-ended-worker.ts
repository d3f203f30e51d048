// The thread that ends, for sab-message-port-ended.test.ts and its neighbours: it writes three messages, says so, and ends
// in the way it was told once the gate opens.
import process from 'node:process';
import { parentPort, workerData } from 'node:worker_threads';
import { MWChannel, SABMessagePort, SABPipe } from '../../src/compat/sab-message-port.ts';
import { Gates } from '../kit/gate.ts';

export type Ending = 'returns' | 'exits' | 'crashes' | 'killed';
export type Door = 'SABMessagePort' | 'SABPipe' | 'MWChannel';
export interface Part {
  readonly door: Door;
  readonly ending: Ending;
  readonly gates: SharedArrayBuffer;
  /** Messages to write: `first`, `first + 1`, ... */
  readonly first: number;
  readonly count: number;
  /** The SABMessagePort is made by this thread, not by its parent. */
  readonly makes?: boolean;
  /** Of a SABPipe. */
  readonly buffer?: SharedArrayBuffer;
  /** Characters of a text that is posted behind the messages. */
  readonly long?: number;
}
const part = workerData as Part;
const parent = parentPort!;
const gates = new Gates(part.gates);

function act(write: (message: unknown) => unknown, said: unknown = 'written', transfer: unknown = []): void {
  for (let n = 0; n < part.count; n++) write({ n: part.first + n });
  // What a killed or crashed thread could not send rejects; nobody here wants to know.
  if (part.long !== undefined) void Promise.resolve(write('x'.repeat(part.long))).catch(() => {});
  parent.postMessage(said, transfer as never);
  if (part.ending === 'killed') {
    parent.on('message', () => {});
    return;
  }
  // The message above has to leave before this thread blocks.
  setTimeout(() => {
    gates.pass(0);
    if (part.ending === 'exits') process.exit(0);
    if (part.ending === 'crashes') throw new Error('the crash that the test wants');
  }, 0);
}

if (part.door === 'SABPipe') {
  const pipe = new SABPipe('w', part.buffer as SharedArrayBuffer);
  act((message) => pipe.postMessage(message));
} else if (part.door === 'MWChannel') {
  const channel = new MWChannel('m', 4);
  const [init, transfer] = channel.postInit(null);
  act((message) => channel.postMessage(message), init, transfer);
} else if (part.makes === true) {
  const port = new SABMessagePort('a', 8);
  port.postInit(parent);
  act((message) => port.postMessage(message));
} else {
  parent.once('message', (message) => {
    const port = SABMessagePort.from(message);
    act((value) => port.postMessage(value));
  });
}
