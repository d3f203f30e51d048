// Many channels between the same threads: opened in any order, used while others rest, blocked on one by one, closed while others
// go on.
import { attach, CLOSED, channel, type Port, type Remote, select, selectAsync } from '../../../src/index.ts';
import { afterwards, check, equal, rest, thrownBy, within } from './checks.ts';
import { next, startThread } from './thread.ts';

const COUNT = 50;

interface Ends {
  readonly ports: readonly Port[];
  readonly remotes: readonly Remote[];
  readonly transfer: readonly unknown[];
}
function channels(count: number, capacityBytes = 4096): Ends {
  const made = Array.from({ length: count }, () => channel({ capacityBytes }));
  afterwards(() => {
    for (const { port } of made) port.close();
  });
  return {
    ports: made.map(({ port }) => port),
    remotes: made.map(({ remote }) => remote),
    transfer: made.flatMap(({ remote }) => remote.transfer),
  };
}

check('a worker attaches many and blocks on each in turn, without a turn of its event loop', async () => {
  const thread = startThread(async ({ hear, millrace }) => {
    const remotes = await hear<unknown[]>();
    const ports = remotes.map((remote) => millrace.attach(remote));
    for (const port of ports) {
      for (let i = 0; i < 3; i++) port.postMessage(port.receive());
    }
    return ports.length;
  });
  const { ports, remotes, transfer } = channels(COUNT);
  thread.tell(remotes, transfer);
  for (const [i, port] of ports.entries()) {
    for (let j = 0; j < 3; j++) {
      port.postMessage([i, j]);
      equal(await next(port), [i, j]);
    }
  }
  equal(await thread.done(), COUNT);
});

check('while a worker blocks on one, what comes for the others waits for it', async () => {
  const thread = startThread(async ({ hear, say, millrace }) => {
    const remotes = await hear<unknown[]>();
    const ports = remotes.map((remote) => millrace.attach(remote));
    const last = ports.at(-1)!;
    // Some listen, some are read later.
    let heard = 0;
    for (const port of ports.slice(0, 10)) port.onmessage = () => heard++;
    say('up');
    const values = [last.receive()];
    for (const port of ports.slice(10, -1)) values.push(port.tryReceive());
    while (heard < 10) await new Promise((resolve) => setTimeout(resolve, 1));
    return values;
  });
  const { ports, remotes, transfer } = channels(COUNT);
  thread.tell(remotes, transfer);
  await thread.next();
  for (const [i, port] of ports.entries()) port.postMessage(i);
  equal(await thread.done(), [COUNT - 1, ...Array.from({ length: COUNT - 11 }, (_, i) => i + 10)]);
});

check('both threads open channels to each other at once', async () => {
  const thread = startThread(
    async ({ hear, say, millrace, data }) => {
      const made = Array.from({ length: data as number }, () => millrace.channel({ capacityBytes: 4096 }));
      say(
        made.map(({ remote }) => remote),
        made.flatMap(({ remote }) => remote.transfer as Transferable[]),
      );
      const remotes = await hear<unknown[]>();
      const ports = [...made.map(({ port }) => port), ...remotes.map((remote) => millrace.attach(remote))];
      for (const port of ports) port.onmessage = ({ data }) => port.postMessage(data);
      await hear();
      return ports.length;
    },
    { data: COUNT },
  );
  const { ports, remotes, transfer } = channels(COUNT);
  thread.tell(remotes, transfer);
  const theirs = ((await thread.next()) as unknown[]).map((remote) => attach(remote));
  const all = [...ports, ...theirs];
  for (const [i, port] of all.entries()) port.postMessage(i);
  for (const [i, port] of all.entries()) equal(await next(port), i);
  for (const [i, port] of all.toReversed().entries()) {
    port.postMessage(i);
    equal(await next(port), i);
  }
  thread.tell('end');
  equal(await thread.done(), 2 * COUNT);
});

check('moved values of many channels keep their places, each among the messages of its own', async () => {
  const thread = startThread(async ({ hear, millrace }) => {
    const remotes = await hear<unknown[]>();
    for (const remote of remotes) {
      const port = millrace.attach(remote);
      port.onmessage = ({ data }) => port.postMessage(data instanceof ArrayBuffer ? new Uint8Array(data)[0] : data);
    }
    await hear();
  });
  const { ports, remotes, transfer } = channels(20);
  thread.tell(remotes, transfer);
  for (let round = 0; round < 20; round++) {
    for (const [i, port] of ports.entries()) {
      const { buffer } = new Uint8Array([(i + round) & 0xff]);
      if ((i + round) % 3 === 0) port.postMessage(buffer, [buffer as never]);
      else port.postMessage((i + round) & 0xff);
    }
  }
  for (let round = 0; round < 20; round++) {
    for (const [i, port] of ports.entries())
      equal(await next(port), (i + round) & 0xff, `round ${round}, channel ${i}:`);
  }
});

