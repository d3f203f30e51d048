// The other doors, as they are shipped to browsers: the ring, the two of other people's names, and the file for script tags.

import { alloc, reader, writer } from '../../../src/compat/nxtedition-shared.ts';
import { MWChannel, SABMessagePort, SABPipe } from '../../../src/compat/sab-message-port.ts';
import { allocate, Consumer, open, Producer } from '../../../src/ring/index.ts';
import { createTopic, subscribe } from '../../../src/topic/index.ts';
import { afterwards, check, equal, within } from './checks.ts';

/** A worker of a text that imports doors by their addresses; what it posts. */
function moduleWorker(source: string): Worker {
  const worker = new Worker(URL.createObjectURL(new Blob([source], { type: 'text/javascript' })), { type: 'module' });
  afterwards(() => worker.terminate());
  return worker;
}
const said = (worker: Worker): Promise<unknown> =>
  within(
    'the worker to say something',
    new Promise((resolve, reject) => {
      worker.addEventListener('message', ({ data }) => resolve(data), { once: true });
      worker.addEventListener('error', ({ message }) => reject(new Error(`worker: ${message}`)), { once: true });
    }),
  );
const door = (file: string): string => JSON.stringify(`${location.origin}/src/${file}`);

check('the ring: records to a worker', async () => {
  const memory = allocate(4096);
  const producer = new Producer(open(memory));
  const worker = moduleWorker(`
    import { Consumer, open } from ${door('ring/index.js')};
    onmessage = ({ data }) => {
      const consumer = new Consumer(open(data));
      let count = 0, sum = 0;
      while (count < 1000) {
        consumer.drain((bytes, start, length) => { count++; for (let i = start; i < start + length; i++) sum += bytes[i]; });
      }
      postMessage([count, sum]);
    };`);
  worker.postMessage(memory);
  const result = said(worker);
  for (let i = 0; i < 1000; ) {
    const offset = producer.tryClaim(3);
    if (offset < 0) {
      await new Promise((resolve) => setTimeout(resolve));
      continue;
    }
    producer.bytes.set([1, 2, 3], offset);
    producer.commit();
    i++;
  }
  equal(await result, [1000, 6000]);
  equal(
    new Consumer(open(allocate(64))).drain(() => {}),
    0,
  );
});

check('topic: to a worker that blocks, and to the page', async () => {
  const topic = createTopic<number>();
  const worker = moduleWorker(`
    import { subscribe } from ${door('topic/index.js')};
    onmessage = ({ data }) => {
      const reader = subscribe(data);
      postMessage('here');
      let sum = 0;
      for (const value of reader.blocking()) sum += value;
      postMessage([sum, reader.missed, reader.reason]);
    };`);
  const handle = topic.handle();
  worker.postMessage(handle, handle.transfer);
  equal(await said(worker), 'here');
  const result = said(worker);
  const reader = subscribe<number>(topic.handle());
  const here = (async () => {
    let sum = 0;
    for await (const value of reader) sum += value;
    return sum;
  })();
  for (let i = 0; i < 1000; i++) topic.publish(i);
  await new Promise((resolve) => setTimeout(resolve, 10));
  topic.close();
  equal(await within('the page to have read', here), 499_500);
  equal(await result, [499_500, 0, 'closed']);
});

check('nxtedition-shared: a worker waits for what the page writes', async () => {
  const buffers = alloc(4096);
  const worker = moduleWorker(`
    import { reader } from ${door('compat/nxtedition-shared.js')};
    onmessage = ({ data }) => {
      const r = reader(data, {});
      let count = 0, sum = 0;
      while (count < 500 && r.waitReadable(5000)) {
        r.readSome(({ view, offset }) => { count++; sum += view.getInt32(offset, true); });
      }
      postMessage([count, sum]);
    };`);
  worker.postMessage(buffers);
  const result = said(worker);
  const w = writer(buffers);
  for (let i = 0; i < 500; i++) {
    const write = (): boolean =>
      w.tryWrite(4, ({ view, offset }) => {
        view.setInt32(offset, i, true);
        return offset + 4;
      });
    while (!write()) await new Promise((resolve) => setTimeout(resolve));
    w.flushSync();
  }
  equal(await result, [500, 124_750]);
  equal(typeof reader, 'function');
});

const echo = (classes: string, loop: string): string => `
  import { ${classes} } from ${door('compat/sab-message-port.js')};
  onmessage = ({ data }) => { onmessage = null; const port = ${classes}.from(data); ${loop} };`;

check('sab-message-port: SABMessagePort with a worker that blocks', async () => {
  const worker = moduleWorker(echo('SABMessagePort', 'for (;;) port.postMessage(port.read());'));
  const port = new SABMessagePort();
  afterwards(() => port.close());
  port.postInit(worker as never);
  for (let i = 0; i < 200; i++) {
    void port.postMessage({ i, text: 'žluť' });
    equal(await within('an answer', port.asyncRead()), { i, text: 'žluť' });
  }
});

check('sab-message-port: SABMessagePort with a worker that listens', async () => {
  const worker = moduleWorker(echo('SABMessagePort', 'port.onmessage = ({ data }) => port.postMessage(data + 1);'));
  const port = new SABMessagePort();
  afterwards(() => port.close());
  port.postInit(worker as never);
  const end = new Promise<unknown>((resolve) => {
    port.onmessage = ({ data }) => ((data as number) >= 200 ? resolve(data) : void port.postMessage(data));
  });
  void port.postMessage(0);
  equal(await within('200', end), 200);
});

check('sab-message-port: MWChannel with a worker that blocks', async () => {
  const worker = moduleWorker(
    echo('MWChannel', 'for (;;) { const value = port.read(); port.postMessage(value); if (value === "end") break; }'),
  );
  const port = new MWChannel('m');
  afterwards(() => port.close());
  port.postInit(worker as never);
  const next = (): Promise<unknown> =>
    within(
      'an answer',
      new Promise((resolve) => {
        port.onmessage = ({ data }) => resolve(data);
      }),
    );
  for (let i = 0; i < 50; i++) {
    const answer = next();
    void port.postMessage({ i });
    equal(await answer, { i });
  }
});

check('sab-message-port: SABPipe from a worker, read by the page', async () => {
  const pipe = new SABPipe('r');
  const worker = moduleWorker(`
    import { SABPipe } from ${door('compat/sab-message-port.js')};
    onmessage = ({ data }) => { const pipe = new SABPipe('w', data); for (let i = 0; i < 100; i++) pipe.postMessage({ i }); };`);
  worker.postMessage(pipe.buffer);
  for (let i = 0; i < 100; i++) equal(await within('a message', pipe.asyncRead()), { i });
  pipe.close();
});

check('the file for script tags, in a classic worker that blocks', async () => {
  const source = `
    importScripts('${location.origin}/iife/sab-message-port.global.js');
    onmessage = ({ data }) => { const port = SABMessagePortLib.SABMessagePort.from(data); for (;;) port.postMessage(port.read()); };`;
  const worker = new Worker(URL.createObjectURL(new Blob([source], { type: 'text/javascript' })));
  afterwards(() => worker.terminate());
  const port = new SABMessagePort();
  afterwards(() => port.close());
  port.postInit(worker as never);
  for (let i = 0; i < 100; i++) {
    void port.postMessage(i);
    equal(await within('an answer', port.asyncRead()), i);
  }
});
