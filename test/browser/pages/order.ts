// Order, pushing back, and what stands beside the queue: many messages, large ones, small rings, slow readers.
import { channel } from '../../../src/index.ts';
import { sleeping } from '../../kit/sleeping.ts';
import { afterwards, check, equal, ok, rest, within } from './checks.ts';
import { next, startThread, talkTo } from './thread.ts';

const TEXTS = ['x', 'é', '日'];

check('a burst to a worker that blocks arrives in order, texts of 3 M characters behind it', async () => {
  const { port, thread } = talkTo(({ port }) => {
    let count = 0;
    const lengths: string[] = [];
    for (const value of port().blocking()) {
      if (value === 'end') return `${count} ${lengths}`;
      if (typeof value === 'string') lengths.push(`${value[0]}${value.length}`);
      else if (value !== count++) throw new Error(`${String(value)} came as number ${count - 1}`);
    }
    return 'ended early';
  });
  for (let i = 0; i < 20_000; i++) port.postMessage(i);
  for (const text of TEXTS) port.postMessage(text.repeat(3e6));
  port.postMessage('end');
  equal(await thread.done(), '20000 x3000000,é3000000,日3000000');
});

check('texts and blocks longer than the ring reach a worker that blocks already', async () => {
  const { port } = talkTo(async ({ port }) => {
    const p = port();
    await p.ready;
    for (;;) p.postMessage((p.receive() as { length: number }).length);
  });
  await port.ready;
  for (const length of [300_000, 1_000_000, 3_000_000]) {
    for (const value of ['x'.repeat(length), new Uint8Array(length), 'x'.repeat(length)]) {
      port.postMessage(value);
      equal(await next(port), length);
    }
  }
});

check('blocks that find no room go on to a worker that blocks', async () => {
  const { port, thread } = talkTo(({ port }) => {
    const p = port();
    let count = 0;
    for (const value of p.blocking()) {
      count += (value as Uint8Array).length === 65_536 ? 1 : 0;
      if (count === 100) return count;
    }
    return count;
  });
  for (let i = 0; i < 100; i++) port.postMessage(new Uint8Array(65_536));
  equal(await thread.done(), 100);
});

check('a burst to the page arrives in order, texts of 3 M characters behind it', async () => {
  const { port } = talkTo(({ port }) => {
    const p = port();
    for (let i = 0; i < 20_000; i++) p.postMessage(i);
    for (const text of ['x', 'é', '日']) p.postMessage(text.repeat(3e6));
  });
  let count = 0;
  const lengths: string[] = [];
  const end = new Promise<void>((resolve, reject) => {
    port.onmessage = ({ data }) => {
      if (typeof data === 'string') lengths.push(`${data[0]}${data.length}`);
      else if (data !== count++) reject(new Error(`${String(data)} came as number ${count - 1}`));
      if (lengths.length === TEXTS.length) resolve();
    };
  });
  await within('the burst', end, 15);
  equal([count, ...lengths], [20_000, 'x3000000', 'é3000000', '日3000000']);
});

check('a page that sends faster than its worker reads is pushed back, and waits for room', async () => {
  const { port, thread } = talkTo(
    ({ port, rest }) => {
      let count = 0;
      for (const value of port().blocking()) {
        if (value === 'end') return count;
        if ((value as { i: number }).i !== count++) throw new Error(`${JSON.stringify(value)} as number ${count - 1}`);
        if (count % 500 === 0) rest(2);
      }
      return 'ended early';
    },
    { capacityBytes: 16_384, highWaterMarkBytes: 0 },
  );
  let waits = 0;
  for (let i = 0; i < 10_000; i++) {
    while (!port.trySend({ i, text: 'some text here' })) {
      waits++;
      await within('room', port.drained());
    }
  }
  port.postMessage('end');
  equal(await thread.done(), 10_000);
  ok(waits > 3, `waited ${waits} times only`);
  equal(port.stats().outboxBytes, 0, 'bytes left in the outbox');
});

