// Calls to a worker that is gone before it answers: both doors that call settle what is pending.
import * as Comlink from '../../../src/compat/comlink.ts';
import { channel } from '../../../src/index.ts';
import { wrap } from '../../../src/rpc/index.ts';
import { afterwards, check, equal, ok, within } from './checks.ts';

const door = (file: string): string => JSON.stringify(`${location.origin}/src/${file}`);

/** A worker of a text that imports doors by their addresses, once it has said that it is there. */
async function startWorker(source: string, remote?: ReturnType<typeof channel>['remote']): Promise<Worker> {
  const text = new Blob([source], { type: 'text/javascript' });
  const worker = new Worker(URL.createObjectURL(text), { type: 'module' });
  afterwards(() => worker.terminate());
  const up = new Promise((resolve) => worker.addEventListener('message', resolve, { once: true }));
  if (remote !== undefined) worker.postMessage(remote, remote.transfer);
  await within('the worker', up);
  return worker;
}
interface Api {
  there(): boolean;
  never(): Promise<void>;
}
const API = '{ there: () => true, never: () => new Promise(() => {}) }';
const failureOf = (call: PromiseLike<unknown>): Promise<unknown> =>
  Promise.resolve(call).then(
    () => 'it was answered',
    (error) => error.code,
  );

check('millrace/rpc: a pending call rejects when the worker is terminated', async () => {
  const { port, remote } = channel();
  afterwards(() => port.close());
  const worker = await startWorker(
    `import { attach } from ${door('index.js')};
    import { expose } from ${door('rpc/index.js')};
    onmessage = async ({ data }) => {
      const port = attach(data);
      expose(${API}, port);
      await port.ready;
      postMessage('up');
    };`,
    remote,
  );
  const api = wrap<Api>(port);
  equal(await within('an answer', Promise.resolve(api.there())), true);
  const pending = failureOf(api.never());
  worker.terminate();
  equal(await within('the call to settle', pending), 'ERR_CLOSED');
  equal(port.reason, 'terminated');
});

check('Comlink door: a pending call rejects when the worker is terminated', async () => {
  const worker = new Worker(
    URL.createObjectURL(
      new Blob([`import { expose } from ${door('compat/comlink.js')}; expose(${API});`], { type: 'text/javascript' }),
    ),
    { type: 'module' },
  );
  afterwards(() => worker.terminate());
  const api = Comlink.wrap<Api>(worker as never);
  // The channel comes some time after the first answers, and then the page waits for the worker's lock.
  const watched = async (): Promise<boolean> =>
    ((await navigator.locks.query()).pending ?? []).some(({ name }) => name?.startsWith('millrace/'));
  while (!(await watched())) equal(await within('an answer', Promise.resolve(api.there())), true);
  const pending = failureOf(api.never());
  worker.terminate();
  ok((await within('the call to settle', pending)) !== 'it was answered', 'it was answered');
});
