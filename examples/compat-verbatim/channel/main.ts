import { MWChannel } from '../../../src/compat/sab-message-port.ts';

/** Left to the reader by the original. */
declare const events: unknown[];

const worker = new Worker('./worker.js', { type: 'module' });
const port = new MWChannel('m');
port.postInit(worker, { channel: 'events' });
port.onmessage = (e) => {
  /* worker→main always arrives here */
  console.log('from worker:', e.data);
};
// Send in blocking mode (default — worker reads via SABPipe)
port.postMessage(events);
// Worker requests nonblocking mode:
port.setMode('nonblocking');
port.postMessage(events); // now sent via native MessagePort
