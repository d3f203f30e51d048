// Service workers as a user writes them, a module and a classic script, at the root, so that their scope is all of it: what they are to do is in the address. And
// what their pages load beside them.
const SCRIPTS = {
  '/service-worker.js': `import { serve } from '/browser/service-worker.js';
const isolate = new URL(import.meta.url).searchParams.get('isolate') ?? undefined;
serve({ isolate });`,
  '/service-worker.classic.js': `importScripts('/iife/service-worker.global.js');
MillraceServiceWorker.serve({ isolate: new URL(location.href).searchParams.get('isolate') ?? undefined });`,
  '/echo-worker.js': `import { parentPort } from '/browser/index.js';
const port = parentPort();
await port.ready;
for (const value of port.blocking()) port.postMessage([value, crossOriginIsolated]);`,
  '/service-worker.silent.js': '// It serves nothing.',
};
const EMPTY = '<!doctype html><title>empty</title>';

/** What is served at this address, if it is one of these. */
export function scriptAt(path) {
  if (path === '/empty') return { headers: { 'Content-Type': 'text/html' }, body: EMPTY };
  return path in SCRIPTS ? { headers: { 'Content-Type': 'text/javascript' }, body: SCRIPTS[path] } : undefined;
}
