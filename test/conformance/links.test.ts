// How the channels between two threads come to share one link, and that none of them suffers for another one.
// neighbours: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attach, channel, EMPTY, type Port, type Remote, transferOf } from '../../src/index.ts';
import { LIVENESS_SLICE_MS } from '../../src/limits.ts';
import { AGENT_PAGE_BYTES, LINK_PAGE_BYTES } from '../../src/link/layout.ts';
import * as layout from '../../src/memory/layout.ts';
import { joined, seated } from '../kit/linked.ts';
import { neighbourCount } from '../kit/neighbours.ts';
import { startThread } from '../kit/thread.ts';
import { turn, until, within } from '../kit/watchdog.ts';

const FOUND = 17;
const agentOf = ({ agent }: Pick<Remote, 'agent'>): unknown => agent;

test('a founder that is closed before it was answered ends nobody who proposed its link meanwhile', async () => {
  const mine = channel();
  const thread = startThread(
    async (stage) => {
      const { channel, attach } = stage.millrace;
      const founder = channel();
      stage.say(founder.remote, founder.remote.transfer);
      const remote = await stage.hear();
      const seat = new Int32Array(founder.remote.memory);
      // The proposal has come.
      while (Atomics.load(seat, stage.data) === 0) await new Promise((resolve) => setTimeout(resolve, 0));
      stage.gates.open(0);
      stage.gates.pass(1);
      // Of the end of that link it has not heard yet.
      const port = attach(remote);
      const heard = await port.receiveAsync();
      port.postMessage('answer');
      // Who waits for a message keeps its thread alive.
      await port.receiveAsync();
      return [String(heard), founder.port.stats().received];
    },
    { data: layout.SIDE_0 + layout.SEAT },
  );
  const remote = (await thread.next()) as Remote;
  const founder = attach(remote);
  founder.close();
  thread.tell(mine.remote, mine.remote.transfer);
  thread.gates.pass(0);
  for (let i = 0; i < 10; i++) await turn();
  thread.gates.open(1);
  for (let i = 0; i < 10; i++) await turn();
  mine.port.postMessage('still here');
  assert.equal(await within('the answer', mine.port.receiveAsync()), 'answer');
  await until('the other one has a link of its own', () => joined(mine.remote));
  mine.port.postMessage('enough');
  assert.deepEqual(await thread.done(), ['still here', 0]);
  mine.port.close();
});

test('who waits for a link is told of it however that becomes known', async () => {
  const mine = channel();
  const thread = startThread(
    async (stage) => {
      const { channel, attach } = stage.millrace;
      const [founder, waiter] = [channel(), channel()];
      stage.say([founder.remote, waiter.remote], [...founder.remote.transfer, ...waiter.remote.transfer]);
      const remote = await stage.hear();
      const seat = new Int32Array(founder.remote.memory);
      while (Atomics.load(seat, stage.data) === 0) await new Promise((resolve) => setTimeout(resolve, 0));
      const port = attach(remote);
      stage.gates.open(0);
      await port.receiveAsync();
      return waiter.port.stats().received;
    },
    { data: layout.SIDE_0 + layout.SEAT },
  );
  const [first, second] = (await thread.next()) as [Remote, Remote];
  thread.tell(mine.remote, mine.remote.transfer);
  const founder = attach(first);
  const waiter = attach(second);
  thread.gates.pass(0);
  // Where a blocked thread can take from its ports it hears of the other proposal now, and of the answer never.
  try {
    mine.port.receive({ timeoutMs: LIVENESS_SLICE_MS * 4 });
  } catch {}
  founder.close();
  await until('the waiting channel has a link', () => joined(second));
  mine.port.postMessage('enough');
  assert.equal(await thread.done(), 0);
  for (const port of [mine.port, waiter]) port.close();
});

test('a channel whose maker has closed it founds no link that others would wait for', async () => {
  const thread = startThread(async (stage) => {
    const [over, open] = [stage.millrace.channel(), stage.millrace.channel()];
    over.port.close();
    stage.say([over.remote, open.remote], [...over.remote.transfer, ...open.remote.transfer]);
    return String(await open.port.receiveAsync());
  });
  const [over, open] = (await thread.next()) as [Remote, Remote];
  const unread = attach(over);
  const port = attach(open);
  await until('it has a link', () => joined(open));
  port.postMessage('linked');
  assert.equal(await thread.done(), 'linked');
  for (const each of [unread, port]) each.close();
});

