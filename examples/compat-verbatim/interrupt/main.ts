import { SABMessagePort } from '../../../src/compat/sab-message-port.ts';

const worker = new Worker('./worker.js', { type: 'module' });
const port = new SABMessagePort();
port.postInit(worker);
port.onmessage = ({ data }) => console.log(data);
// Start a long task
port.postMessage({ cmd: 'run', task: 'A', iterations: 5_000_000 });
// After 200ms, abort and start a different task
setTimeout(() => {
  port.postMessage({ cmd: 'abort' });
  port.postMessage({ cmd: 'run', task: 'B', iterations: 2_000_000 });
}, 200);
