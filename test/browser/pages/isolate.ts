// A page of a host that sends no headers: a service worker adds them, and after one reload it is isolated. What is not in a check runs before each load.
import { isolate } from '../../../src/browser/service-worker.ts';
import { features, spawn } from '../../../src/index.ts';
import { afterwards, check, equal, ok, within } from './checks.ts';

const loads = Number(sessionStorage.getItem('loads') ?? 0) + 1;
sessionStorage.setItem('loads', String(loads));
const before = sessionStorage.getItem('before') ?? String(crossOriginIsolated);
sessionStorage.setItem('before', before);
await isolate('/service-worker.js?isolate=require-corp');

check('a page without headers is isolated after one reload', () => {
  equal([before, loads, crossOriginIsolated], ['false', 2, true]);
  ok(features().memory, 'there is no shared memory');
});

const ECHO = `
  import { parentPort } from '${location.origin}/browser/index.js';
  const port = parentPort();
  await port.ready;
  for (const value of port.blocking()) port.postMessage([value, crossOriginIsolated]);`;
for (const [name, start] of Object.entries({
  'a blob worker': () =>
    new Worker(URL.createObjectURL(new Blob([ECHO], { type: 'text/javascript' })), { type: 'module' }),
  // The server sends its script without headers, which the page would refuse.
  'a worker from the server': () => new Worker('/echo-worker.js?plain', { type: 'module' }),
})) {
  check(`${name} blocks in receive() through shared memory`, async () => {
    const { port, worker } = spawn(start);
    afterwards(() => (worker as Worker).terminate());
    port.postMessage('hello');
    equal(await within('an echo', port.receiveAsync()), ['hello', true]);
    equal(port.stats().way, undefined, 'way');
    port.close();
  });
}

check('a nested document is isolated as well, and other requests go as they did', async () => {
  const frame = document.createElement('iframe');
  frame.src = '/empty?plain';
  const loaded = new Promise((resolve) => frame.addEventListener('load', resolve));
  document.body.append(frame);
  afterwards(() => frame.remove());
  await within('the frame', loaded);
  equal((frame.contentWindow as unknown as { crossOriginIsolated: boolean }).crossOriginIsolated, true);
  const { headers } = await fetch('/empty?plain');
  equal(headers.get('Cross-Origin-Embedder-Policy'), null);
});