// Neighbours talk over native ports, too.
const countsPosts = neighbourCount === 0 ? test : (): void => {};
countsPosts('a handle that claims to be of the thread it came to is no reason to ask for ever', async () => {
  const { agent } = channel().remote;
  const thread = startThread(
    async (stage) => {
      const { port, remote } = stage.millrace.channel();
      stage.say({ ...remote, agent: stage.data }, remote.transfer);
      return String(await port.receiveAsync());
    },
    { data: agent },
  );
  const forged = (await thread.next()) as Remote;
  const home = Object.getPrototypeOf(forged.tether) as { postMessage(...args: unknown[]): void };
  const { postMessage } = home;
  let posted = 0;
  home.postMessage = function (this: object, ...args: unknown[]): void {
    posted++;
    postMessage.apply(this, args);
  };
  try {
    const port = attach(forged);
    for (let i = 0; i < 100; i++) await new Promise((resolve) => setTimeout(resolve, 1));
    // Threads that have bells say three things about these, with two messages each.
    assert.ok(posted < 20, `${posted} messages`);
    port.postMessage('all the same');
    assert.equal(await thread.done(), 'all the same');
    port.close();
  } finally {
    home.postMessage = postMessage;
  }
});

test('a handle that claims to be of a third thread costs that one nothing', async () => {
  const makers = [0, 1].map(() =>
    startThread(async (stage) => {
      const { channel } = stage.millrace;
      const { port, remote } = channel();
      stage.say(remote, remote.transfer);
      const agent = await stage.hear();
      const later = channel();
      const handle = agent === 'honest' ? later.remote : { ...later.remote, agent };
      stage.say(handle, later.remote.transfer);
      return [String(await port.receiveAsync()), String(await later.port.receiveAsync())];
    }),
  );
  const [honest, liar] = makers as [(typeof makers)[0], (typeof makers)[0]];
  const own = (await honest.next()) as Remote;
  const its = (await liar.next()) as Remote;
  const ports: Port[] = [attach(own), attach(its)];
  await until('both are linked', () => joined(own) && joined(its));
  liar.tell(own.agent);
  ports.push(attach(await liar.next()));
  honest.tell('honest');
  const last = (await honest.next()) as Remote;
  ports.push(attach(last));
  await until('the last one is linked', () => joined(last));
  for (const port of ports) port.postMessage('heard');
  for (const maker of makers) assert.deepEqual(await maker.done(), ['heard', 'heard']);
  for (const port of ports) port.close();
});

test('a getter that lets a channel join its link in the middle of a post loses nothing that is posted', async () => {
  const thread = startThread(async (stage) => {
    const { channel } = stage.millrace;
    const [founder, other] = [channel(), channel()];
    stage.say([founder.remote, other.remote], [...founder.remote.transfer, ...other.remote.transfer]);
    const got = (await other.port.receiveAsync()) as { at: Map<string, number> };
    return [got.at.get('x'), founder.port.stats().received];
  });
  const [first, second] = (await thread.next()) as [Remote, Remote];
  const founder = attach(first);
  await until('there is a link', () => joined(first));
  const port = attach(second);
  const look = (): void => {
    try {
      port.receive({ timeoutMs: LIVENESS_SLICE_MS * 4 });
    } catch {}
  };
  // Where a blocked thread can take from its ports it hears here that it is known, and in the middle of the post that the
  // other side has joined.
  for (let i = 0; i < 50 && !seated(second, 0); i++) look();
  const value = {
    get at(): Map<string, number> {
      look();
      return new Map([['x', 1]]);
    },
  };
  // Cloned natively, for the sake of what moves.
  port.postMessage(value, [new ArrayBuffer(8)]);
  assert.deepEqual(await thread.done(), [1, 0]);
  for (const each of [founder, port]) each.close();
});

test('crossing handles, 200 each way, all come to a link', async () => {
  const COUNT = 200;
  const mine = Array.from({ length: COUNT }, () => channel({ capacityBytes: 1024 }));
  const thread = startThread(
    async (stage) => {
      const { channel, attach } = stage.millrace;
      const own = Array.from({ length: stage.data as number }, () => channel({ capacityBytes: 1024 }));
      stage.say(
        own.map(({ remote }) => remote),
        own.flatMap(({ remote }) => remote.transfer),
      );
      const ports = ((await stage.hear()) as unknown[]).map((remote) => attach(remote));
      ports.forEach((port, i) => {
        port.postMessage(new Map([[0, i]]));
      });
      let sum = 0;
      for (const { port } of own) sum += ((await port.receiveAsync()) as Map<number, number>).get(0) as number;
      for (const { port } of own) port.close();
      for (const port of ports) await port.receiveAsync();
      return [sum, new Set(await Promise.all(ports.map((port) => port.closed))).size];
    },
    { data: COUNT },
  );
  thread.tell(
    mine.map(({ remote }) => remote),
    mine.flatMap(({ remote }) => remote.transfer),
  );
  const remotes = (await thread.next()) as Remote[];
  const ports = remotes.map((remote) => attach(remote));
  ports.forEach((port, i) => {
    port.postMessage(new Map([[0, i]]));
  });
  let sum = 0;
  for (const { port } of mine) sum += ((await port.receiveAsync()) as Map<number, number>).get(0) as number;
  assert.equal(sum, (COUNT * (COUNT - 1)) / 2);
  await until('all are linked', () => mine.every(({ remote }) => joined(remote)));
  for (const { port } of mine) port.close();
  assert.deepEqual(await thread.done(), [sum, 1]);
  for (const port of ports) assert.equal(await within('it is told', port.closed), 'closed');
});

