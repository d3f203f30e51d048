// A Port that is put into a value and its transfer list arrives as a Port, with everything that was on its way.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import {
  attach,
  type ChannelOptions,
  CLOSED,
  ClosedError,
  channel,
  DataCloneError,
  EMPTY,
  type Port,
  select,
} from '../../src/index.ts';
import { HEAD, LANE_0, TAIL } from '../../src/memory/layout.ts';
import { startThread, type TestThread } from '../kit/thread.ts';
import { STEP_MS, turn, until, within } from '../kit/watchdog.ts';

const soon = { timeoutMs: STEP_MS };

interface Ends {
  readonly port: Port;
  readonly peer: Port;
  close(): void;
}
function pairHere(options?: ChannelOptions): Ends {
  const { port, remote } = channel(options);
  const peer = attach(remote, options?.overflow === undefined ? {} : { overflow: options.overflow });
  return {
    port,
    peer,
    close: () => {
      port.close();
      peer.close();
    },
  };
}
/** Moves a port within this thread. */
function moveHere(port: Port, settle?: () => void): Port {
  const carrier = pairHere();
  carrier.port.postMessage({ port }, [port]);
  settle?.();
  const { port: moved } = carrier.peer.receive(soon) as { port: Port };
  carrier.close();
  return moved;
}
/** A thread that has attached, and goes on with something else. */
async function whoReadsNothing(remote: unknown): Promise<TestThread> {
  const thread = startThread(
    async (stage) => {
      stage.port();
      stage.gates.open(0);
      await stage.hear();
    },
    { remote },
  );
  await until('the handle is attached', () => thread.gates.get(0) === 1);
  return thread;
}
async function exchange(a: Port, b: Port): Promise<void> {
  a.postMessage({ there: 1 });
  assert.deepEqual(await b.receiveAsync(soon), { there: 1 });
  b.postMessage({ back: 2 });
  assert.deepEqual(await a.receiveAsync(soon), { back: 2 });
}

test('a port that nobody has used yet', async () => {
  const { port, peer } = pairHere();
  const moved = moveHere(port);
  await exchange(moved, peer);
  await exchange(peer, moved);
  peer.close();
  assert.equal(await within('the end', moved.closed), 'closed');
  assert.equal(moved.receive(soon), CLOSED);
});

test('the old object is detached, and says so', async () => {
  const { port, peer } = pairHere();
  const reader = port.receiveAsync();
  const room = port.flush();
  port.postMessage(1);
  const late = port.flush();
  const events: unknown[] = [];
  port.onclose = ({ reason }) => events.push(reason);
  const moved = moveHere(port);
  assert.equal(port.reason, 'detached');
  assert.equal(await within('closed', port.closed), 'detached');
  assert.equal(await reader, CLOSED);
  await room;
  await assert.rejects(late, ClosedError);
  assert.throws(() => port.tryReceive(), { name: 'ClosedError', reason: 'detached', message: /transferred/ });
  assert.throws(() => port.trySend(1), { name: 'ClosedError', reason: 'detached' });
  port.postMessage('goes nowhere');
  assert.equal(port.stats().undelivered, 1);
  port.close();
  await turn();
  assert.deepEqual(events, ['detached']);
  assert.equal(peer.receive(soon), 1);
  await exchange(moved, peer);
  moved.close();
});

