// A document of native-ends.ts, in a frame or a tab, which ends without a word: what it loads is not told that it is left. It has no checks.
addEventListener('pagehide', (event) => event.stopImmediatePropagation(), { capture: true });
const { attach } = await import('../../../src/index.ts');

const opened = (opener as Window | null) ?? parent;
/** SharedWorkers that it keeps. */
const kept: SharedWorker[] = [];
addEventListener('message', ({ data }: MessageEvent<{ remote: unknown; name?: string }>) => {
  if (data.name === undefined) {
    const port = attach(data.remote);
    port.onmessage = ({ data }) => port.postMessage([data]);
    return;
  }
  // To a SharedWorker that is this document's alone.
  const shared = new SharedWorker(new URL('./native-worker.js', import.meta.url), { type: 'module', name: data.name });
  kept.push(shared);
  shared.port.onmessage = ({ data }) => opened.postMessage(data, location.origin);
  shared.port.postMessage({ remote: data.remote }, [(data.remote as { native: MessagePort }).native]);
});
opened.postMessage('up', location.origin);
