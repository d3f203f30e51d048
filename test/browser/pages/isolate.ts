// A page of a host that sends no headers: a service worker adds them, and after one reload it is isolated. What is not in a check runs before each load.
import { isolate } from '../../../src/browser/service-worker.ts';
import { features, spawn } from '../../../src/index.ts';
import { afterwards, check, equal, ok, within } from './checks.ts';
import { withoutStorage } from './without-storage.ts';

const loads = Number(sessionStorage.getItem('loads') ?? 0) + 1;
sessionStorage.setItem('loads', String(loads));
const before = sessionStorage.getItem('before') ?? String(crossOriginIsolated);
sessionStorage.setItem('before', before);
const SERVICE_WORKER = '/service-worker.own.js?isolate=require-corp';
await isolate(SERVICE_WORKER);

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

/** A frame, once it has loaded what `open` opens in it. */
async function frameWith(open: (frame: HTMLIFrameElement) => void): Promise<Window & typeof globalThis> {
  const frame = document.createElement('iframe');
  frame.name = `frame-${Math.random()}`;
  document.body.append(frame);
  afterwards(() => frame.remove());
  const loaded = new Promise<void>((resolve) => {
    frame.addEventListener('load', () => {
      if (frame.contentWindow?.location.href !== 'about:blank') resolve();
    });
  });
  open(frame);
  await within('the frame', loaded);
  return frame.contentWindow as Window & typeof globalThis;
}
const goTo =
  (address: string) =>
  (frame: HTMLIFrameElement): void => {
    frame.src = address;
  };

check('a nested document is isolated as well, and other requests go as they did', async () => {
  equal((await frameWith(goTo('/empty?plain'))).crossOriginIsolated, true);
  const { headers } = await fetch('/empty?plain');
  equal(headers.get('Cross-Origin-Embedder-Policy'), null);
});

check('a document behind a redirect is isolated', async () => {
  const moved = await frameWith(goTo('/moved?plain'));
  equal([moved.document.title, moved.location.pathname, moved.crossOriginIsolated], ['empty', '/empty', true]);
});

check('a document that a form was posted to is isolated', async () => {
  const posted = await frameWith((frame) => {
    const form = document.createElement('form');
    Object.assign(form, { method: 'post', action: '/form?plain', target: frame.name });
    form.append(Object.assign(document.createElement('input'), { name: 'field', value: 'text' }));
    document.body.append(form);
    afterwards(() => form.remove());
    form.submit();
  });
  equal([posted.document.title, posted.crossOriginIsolated], ['field=text', true]);
});

check('what a service worker has of its own: its documents are isolated, its other answers are its own', async () => {
  const offline = await frameWith(goTo('/offline/page'));
  equal([offline.document.title, offline.crossOriginIsolated], ['offline', true]);
  const own = await fetch('/own/thing');
  equal(/<title>own</.test(await own.text()), true);
});

check('isolate() resolves at once where the page may keep nothing', () =>
  withoutStorage(() => within('isolate()', isolate(SERVICE_WORKER))),
);