test('what was unread is still to be read, and what was accepted is still on its way', async () => {
  const { port, peer } = pairHere({ capacityBytes: 1024 });
  const text = 'x'.repeat(5000);
  for (let i = 0; i < 3; i++) {
    peer.postMessage({ name: 'taught', i, text });
    assert.deepEqual(await port.receiveAsync(soon), { name: 'taught', i, text });
    port.postMessage({ other: 'shape', i, text });
    assert.deepEqual(await peer.receiveAsync(soon), { other: 'shape', i, text });
  }
  const inward: unknown[] = [];
  const outward: unknown[] = [];
  for (let i = 0; i < 50; i++) {
    const values = [{ name: 'taught', i, text }, [i, 'a'.repeat(i * 100)], new Map([[i, new Date(i)]])];
    for (const value of values) {
      peer.postMessage(value);
      inward.push(value);
      port.postMessage(value);
      outward.push(value);
    }
  }
  // Some of it is set aside, while this thread is blocked in send.
  assert.equal(port.send('z'.repeat(4000), { timeoutMs: 20 }), false);
  const moved = moveHere(port);
  assert.ok(moved.stats().outboxBytes > 0);
  for (const value of outward) {
    moved.moveOutbox();
    assert.deepEqual(await peer.receiveAsync(soon), value);
  }
  for (const value of inward) {
    peer.moveOutbox();
    assert.deepEqual(await moved.receiveAsync(soon), value);
  }
  await exchange(moved, peer);
  await exchange(peer, moved);
  assert.deepEqual([moved.stats().undecodable, peer.stats().undecodable], [0, 0]);
  moved.close();
});

test('values that go beside the ring move along: unread, waiting, and on their way', async () => {
  const { port, peer } = pairHere({ capacityBytes: 1024 });
  const others: MessagePort[] = [];
  const send = (from: Port, i: number): void => {
    const { port1, port2 } = new MessageChannel();
    others.push(port1);
    port1.postMessage(i);
    from.postMessage({ i, port: port2, bytes: new Uint8Array(100).fill(i) }, [port2]);
  };
  for (let i = 0; i < 100; i++) {
    send(peer, i);
    send(port, i);
  }
  const moved = moveHere(port);
  for (let i = 100; i < 120; i++) {
    send(peer, i);
    send(moved, i);
  }
  for (let i = 0; i < 120; i++) {
    for (const reader of [moved, peer]) {
      const value = (await within(`value ${i}`, reader.receiveAsync())) as { i: number; port: MessagePort };
      assert.equal(value.i, i);
      const [heard] = (await new Promise((resolve) => value.port.once('message', (it) => resolve([it])))) as [number];
      assert.equal(heard, i);
      value.port.close();
    }
  }
  for (const other of others) other.close();
  moved.close();
});

test('a message of which parts are in the ring goes on where it was', async () => {
  for (const direction of ['in', 'out'] as const) {
    const { port, peer } = pairHere({ capacityBytes: 1024, spinMicroseconds: 0 });
    const [from, to] = direction === 'in' ? [peer, port] : [port, peer];
    const text = Array.from({ length: 3000 }, (_, i) => i).join();
    from.postMessage([text]);
    assert.equal(to.tryReceive(), EMPTY);
    from.moveOutbox();
    assert.equal(to.tryReceive(), EMPTY);
    const moved = moveHere(port);
    const [reader, writer] = direction === 'in' ? [moved, peer] : [peer, moved];
    writer.postMessage('next');
    assert.deepEqual(await within(direction, reader.receiveAsync()), [text]);
    assert.equal(await reader.receiveAsync(), 'next');
    moved.close();
  }
});

test('large messages lie beside the ring, and go on doing so', async () => {
  const { port, peer } = pairHere({ capacityBytes: 131072 });
  const bytes = (i: number): Uint8Array => new Uint8Array(70_000).fill(i);
  const a: number[] = [];
  for (let i = 0; i < 30; i++) {
    peer.postMessage(bytes(i));
    port.postMessage(bytes(i));
    a.push(i);
  }
  const moved = moveHere(port);
  for (let i = 30; i < 60; i++) {
    peer.postMessage(bytes(i));
    moved.postMessage(bytes(i));
    a.push(i);
  }
  for (const i of a) {
    assert.deepEqual(await within(`in ${i}`, moved.receiveAsync()), bytes(i));
    assert.deepEqual(await within(`out ${i}`, peer.receiveAsync()), bytes(i));
  }
  moved.close();
});

