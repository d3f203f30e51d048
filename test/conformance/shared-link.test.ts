// What channels of one link have to do with one another: nothing, but that they end together with the thread at the other end.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attach, CLOSED, channel, EMPTY, features, type Port, pair, type Remote, select } from '../../src/index.ts';
import { joined } from '../kit/linked.ts';
import { type Role, startThread } from '../kit/thread.ts';
import { hasUnreadable, unreadable } from '../kit/unreadable-value.ts';
import { STEP_MS, turn, until, within } from '../kit/watchdog.ts';

const HANG = { timeoutMs: STEP_MS };
const holds: Role = (stage) => {
  Object.assign(globalThis, { held: stage.data.map((remote: unknown) => stage.millrace.attach(remote)) });
  stage.say('attached');
  setInterval(() => {}, 1_000_000);
  return new Promise(() => {});
};

// ---- the end of a thread ------------------------------------------------------------------------------------------

test('a thread that is killed ends all its channels at once, with one reason, and select returns them in turn', async () => {
  const made = Array.from({ length: 30 }, () => channel());
  const [gone, others] = [made.slice(0, 20), made.slice(20)];
  const start = (some: typeof made): ReturnType<typeof startThread> =>
    startThread(holds, {
      data: some.map(({ remote }) => remote),
      transfer: some.flatMap(({ remote }) => remote.transfer),
    });
  const [mortal, other] = [start(gone), start(others)];
  await Promise.all([mortal.next(), other.next()]);
  await until('they are linked', () => made.every(({ remote }) => joined(remote)));
  const ports = made.map(({ port }) => port);
  assert.equal(select(ports, { timeoutMs: 1 }), EMPTY);
  await mortal.kill();
  await until('the first is told', () => ports[0]!.reason !== undefined);
  assert.deepEqual(
    ports.map(({ reason }) => reason),
    ports.map((_, i) => (i < 20 ? 'terminated' : undefined)),
  );
  for (let left = [...ports], i = 0; i < 20; i++) {
    const port = select(left, { timeoutMs: 0 }) as Port;
    assert.ok(ports.indexOf(port) < 20);
    assert.equal(port.receive(), CLOSED);
    left = left.filter((each) => each !== port);
    if (i === 19) assert.equal(select(left, { timeoutMs: 0 }), EMPTY);
  }
  await other.kill();
  for (const port of ports) port.close();
});

// Bun and Deno give no sign of a terminate() that a blocked thread could read (guarantee sheet, G4).
if (features().probesPeers) {
  test('a thread that sleeps in select finds all channels of a killed one ended at the same moment', async () => {
    const remotes = Array.from({ length: 20 }, () => pair());
    const blocked = startThread(
      async (stage) => {
        const ports = stage.data.map((remote: unknown) => stage.millrace.attach(remote)) as Port[];
        stage.say('attached');
        await stage.hear();
        const found = stage.millrace.select(ports, { timeoutMs: 60_000 });
        return [ports.includes(found as Port), ports.map(({ reason }) => reason)];
      },
      { data: remotes.map(([near]) => near), transfer: remotes.flatMap(([near]) => near.transfer) },
    );
    const mortal = startThread(holds, {
      data: remotes.map(([, far]) => far),
      transfer: remotes.flatMap(([, far]) => far.transfer),
    });
    await Promise.all([blocked.next(), mortal.next()]);
    await until('they are linked', () => remotes.every(([near]) => joined(near)));
    blocked.tell('block');
    await mortal.kill();
    assert.deepEqual(await blocked.done(), [true, remotes.map(() => 'terminated')]);
  });
}

test('a handle that goes on to a second thread while select sleeps over its port joins the link of that one', async () => {
  const here = channel();
  const travels = channel();
  const first = startThread(
    async (stage) => {
      const port = stage.port();
      const handle = (await stage.hear()) as Remote;
      stage.say('came');
      stage.gates.pass(0);
      // Over the channel to the second thread, which this one was given.
      const to = (await stage.hear()) as Remote;
      const out = stage.millrace.attach(to);
      out.postMessage(handle, stage.millrace.transferOf(handle) as never);
      await out.flush();
      port.send('passed on');
      await port.receiveAsync();
    },
    { remote: here.remote },
  );
  const [to, from] = pair();
  const second = startThread(
    async (stage) => {
      const handle = await stage.port().receiveAsync();
      const port = stage.millrace.attach(handle as Remote);
      port.send('from the second');
      await port.receiveAsync();
      port.close();
    },
    { remote: from },
  );
  first.tell(travels.remote, travels.remote.transfer);
  await first.next();
  first.tell(to, to.transfer);
  first.gates.open(0);
  const ports = [here.port, travels.port];
  const heard: unknown[] = [];
  while (heard.length < 2) {
    const found = select(ports, HANG);
    assert.notEqual(found, EMPTY);
    heard.push((found as Port).receive());
    // On some runtimes a thread is told of a native port's messages by its event loop only.
    await turn();
  }
  assert.deepEqual(heard.sort(), ['from the second', 'passed on']);
  await until('the one that travelled is linked', () => joined(travels.remote));
  for (const port of ports) port.postMessage('enough');
  await Promise.all([first.done(), second.done()]);
  assert.equal(select([travels.port], HANG), travels.port);
  assert.equal(travels.port.receive(), CLOSED);
  for (const port of ports) port.close();
});

