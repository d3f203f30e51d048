// How an end is learnt: by close, by what is left unread, by a Worker that is gone.
import { CLOSED, channel, type Port, transferOf } from '../../../src/index.ts';
import { afterwards, check, checkTogether, equal, ok, thrownBy, within } from './checks.ts';
import { openFrame, talkToDocument } from './documents.ts';
import { next, type Stage, talkTo } from './thread.ts';

/** Seconds until an end that no browser announces counts as not told. */
const TOLD_SECONDS = 3;
/** A blocked worker looks once a second, at what somebody else has written down. */
const TOLD_BLOCKED_MS = 2000;
const closed = (port: Port): Promise<unknown> => within('port.closed', port.closed, TOLD_SECONDS);
const isClosed = (value: unknown): string => (value === CLOSED ? 'CLOSED' : String(value));

check('the page closes: a worker blocked in receive gets CLOSED', async () => {
  const { port, thread } = talkTo(({ port, say, millrace }) => {
    const p = port();
    say('up');
    return [p.receive() === millrace.CLOSED, p.reason];
  });
  await thread.next();
  port.close();
  equal(await thread.done(), [true, 'closed']);
});

check('the worker closes: receiveAsync gives CLOSED, and closed the reason', async () => {
  const { port } = talkTo(({ port }) => port().close());
  equal(isClosed(await next(port)), 'CLOSED');
  equal(await closed(port), 'closed');
});

check('the worker closes: flush and drained of the page reject', async () => {
  const { port } = talkTo(
    ({ port }) => {
      const p = port();
      setTimeout(() => p.close(), 50);
    },
    { capacityBytes: 1024, highWaterMarkBytes: 0 },
  );
  while (port.trySend('x'.repeat(100)));
  const codeOf = ({ code }: { code: string }): string => code;
  const drained = port.drained().then(() => 'drained', codeOf);
  const flushed = port.flush().then(() => 'flushed', codeOf);
  equal(await within('drained', drained), 'ERR_CLOSED');
  equal(await within('flush', flushed), 'ERR_CLOSED');
});

/** Reads all with its event loop, a while after the page has closed. */
async function readsLate({ port, rest, millrace }: Stage): Promise<unknown> {
  const p = port();
  rest(200);
  for (let count = 0; ; count++) {
    const value = await p.receiveAsync();
    if (value === millrace.CLOSED) return count;
    if ((value as { i: number }).i !== count) throw new Error(`${JSON.stringify(value)} as number ${count}`);
  }
}
/** The same, blocked. */
function readsLateBlocked({ port, rest, millrace }: Stage): unknown {
  const p = port();
  rest(200);
  for (let count = 0; ; count++) {
    const value = p.receive();
    if (value === millrace.CLOSED) return count;
    if ((value as { i: number }).i !== count) throw new Error(`${JSON.stringify(value)} as number ${count}`);
  }
}
for (const [who, role] of [
  ['an event loop', readsLate],
  ['a worker that blocks', readsLateBlocked],
] as const) {
  for (const [what, capacityBytes] of [
    ['what fits the ring', 65_536],
    ['more than fits the ring', 1024],
  ] as const) {
    check(`the page posts ${what} and closes: ${who} reads all`, async () => {
      const { port, thread } = talkTo(role, { capacityBytes });
      for (let i = 0; i < 200; i++) port.postMessage({ i, text: 'hello hello' });
      port.close();
      equal(await thread.done(), 200);
    });
  }
}

check('the page posts more than fits the ring and closes: who only waits for the end is told at once', async () => {
  const { port, thread } = talkTo(
    async ({ port, say, millrace }) => {
      const p = port();
      say('up');
      const reason = await p.closed;
      let count = 0;
      while ((await p.receiveAsync()) !== millrace.CLOSED) count++;
      return [reason, count];
    },
    { capacityBytes: 1024 },
  );
  await thread.next();
  for (let i = 0; i < 200; i++) port.postMessage({ i, text: 'hello hello' });
  port.close();
  equal([port.reason, thrownBy(() => port.send(1)).code], ['closed', 'ERR_CLOSED']);
  equal(await thread.done(), ['closed', 200]);
});

check('the page posts long messages and closes: a worker that listens gets all, and the end behind them', async () => {
  const { port, thread } = talkTo(
    ({ port }) => {
      const p = port();
      const lengths: number[] = [];
      p.onmessage = ({ data }) => lengths.push((data as string).length);
      return new Promise((resolve) => {
        p.on('close', (reason) => resolve([reason, lengths]));
      });
    },
    { capacityBytes: 1024 },
  );
  for (let i = 0; i < 20; i++) port.postMessage('x'.repeat(1000 * i));
  port.close();
  equal(await thread.done(), ['closed', Array.from({ length: 20 }, (_, i) => 1000 * i)]);
});

for (const parked of [false, true]) {
  check(
    `the page moves a buffer and closes at once: ${parked ? 'a parked' : 'a starting'} worker gets it`,
    async () => {
      for (let i = 0; i < 20; i++) {
        const { port, thread } = talkTo(async ({ port, say, millrace }) => {
          const p = port();
          const first = p.receiveAsync();
          say('up');
          const value = await first;
          return [value instanceof ArrayBuffer, (await p.receiveAsync()) === millrace.CLOSED];
        });
        if (parked) await thread.next();
        const buffer = new ArrayBuffer(8);
        port.postMessage(buffer, [buffer as never]);
        port.close();
        equal(await thread.done(), [true, true], `round ${i}:`);
      }
    },
  );
}