check('what the page posts beyond a small ring follows by itself, in order', async () => {
  const { port, thread } = talkTo(
    ({ port }) => {
      let count = 0;
      for (const value of port().blocking()) {
        if (value === 'end') return count;
        if ((value as { i: number }).i !== count++) throw new Error(`${JSON.stringify(value)} as number ${count - 1}`);
      }
      return 'ended early';
    },
    { capacityBytes: 1024 },
  );
  for (let i = 0; i < 3000; i++) port.postMessage({ i, text: 'some text here' });
  port.postMessage('end');
  equal(await thread.done(), 3000);
});

check('a worker that blocks in send waits for a page that is busy', async () => {
  const { port, thread } = talkTo(
    ({ port }) => {
      const p = port();
      for (let i = 0; i < 3000; i++) p.send({ i, text: 'some text here' });
      return p.stats().parks;
    },
    { capacityBytes: 4096 },
  );
  const end = performance.now() + 200;
  while (performance.now() < end);
  for (let i = 0; i < 3000; i++) equal(((await next(port)) as { i: number }).i, i);
  ok(((await thread.done()) as number) > 0, 'it never slept');
});

check('flush resolves on both sides when the other has taken all', async () => {
  const { port, thread } = talkTo(async ({ port }) => {
    const p = port();
    p.receive();
    p.receive();
    p.postMessage(1);
    await p.flush();
    return 'flushed';
  });
  port.postMessage('a');
  port.postMessage('b');
  await within('flush', port.flush());
  equal(await next(port), 1);
  equal(await thread.done(), 'flushed');
});

check('under overflow latest a reader gets the newest', async () => {
  const { port, thread } = talkTo(
    async ({ port, hear }) => {
      const p = port();
      await hear();
      let last = -1;
      let count = 0;
      for (;;) {
        const value = p.receive() as number;
        if (value <= last) throw new Error(`${value} after ${last}`);
        last = value;
        count++;
        if (value === 4999) return count;
      }
    },
    { overflow: 'latest' },
  );
  for (let i = 0; i < 5000; i++) port.postMessage(i);
  thread.tell('read');
  const count = (await thread.done()) as number;
  ok(count < 5000, `it read all ${count}`);
});

for (const how of ['event loop', 'blocked'] as const) {
  // A thread that blocks takes no memory in: it is told so, and its event loop takes what it was told of.
  check(`under overflow latest long texts, the last before the end: a reader that is ${how}`, async () => {
    const { port, thread } = talkTo(
      async ({ port, hear, data, millrace }) => {
        const p = port();
        await hear();
        let last = -1;
        let told = 0;
        for (;;) {
          let value: unknown;
          try {
            value = data === 'blocked' ? p.receive() : await p.receiveAsync();
          } catch (error) {
            if ((error as { code?: string }).code !== 'ERR_UNSUPPORTED') throw error;
            told++;
            value = await p.receiveAsync();
          }
          if (value === millrace.CLOSED) return [last, told > 0];
          const number = Number.parseInt(value as string, 10);
          if (!(number > last) || (value as string).length !== 100_000)
            throw new Error(`${String(value)} after ${last}`);
          last = number;
        }
      },
      { overflow: 'latest', capacityBytes: 4096 },
      how,
    );
    thread.tell('read');
    for (let i = 0; i < 200; i++) {
      port.postMessage(`${i} `.padEnd(100_000, 'x'));
      if (i % 20 === 0) await rest(2);
    }
    port.close();
    equal(await thread.done(), [199, how === 'blocked']);
  });
}

check('a worker that computes sees an interrupt', async () => {
  const { port, thread } = talkTo(({ port, say }) => {
    const p = port();
    say('computing');
    while (p.interrupted === 0);
    return p.clearInterrupt();
  });
  await thread.next();
  port.interrupt(7);
  equal(await thread.done(), 7);
});

