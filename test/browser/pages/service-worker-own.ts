// Service workers that change, or have more to do than to serve; documents that may not have one, or keep anything; and policies.
import { enableBlocking, isolate } from '../../../src/browser/service-worker.ts';
import { channel, type Port, spawn } from '../../../src/index.ts';
import { afterwards, check, equal, ok, rejection, thrownBy, within } from './checks.ts';
import { withoutStorage } from './without-storage.ts';

/** The first message of a frame. */
async function saidBy(frame: HTMLIFrameElement): Promise<unknown> {
  const heard = new Promise((resolve) => {
    const hear = ({ source, data }: MessageEvent): void => {
      if (source !== frame.contentWindow) return;
      removeEventListener('message', hear);
      resolve(data);
    };
    addEventListener('message', hear);
  });
  document.body.append(frame);
  afterwards(() => frame.remove());
  return within('the frame', heard);
}

const ECHO = `
  import { parentPort } from '${location.origin}/browser/index.js';
  const port = parentPort();
  await port.ready;
  for (const value of port.blocking()) port.postMessage(value);`;
const next = (port: Port): Promise<unknown> => within('a message', port.receiveAsync());

check('a frame that is sandboxed is told of its origin', async () => {
  const frame = document.createElement('iframe');
  frame.setAttribute('sandbox', 'allow-scripts');
  const { origin } = location;
  frame.srcdoc = `<script src="${origin}/iife/service-worker.global.js"></script><script>
    MillraceServiceWorker.isolate('${origin}/service-worker.js').catch(({ code, message }) => parent.postMessage([code, message], '*'));
  </script>`;
  const [code, message] = (await saidBy(frame)) as [string, string];
  equal(code, 'ERR_UNSUPPORTED', message);
  ok(/allow-same-origin/.test(message), message);
});

check('a service worker that passes everything on, too, brings what a worker blocks for', async () => {
  await enableBlocking('/service-worker.own.js?blocking&all');
  const script = URL.createObjectURL(new Blob([ECHO], { type: 'text/javascript' }));
  const { port, worker } = spawn(() => new Worker(script, { type: 'module' }));
  afterwards(() => (worker as Worker).terminate());
  port.postMessage('hello');
  equal(await next(port), 'hello');
  ok((await (await fetch('/own/thing')).text()).includes('<title>own<'), 'its own answers');
});

check('a service worker whose script has changed at its address is asked for again', async () => {
  const script = `/service-worker.changing.js?name=${crypto.randomUUID()}`;
  const error = await rejection(isolate(script));
  ok(/isolate: true/.test(error.message), error.message);
  await enableBlocking(script);
});

check('a policy that lets nothing be connected with is named', async () => {
  const frame = document.createElement('iframe');
  frame.src = `/blocking-frame?plain&csp=${encodeURIComponent("connect-src 'none'")}`;
  const said = String(await saidBy(frame));
  ok(/ERR_UNSUPPORTED.*connect-src/.test(said), said);
});

check('the thread of the page itself is told that it may not block', () => {
  const { message } = thrownBy(() => channel().port.receive());
  ok(/this thread may not block.*worker/.test(message), message);
});

check('a page that may keep nothing is not loaded again for ever', async () => {
  const error = await withoutStorage(() => rejection(isolate('/service-worker.js?isolate=require-corp')));
  equal(error.code, 'ERR_UNSUPPORTED', `${error.name}: ${error.message}:`);
  ok(/sessionStorage/.test(error.message), error.message);
});
