// A worker that ends as its name says, once the page asks for it.
import { attach, CLOSED, parentPort } from '../../src/index.ts';

export type Role = 'close' | 'exit' | 'idle' | 'compute' | 'block' | 'orphan' | 'sibling';

/** The library of a page's types has no DedicatedWorkerGlobalScope. */
const scope = globalThis as unknown as { readonly name: Role; close(): void };
const role = scope.name;

/** The native port beside ours, which lives as long as this thread does. */
const held: MessagePort[] = [];
const native = new Promise<void>((resolve) => {
  addEventListener('message', ({ data }: MessageEvent<{ readonly native?: MessagePort }>) => {
    if (data.native === undefined) return;
    held.push(data.native);
    resolve();
  });
});
const port = parentPort();
await port.ready;

if (role === 'orphan' || role === 'sibling') {
  const { remote } = (await port.receiveAsync()) as { readonly remote: unknown };
  const sibling = attach(remote);
  await sibling.ready;
  port.postMessage('up');
  await port.flush();
  if (role === 'orphan') {
    while (sibling.receive() !== CLOSED);
    port.postMessage(sibling.reason);
  } else {
    sibling.onmessage = () => {};
  }
} else {
  await native;
  port.postMessage('up');
  // What comes first is the page's word that the clock runs.
  if (role === 'block') {
    port.receive();
    port.receive();
  } else {
    await port.receiveAsync();
    if (role === 'compute') for (;;);
    if (role === 'exit') scope.close();
    if (role === 'close') {
      for (const it of held) it.close();
      port.close();
    }
  }
}
