import { SABMessagePort } from '../../../src/compat/sab-message-port.ts';

const worker = new Worker('./worker.js', { type: 'module' });
const port = new SABMessagePort();
port.postInit(worker);
port.onmessage = (e) => console.log('from worker:', e.data);
port.postMessage({ cmd: 'ping' });