test('the newest message only', async () => {
  const { port, peer } = pairHere({ overflow: 'latest', capacityBytes: 4096 });
  for (let i = 0; i < 10; i++) {
    port.postMessage({ i, text: 'y'.repeat(i * 1000) });
    peer.postMessage({ i, text: 'y'.repeat(i * 1000) });
  }
  assert.equal((peer.receive(soon) as { i: number }).i, 9);
  assert.equal((port.receive(soon) as { i: number }).i, 9);
  for (let i = 10; i < 20; i++) {
    port.postMessage({ i, text: 'y'.repeat(i * 1000) });
    peer.postMessage({ i });
  }
  const moved = moveHere(port);
  assert.equal((peer.receive(soon) as { i: number }).i, 19);
  assert.equal((moved.receive(soon) as { i: number }).i, 19);
  for (let i = 20; i < 30; i++) {
    moved.postMessage({ i, text: 'y'.repeat(i * 1000) });
    peer.postMessage({ i, text: 'y'.repeat(i * 1000) });
  }
  assert.equal((peer.receive(soon) as { i: number }).i, 29);
  assert.equal((moved.receive(soon) as { i: number }).i, 29);
  moved.close();
});

test('ports stand wherever they stood, and in event.ports', async () => {
  const carrier = pairHere();
  const one = pairHere();
  const two = pairHere();
  const native = new MessageChannel();
  const cycle: Record<string, unknown> = { one: one.port, list: [two.port, 1, one.port], at: new Date(5) };
  cycle['self'] = cycle;
  const value = {
    cycle,
    map: new Map<unknown, unknown>([
      [two.port, 'two'],
      ['native', native.port1],
    ]),
    set: new Set([one.port]),
  };
  const event = new Promise<{ data: typeof value; ports: readonly unknown[] }>((resolve) => {
    carrier.peer.onmessage = resolve as never;
  });
  carrier.port.postMessage(value, [one.port, native.port1, two.port]);
  const { data, ports } = await within('the event', event);
  const { cycle: got, map, set } = data;
  assert.equal(got['self'], got);
  const [first, second] = [got['one'] as Port, (got['list'] as Port[])[0] as Port];
  assert.equal((got['list'] as Port[])[2], first);
  assert.deepEqual(got['at'], new Date(5));
  assert.equal(map.get(second), 'two');
  assert.ok(set.has(first as never));
  assert.deepEqual([ports[0] === first, ports[1] === map.get('native'), ports[2] === second], [true, true, true]);
  await exchange(first, one.peer);
  await exchange(second, two.peer);
  (map.get('native') as MessagePort).close();
  native.port2.close();
  first.close();
  second.close();
  carrier.close();
});

test('what cannot move is refused, and nothing moves', () => {
  const carrier = pairHere();
  const { port, peer, close } = pairHere();
  const refused = (message: RegExp): object => ({ name: 'UsageError', code: 'ERR_TRANSFER', message });
  assert.throws(() => carrier.port.postMessage(carrier.port, [carrier.port]), refused(/end of the channel/));
  assert.throws(() => carrier.port.postMessage(carrier.peer, [carrier.peer]), refused(/end of the channel/));
  assert.throws(() => carrier.port.postMessage([port, port], [port, port]), refused(/same object twice/));
  assert.throws(() => carrier.port.postMessage({ port, f: () => {} }, [port]), DataCloneError);
  assert.throws(() => carrier.port.postMessage({ port }), { name: 'DataCloneError', message: /transfer list/ });
  const asking = {
    get port(): Port {
      carrier.port.postMessage(port, [port]);
      return port;
    },
  };
  assert.throws(() => carrier.port.postMessage(asking), { code: 'ERR_BUSY' });
  const own = {
    get port(): Port {
      carrier.port.postMessage(port, [port]);
      return port;
    },
  };
  assert.throws(() => port.postMessage(own), refused(/getter/));
  assert.equal(port.reason, undefined);
  port.postMessage('as before');
  assert.equal(peer.receive(soon), 'as before');
  close();
  assert.throws(() => carrier.port.postMessage(port, [port]), refused(/closed/));
  assert.equal(carrier.peer.tryReceive(), EMPTY);
  const gone = pairHere();
  const moved = moveHere(gone.port);
  assert.throws(() => carrier.port.postMessage(gone.port, [gone.port]), refused(/transferred before/));
  moved.close();
  carrier.close();
});

