// Ports, topics, requests and queues between a page and its workers, through a hub in the page.
import { Hub, open } from '../../../src/hub/index.ts';
import { channel } from '../../../src/index.ts';
import { afterwards, check, equal, ok, rejection, within } from './checks.ts';

for (const memory of typeof SharedArrayBuffer === 'function' ? [true, false] : [false])
  check(`the four shapes, ${memory ? 'with' : 'without'} memory, and a worker that is terminated`, async () => {
    const hub = new Hub();
    const engine = await open(hub);
    afterwards(() => hub.close());
    const there = await engine.subscribe('there');
    const worker = new Worker(new URL('./hub-worker.js', import.meta.url), { type: 'module' });
    afterwards(() => worker.terminate());
    const failed = new Promise<never>((_, reject) =>
      worker.addEventListener('error', ({ message }) => reject(new Error(`worker: ${message}`))),
    );
    failed.catch(() => {});
    const { port, remote } = channel({ memory });
    hub.join(port);
    worker.postMessage(remote, remote.transfer as Transferable[]);
    equal(await within('the worker', Promise.race([there.receiveAsync(), failed])), true);

    equal(await within('an answer', engine.request('double', 21)), 42);
    const nobody = await rejection(engine.request('nobody', 1));
    ok((nobody as { code?: string }).code === 'ERR_UNREACHABLE', String(nobody));

    const sums = await engine.subscribe<number>('sums');
    const numbers = engine.topic<number>('numbers.all');
    for (let i = 1; i <= 100; i++) numbers.publish(i);
    let sum: unknown;
    for (let i = 1; i <= 100; i++) sum = await within('a sum', sums.receiveAsync());
    equal(sum, 5050);
    equal(sums.missed, 0);

    const done = await engine.subscribe<string>('done');
    const queue = await engine.queue<string>('jobs');
    await queue.put('a job');
    equal(await within('it to be done', done.receiveAsync()), 'a job');

    const echo = await engine.connect('echo');
    const bytes = new Uint8Array(3_000_000).fill(7);
    echo.postMessage(bytes);
    equal(((await within('the echo', echo.receiveAsync())) as Uint8Array).length, bytes.length);
    await echo.link.close();
    worker.terminate();
    while (hub.stats().members > 1) await new Promise((resolve) => setTimeout(resolve, 10));
    equal(((await rejection(engine.request('double', 1))) as { code?: string }).code, 'ERR_UNREACHABLE');
    await engine.close();
  });
