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
  // One that has more to do than to serve: documents below /offline/ are made here, and all that is below /own/; with `all` everything else goes through it, too.
  '/service-worker.own.js': `import { serve } from '/browser/service-worker.js';
const asked = new URL(import.meta.url).searchParams;
const page = (title) => new Response('<!doctype html><title>' + title + '</title>', { headers: { 'Content-Type': 'text/html' } });
const isIn = (folder, { url }) => new URL(url).pathname.startsWith(folder);
serve({
  isolate: asked.get('isolate') ?? undefined,
  blocking: asked.has('blocking'),
  answer: ({ request }) => isIn('/offline/', request) ? page('offline') : fetch(request),
});
addEventListener('fetch', (event) => {
  if (isIn('/own/', event.request)) event.respondWith(page('own'));
  else if (asked.has('all')) event.respondWith(fetch(event.request));
});`,
};
/** A document whose worker blocks: it posts to the page around it what came back, or why it could not. */
const FRAME = `<!doctype html><script type="module">
import { spawn } from '/browser/index.js';
import { enableBlocking } from '/browser/service-worker.js';
await enableBlocking('/service-worker.js?blocking');
const text = "import { parentPort } from '" + location.origin + "/browser/index.js'; const port = parentPort(); await port.ready; try { for (const value of port.blocking()) port.send(-value); } catch ({ code, message }) { port.postMessage(code + ' ' + message); }";
const { port } = spawn(() => new Worker(URL.createObjectURL(new Blob([text], { type: 'text/javascript' })), { type: 'module' }));
const values = [];
for (let i = 0; i < 20 && typeof values.at(-1) !== 'string'; i++) {
  port.postMessage(i);
  values.push(await port.receiveAsync());
}
parent.postMessage(values);
</script>`;
const EMPTY = '<!doctype html><title>empty</title>';

/** How often each of the scripts was asked for that are others after the first time. */
const askedFor = new Map();
function changing(name) {
  const times = askedFor.get(name) ?? 0;
  askedFor.set(name, times + 1);
  return `import { serve } from '/browser/service-worker.js';\nserve({ blocking: ${times > 0} });`;
}

/** What is served at this address, if it is one of these. */
export async function scriptAt(path, { search, text }) {
  const html = (body, headers) => ({ headers: { 'Content-Type': 'text/html', ...headers }, body });
  const script = (body) => ({ headers: { 'Content-Type': 'text/javascript' }, body });
  const policy = search.has('csp') && { 'Content-Security-Policy': search.get('csp') };
  if (path === '/blocking-frame') return html(FRAME, policy);
  if (path === '/empty') return html(EMPTY);
  if (path === '/moved') return { status: 302, headers: { Location: '/empty?plain' } };
  if (path === '/form') return html(`<!doctype html><title>${await text()}</title>`);
  if (path === '/service-worker.changing.js') return script(changing(search.get('name')));
  return path in SCRIPTS ? script(SCRIPTS[path]) : undefined;
}
