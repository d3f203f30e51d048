// What a service worker does for a page without headers, and what is said where it cannot.
import { enableBlocking, isolate } from '../../../src/browser/service-worker.ts';
import type * as millrace from '../../../src/index.ts';
import { channel, type Port, spawn } from '../../../src/index.ts';
import type * as rpc from '../../../src/rpc/index.ts';
import { expose } from '../../../src/rpc/index.ts';
import { afterwards, check, equal, ok, rejection, rest, within } from './checks.ts';

for (const [what, call, code, says] of [
  ['a script that is not there', () => isolate('/nowhere.js'), 'ERR_OPTION', /404/],
  ['what is no script', () => isolate('/empty'), 'ERR_OPTION', /text\/html/],
  ['no address', () => isolate('http://:'), 'ERR_OPTION', /no address/],
  [
    'a scope that does not cover the page',
    () => isolate('/service-worker.js', { scope: '/elsewhere/' }),
    'ERR_OPTION',
    /does not cover this page/,
  ],
  [
    'a script that serves nothing',
    () => isolate('/service-worker.silent.js', { timeoutMs: 500 }),
    'ERR_TIMEOUT',
    /call serve\(\)/,
  ],
  ['a time limit of nothing', () => isolate('/service-worker.js', { timeoutMs: 0 }), 'ERR_OPTION', /timeoutMs/],
  [
    'one that does not isolate',
    () => isolate('/service-worker.classic.js', { type: 'classic' }),
    'ERR_UNSUPPORTED',
    /isolate: true/,
  ],
] as const) {
  check(`${what} is refused with a reason`, async () => {
    const error = await rejection(call());
    equal(error.code, code, `${error.name}: ${error.message}:`);
    ok(says.test(error.message), error.message);
  });
}

// ---- blocking without shared memory -----------------------------------------------------------------------------

const SERVICE_WORKER = '/service-worker.js?blocking';
/** A worker whose part is written here: its text travels. It has `port`, that of `parentPort()`, and the names of both doors. */
function part(body: (port: Port, doors: typeof millrace & typeof rpc) => unknown): () => Worker {
  const text = `import * as millrace from '${location.origin}/browser/index.js';
    import * as rpc from '${location.origin}/browser/rpc.js';
    const port = millrace.parentPort();
    await port.ready;
    try { await (${body})(port, { ...millrace, ...rpc }); } catch (error) { port.postMessage(String(error.code) + ' ' + error.message); }`;
  return () => {
    const made = new Worker(URL.createObjectURL(new Blob([text], { type: 'text/javascript' })), { type: 'module' });
    afterwards(() => made.terminate());
    return made;
  };
}
const next = (port: Port): Promise<unknown> => within('a message', port.receiveAsync());
const numbers = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

check('before, a worker that would block is told of the headers and of this door', async () => {
  const { port } = spawn(part((port) => void port.receive()));
  const said = String(await next(port));
  ok(/^ERR_UNSUPPORTED.*Cross-Origin-Opener-Policy.*enableBlocking/.test(said), said);
});

check('enableBlocking() says when the service worker does not serve that', async () => {
  const error = await rejection(enableBlocking('/service-worker.js'));
  equal(error.code, 'ERR_UNSUPPORTED', error.message);
  ok(/blocking: true/.test(error.message), error.message);
});

check('a worker stands still in receive() and in blocking(), and the end comes behind what was sent', async () => {
  await enableBlocking(SERVICE_WORKER);
  const { port } = spawn(
    part((port) => {
      port.postMessage(port.receive());
      for (const value of port.blocking()) port.postMessage([value]);
      port.close();
    }),
  );
  port.postMessage('first');
  equal(await next(port), 'first');
  for (const i of numbers(50)) port.postMessage(i);
  for (const i of numbers(50)) equal(await next(port), [i]);
  port.postMessage('last');
  port.close();
  equal(await within('port.closed', port.closed), 'closed');
});

check('a worker that blocks, and returns to its event loop, takes each message once and in order', async () => {
  const { port } = spawn(
    part(async (port, { EMPTY }) => {
      const taken: unknown[] = [];
      for (let i = 0; taken.length < 400; i++) {
        const value =
          i % 3 === 0
            ? await port.receiveAsync()
            : i % 3 === 1
              ? port.receive({ timeoutMs: i % 4 })
              : port.tryReceive();
        if (value !== EMPTY) taken.push(value);
        if (i % 7 === 0) await new Promise((resolve) => setTimeout(resolve, 0));
      }
      port.postMessage(taken);
    }),
  );
  for (const i of numbers(400)) {
    port.postMessage(i);
    if (i % 5 === 0) await rest(i % 3);
  }
  equal(await within('all of them', port.receiveAsync(), 15), numbers(400));
});

check('time limits pass, and nothing is lost at the very moment', async () => {
  const { port } = spawn(
    part((port, { EMPTY, CLOSED }) => {
      const began = performance.now();
      if (port.receive({ timeoutMs: 50 }) !== EMPTY) throw new Error('it was there too early');
      if (performance.now() - began < 49) throw new Error('the time limit had not passed');
      port.postMessage('go');
      const taken: unknown[] = [];
      for (let value: unknown = EMPTY; value !== CLOSED; value = port.receive({ timeoutMs: 2 }))
        if (value !== EMPTY) taken.push(value);
      port.send(taken.length);
    }),
  );
  equal(await next(port), 'go');
  for (const i of numbers(100)) {
    port.postMessage(i);
    await rest(i % 5);
  }
  port.postMessage('x'.repeat(1_000_000));
  await within('flush()', port.flush());
  port.close();
});

