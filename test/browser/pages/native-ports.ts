// Channels over native message ports: what they do in a page, with a worker, and with a SharedWorker, which no shared memory reaches.
import { attach, type ChannelOptions, CLOSED, channel, type Port, spawn } from '../../../src/index.ts';
import { pool, start } from '../../../src/rpc/index.ts';
import { afterwards, check, equal, ok, within } from './checks.ts';

const door = (name: string): string => JSON.stringify(new URL(`/browser/${name}.js`, location.href).href);
const source = (text: string): string =>
  URL.createObjectURL(
    new Blob([`import { attach, parentPort } from ${door('index')}; import { expose } from ${door('rpc')}; ${text}`], {
      type: 'text/javascript',
    }),
  );
function worker(text: string): Worker {
  const made = new Worker(source(text), { type: 'module' });
  afterwards(() => made.terminate());
  return made;
}
const next = (port: Port): Promise<unknown> => within('a message', port.receiveAsync());

/** Nothing here holds the handle any more. */
function handOver(far: Worker, options: ChannelOptions): Port {
  const { port, remote } = channel(options);
  far.postMessage(remote, remote.transfer);
  return port;
}
let told = 0;
/** For as long as the page lives: a registry that is garbage itself tells nothing. */
const canaries: FinalizationRegistry<undefined> = new FinalizationRegistry(() => told++);
/** Most of what was garbage before is collected, and who wants to know has been told: a stack that is scanned conservatively keeps some. */
async function garbageCollected(): Promise<void> {
  const count = 100;
  told = 0;
  for (let i = 0; i < count; i++) canaries.register({}, undefined);
  const collected = async (): Promise<void> => {
    while (told < count / 2) {
      Array.from({ length: 2000 }, (_, i) => [new Float64Array(i), {}]);
      await afterTurn();
    }
    await afterTurn();
  };
  await within('a garbage collection', collected());
}
const afterTurn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

export function channelsOverNativePorts(options: ChannelOptions): void {
  check('native ports: values, transfers and the end, in one page', async () => {
    const { port, remote } = channel(options);
    const far = attach(remote);
    port.postMessage({ list: [1, 'two', new Map([[3, new Date(4)]])] });
    equal(((await next(far)) as { list: unknown[] }).list[1], 'two');
    const buffer = new ArrayBuffer(8);
    far.postMessage(buffer, [buffer as never]);
    equal([((await next(port)) as ArrayBuffer).byteLength, buffer.byteLength], [8, 0]);
    port.postMessage(new Blob(['blob']));
    equal(await ((await next(far)) as Blob).text(), 'blob');
    port.postMessage('last');
    port.close();
    equal([await next(far), (await next(far)) === CLOSED, far.reason], ['last', true, 'closed']);
    equal(port.stats().way?.name, 'native-port');
  });

  check('native ports: a handle in a message that nobody reads any more ends its channel', async () => {
    const carrier = channel(options);
    const far = attach(carrier.remote);
    carrier.port.postMessage('first');
    equal(await next(far), 'first');
    const { port, remote } = channel(options);
    carrier.port.postMessage({ remote }, remote.transfer);
    far.close();
    await within('the end of what moved', port.closed);
  });

  check('native ports: many and large messages keep their order, and drained() holds the writer', async () => {
    const { port, remote } = channel({ ...options, capacityBytes: 16_384 });
    const far = attach(remote);
    const read = (async () => {
      for (let i = 0; ; i++) {
        const value = (await far.receiveAsync()) as { i: number; text: string } | typeof CLOSED;
        if (value === CLOSED) return i;
        if (value.i !== i || value.text.length !== (i % 10 === 0 ? 100_000 : 10)) throw new Error(`number ${i}`);
      }
    })();
    for (let i = 0; i < 500; i++) {
      port.postMessage({ i, text: 'x'.repeat(i % 10 === 0 ? 100_000 : 10) });
      if (port.full) await port.drained();
    }
    port.close();
    equal(await within('all of them', read), 500);
  });

  check('native ports: a spawned worker echoes, and its terminate() is told', async () => {
    const { port, worker: made } = spawn(
      () => worker('const port = parentPort(); port.onmessage = ({ data }) => port.postMessage([data]);'),
      options,
    );
    port.postMessage('hello');
    equal(await next(port), ['hello']);
    (made as Worker).terminate();
    equal(await within('port.closed', port.closed), 'terminated');
  });

  check('native ports: handles that were handed over are garbage, and their channels stay', async () => {
    const far = worker(
      'onmessage = ({ data }) => { const port = attach(data); port.onmessage = ({ data }) => port.postMessage([data]); };',
    );
    const ports = Array.from({ length: 10 }, () => handOver(far, options));
    for (const when of ['before', 'after', 'later']) {
      for (const port of ports) port.postMessage(when);
      for (const port of ports) equal(await next(port), [when]);
      if (when !== 'later') await garbageCollected();
    }
  });

  check('native ports: calls, callbacks, generators, and a pending call when the worker is terminated', async () => {
    interface Api {
      each(list: number[], change: (n: number) => number): Promise<number[]>;
      count(to: number): Generator<number>;
      forever(): Promise<void>;
    }
    const { api, worker: made } = await start<Api>(
      () =>
        worker(`expose({
          each: async (list, change) => Promise.all(list.map(change)),
          *count(to) { for (let i = 0; i < to; i++) yield i; },
          forever: () => new Promise(() => {}),
        }, parentPort());`),
      options,
    );
    equal(await api.each([1, 2], (n) => n * 2), [2, 4]);
    let sum = 0;
    for await (const n of api.count(100)) sum += n;
    equal(sum, 4950);
    const forever = api.forever().then(
      () => 'resolved',
      ({ code, reason }) => `${code} ${reason}`,
    );
    await api.each([], (n) => n);
    (made as Worker).terminate();
    equal(await within('the pending call', forever), 'ERR_CLOSED terminated');
  });

  check('native ports: a pool', async () => {
    interface Api {
      add(a: number, b: number): number;
      slowly(): Promise<string>;
    }
    const workers = pool<Api>(
      () =>
        spawn(
          () =>
            worker(
              `expose({ add: (a, b) => a + b, slowly: () => new Promise((resolve) => setTimeout(resolve, 5, 'slowly')) }, parentPort());`,
            ),
          options,
        ),
      { size: 2 },
    );
    const sums = await within('all', Promise.all(Array.from({ length: 50 }, (_, i) => workers.api.add(i, i))));
    equal([sums[49], await workers.api.slowly()], [98, 'slowly']);
    await within('close()', workers.close());
  });

  check('native ports: a SharedWorker', async () => {
    ok(typeof SharedWorker === 'function', 'there are none here');
    const url = source(
      `onconnect = ({ ports: [native] }) => { native.onmessage = ({ data }) => { const port = attach(data); port.onmessage = ({ data }) => port.postMessage({ data }); }; };`,
    );
    const shared = new SharedWorker(url, { type: 'module' });
    const { port, remote } = channel({ ...options, memory: false });
    shared.port.postMessage(remote, remote.transfer);
    port.postMessage('hello');
    equal(await next(port), { data: 'hello' });
    port.close();
  });
}
