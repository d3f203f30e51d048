// Handles: attached late, passed on, taken twice, for two other threads.
import { attach, CLOSED, channel, type Port, pair, transferOf } from '../../../src/index.ts';
import { afterwards, check, equal, ok, rest, thrownBy } from './checks.ts';
import { next, type Stage, startThread, talkTo } from './thread.ts';

const isWebKit = !/Chrome|Firefox/.test(navigator.userAgent);

check('what is sent before a worker attaches waits for it', async () => {
  const { port, thread } = talkTo(async ({ hear, port, say }) => {
    say('up');
    await hear();
    const p = port();
    let count = 0;
    for (const value of p.blocking()) {
      if (value !== count++) throw new Error(`${String(value)} as number ${count - 1}`);
      if (count === 100) break;
    }
    p.postMessage('read');
  });
  await thread.next();
  for (let i = 0; i < 100; i++) port.postMessage(i);
  await rest(50);
  thread.tell('attach');
  equal(await next(port), 'read');
});

check('what was sent before a page closed waits for a worker that attaches later', async () => {
  const { port, thread } = talkTo(async ({ hear, port, say, millrace }) => {
    say('up');
    await hear();
    const p = port();
    const values: unknown[] = [];
    for (let value = p.receive(); value !== millrace.CLOSED; value = p.receive()) values.push(value);
    return [values, p.reason];
  });
  await thread.next();
  port.postMessage('a');
  port.postMessage({ b: 1 });
  port.close();
  await rest(50);
  thread.tell('attach');
  equal(await thread.done(), [['a', { b: 1 }], 'closed']);
});

check('a handle that a worker made comes to the page', async () => {
  const thread = startThread(({ millrace, say }) => {
    const { port, remote } = millrace.channel();
    say(remote, remote.transfer as Transferable[]);
    for (const value of port.blocking()) port.postMessage(value);
  });
  const port = attach(await thread.next());
  afterwards(() => port.close());
  for (let i = 0; i < 100; i++) {
    port.postMessage(i);
    equal(await next(port), i);
  }
});

check('a handle that a worker made goes through the page to another worker, and both block', async () => {
  const asks = startThread(({ millrace, say, hear }) => {
    const { port, remote } = millrace.channel();
    say(remote, remote.transfer as Transferable[]);
    port.postMessage('early');
    return hear().then(() => {
      let sum = 0;
      for (let i = 0; i < 300; i++) {
        port.postMessage(i);
        sum += port.receive({ timeoutMs: 5000 }) as number;
      }
      port.close();
      return sum;
    });
  });
  const answers = startThread(
    ({ port, say }) => {
      const p = port();
      const early = p.receive();
      say('up');
      for (const value of p.blocking()) p.postMessage(value);
      return early;
    },
    { remote: await asks.next() },
  );
  await answers.next();
  asks.tell('go');
  equal(await asks.done(), 44_850);
  equal(await answers.done(), 'early');
});

check('a handle passes through two workers, inside messages of channels', async () => {
  const passes = talkTo(({ port, millrace }) => {
    const p = port();
    p.onmessage = ({ data }) => {
      const { remote } = data as { remote: unknown };
      p.postMessage({ remote }, millrace.transferOf(remote) as never);
    };
  });
  const last = talkTo(({ port, millrace }) => {
    port().onmessage = ({ data }) => {
      const far = millrace.attach((data as { remote: unknown }).remote);
      far.onmessage = ({ data }) => far.postMessage(data);
    };
  });
  const { port, remote } = channel();
  afterwards(() => port.close());
  port.postMessage('sent before');
  passes.port.postMessage({ remote }, remote.transfer);
  const passed = (await next(passes.port)) as { remote: unknown };
  last.port.postMessage(passed, transferOf(passed.remote));
  equal(await next(port), 'sent before');
  for (let i = 0; i < 50; i++) {
    port.postMessage(i);
    equal(await next(port), i);
  }
});

check('a handle goes over a native port between two workers', async () => {
  const { port1, port2 } = new MessageChannel();
  const receives = startThread(async ({ hear, millrace }) => {
    const native = await hear<MessagePort>();
    const handle = await new Promise((resolve) => {
      native.onmessage = ({ data }) => resolve(data);
    });
    return millrace.attach(handle).receive();
  });
  receives.tell(port2, [port2]);
  const sends = startThread(async ({ hear, millrace }) => {
    const native = await hear<MessagePort>();
    const { port, remote } = millrace.channel();
    native.postMessage(remote, remote.transfer as Transferable[]);
    port.postMessage('direct');
    await port.flush();
    return 'taken';
  });
  sends.tell(port1, [port1]);
  equal(await receives.done(), 'direct');
  equal(await sends.done(), 'taken');
});