test('a port whose other end travels to a third thread while select sleeps is heard from there, and so are its neighbours', async () => {
  const made = [channel(), channel()];
  const [to, from] = pair();
  const first = startThread(
    (stage) => {
      const { remotes, to } = stage.data;
      const [stays, travels] = remotes.map((remote: unknown) => stage.millrace.attach(remote)) as [Port, Port];
      const out = stage.millrace.attach(to);
      stage.say('attached');
      return (async () => {
        await stage.hear();
        travels.send('before');
        out.postMessage(travels, [travels] as never);
        for (let i = 0; i < 5; i++) {
          await stays.receiveAsync();
          stays.send(`stays ${i}`);
        }
        out.close();
      })();
    },
    {
      data: { remotes: made.map(({ remote }) => remote), to },
      transfer: [...made.flatMap(({ remote }) => remote.transfer), ...to.transfer],
    },
  );
  const third = startThread(
    async (stage) => {
      const come = (await stage.port().receiveAsync()) as Port;
      for (let i = 0; i < 5; i++) {
        come.send(`travels ${i}`);
        await come.receiveAsync();
      }
      come.close();
    },
    { remote: from },
  );
  await first.next();
  await until('they are linked', () => made.every(({ remote }) => joined(remote)));
  const [stays, travels] = made.map(({ port }) => port) as [Port, Port];
  const ports = [stays, travels];
  assert.equal(select(ports, { timeoutMs: 5 }), EMPTY);
  first.tell('go');
  stays.postMessage('next');
  const heard: unknown[] = [];
  for (let over = false; !over; ) {
    const port = select(ports, HANG);
    assert.notEqual(port, EMPTY, 'hang: select');
    const value = (port as Port).receive();
    over = value === CLOSED && port === travels;
    if (value === CLOSED) ports.splice(ports.indexOf(port as Port), 1);
    else heard.push(value);
    if (value !== 'before' && value !== CLOSED) (port as Port).postMessage('next');
    // Without it where a thread can read no native port while it blocks: nobody could tell it where that end is now.
    if (!features().probesPeers) await turn();
  }
  for (const what of ['stays', 'travels']) {
    const own = heard.filter((value) => String(value).startsWith(what));
    if (what === 'travels')
      assert.deepEqual(
        own,
        [0, 1, 2, 3, 4].map((i) => `travels ${i}`),
      );
    else
      assert.deepEqual(
        own,
        own.map((_, i) => `stays ${i}`),
      );
  }
  assert.ok(heard.includes('before'));
  // The end that travelled may be over long before: the other one goes on, turn by turn, as above.
  while (stays.reason === undefined && !heard.includes('stays 4')) {
    heard.push(await stays.receiveAsync());
    stays.postMessage('next');
  }
  await Promise.all([first.done(), third.done()]);
  for (const port of [stays, travels]) port.close();
});

// ---- native values ------------------------------------------------------------------------------------------------

if (hasUnreadable) {
  test('what cannot be read here is an error of its own channel, and the neighbours on the link go on', async () => {
    const made = [0, 1, 2].map(() => channel());
    const thread = startThread(
      async (stage) => {
        const ports = stage.data.map((remote: unknown) => stage.millrace.attach(remote)) as Port[];
        const heard: unknown[][] = ports.map(() => []);
        ports.forEach((port, i) => {
          port.onmessageerror = ({ data }) => heard[i]!.push((data as { code?: string }).code);
          port.on('message', (value) => heard[i]!.push(value));
        });
        stage.say('attached');
        await Promise.all(ports.map((port) => port.closed));
        return heard;
      },
      { data: made.map(({ remote }) => remote), transfer: made.flatMap(({ remote }) => remote.transfer) },
    );
    await thread.next();
    await until('they are linked', () => made.every(({ remote }) => joined(remote)));
    const ports = made.map(({ port }) => port);
    const native = (port: Port, value: unknown): void => port.postMessage(value, [new ArrayBuffer(1)]);
    const want: unknown[][] = ports.map(() => []);
    for (let i = 0; i < 60; i++) {
      const at = (i * 7) % 3;
      if (i % 5 === 2) {
        native(ports[at]!, unreadable());
        want[at]!.push('ERR_DECODE');
      } else {
        if (i % 2 === 0) native(ports[at]!, i);
        else ports[at]!.postMessage(i);
        want[at]!.push(i);
      }
      if (i % 11 === 10) await turn();
    }
    for (const port of ports) await within('all is taken', port.flush());
    for (const port of ports) port.close();
    assert.deepEqual(await thread.done(), want);
  });
}

