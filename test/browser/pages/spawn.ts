// `spawn` with a function that makes the Worker, as bundlers want it, and `parentPort` over there.
import { attach, CLOSED, channel, parentPort, spawn } from '../../../src/index.ts';
import { afterwards, check, checkTogether, equal, ok, rest, thrownBy, within } from './checks.ts';
import { next, spawnThread } from './thread.ts';

check('a spawned worker waits until it is ready, then blocks', async () => {
  const { port } = spawnThread(async ({ port }) => {
    const p = port();
    await p.ready;
    for (const value of p.blocking()) p.postMessage(value);
  });
  await within('ready', port.ready);
  for (let i = 0; i < 300; i++) {
    port.postMessage({ i });
    equal(await next(port), { i });
  }
});

check('a spawned worker listens', async () => {
  const { port } = spawnThread(({ port }) => {
    const p = port();
    p.onmessage = ({ data }) => p.postMessage((data as number) * 2);
  });
  for (let i = 0; i < 100; i++) {
    port.postMessage(i);
    equal(await next(port), i * 2);
  }
});

check('what both post before they are connected arrives', async () => {
  const { port, thread } = spawnThread(async ({ port }) => {
    const p = port();
    for (let i = 0; i < 100; i++) p.postMessage(i);
    let sum = 0;
    for (let i = 0; i < 100; i++) sum += (await p.receiveAsync()) as number;
    return sum;
  });
  for (let i = 0; i < 100; i++) port.postMessage(i);
  for (let i = 0; i < 100; i++) equal(await next(port), i);
  equal(await thread.done(), 4950);
});

check('a spawned worker that would block before it is ready is told what to await', async () => {
  const { thread } = spawnThread(({ port }) => {
    try {
      port().receive();
      return 'it did not throw';
    } catch (error) {
      const { code, message } = error as { code: string; message: string };
      return [code, /ready/.test(message) || message];
    }
  });
  equal(await thread.done(), ['ERR_UNSUPPORTED', true]);
});

check('a spawned worker closes', async () => {
  const { port } = spawnThread(async ({ port }) => {
    const p = port();
    await p.ready;
    p.postMessage('last');
    p.close();
  });
  equal(await next(port), 'last');
  equal((await next(port)) === CLOSED, true);
  equal(await within('port.closed', port.closed), 'closed');
});

for (const [what, block] of [
  ['with an event loop', false],
  ['that blocks', true],
] as const) {
  check(`terminate() of a spawned worker ${what}`, async () => {
    const { port, thread } = block
      ? spawnThread(async ({ port }) => {
          const p = port();
          await p.ready;
          p.postMessage('up');
          p.receive();
        })
      : spawnThread(({ port }) => {
          const p = port();
          p.onmessage = () => {};
          p.postMessage('up');
        });
    equal(await next(port), 'up');
    thread.worker.terminate();
    equal(await within('port.closed', port.closed), 'terminated');
  });
}

checkTogether('self.close() in a spawned worker', async () => {
  const { port } = spawnThread(async ({ port }) => {
    await port().ready;
    setTimeout(() => self.close(), 50);
  });
  equal(await within('port.closed', port.closed, 3), 'exit');
});

checkTogether('a spawned worker whose script is not there', async () => {
  const { port, worker } = spawn(() => new Worker(new URL('./none.js', import.meta.url), { type: 'module' }));
  afterwards(() => {
    port.close();
    worker.terminate();
  });
  worker.onerror = (event) => event.preventDefault();
  equal(await within('port.closed', port.closed, 3), 'crash');
});

for (const [what, source, type] of [
  ['does not parse', 'let let = 3 +;', 'module'],
  ['does not parse, a classic one', 'let let = 3 +;', 'classic'],
  ['imports what is not there', `import '${location.origin}/none.js';`, 'module'],
  ['throws before it opens its end', 'throw new Error("on purpose")', 'module'],
] as const) {
  checkTogether(`a spawned worker whose script ${what}`, async () => {
    const url = URL.createObjectURL(new Blob([source], { type: 'text/javascript' }));
    const { port, worker } = spawn(() => new Worker(url, { type }));
    afterwards(() => {
      port.close();
      worker.terminate();
    });
    worker.onerror = (event) => event.preventDefault();
    const cause = port.ready.then(
      () => 'it was ready',
      ({ code, cause }) => [code, cause instanceof Error],
    );
    equal(await within('port.closed', port.closed, 3), 'crash');
    equal(await cause, ['ERR_CLOSED', true]);
  });
}

checkTogether('an uncaught error of a spawned worker that is up ends nothing', async () => {
  const { port, thread } = spawnThread(async ({ port, hear }) => {
    const p = port();
    await p.ready;
    setTimeout(() => {
      throw new Error('on purpose');
    });
    await hear();
    p.postMessage('alive');
  });
  await within('the error event', new Promise((resolve) => (thread.worker.onerror = resolve)));
  await rest(600);
  thread.tell('go on');
  equal(await next(port), 'alive');
});

check('spawn with a URL names the form that works', () => {
  const { code, message } = thrownBy(() => spawn(new URL('./thread-worker.js', import.meta.url)));
  equal(code, 'ERR_UNSUPPORTED');
  ok(message.includes('spawn(() => new Worker(new URL('), message);
});

check('a page has no parent port', () => {
  equal(thrownBy(() => parentPort()).code, 'ERR_HANDLE');
});

check('channel() in a worker that was spawned', async () => {
  const { port, thread } = spawnThread(async ({ port, millrace }) => {
    const { port: near, remote } = millrace.channel();
    port().postMessage({ remote }, remote.transfer);
    return near.receiveAsync();
  });
  const { remote } = (await next(port)) as { remote: unknown };
  const far = attach(remote);
  far.postMessage('through');
  equal(await thread.done(), 'through');
  far.close();
});

check('spawn leaves nothing behind when its function fails', () => {
  equal(
    thrownBy(() =>
      spawn(() => {
        throw new RangeError('no');
      }),
    ).name,
    'RangeError',
  );
  equal(thrownBy(() => spawn(() => ({}) as never)).code, 'ERR_OPTION');
  channel().port.close();
});