check('an end is attached once', () => {
  const { port, remote } = channel();
  const far = attach(remote);
  afterwards(() => port.close());
  equal(thrownBy(() => attach(remote)).code, 'ERR_HANDLE');
  equal(thrownBy(() => attach({})).code, 'ERR_HANDLE');
  equal(thrownBy(() => attach(undefined)).code, 'ERR_HANDLE');
  far.close();
});

check('a handle that was posted without its transfer list is refused, natively', () => {
  const { port, remote } = channel();
  afterwards(() => port.close());
  const worker = new Worker(URL.createObjectURL(new Blob([''])));
  afterwards(() => worker.terminate());
  // WebKit says TypeError.
  ok(/^(DataClone|Type)Error$/.test(thrownBy(() => worker.postMessage(remote)).name), 'it was not refused');
});

check('a handle that was handed on cannot be attached here, and can where it went', async () => {
  const { port, remote } = channel();
  afterwards(() => port.close());
  const thread = startThread(async ({ hear, millrace, say }) => {
    const handle = await hear();
    say('up');
    await hear();
    const far = millrace.attach(handle);
    far.onmessage = ({ data }) => far.postMessage(data);
  });
  thread.tell(remote, remote.transfer);
  equal(await thread.next(), 'up');
  equal(thrownBy(() => attach(remote)).code, 'ERR_HANDLE');
  thread.tell('attach');
  port.postMessage('there');
  equal(await next(port), 'there');
});

check('a pair for two workers, one attached long after the other sent', async () => {
  const [one, other] = pair();
  const sends = startThread(
    async ({ port }) => {
      const p = port();
      p.postMessage('first');
      await p.flush();
      return 'taken';
    },
    { remote: one },
  );
  await rest(100);
  const receives = startThread(({ port }) => port().receive(), { remote: other });
  equal(await receives.done(), 'first');
  equal(await sends.done(), 'taken');
});

check('a shared worker, which is of another agent cluster, is told natively that it cannot have a handle', async () => {
  const source =
    'onconnect = ({ ports: [p] }) => { p.onmessage = () => p.postMessage("came"); p.onmessageerror = () => p.postMessage("messageerror"); p.postMessage("up") }';
  const shared = new SharedWorker(URL.createObjectURL(new Blob([source])));
  const { port, remote } = channel();
  afterwards(() => port.close());
  const said: unknown[] = [];
  const answer = new Promise<void>((resolve) => {
    shared.port.onmessage = ({ data }) => {
      said.push(data);
      if (data === 'up') shared.port.postMessage(remote, remote.transfer);
      else resolve();
    };
  });
  await answer;
  // WebKit may run it in the page's own process, and lets memory through there.
  ok(said[1] === 'messageerror' || (isWebKit && said[1] === 'came'), `it said ${said}`);
  ok(port.tryReceive() !== CLOSED, 'it ended');
});

check('a port moves within the page, with what was unread', async () => {
  const carrier = channel<{ moved: Port }, { moved: Port }>();
  const there = attach<{ moved: Port }>(carrier.remote);
  const { port, remote } = channel();
  const peer = attach(remote);
  for (let i = 0; i < 50; i++) peer.postMessage({ i });
  carrier.port.postMessage({ moved: port }, [port]);
  equal(port.reason, 'detached');
  const { moved } = (await next(there)) as { moved: Port };
  afterwards(() => moved.close());
  for (let i = 50; i < 100; i++) peer.postMessage({ i });
  for (let i = 0; i < 100; i++) equal(await next(moved), { i });
  moved.postMessage('back');
  equal(await next(peer), 'back');
  carrier.port.close();
});

check('a port moves to a worker, back, and to another one, while its peer sends', async () => {
  const role = async ({ port }: Stage): Promise<number> => {
    const home = port();
    let read = 0;
    for await (const message of home) {
      const { moved, from, count } = message as { moved: Port; from: number; count: number };
      for (let i = from; i < from + count; i++) {
        const value = (await moved.receiveAsync()) as { i: number };
        if (value.i !== i) throw new Error(`${value.i} as number ${i}`);
        moved.postMessage(value);
        read++;
      }
      home.postMessage({ moved }, [moved]);
    }
    return read;
  };
  const workers = [talkTo(role), talkTo(role)];
  const { port, remote } = channel();
  const peer = attach(remote);
  let travelling: Port = port;
  let answered = 0;
  peer.onmessage = ({ data }) => {
    equal(data, { i: answered++ });
  };
  for (let hop = 0; hop < 4; hop++) {
    const { port: home } = workers[hop % 2] as (typeof workers)[0];
    home.postMessage({ moved: travelling, from: hop * 100, count: 100 }, [travelling]);
    for (let i = hop * 100; i < hop * 100 + 100; i++) peer.postMessage({ i });
    travelling = ((await next(home)) as { moved: Port }).moved;
  }
  for (const { port: home } of workers) home.close();
  equal(await Promise.all(workers.map(({ thread }) => thread.done())), [200, 200]);
  await rest(20);
  equal(answered, 400);
  travelling.close();
  equal(await peer.closed, 'closed');
});