// ---- the moment of joining ----------------------------------------------------------------------------------------

for (const overflow of ['wait', 'latest'] as const) {
  test(`large messages go on in order while their channel joins its link (${overflow})`, async () => {
    const first = channel();
    const thread = startThread(
      async (stage) => {
        const founder = stage.port();
        for (;;) {
          const remote = (await founder.receiveAsync()) as Remote;
          if (typeof remote === 'symbol') return;
          const port = stage.millrace.attach(remote, { overflow: stage.data });
          // Both ways at once, from the first moment on.
          const send = (async () => {
            for (let i = 0; i < 24; i++) {
              port.postMessage(new Uint8Array(64 * 1024 * (1 + (i % 5) ** 2)).fill(i));
              if (i % 3 === 2) await new Promise((resolve) => setTimeout(resolve, 0));
            }
            port.postMessage('end');
          })();
          let last = -1;
          for (;;) {
            const value = await port.receiveAsync();
            if (!(value instanceof Uint8Array)) break;
            const number = value[0]!;
            const whole = value.length === 64 * 1024 * (1 + (number % 5) ** 2) && value.at(-1) === number;
            if (!whole || (stage.data === 'wait' ? number !== last + 1 : number <= last))
              throw new Error(`${number} after ${last}`);
            last = number;
          }
          await send;
          if (stage.data === 'wait' && last < 23) throw new Error(`the last one was ${last}`);
          await port.flush();
          port.close();
        }
      },
      { remote: first.remote, data: overflow },
    );
    await first.port.ready;
    for (let round = 0; round < 4; round++) {
      const { port, remote } = channel({ overflow });
      first.port.postMessage(remote, remote.transfer);
      const send = (async () => {
        for (let i = 0; i < 24 || (!joined(remote) && i < 250); i++) {
          port.postMessage(new Uint8Array(64 * 1024 * (1 + (i % 5) ** 2)).fill(i));
          if (i % 4 === round || i > 24) await turn();
        }
        port.postMessage('end');
      })();
      let last = -1;
      for (;;) {
        const value = await within('a message', port.receiveAsync());
        if (!(value instanceof Uint8Array)) break;
        const number = value[0]!;
        assert.ok(value.length === 64 * 1024 * (1 + (number % 5) ** 2) && value.at(-1) === number);
        assert.ok(overflow === 'wait' ? number === last + 1 : number > last, `${number} after ${last}`);
        last = number;
      }
      await send;
      assert.equal(await within('the end', port.closed), 'closed');
      assert.ok(joined(remote), 'it has joined meanwhile');
      port.close();
    }
    first.port.close();
    await thread.done();
  });
}

for (const order of [
  [0, 1],
  [1, 0],
] as const) {
  test(`ends of pairs, attached ${order[0] === 0 ? 'first' : 'second'} end first, between threads that have a link and here, all join`, async () => {
    const founder = channel();
    const thread = startThread(
      async (stage) => {
        const founder = stage.port();
        const remotes = (await founder.receiveAsync()) as Remote[];
        const ports = remotes.map((remote) => stage.millrace.attach(remote));
        ports.forEach((port, i) => {
          port.postMessage(new Map([['from there', i]]));
        });
        const heard = await Promise.all(ports.map((port) => port.receiveAsync()));
        // A promise of `closed` alone would let the thread end.
        await Promise.all(ports.map((port) => port.receiveAsync()));
        return heard;
      },
      { remote: founder.remote },
    );
    const pairs = Array.from({ length: 10 }, () => pair());
    const there = pairs.map((each) => each[order[1]]);
    const mine = pairs.map((each) => each[order[0]]);
    const transfer = there.flatMap(({ transfer }) => transfer);
    // Half of ours before theirs set out, half when they may have come.
    const ports = mine.slice(0, 5).map((remote) => attach(remote));
    founder.port.postMessage(there, transfer);
    await turn();
    ports.push(...mine.slice(5).map((remote) => attach(remote)));
    ports.forEach((port, i) => {
      port.postMessage({ here: i });
    });
    for (const [i, port] of ports.entries()) {
      assert.deepEqual(await within('theirs', port.receiveAsync()), new Map([['from there', i]]));
    }
    await until('all are linked', () => mine.every((remote) => joined(remote)));
    for (const port of ports) port.close();
    assert.deepEqual(
      await thread.done(),
      ports.map((_, here) => ({ here })),
    );
    founder.port.close();

    const both = pair();
    const ends = order.map((end) => attach(both[end]));
    await until('both are linked', () => joined(both[0]));
    ends[0]!.postMessage('here');
    assert.equal(select([ends[1]!], HANG), ends[1]);
    assert.equal(ends[1]!.receive(), 'here');
    for (const end of ends) end.close();
  });
}