test('a getter that sends or closes what is to move has it refused, and it is in one place', () => {
  const carrier = pairHere();
  const other = pairHere();
  const { port, peer } = pairHere();
  const twice = {
    get port(): Port {
      if (port.reason === undefined) other.port.postMessage(port, [port]);
      return port;
    },
  };
  assert.throws(() => carrier.port.postMessage(twice, [port]), { code: 'ERR_TRANSFER', message: /transferred before/ });
  assert.equal(carrier.peer.tryReceive(), EMPTY);
  const moved = other.peer.receive(soon) as Port;
  peer.postMessage('once');
  assert.equal(moved.receive(soon), 'once');
  const closing = {
    get port(): Port {
      moved.close();
      return moved;
    },
  };
  assert.throws(() => carrier.port.postMessage(closing, [moved]), { code: 'ERR_TRANSFER', message: /closed/ });
  assert.equal(carrier.peer.tryReceive(), EMPTY);
  carrier.close();
  other.close();
});

test('what was set aside may be longer than a message, without what was taught', async () => {
  const { port, peer } = pairHere({ maxMessageBytes: 131072, capacityBytes: 4096 });
  const text = 'long'.repeat(5000);
  for (let i = 0; i < 3; i++) {
    peer.postMessage([text]);
    assert.deepEqual(await port.receiveAsync(soon), [text]);
  }
  const many = Array.from({ length: 16 }, (_, i) => [i, ...Array.from({ length: 20 }, () => text)]);
  for (const each of many.slice(0, 4)) peer.postMessage(each);
  while (port.trySend('x'.repeat(900)));
  assert.equal(port.send('x'.repeat(900), { timeoutMs: 5 }), false);
  const moved = moveHere(port);
  for (const each of many.slice(0, 4)) assert.deepEqual(await moved.receiveAsync(soon), each);
  moved.close();
});

test('a channel that is damaged hurts neither its carrier nor who would have travelled with it', async () => {
  const carrier = pairHere();
  const good = pairHere();
  const { port, remote } = channel({ capacityBytes: 1024 });
  const peer = attach(remote);
  port.postMessage(new Uint8Array(5000));
  assert.ok(port.stats().outboxBytes > 0);
  // HEAD of what this end sends.
  Atomics.store(new Int32Array(remote.memory), LANE_0 + HEAD, 3);
  assert.throws(() => carrier.port.postMessage([good.port, port], [good.port, port]), { code: 'ERR_TRANSFER' });
  assert.equal(port.reason, 'lost');
  assert.equal(await within('the peer is told', peer.closed), 'lost');
  assert.equal(carrier.port.reason, undefined);
  assert.equal(good.port.reason, undefined);
  await exchange(good.port, good.peer);
  await exchange(carrier.port, carrier.peer);
  good.close();
  carrier.close();
});

test('nor does one that was damaged before anybody used it', async () => {
  const carrier = pairHere();
  const { port, remote } = channel();
  const peer = attach(remote);
  Atomics.store(new Int32Array(remote.memory), LANE_0 + TAIL, 3);
  assert.throws(() => carrier.port.postMessage({ port }, [port]), { code: 'ERR_TRANSFER' });
  assert.equal(port.reason, 'lost');
  assert.equal(await within('the peer is told', peer.closed), 'lost');
  await exchange(carrier.port, carrier.peer);
  carrier.close();
});

test('the old object neither takes nor shows what is the next one\u2019s', () => {
  const { port, peer } = pairHere();
  port.postMessage(1);
  const moved = moveHere(port);
  peer.interrupt(7);
  moved.postMessage(2);
  assert.deepEqual([port.interrupted, port.clearInterrupt(), port.stats().sent], [0, 0, 1]);
  assert.deepEqual([moved.interrupted, moved.clearInterrupt(), moved.stats().sent], [7, 7, 2]);
  moved.close();
});