check('a worker moves a buffer, closes its port and then itself: the page gets it', async () => {
  for (let i = 0; i < 20; i++) {
    const { port } = talkTo(({ port }) => {
      const p = port();
      const buffer = new ArrayBuffer(8);
      p.postMessage(buffer, [buffer as never]);
      p.close();
      self.close();
    });
    ok((await next(port)) instanceof ArrayBuffer, `lost in round ${i}`);
    equal(isClosed(await next(port)), 'CLOSED');
  }
});

check('an uncaught error in a listener ends nothing: the worker lives on', async () => {
  const { port, thread } = talkTo(({ port }) => {
    const p = port();
    p.onmessage = ({ data }) => {
      if (data === 'fail') throw new Error('on purpose');
      p.postMessage('alive');
    };
  });
  const failed = new Promise<unknown>((resolve) => {
    thread.worker.onerror = (event) => {
      event.preventDefault();
      resolve(event.message);
    };
  });
  port.postMessage('fail');
  port.postMessage('go on');
  equal(await next(port), 'alive');
  ok(/on purpose/.test(String(await within('the error event', failed))), 'another error');
});

checkTogether('the worker closes: a page that only awaits closed is told', async () => {
  const { port } = talkTo(({ port }) => {
    const p = port();
    setTimeout(() => p.close(), 50);
  });
  equal(await closed(port), 'closed');
});

checkTogether('terminate() of a worker with an event loop', async () => {
  const { port, thread } = talkTo(async ({ port, say }) => {
    const p = port();
    p.onmessage = () => {};
    await p.ready;
    say('up');
  });
  await thread.next();
  thread.worker.terminate();
  equal(await closed(port), 'terminated');
});

for (const memory of [true, false]) {
  check(
    `terminate() as soon as port.ready of this page has settled, ${memory ? 'with' : 'without'} memory`,
    async () => {
      for (let i = 0; i < 4; i++) {
        const worker = new Worker(new URL('./native-worker.js', import.meta.url), { type: 'module' });
        afterwards(() => worker.terminate());
        const { port, remote } = channel({ memory });
        worker.postMessage({ remote }, remote.transfer);
        await within('port.ready', port.ready);
        worker.terminate();
        equal(await closed(port), 'terminated');
      }
    },
  );
}

checkTogether('terminate() of a worker that blocks', async () => {
  const { port, thread } = talkTo(async ({ port, say }) => {
    const p = port();
    await p.ready;
    say('up');
    p.receive();
  });
  await thread.next();
  thread.worker.terminate();
  equal(await closed(port), 'terminated');
});

checkTogether('self.close() in a worker', async () => {
  const { port } = talkTo(({ port }) => {
    port();
    setTimeout(() => self.close(), 50);
  });
  equal(await closed(port), 'exit');
});

checkTogether('terminate() of one of two workers, while the other is blocked on it', async () => {
  const asks = talkTo(async ({ port, say, hear, millrace }) => {
    await port().ready;
    const { port: near, remote } = millrace.channel();
    say(remote, remote.transfer as Transferable[]);
    await near.ready;
    await hear();
    say('blocks');
    const value = near.receive({ timeoutMs: 6000 });
    return [value === millrace.CLOSED, near.reason];
  });
  const answers = talkTo(async ({ port, say, hear, millrace }) => {
    await port().ready;
    const far = millrace.attach(await hear());
    far.onmessage = () => {};
    await far.ready;
    say('up');
  });
  const remote = await asks.thread.next();
  answers.thread.tell(remote, transferOf(remote));
  await answers.thread.next();
  asks.thread.tell('block');
  await asks.thread.next();
  const start = performance.now();
  answers.thread.worker.terminate();
  equal(await asks.thread.done(), [true, 'terminated']);
  const took = performance.now() - start;
  ok(took < TOLD_BLOCKED_MS, `it took ${took} ms`);
});

// No handle has arrived anywhere, and nobody but the Worker's own event tells. `spawn` goes by that (spawn.ts).
checkTogether(
  'a worker whose script is not there: who has handed a channel to it hears of it by the Worker',
  async () => {
    const worker = new Worker('./none.js', { type: 'module' });
    afterwards(() => worker.terminate());
    const { port, remote } = channel();
    const ready = port.ready.then(
      () => 'ready',
      ({ code }) => code,
    );
    worker.onerror = (event) => {
      event.preventDefault();
      port.close();
    };
    worker.postMessage(remote, remote.transfer);
    equal(await closed(port), 'closed');
    equal(await ready, 'ERR_CLOSED');
  },
);

for (const [how, leave] of [
  ['navigated away', (element: HTMLIFrameElement): void => void (element.src = 'about:blank')],
  ['removed', (element: HTMLIFrameElement): void => element.remove()],
] as const) {
  checkTogether(`a frame is ${how}`, async () => {
    const element = await openFrame();
    const port = await talkToDocument(element.contentWindow as Window);
    for (let i = 0; i < 50; i++) {
      port.postMessage(i);
      equal(await next(port), i);
    }
    leave(element);
    equal(await closed(port), 'exit');
  });
}