check('large messages, and more than there is room for, go both ways while the worker blocks', async () => {
  const { port } = spawn(
    part((port) => {
      for (let i = 0; i < 40; i++) {
        const { text } = port.receive() as { text: string };
        port.send({ i, text });
      }
    }),
    { capacityBytes: 16_384 },
  );
  for (const i of numbers(40)) port.postMessage({ text: String(i).repeat(i % 10 === 0 ? 50_000 : 1000) });
  for (const i of numbers(40)) {
    const got = (await next(port)) as { i: number; text: string };
    equal([got.i, got.text === String(i).repeat(i % 10 === 0 ? 50_000 : 1000)], [i, true]);
  }
});

check('wrapSync() calls the page', async () => {
  const { port } = spawn(
    part((port, { wrapSync }) => {
      const api = wrapSync(port) as unknown as { add(a: number, b: number): number; done(sum: number): void };
      let sum = 0;
      for (let i = 0; i < 10; i++) sum = api.add(sum, i);
      api.done(sum);
    }),
  );
  const done = new Promise((resolve) =>
    expose({ add: async (a: number, b: number) => a + b, done: (sum: number) => resolve(sum) }, port),
  );
  equal(await within('the sum', done), 45);
});

check('a Blob is refused to a worker that blocks, and comes by its event loop, also behind the end', async () => {
  const { port, worker } = spawn(
    part(async (port, { EMPTY, CLOSED }) => {
      // So that nothing has come before it blocks.
      port.postMessage('up');
      const got: unknown[] = [port.receive()];
      try {
        got.push(port.receive());
      } catch (error) {
        got.push((error as { code: string }).code);
      }
      got.push(port.receive({ timeoutMs: 20 }) === EMPTY);
      got.push(await ((await port.receiveAsync()) as Blob).text());
      got.push(port.receive(), port.receive() === CLOSED);
      postMessage(got);
    }),
  );
  const got = new Promise((resolve) => (worker as Worker).addEventListener('message', ({ data }) => resolve(data)));
  equal(await next(port), 'up');
  port.postMessage('before');
  port.postMessage(new Blob(['blob']));
  port.postMessage('behind');
  port.close();
  equal(await within('what it got', got), ['before', 'ERR_UNSUPPORTED', true, 'blob', 'behind', true]);
});

check('an interrupt reaches a worker in the middle of its work', async () => {
  const { port } = spawn(
    part((port) => {
      const job = port.receive();
      while (port.interrupted !== job);
      port.postMessage('interrupted');
    }),
  );
  port.postMessage(7);
  await rest(100);
  port.interrupt(7);
  equal(await next(port), 'interrupted');
});

check('one worker has many ports, and blocks in each', async () => {
  const { port } = spawn(
    part(async (port, { attach }) => {
      const ports = ((await port.receiveAsync()) as unknown[]).map((remote) => attach(remote));
      for (const one of [...ports, ...ports].reverse()) one.postMessage([one.receive()]);
      port.receive();
    }),
  );
  ok(port.stats().way?.name === 'native-port', 'way');
  const many = numbers(8).map(() => channel());
  const remotes = many.map(({ remote }) => remote);
  port.postMessage(remotes, remotes.flatMap(({ transfer }) => transfer) as never);
  for (const [i, { port: one }] of many.entries()) for (const k of [1, 2]) one.postMessage(i * k);
  for (const [i, { port: one }] of many.entries()) for (const k of [1, 2]) equal(await next(one), [i * k]);
  port.close();
});

check('a newer service worker waits, and a worker that blocks goes on', async () => {
  const { port } = spawn(part((port) => void Array.from({ length: 30 }, () => port.postMessage(port.receive()))));
  const register = () => navigator.serviceWorker.register(`${SERVICE_WORKER}&newer`, { type: 'module' });
  const registered = new Promise<ServiceWorkerRegistration>((resolve) => setTimeout(() => resolve(register()), 50));
  for (const i of numbers(30)) {
    port.postMessage(i);
    equal(await next(port), i);
    if (i === 10) await within('the newer one', registered);
  }
  const { active } = await registered;
  ok(active?.scriptURL.endsWith(SERVICE_WORKER), String(active?.scriptURL));
});

check('two documents have workers that block at the same time', async () => {
  const frame = document.createElement('iframe');
  const heard = new Promise((resolve) =>
    window.addEventListener('message', ({ data }) => resolve(data), { once: true }),
  );
  frame.src = '/blocking-frame?plain';
  document.body.append(frame);
  afterwards(() => frame.remove());
  const { port } = spawn(part((port) => void Array.from({ length: 20 }, () => port.send(port.receive()))));
  for (const i of numbers(20)) {
    port.postMessage(i);
    equal(await next(port), i);
  }
  equal(
    await within('the frame', heard),
    numbers(20).map((i) => -i),
  );
});