test('a start time limit is about the start: an end on its way has been open', async () => {
  const carrier = pairHere();
  const { port, peer } = pairHere();
  await peer.ready;
  carrier.port.postMessage(port, [port]);
  assert.match(inspect(peer), /attached/);
  assert.doesNotMatch(inspect(peer), /not attached/);
  (carrier.peer.receive(soon) as Port).close();
  carrier.close();
});

test('an end that was sent is answered for when its carrier was closed, or has moved', async () => {
  for (const then of ['close', 'move'] as const) {
    const carrier = channel();
    const thread = await whoReadsNothing(carrier.remote);
    for (let i = 0; i < 10; i++) await turn();
    const { port, peer } = pairHere();
    carrier.port.postMessage(port, [port]);
    const moved = then === 'move' ? moveHere(carrier.port) : undefined;
    if (then === 'close') carrier.port.close();
    await turn();
    await thread.worker.terminate();
    const reason = await within(`the end (${then})`, peer.closed);
    assert.ok(reason === 'terminated' || reason === 'dropped', reason);
    moved?.close();
  }
});

test('the native way takes no port, and the error names the remedy', () => {
  const { port, close } = pairHere();
  const { port1, port2 } = new MessageChannel();
  // Bun's error says nothing of what could not be cloned.
  assert.throws(() => port1.postMessage({ port }), 'Bun' in globalThis ? /cloned/ : /remote/);
  port1.close();
  port2.close();
  close();
});

test('a port whose peer has ended takes along what it has not read', async () => {
  const { port, peer } = pairHere({ capacityBytes: 1024 });
  for (let i = 0; i < 100; i++) peer.postMessage({ i, text: 'a'.repeat(100) });
  peer.close();
  // Known here, or not looked at yet: it is the same.
  assert.equal(port.reason, 'closed');
  const moved = moveHere(port);
  assert.equal(port.reason, 'detached');
  assert.throws(() => port.tryReceive(), { code: 'ERR_CLOSED', reason: 'detached', message: /was transferred/ });
  for (let i = 0; i < 100; i++) assert.equal(((await moved.receiveAsync()) as { i: number }).i, i);
  assert.equal(await moved.receiveAsync(), CLOSED);
  assert.equal(moved.reason, 'closed');
});

test('what its peer left over moves along, and comes once', async () => {
  const { port, peer } = pairHere({ capacityBytes: 1024 });
  const texts = Array.from({ length: 40 }, (_, i) => `${i}`.padEnd(100));
  for (const text of texts) peer.postMessage(text);
  peer.close();
  let reader = port;
  for (const [i, text] of texts.entries()) {
    // In the ring, in the left-over, and in what of it was moved before.
    if (i === 2 || i === 20 || i === 30) reader = moveHere(reader);
    assert.equal(reader.receive(soon), text);
  }
  assert.equal(reader.receive(soon), CLOSED);
});

test('to another thread, with a peer here: at once, or after both have settled', async () => {
  for (const settled of [false, true]) {
    const carrier = channel();
    const thread = startThread(
      async (stage) => {
        const port = stage.port();
        const moved = (await port.receiveAsync()) as Port;
        const { CLOSED } = stage.millrace;
        let count = 0;
        for (let value = await moved.receiveAsync(); value !== CLOSED; value = await moved.receiveAsync()) {
          moved.postMessage(value);
          count++;
        }
        return [count, moved.reason];
      },
      { remote: carrier.remote },
    );
    const { port, peer } = pairHere();
    peer.postMessage('before');
    if (settled) for (let i = 0; i < 20; i++) await turn();
    carrier.port.postMessage(port, [port]);
    peer.postMessage('after');
    assert.equal(await within('before', peer.receiveAsync()), 'before');
    assert.equal(await within('after', peer.receiveAsync()), 'after');
    for (let i = 0; i < 200; i++) {
      peer.postMessage({ i });
      assert.deepEqual(await within(`event loop ${i}`, peer.receiveAsync()), { i });
    }
    for (let i = 0; i < 200; i++) {
      peer.postMessage({ i });
      assert.deepEqual(peer.receive(soon), { i }, `blocked ${i}`);
    }
    const shared = new SharedArrayBuffer(8);
    peer.postMessage(shared);
    assert.ok((await within('a native value', peer.receiveAsync())) instanceof SharedArrayBuffer);
    peer.close();
    assert.deepEqual(await thread.done(), [403, 'closed']);
    carrier.port.close();
  }
});

