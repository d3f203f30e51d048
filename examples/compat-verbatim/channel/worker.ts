import { MWChannel } from '../../../src/compat/sab-message-port.ts';

// Left to the reader by the original: here, the first event ends the blocking phase.
let running = true;
const handle = (evt: unknown): void => {
  running = false;
  port?.postMessage({ handled: evt });
};
let port: MWChannel | undefined;

self.onmessage = (e) => {
  if (e.data.type !== 'MWChannel') return;
  port = MWChannel.from(e.data);
  // Start in blocking mode (default)
  while (running) {
    const events = port.read(); // blocks via SABPipe
    for (const evt of events) handle(evt);
  }
  // Switch to nonblocking
  port.postMessage({ cmd: 'set_mode', mode: 'nonblocking' }); // tell main
  port.setMode('nonblocking');
  port.onmessage = (e) => handle(e.data);
};