check('channels come and go beside one that goes on', async () => {
  const { ports, remotes, transfer } = channels(1);
  const thread = startThread(async ({ hear, millrace }) => {
    const [first] = await hear<unknown[]>();
    const steady = millrace.attach(first);
    steady.onmessage = ({ data }) => steady.postMessage(data);
    let closed = 0;
    for (let handed = await hear<unknown>(); handed !== 'end'; handed = await hear<unknown>()) {
      const other = millrace.attach(handed);
      other.onmessage = ({ data }) => {
        other.postMessage(data);
        if (data === 'you close') other.close();
      };
      void other.closed.then(() => closed++);
    }
    while (closed < 300) await new Promise((resolve) => setTimeout(resolve, 1));
    return closed;
  });
  thread.tell(remotes, transfer);
  const steady = ports[0]!;
  for (let i = 0; i < 300; i++) {
    const { port, remote } = channel({ capacityBytes: 1024 });
    thread.tell(remote, remote.transfer);
    port.postMessage('we close');
    steady.postMessage(i);
    equal(await next(port), 'we close');
    if (i % 2 === 0) port.close();
    else {
      port.postMessage('you close');
      equal(await next(port), 'you close');
      equal((await next(port)) === CLOSED, true);
    }
    equal(await next(steady), i);
  }
  thread.tell('end');
  equal(await thread.done(), 300);
});

check('a channel that is blocked on sends a worker to sleep, and the page wakes it after a rest', async () => {
  const thread = startThread(async ({ hear, millrace }) => {
    const ports = (await hear<unknown[]>()).map((remote) => millrace.attach(remote));
    for (let i = 0; i < 30; i++) {
      const port = ports[(i * 7) % ports.length]!;
      port.postMessage(port.receive());
    }
    return 'done';
  });
  const { ports, remotes, transfer } = channels(COUNT);
  thread.tell(remotes, transfer);
  for (let i = 0; i < 30; i++) {
    const port = ports[(i * 7) % ports.length]!;
    await rest(i % 3 === 0 ? 10 : 0);
    port.postMessage(i);
    equal(await next(port), i);
  }
  equal(await thread.done(), 'done');
});

check(
  'a worker that blocks in select is told which of many ports is ready, at once after it attached them',
  async () => {
    const thread = startThread(async ({ hear, millrace }) => {
      const ports = (await hear<unknown[]>()).map((remote) => millrace.attach(remote));
      let served = 0;
      for (let open = ports; open.length > 0; ) {
        const port = millrace.select(open);
        const value = port.receive();
        if (value === millrace.CLOSED) open = open.filter((it) => it !== port);
        else {
          port.postMessage(value);
          served++;
        }
      }
      return served;
    });
    const { ports, remotes, transfer } = channels(COUNT);
    thread.tell(remotes, transfer);
    for (let i = 0; i < 2 * COUNT; i++) {
      const port = ports[(i * 7) % COUNT]!;
      if (i % 10 === 0) await rest(5);
      port.postMessage(i);
      equal(await next(port), i);
    }
    for (const port of ports) port.close();
    equal(await thread.done(), 2 * COUNT);
  },
);

check('the page awaits which of many ports is ready, and does not block', async () => {
  const thread = startThread(async ({ hear, millrace }) => {
    const ports = (await hear<unknown[]>()).map((remote) => millrace.attach(remote));
    for (let i = 0; i < 100; i++) {
      const port = ports[(i * 7) % ports.length]!;
      port.postMessage(i);
      if (port.receive({ timeoutMs: 5000 }) !== i) throw new Error(`answer ${i}`);
    }
    return 'answered';
  });
  const { ports, remotes, transfer } = channels(COUNT);
  thread.tell(remotes, transfer);
  equal(thrownBy(() => select(ports)).code, 'ERR_UNSUPPORTED');
  for (let i = 0; i < 100; i++) {
    const port = (await within('a ready port', selectAsync(ports))) as Port;
    equal(port === ports[(i * 7) % COUNT], true, `turn ${i}:`);
    port.postMessage(port.tryReceive());
  }
  equal(await thread.done(), 'answered');
});
