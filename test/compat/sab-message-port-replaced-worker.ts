// A thread that takes part in a pipe and may be replaced, for sab-message-port-replaced.test.ts.
import { parentPort, workerData } from 'node:worker_threads';
import { SABMessagePort, SABPipe } from '../../src/compat/sab-message-port.ts';
import { Gates } from '../kit/gate.ts';
import { STEP_MS } from '../kit/watchdog.ts';

export interface Part {
  /** take: looks once and stays; drain: reads until `last`, and tells; ask: writes to one pipe and blocks on another. */
  readonly task: 'take' | 'drain' | 'ask';
  readonly gates: SharedArrayBuffer;
  readonly buffer?: SharedArrayBuffer;
  readonly answers?: SharedArrayBuffer;
  readonly length?: number;
}
const { task, gates: memory, buffer, answers, length } = workerData as Part;
const parent = parentPort!;
const gates = new Gates(memory);
type Reader = Pick<SABPipe, 'read' | 'tryRead'> & { postMessage(message: unknown): unknown };

function act(reader: Reader): void {
  if (task === 'take') {
    gates.open(1);
    gates.pass(0);
    const found = reader.tryRead();
    gates.open(2);
    parent.postMessage({ found });
    parent.on('message', () => {});
    return;
  }
  const seen: unknown[] = [];
  while (seen.at(-1) !== 'last') {
    try {
      const message = reader.read(STEP_MS);
      if (message === null) throw new Error('hang: nothing comes');
      seen.push(typeof message === 'string' && message.length > 100 ? message.length : message);
      if (message === 'for the first') void reader.postMessage('taken');
    } catch (error) {
      seen.push((error as { code?: string }).code ?? (error as Error).message);
    }
    if (seen.length > 20 || seen.at(-1) === 'SABPipe disposed') break;
  }
  parent.postMessage(seen);
}

if (task === 'ask') {
  const out = new SABPipe('w', buffer as SharedArrayBuffer);
  const into = new SABPipe('r', answers as SharedArrayBuffer);
  // The reader sleeps by now.
  gates.pass(0);
  void out.postMessage('x'.repeat(length as number));
  parent.postMessage(into.read(STEP_MS));
} else if (buffer !== undefined) act(new SABPipe('r', buffer));
else parent.once('message', (message) => act(SABMessagePort.from(message)));
