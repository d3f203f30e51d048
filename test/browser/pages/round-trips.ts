// There and back between a page and its workers, in every way that one can wait.
import { attach, channel, EMPTY, features, pair } from '../../../src/index.ts';
import { sleeping } from '../../kit/sleeping.ts';
import { afterwards, check, equal, ok, thrownBy, within } from './checks.ts';
import { next, startThread, talkTo } from './thread.ts';

const WAYS = ['wait-async', 'doorbell', 'both'] as const;

check('the shipped build runs, on an isolated page', async () => {
  ok(crossOriginIsolated, 'the page is not isolated');
  const { runtime, blocking, blockingTransfer, probesPeers } = features();
  equal([runtime, blocking, blockingTransfer, probesPeers], ['browser', false, false, false]);
  equal(await startThread(({ millrace }) => millrace.features().blocking).done(), true);
});

check('a worker that blocks answers an event loop', async () => {
  const { port } = talkTo(({ port }) => {
    const p = port();
    for (const value of p.blocking()) p.postMessage(value);
  });
  for (let i = 0; i < 500; i++) {
    port.postMessage({ i, text: `žluť ${i}` });
    equal(await next(port), { i, text: `žluť ${i}` });
  }
});

check('a worker that blocks answers after rests', async () => {
  const { port } = talkTo(({ port }) => {
    const p = port();
    for (const value of p.blocking()) p.postMessage(value);
  });
  for (const ms of [1, 3, 30, 100]) {
    for (let i = 0; i < 5; i++) {
      await new Promise((resolve) => setTimeout(resolve, ms));
      port.postMessage(i);
      equal(await next(port), i);
    }
  }
});

for (const eventLoopWait of WAYS) {
  check(`two event loops with listeners, ${eventLoopWait}`, async () => {
    const { port } = talkTo(
      ({ port, data }) => {
        const p = port({ [Symbol.for('millrace.eventLoopWait')]: data } as object);
        p.onmessage = ({ data }) => p.postMessage((data as number) + 1);
      },
      sleeping(eventLoopWait),
      eventLoopWait,
    );
    const end = new Promise<unknown>((resolve) => {
      port.onmessage = ({ data }) => ((data as number) >= 500 ? resolve(data) : port.postMessage(data));
    });
    port.postMessage(0);
    equal(await within('500', end), 500);
  });

  check(`two event loops with promises, ${eventLoopWait}`, async () => {
    const { port } = talkTo(
      async ({ port, data }) => {
        const p = port({ [Symbol.for('millrace.eventLoopWait')]: data } as object);
        for await (const value of p) p.postMessage(value);
      },
      sleeping(eventLoopWait),
      eventLoopWait,
    );
    for (let i = 0; i < 300; i++) {
      port.postMessage(i);
      equal(await next(port), i);
    }
  });
}

check('a page and itself', async () => {
  const { port, remote } = channel();
  const far = attach(remote);
  afterwards(() => port.close());
  far.onmessage = ({ data }) => far.postMessage(data);
  for (let i = 0; i < 100; i++) {
    port.postMessage(i);
    equal(await next(port), i);
  }
});

check('two workers that both block', async () => {
  const [one, other] = pair();
  const asks = startThread(
    ({ port, millrace }) => {
      const p = port();
      for (let i = 0; i < 500; i++) {
        p.postMessage(i);
        if (p.receive({ timeoutMs: 5000 }) !== i) throw new Error(`answer ${i}`);
      }
      p.close();
      return millrace.EMPTY.description;
    },
    { remote: one },
  );
  const answers = startThread(
    ({ port }) => {
      const p = port();
      let count = 0;
      for (const value of p.blocking()) {
        p.postMessage(value);
        count++;
      }
      return count;
    },
    { remote: other },
  );
  equal(await asks.done(), EMPTY.description);
  equal(await answers.done(), 500);
});

check('a worker blocks on a worker of its own', async () => {
  const thread = startThread(
    async ({ data, millrace }) => {
      const nested = new Worker(data, {
        type: 'module',
        name: '({ port }) => { const p = port(); for (const v of p.blocking()) p.postMessage(v * 2); }',
      });
      const { port, remote } = millrace.channel<number>();
      nested.postMessage({ remote }, remote.transfer as Transferable[]);
      // Its script is fetched by this event loop: a parent that blocks before would wait for ever.
      port.postMessage(-1);
      if ((await port.receiveAsync()) !== -2) throw new Error('first');
      let sum = 0;
      for (let i = 0; i < 100; i++) {
        port.postMessage(i);
        sum += port.receive() as number;
      }
      return sum;
    },
    { data: new URL('./thread-worker.js', import.meta.url).href },
  );
  equal(await thread.done(), 9900);
});

check('a blocked receive keeps its time limit', async () => {
  const { thread } = talkTo(({ port, millrace }) => {
    const start = performance.now();
    const value = port().receive({ timeoutMs: 100 });
    return [value === millrace.EMPTY, performance.now() - start];
  });
  const [empty, ms] = (await thread.done()) as [boolean, number];
  ok(empty && ms >= 99, `${empty} after ${ms} ms`);
});

check('what would block the page says what to use', () => {
  const { port } = channel({ capacityBytes: 1024 });
  afterwards(() => port.close());
  const receive = thrownBy(() => port.receive());
  equal(receive.code, 'ERR_UNSUPPORTED');
  ok(/receiveAsync/.test(receive.message), receive.message);
  while (port.trySend('x'.repeat(100)));
  const send = thrownBy(() => port.send('x'.repeat(100)));
  equal(send.code, 'ERR_UNSUPPORTED');
  ok(/trySend|drained|postMessage/.test(send.message), send.message);
});

check('a page that computes finds what came meanwhile', async () => {
  const { port, thread } = talkTo(({ port }) => {
    const p = port();
    for (let i = 0; i < 1000; i++) p.postMessage(i);
    return 'posted';
  });
  const end = performance.now() + 300;
  while (performance.now() < end);
  for (let i = 0; i < 1000; i++) equal(await next(port), i);
  equal(await thread.done(), 'posted');
});