test('from one thread to the next, while the peer sends: nothing is lost or overtaken', async () => {
  const COUNT = 3000;
  const HOPS = 5;
  const role = async (stage: never): Promise<unknown> => {
    const {
      millrace,
      data,
      port: open,
    } = stage as { millrace: typeof import('../../src/index.ts'); data: number; port(): Port };
    const { CLOSED } = millrace;
    const home = open();
    let seen = 0;
    for (let message = await home.receiveAsync(); message !== CLOSED; message = await home.receiveAsync()) {
      const { port, from, last } = message as { port: Port; from: number; last: boolean };
      let next = from;
      const until = last ? Number.POSITIVE_INFINITY : from + data;
      while (next < until) {
        const value = (await port.receiveAsync()) as { i: number; port?: { close(): void } };
        if ((value as unknown) === CLOSED) return ['closed', next, port.reason, String(port)];
        if (value.i !== next) throw new Error(`expected ${next}, got ${JSON.stringify(value)}`);
        value.port?.close();
        port.postMessage({ echo: value.i });
        next++;
        seen++;
      }
      home.postMessage({ port, from: next }, [port]);
    }
    return ['done', seen];
  };
  const threads = [0, 1].map(() => {
    const { port, remote } = channel();
    return { port, thread: startThread(role as never, { remote, data: 300 }) };
  });
  const { port, peer } = pairHere({ capacityBytes: 4096 });
  let heard = 0;
  peer.onmessage = ({ data }) => {
    assert.equal((data as { echo: number }).echo, heard);
    heard++;
  };
  const sending = (async (): Promise<void> => {
    for (let i = 0; i < COUNT; i++) {
      if (i % 50 === 7) {
        const { port1, port2 } = new MessageChannel();
        peer.postMessage({ i, port: port1 }, [port1]);
        port2.unref();
      } else peer.postMessage({ i, text: 'b'.repeat(i % 300), same: 'c'.repeat(5000) });
      if (i % 16 === 0) await peer.drained();
      if (i % 64 === 0) await turn();
    }
  })();
  let travelling: { port: Port; from: number } = { port, from: 0 };
  for (let hop = 0; hop < HOPS; hop++) {
    const { port: to } = threads[hop % 2] as { port: Port };
    to.postMessage({ ...travelling, last: hop === HOPS - 1 }, [travelling.port]);
    if (hop === HOPS - 1) break;
    const back = await within(`hop ${hop}`, to.receiveAsync());
    assert.notEqual(back, CLOSED, String(back === CLOSED && (await threads[hop % 2]?.thread.result.catch(String))));
    travelling = back as never;
  }
  await within('sending', sending);
  await until('all came back', () => heard === COUNT);
  peer.close();
  for (const { port: home, thread } of threads) {
    home.close();
    await thread.done();
  }
});