check('200 channels to one worker', async () => {
  const thread = startThread(async ({ hear, millrace }) => {
    const remotes = await hear<unknown[]>();
    const ports = remotes.map((remote) => millrace.attach(remote));
    for (const port of ports) port.onmessage = ({ data }) => port.postMessage(data);
    await hear();
    return ports.length;
  });
  const channels = Array.from({ length: 200 }, () => channel({ capacityBytes: 4096 }));
  afterwards(() => {
    for (const { port } of channels) port.close();
  });
  thread.tell(
    channels.map(({ remote }) => remote),
    channels.flatMap(({ remote }) => remote.transfer),
  );
  for (const [i, { port }] of channels.entries()) port.postMessage(i);
  for (const [i, { port }] of channels.entries()) equal(await next(port), i);
  thread.tell('end');
  equal(await thread.done(), 200);
});

for (const eventLoopWait of ['wait-async', 'doorbell', 'both'] as const) {
  for (const how of ['promises', 'a listener'] as const) {
    check(`half a second of flood to the page, ${how}, ${eventLoopWait}: in order, and its timers run`, async () => {
      const { port, thread } = talkTo(
        async ({ port, data }) => {
          const p = port({ [Symbol.for('millrace.eventLoopWait')]: data } as object);
          const end = performance.now() + 500;
          let i = 0;
          while (performance.now() < end) {
            while (!p.trySend({ i, payload: 'x'.repeat(400) })) await p.drained();
            if ((++i & 1023) === 0) await new Promise((resolve) => setTimeout(resolve));
          }
          p.postMessage('end');
          return i;
        },
        { ...sleeping(eventLoopWait), capacityBytes: 65_536 },
        eventLoopWait,
      );
      let timers = 0;
      const ticking = setInterval(() => timers++, 5);
      afterwards(() => clearInterval(ticking));
      let count = 0;
      const take = (value: unknown): boolean => {
        if (value === 'end') return true;
        if ((value as { i: number }).i !== count++) throw new Error(`${JSON.stringify(value)} as number ${count - 1}`);
        return false;
      };
      if (how === 'promises') {
        while (!take(await next(port)));
      } else {
        const end = new Promise<void>((resolve, reject) => {
          port.onmessage = ({ data }) => {
            try {
              if (take(data)) resolve();
            } catch (error) {
              reject(error);
            }
          };
        });
        await within('the end of the flood', end);
      }
      equal(await thread.done(), count);
      ok(timers >= 5, `${timers} timers ran`);
    });
  }
}

check('a worker with a blocked receive sleeps, and does not ask again and again', async () => {
  const { port, thread } = talkTo(({ port, millrace }) => {
    const p = port();
    if (p.receive({ timeoutMs: 500 }) !== millrace.EMPTY) throw new Error('something came');
    return p.stats().parks;
  });
  await rest(10);
  const parks = (await thread.done()) as number;
  ok(parks >= 1 && parks < 4, `${parks} sleeps in half a second`);
  port.close();
});

check('where the clock moves every 200 ms only, a time limit of 1 ms ends after one sleep', async () => {
  const { thread } = talkTo(async ({ port, millrace }) => {
    const p = port();
    await p.ready;
    const now = performance.now.bind(performance);
    const { wait } = Atomics;
    let sleeps = 0;
    Atomics.wait = ((...args: Parameters<typeof wait>) => {
      sleeps++;
      return wait.apply(Atomics, args);
    }) as typeof wait;
    // At the beginning of a tick: the next one is far.
    for (const tick = Math.floor(now() / 200); Math.floor(now() / 200) === tick; );
    performance.now = () => Math.floor(now() / 200) * 200;
    const got = p.receive({ timeoutMs: 1 });
    return [got === millrace.EMPTY, sleeps];
  });
  equal(await thread.done(), [true, 1]);
});