test('pages of any length that is long enough do, and shorter ones are none', async () => {
  for (const odd of [1, 3, 4096]) {
    const { port, remote } = channel();
    const native = remote.side as { postMessage(message: unknown): void };
    const agent = { id: 'somebody', page: new SharedArrayBuffer(AGENT_PAGE_BYTES + odd) };
    // What an attacher says, with a page of its own making.
    native.postMessage([FOUND, 0, new SharedArrayBuffer(LINK_PAGE_BYTES + odd), null, agent]);
    assert.equal(port.receive({ timeoutMs: LIVENESS_SLICE_MS * 2 }), EMPTY);
    const far = attach({ ...remote, agent });
    port.postMessage('goes on');
    assert.equal(await within('the message', far.receiveAsync()), 'goes on');
    far.close();
    port.close();
  }
  const { port, remote } = channel();
  const native = remote.side as { postMessage(message: unknown): void };
  native.postMessage([FOUND, 0, new SharedArrayBuffer(LINK_PAGE_BYTES - 4), null, agentOf(remote)]);
  assert.equal(port.receive({ timeoutMs: LIVENESS_SLICE_MS * 2 }), EMPTY);
  assert.ok(!seated(remote, 0));
  port.close();
});

test('a thread that sleeps by a bell of a kind that nobody here knows has no link, and its channels keep to their own ports', async () => {
  const { port, remote } = channel();
  const other = channel();
  const handles = structuredClone([remote, other.remote], {
    transfer: [...remote.transfer, ...other.remote.transfer] as never,
  }) as Remote[];
  const [strange, plain] = handles as [Remote, Remote];
  const far = attach({ ...strange, agent: { ...(strange.agent as object), bell: { kind: 99 } } });
  const joins = attach(plain);
  await until('the one without a bell is linked', () => joined(plain));
  const got = within('the answer', port.receiveAsync());
  assert.equal(await within('nothing yet', far.receiveAsync({ timeoutMs: 1 })), EMPTY);
  far.postMessage('answer');
  assert.equal(await got, 'answer');
  assert.equal(joined(strange), false);
  far.close();
  assert.equal(await within('the end', port.closed), 'closed');
  for (const each of [joins, other.port, port]) each.close();
});

test('a channel joins a link again when an end of it has gone to another thread, whichever', async () => {
  for (const side of [0, 1] as const) {
    const thread = startThread(
      async (stage) => {
        const { attach, channel } = stage.millrace;
        const { port, remote } = channel();
        stage.say(remote, remote.transfer);
        const other = attach(await stage.hear());
        const carrier = attach(await port.receiveAsync());
        // One of the two goes on, the other one stays where it is.
        const leaving = stage.data === 0 ? port : other;
        carrier.postMessage({ leaving }, [leaving]);
        // Who waits for a message keeps its thread alive.
        await carrier.receiveAsync();
        return 'done';
      },
      { data: side },
    );
    const theirs = (await thread.next()) as Remote;
    const mine = channel();
    thread.tell(mine.remote, mine.remote.transfer);
    const port = attach(theirs);
    await until('both are linked', () => joined(theirs) && joined(mine.remote));
    const third = startThread(async (stage) => {
      const { channel } = stage.millrace;
      const { port, remote } = channel();
      stage.say(remote, remote.transfer);
      const { leaving } = (await port.receiveAsync()) as { leaving: Port };
      port.close();
      const got = await leaving.receiveAsync();
      leaving.postMessage('gone over');
      await leaving.receiveAsync();
      return String(got);
    });
    const carrier = (await third.next()) as Remote;
    port.postMessage(carrier, transferOf(carrier));
    const [stays, remote] = side === 0 ? [port, theirs] : [mine.port, mine.remote];
    stays.postMessage('after it');
    assert.equal(await stays.receiveAsync(), 'gone over');
    await until('it is linked again', () => joined(remote));
    stays.close();
    assert.equal(await third.done(), 'after it');
    assert.equal(await thread.done(), 'done');
    for (const each of [port, mine.port]) each.close();
  }
});