test('both ends move at the same time', async () => {
  const echo = async (stage: never): Promise<unknown> => {
    const { port: open, data } = stage as { port(): Port; data: boolean };
    const port = (await open().receiveAsync()) as Port;
    const got: unknown[] = [];
    for (let i = 0; i < 100; i++) {
      if (data) {
        port.postMessage({ i, n: 1 });
        if (i === 50) port.postMessage(new SharedArrayBuffer(8));
      }
      const value = await port.receiveAsync();
      got.push(value instanceof SharedArrayBuffer ? 'shared' : (value as { i: number }).i);
      if (!data) port.postMessage(value);
    }
    port.close();
    return got;
  };
  for (let round = 0; round < 10; round++) {
    const { port, peer } = pairHere();
    if (round % 2 === 1) for (let i = 0; i < 5; i++) await turn();
    port.postMessage({ i: 'early' });
    const homes = [true, false].map((data) => {
      const { port: home, remote } = channel();
      return { home, thread: startThread(echo as never, { remote, data }) };
    });
    const [a, b] = homes as [(typeof homes)[0], (typeof homes)[0]];
    a.home.postMessage(port, [port]);
    b.home.postMessage(peer, [peer]);
    const [first, second] = (await Promise.all([a.thread.done(), b.thread.done()])) as unknown[][];
    assert.equal(first?.length, 100);
    assert.equal(second?.[0], 'early');
    assert.deepEqual(first, second?.slice(0));
    a.home.close();
    b.home.close();
  }
});

test('a blocked peer: hears the new thread, and of its death', async () => {
  const carrier = channel();
  const thread = startThread(
    (stage) => {
      const port = stage.port().receive() as Port;
      port.postMessage('from the new thread');
      stage.gates.pass(0);
      stage.exit();
    },
    { remote: carrier.remote },
  );
  const { port, peer } = pairHere();
  carrier.port.postMessage(port, [port]);
  assert.equal(peer.receive(soon), 'from the new thread');
  thread.gates.open(0);
  assert.equal(peer.receive(soon), CLOSED);
  assert.equal(peer.reason, 'exit');
  await thread.ended;
  carrier.port.close();
});

test('a thread that a port has left may end: the port goes on', async () => {
  const carrier = channel();
  const leaving = startThread(
    async (stage) => {
      const { channel } = stage.millrace;
      const { port, remote } = channel();
      stage.say(remote, remote.transfer);
      const out = stage.port();
      await port.receiveAsync();
      port.postMessage('sent before');
      out.postMessage(port, [port]);
      await out.flush();
      await stage.hear();
    },
    { remote: carrier.remote },
  );
  const peer = attach((await leaving.next()) as never);
  peer.postMessage('one');
  const moved = (await within('the port', carrier.port.receiveAsync())) as Port;
  await turn();
  await leaving.worker.terminate();
  await leaving.ended;
  assert.equal(await within('what was sent before', peer.receiveAsync()), 'sent before');
  for (let i = 0; i < 10; i++) await turn();
  assert.equal(peer.reason, undefined);
  await exchange(moved, peer);
  await exchange(peer, moved);
  moved.close();
  assert.equal(await within('the end', peer.closed), 'closed');
});

test('a port in a message that nobody reads ends, and its peer sees why', async () => {
  const unread = pairHere();
  const one = pairHere();
  unread.port.postMessage(one.port, [one.port]);
  unread.peer.close();
  assert.equal(await within('carrier closed', one.peer.closed), 'dropped');
  const dropping = pairHere({ overflow: 'drop-oldest', capacityBytes: 1024, highWaterMarkBytes: 300 });
  dropping.port.postMessage(new Uint8Array(3000));
  const two = pairHere();
  dropping.port.postMessage(two.port, [two.port]);
  for (let i = 0; i < 5; i++) dropping.port.postMessage(new Uint8Array(500));
  assert.equal(await within('dropped from the outbox', two.peer.closed), 'dropped');
  dropping.close();
  const held = pairHere({ capacityBytes: 1024 });
  held.port.postMessage(new Uint8Array(3000));
  const three = pairHere();
  three.peer.postMessage('unread');
  held.port.postMessage({ port: three.port }, [three.port]);
  assert.deepEqual(await held.peer.receiveAsync(soon), new Uint8Array(3000));
  const { port: moved } = (await within('held', held.peer.receiveAsync())) as { port: Port };
  assert.equal(moved.receive(soon), 'unread');
  moved.close();
  held.close();
});

