// Service workers as a user writes them, a module and a classic script, at the root, so that their scope is all of it: what they are to do is in the address. And
// what their pages load beside them.
const SCRIPTS = {
  '/service-worker.js': `import { serve } from '/browser/service-worker.js';
const isolate = new URL(import.meta.url).searchParams.get('isolate') ?? undefined;
serve({ isolate, blocking: new URL(import.meta.url).searchParams.has('blocking') });`,
  '/service-worker.classic.js': `importScripts('/iife/service-worker.global.js');
MillraceServiceWorker.serve({ isolate: new URL(location.href).searchParams.get('isolate') ?? undefined });`,
  '/echo-worker.js': `import { parentPort } from '/browser/index.js';
const port = parentPort();
await port.ready;
for (const value of port.blocking()) port.postMessage([value, crossOriginIsolated]);`,
  '/service-worker.silent.js': '// It serves nothing.',
};
/** A document whose worker blocks: it posts to the page around it what came back. */
const FRAME = `<!doctype html><script type="module">
import { spawn } from '/browser/index.js';
import { enableBlocking } from '/browser/service-worker.js';
await enableBlocking('/service-worker.js?blocking');
const text = "import { parentPort } from '" + location.origin + "/browser/index.js'; const port = parentPort(); await port.ready; for (const value of port.blocking()) port.send(-value);";
const { port } = spawn(() => new Worker(URL.createObjectURL(new Blob([text], { type: 'text/javascript' })), { type: 'module' }));
const values = [];
for (let i = 0; i < 20; i++) {
  port.postMessage(i);
  values.push(await port.receiveAsync());
}
parent.postMessage(values);
</script>`;
const EMPTY = '<!doctype html><title>empty</title>';

/** What is served at this address, if it is one of these. */
export function scriptAt(path) {
  if (path === '/blocking-frame') return { headers: { 'Content-Type': 'text/html' }, body: FRAME };
  if (path === '/empty') return { headers: { 'Content-Type': 'text/html' }, body: EMPTY };
  return path in SCRIPTS ? { headers: { 'Content-Type': 'text/javascript' }, body: SCRIPTS[path] } : undefined;
}