test('a carrier whose reader is terminated takes the port with it', async () => {
  const carrier = channel();
  const thread = await whoReadsNothing(carrier.remote);
  const { port, peer } = pairHere();
  carrier.port.postMessage(port, [port]);
  await turn();
  await thread.worker.terminate();
  const reason = await within('the end', peer.closed);
  assert.ok(reason === 'terminated' || reason === 'dropped', reason);
  carrier.port.close();
});

test('a port that was sent over a channel which nobody has opened goes with the thread that was to open it', async () => {
  for (const nested of [false, true]) {
    const thread = startThread((stage) => {
      setInterval(() => {}, 60_000);
      stage.say('begun');
      return new Promise(() => {});
    });
    await thread.next();
    const carrier = channel();
    const { port, peer } = pairHere();
    // In the queue of its thread, or of a channel that is there.
    const outer = channel();
    if (nested) outer.port.postMessage({ remote: carrier.remote }, carrier.remote.transfer);
    const { remote } = nested ? outer : carrier;
    thread.tell(remote, remote.transfer);
    carrier.port.postMessage(port, [port]);
    await turn();
    await thread.kill();
    const reason = await within('the end', peer.closed);
    assert.ok(reason === 'terminated' || reason === 'dropped', reason);
    for (const each of [carrier, outer]) each.port.close();
  }
});

test('a port that waits in a port that moves', async () => {
  const inner = pairHere();
  const outer = pairHere();
  outer.peer.postMessage({ inner: inner.port }, [inner.port]);
  const moved = moveHere(outer.port);
  const { inner: arrived } = (await within('inner', moved.receiveAsync())) as { inner: Port };
  await exchange(arrived, inner.peer);
  arrived.close();
  moved.close();
});

test('a port that is unread in a port that has moved stays, though its sender has closed the carrier and the thread between ends', async () => {
  const out = channel();
  const between = startThread(
    async (stage) => {
      const { attach, selectAsync } = stage.millrace;
      const carrier = attach(await stage.hear());
      stage.say('attached');
      await selectAsync([carrier]);
      const home = stage.port();
      home.postMessage(carrier, [carrier]);
      await home.flush();
      await stage.hear();
    },
    { remote: out.remote },
  );
  const { port: carrier, remote } = channel();
  between.tell(remote, remote.transfer);
  await between.next();
  for (let i = 0; i < 10; i++) await turn();
  const { port: inner, peer } = pairHere();
  carrier.postMessage({ inner }, [inner]);
  carrier.close();
  const moved = (await within('the carrier', out.port.receiveAsync())) as Port;
  for (let i = 0; i < 10; i++) await turn();
  await between.kill();
  await between.ended;
  for (let i = 0; i < 10; i++) await turn();
  assert.equal(peer.reason, undefined);
  const { inner: arrived } = (await within('what was unread', moved.receiveAsync())) as { inner: Port };
  await exchange(arrived, peer);
  await exchange(peer, arrived);
  arrived.close();
  moved.close();
  out.port.close();
});

test('select goes on with a peer that has moved', async () => {
  const carrier = channel();
  const thread = startThread(
    (stage) => {
      const port = stage.port().receive() as Port;
      for (let i = 0; i < 20; i++) {
        port.postMessage(i);
        port.receive();
      }
      port.close();
    },
    { remote: carrier.remote },
  );
  const idle = pairHere();
  const { port, peer } = pairHere();
  assert.equal(select([peer, idle.peer], { timeoutMs: 1 }), EMPTY);
  for (let i = 0; i < 10; i++) await turn();
  assert.equal(select([peer, idle.peer], { timeoutMs: 1 }), EMPTY);
  carrier.port.postMessage(port, [port]);
  for (let i = 0; i < 20; i++) {
    assert.equal(select([idle.peer, peer], soon), peer);
    assert.equal(peer.tryReceive(), i);
    peer.postMessage('next');
    if (i === 10) await turn();
  }
  await thread.done();
  idle.close();
  carrier.port.close();
});
