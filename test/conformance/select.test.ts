// `select` and `selectAsync`: many ports at once, over threads.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { platform } from '#platform';
import {
  attach,
  type ChannelOptions,
  CLOSED,
  ClosedError,
  channel,
  EMPTY,
  type Port,
  select,
  selectAsync,
  spawn,
  TimeoutError,
  UnsupportedError,
  UsageError,
} from '../../src/index.ts';
import { sleeping } from '../kit/sleeping.ts';
import { streamPair } from '../kit/stream-pair.ts';
import { spawnThread, startThread, type TestThread } from '../kit/thread.ts';
import { STEP_MS, turn, until, within } from '../kit/watchdog.ts';

const HANG = { timeoutMs: STEP_MS };

interface Ends {
  readonly near: Port;
  readonly far: Port;
}
function pair(options: ChannelOptions = {}): Ends {
  const { port, remote } = channel(options);
  return { near: port, far: attach(remote) };
}
async function withPairs(count: number, body: (near: Port[], far: Port[]) => unknown): Promise<void> {
  const ends = Array.from({ length: count }, () => pair());
  try {
    await body(
      ends.map(({ near }) => near),
      ends.map(({ far }) => far),
    );
  } finally {
    for (const { near, far } of ends) {
      near.close();
      far.close();
    }
  }
}
const optionError = (error: unknown): boolean => error instanceof UsageError && error.code === 'ERR_OPTION';

// ---- in one thread ------------------------------------------------------------------------------------------------

test('select returns the port that has a message, and takes nothing off it', () =>
  withPairs(3, (near, far) => {
    assert.equal(select(near, { timeoutMs: 0 }), EMPTY);
    far[1]!.postMessage('one');
    assert.equal(select(near), near[1]);
    assert.equal(select(near, { timeoutMs: 0 }), near[1]);
    assert.equal(near[1]!.receive(), 'one');
    assert.equal(select(near, { timeoutMs: 0 }), EMPTY);
    const start = performance.now();
    assert.equal(select(near, { timeoutMs: 20 }), EMPTY);
    assert.ok(performance.now() - start >= 19);
  }));

test('select tells of the end of a port', () =>
  withPairs(2, (near, far) => {
    far[0]!.postMessage('last');
    far[0]!.close();
    assert.equal(select(near), near[0]);
    assert.equal(near[0]!.receive(), 'last');
    assert.equal(select(near), near[0]);
    assert.equal(near[0]!.receive(), CLOSED);
  }));

test('select is fair: whoever has something always keeps no other one waiting for more than a turn', () =>
  withPairs(4, async (near, far) => {
    for (const yields of [false, true]) {
      far[0]!.postMessage('always there');
      for (let round = 0; round < 12; round++) {
        const other = 1 + (round % 3);
        far[other]!.postMessage(round);
        const turns = [select(near, { timeoutMs: 0 }), select(near, { timeoutMs: 0 })];
        assert.ok(turns.includes(near[other]!), `round ${round}`);
        assert.equal(near[other]!.tryReceive(), round);
        // The event loop's turn: nothing is remembered but whose turn it was.
        if (yields) await turn();
      }
      assert.equal(near[0]!.tryReceive(), 'always there');
    }
  }));

test('select asks for ports and options that make sense', () =>
  withPairs(2, (near) => {
    const wrong: [unknown, unknown?][] = [
      [[]],
      [undefined],
      [new Set(near)],
      [[near[0], {}]],
      [[near[0], near[0]]],
      [near, { timeoutMs: -1 }],
      [near, { timeout: 1 }],
      [near, 5],
    ];
    for (const [ports, options] of wrong) {
      assert.throws(() => select(ports as Port[], options as object), optionError);
    }
    assert.throws(() => select(near, { signal: AbortSignal.timeout(1) } as object), /selectAsync/);
    near[1]!.close();
    assert.throws(() => select(near), ClosedError);
  }));

test('a port that was closed here between two calls over the same list is an error', () =>
  withPairs(2, (near) => {
    assert.equal(select(near, { timeoutMs: 0 }), EMPTY);
    near[0]!.close();
    assert.throws(() => select(near, { timeoutMs: 0 }), ClosedError);
  }));

test('a list that was changed between two calls is the list of the second', () =>
  withPairs(3, (near, far) => {
    const list = near.slice(0, 2);
    far[2]!.postMessage('later');
    assert.equal(select(list, { timeoutMs: 0 }), EMPTY);
    list[0] = near[2]!;
    assert.equal(select(list, { timeoutMs: 0 }), near[2]);
    list.shift();
    assert.equal(select(list, { timeoutMs: 0 }), EMPTY);
    far[1]!.postMessage('now');
    assert.equal(select(list, { timeoutMs: 0 }), near[1]);
  }));

test('an error that a batch has met is something to receive', async () => {
  const { port, remote } = channel();
  const far = attach(remote);
  const other = pair();
  const near = [other.near, port];
  assert.equal(select(near, { timeoutMs: 0 }), EMPTY);
  far.postMessage(1);
  far.postMessage({ some: 'object' });
  const bytes = new Uint8Array(remote.memory);
  const at = bytes.findIndex((_, i) => String.fromCharCode(...bytes.subarray(i, i + 4)) === 'some');
  // A payload that says nothing any codec knows.
  bytes.fill(255, at - 12, at + 4);
  assert.equal(select(near), port);
  assert.deepEqual(port.receiveMany(5), [1]);
  assert.equal(select(near, { timeoutMs: 0 }), port);
  assert.throws(() => port.tryReceive());
  for (const end of [port, far, other.near, other.far]) end.close();
});

test('what cork holds back goes out before select sleeps', async () => {
  const { port, remote } = channel();
  const other = pair();
  const thread = startThread(
    (stage) => {
      const far = stage.port();
      for (let i = 0; i < 3; i++) far.send(far.receive());
    },
    { remote },
  );
  const ports = [other.near, port];
  port.cork(() => {
    for (let i = 0; i < 3; i++) {
      port.postMessage(i);
      assert.equal(select(ports, HANG), port);
      assert.equal(port.receive(), i);
    }
  });
  await thread.done();
  for (const end of [port, other.near, other.far]) end.close();
});

test('a message in parts is there when all of it is', () =>
  withPairs(2, (near, far) => {
    const long = new Uint8Array(1024 * 1024).fill(7);
    far[0]!.postMessage(long);
    // The sender is this thread: what is under way does not go on while it looks.
    for (let i = 0; select(near, { timeoutMs: 0 }) === EMPTY; i++) {
      assert.ok(i < 1000, 'no end of parts');
      far[0]!.moveOutbox();
    }
    assert.deepEqual(near[0]!.tryReceive(), long);
  }));

test('ports of every overflow policy and codec can be waited for together', async () => {
  const ends = [
    pair({ overflow: 'latest' }),
    pair({ codec: 'json' }),
    pair({ capacityBytes: 1024 }),
    pair(sleeping('doorbell')),
    pair(sleeping('wait-async')),
  ];
  const near = ends.map((end) => end.near);
  for (const { far, near: mine } of ends) {
    assert.equal(select(near, { timeoutMs: 0 }), EMPTY);
    far.postMessage({ a: 1 });
    assert.equal(select(near), mine);
    assert.deepEqual(mine.tryReceive(), { a: 1 });
  }
  for (const { near: mine, far } of ends) {
    mine.close();
    far.close();
  }
});

test('a port over a byte stream is named, and selectAsync waits for it', async () => {
  const { a, b } = streamPair().ports();
  await withPairs(1, async (near) => {
    assert.throws(
      () => select([near[0]!, a]),
      (error: unknown) => error instanceof UnsupportedError && /number 1 .*selectAsync/.test(error.message),
    );
    assert.throws(
      () => select([a, near[0]!]),
      (error: unknown) => error instanceof UnsupportedError && /number 0 .*selectAsync/.test(error.message),
    );
    const found = selectAsync([near[0]!, a]);
    b.postMessage('over the stream');
    assert.equal(await within('the stream', found), a);
    assert.equal(a.tryReceive(), 'over the stream');
  });
  a.close();
  b.close();
});

test('what waits in the outbox of a port goes on while select blocks', async () => {
  const { port, remote } = channel({ capacityBytes: 1024 });
  const other = pair();
  const thread = startThread(
    (stage) => {
      const far = stage.port();
      stage.gates.pass(0);
      for (let count = 0; count < 200; count++) far.receive();
      far.send('all of it');
    },
    { remote },
  );
  for (let i = 0; i < 200; i++) port.postMessage('x'.repeat(100));
  thread.gates.open(0);
  assert.equal(select([other.near, port], HANG), port);
  assert.equal(port.receive(), 'all of it');
  await thread.done();
  for (const end of [port, other.near, other.far]) end.close();
});

test('select in a getter of a value that is being posted keeps its limit, though room has come for what waits', async () => {
  const { port, remote } = channel({ capacityBytes: 1024 });
  const other = channel();
  const thread = startThread(
    ({ port: own, millrace, data, gates }) => {
      const far = own();
      const beside = millrace.attach(data);
      // Both threads know their link: until then ports are looked at in slices.
      for (let i = 0; i < 5; i++) millrace.select([far, beside], { timeoutMs: 20 });
      for (let i = 0; i < 40; i++) far.postMessage('x'.repeat(100));
      far.postMessage({
        get found() {
          gates.open(0);
          gates.pass(1);
          return millrace.select([far, beside], { timeoutMs: 20 }) === millrace.EMPTY;
        },
      });
      far.receive();
    },
    { remote, data: other.remote, transfer: other.remote.transfer },
  );
  await until('the getter', () => thread.gates.get(0) === 1);
  assert.ok(port.receiveMany(100).length > 0);
  thread.gates.open(1);
  for (let message: unknown; (message as { found?: boolean })?.found !== true; ) {
    message = await within('all that was posted', port.receiveAsync());
  }
  port.postMessage('go on');
  await thread.done();
  for (const end of [port, other.port]) end.close();
});

// ---- selectAsync --------------------------------------------------------------------------------------------------

test('selectAsync resolves with who has something, at the time limit with EMPTY, rejects with the signal', () =>
  withPairs(3, async (near, far) => {
    assert.equal(await selectAsync(near, { timeoutMs: 0 }), EMPTY);
    assert.equal(await selectAsync(near, { timeoutMs: 5 }), EMPTY);
    const found = selectAsync(near);
    far[2]!.postMessage('one');
    assert.equal(await within('a message', found), near[2]);
    assert.equal(near[2]!.tryReceive(), 'one');
    const abort = new AbortController();
    const aborted = selectAsync(near, { signal: abort.signal });
    abort.abort(new Error('enough'));
    await assert.rejects(aborted, /enough/);
    await assert.rejects(selectAsync(near, { signal: abort.signal }), /enough/);
    const atOnce = {
      aborted: false,
      reason: new Error('while it began to listen'),
      throwIfAborted() {},
      addEventListener: (_: 'abort', told: () => void) => told(),
      removeEventListener() {},
    };
    await assert.rejects(selectAsync(near, { signal: atOnce }), /began to listen/);
    assert.ok(near.every((port) => !port.hasRef()));
    await assert.rejects(selectAsync([]), optionError);
    await assert.rejects(selectAsync([near[0]!, near[0]!]), optionError);
    // Nobody who has left takes anything.
    far[0]!.postMessage('still there');
    await turn();
    assert.equal(near[0]!.tryReceive(), 'still there');
    const ended = selectAsync(near);
    far[1]!.close();
    assert.equal(await within('the end', ended), near[1]);
    assert.equal(near[1]!.tryReceive(), CLOSED);
    const shut = selectAsync([near[0]!]);
    near[0]!.close();
    assert.equal(await within('its own end', shut), near[0]);
    await assert.rejects(selectAsync([near[0]!]), ClosedError);
  }));

test('selectAsync is fair, and lets others run', () =>
  withPairs(3, async (near, far) => {
    let ran = false;
    setTimeout(() => {
      ran = true;
    });
    for (const each of far) each.postMessage('always there');
    const counts = new Map(near.map((port) => [port, 0]));
    for (let i = 0; !ran || i < 30; i++) {
      const port = (await selectAsync(near)) as Port;
      counts.set(port, counts.get(port)! + 1);
      assert.ok(i < 10_000_000);
    }
    const all = [...counts.values()];
    assert.ok(Math.max(...all) - Math.min(...all) <= 1, `${all}`);
  }));

test('pending reads and listeners take before selectAsync is told', () =>
  withPairs(2, async (near, far) => {
    const read = near[0]!.receiveAsync();
    const found = selectAsync(near);
    far[0]!.postMessage('for the reader');
    far[0]!.postMessage('for whoever is told');
    assert.equal(await read, 'for the reader');
    assert.equal(await within('what is left', found), near[0]);
    assert.equal(near[0]!.tryReceive(), 'for whoever is told');

    const heard: unknown[] = [];
    near[1]!.on('message', (value) => heard.push(value));
    const end = selectAsync([near[1]!]);
    far[1]!.postMessage('for the listener');
    await until('the listener hears', () => heard.length === 1);
    far[1]!.close();
    assert.equal(await within('the end', end), near[1]);
    assert.equal(near[1]!.tryReceive(), CLOSED);
  }));

// ---- threads ------------------------------------------------------------------------------------------------------

/** Threads, each with so many channels; their ports here, in the order of threads. */
function threads(
  count: number,
  channels: number,
  role: Parameters<typeof startThread>[0],
  data?: unknown,
): { readonly ports: Port[]; readonly all: TestThread[] } {
  const ports: Port[] = [];
  const all = Array.from({ length: count }, (_, thread) => {
    const made = Array.from({ length: channels }, () => channel());
    ports.push(...made.map(({ port }) => port));
    const remotes = made.map(({ remote }) => remote);
    return startThread(role, {
      data: { thread, remotes, data },
      transfer: remotes.flatMap((remote) => [...remote.transfer]),
    });
  });
  return { ports, all };
}

test('one port floods, others trickle: every one has its turn', async () => {
  const { ports, all } = threads(3, 2, (stage) => {
    const { thread, remotes } = stage.data;
    const ends = remotes.map((remote: unknown) => stage.millrace.attach(remote));
    stage.gates.pass(0);
    if (thread === 0) {
      // Until the reader has what it wants.
      for (let i = 0; stage.gates.get(1) === 0; i++) ends[0].send(i, { timeoutMs: 1 });
      return;
    }
    for (let i = 0; i < 50; i++) for (const end of ends) end.send(i);
  });
  for (const { gates } of all) gates.open(0);
  const next = new Map(ports.map((port) => [port, 0]));
  const [flooding] = ports as [Port];
  const trickling = ports.slice(2);
  while (next.get(flooding) === 0 || trickling.some((port) => next.get(port) !== 50)) {
    const port = select(ports, HANG);
    assert.notEqual(port, EMPTY);
    const value = (port as Port).tryReceive();
    if (value === CLOSED) {
      ports.splice(ports.indexOf(port as Port), 1);
      continue;
    }
    if (trickling.includes(port as Port)) assert.equal(value, next.get(port as Port));
    next.set(port as Port, next.get(port as Port)! + 1);
  }
  all[0]!.gates.open(1);
  for (const thread of all) await thread.done();
  for (const port of ports) port.close();
});

test('select sleeps, and is woken by one of a thousand, again and again', async () => {
  const { ports, all } = threads(1, 1000, async (stage) => {
    const ends = stage.data.remotes.map((remote: unknown) => stage.millrace.attach(remote));
    stage.say('attached');
    for (let i = 0; i < 200; i++) {
      stage.gates.pass(0);
      stage.gates.set(0, 0);
      ends[(i * 37) % 1000].send(i);
    }
    await stage.hear();
  });
  await all[0]!.next();
  for (let i = 0; i < 200; i++) {
    all[0]!.gates.open(0);
    const port = select(ports, HANG);
    assert.equal(port, ports[(i * 37) % 1000]);
    assert.equal((port as Port).receive(), i);
    assert.equal(select(ports, { timeoutMs: 0 }), EMPTY);
    if (i % 50 === 49) await turn();
  }
  all[0]!.tell('done');
  await all[0]!.done();
  for (const port of ports) port.close();
});

for (const how of ['close', 'exit', 'kill'] as const) {
  test(`select over many learns of the end of one thread (${how}), while others are busy`, async () => {
    const { ports, all } = threads(
      2,
      20,
      (stage) => {
        const { thread, remotes, data } = stage.data;
        const ends = remotes.map((remote: unknown) => stage.millrace.attach(remote));
        stage.say('attached');
        if (thread === 0) {
          for (let i = 0; stage.gates.get(1) === 0; i++) ends[i % 20].send(i, { timeoutMs: 1 });
          return;
        }
        stage.gates.pass(0);
        if (data === 'exit') stage.exit();
        if (data === 'close') for (const end of ends) end.close();
        // On its event loop: on Deno a terminated thread that computes goes on computing, and so is alive.
        if (data === 'kill') setInterval(() => stage.gates.set(2, ends.length), 1);
        return data === 'kill' ? new Promise(() => {}) : undefined;
      },
      how,
    );
    for (const thread of all) await thread.next();
    const mortal = new Set(ports.slice(20));
    let gone = 0;
    all[1]!.gates.open(0);
    let killed: Promise<void> | undefined;
    if (how === 'kill') {
      all[1]!.gates.pass(2);
      killed = all[1]!.kill();
    }
    const start = performance.now();
    while (gone < 20) {
      assert.ok(performance.now() - start < STEP_MS, `hang: ${gone} of 20 ended`);
      // Bun and Deno end a thread with the help of the event loop of who asked for it.
      if (how !== 'close') await turn();
      const port = select(ports, HANG) as Port;
      const value = port.tryReceive();
      if (!mortal.has(port)) continue;
      assert.equal(value, CLOSED);
      assert.equal(port.reason, { close: 'closed', exit: 'exit', kill: 'terminated' }[how]);
      ports.splice(ports.indexOf(port), 1);
      gone++;
    }
    all[0]!.gates.open(1);
    await killed;
    for (const thread of all) await thread.ended;
    for (const port of ports) port.close();
  });
}

// Elsewhere only the event loop hears of it.
if (platform.canProbe()) {
  test('a thread that is killed is found although another one always has something, and this one never rests', async () => {
    const { ports, all } = threads(2, 5, (stage) => {
      const { thread, remotes } = stage.data;
      const ends = remotes.map((remote: unknown) => stage.millrace.attach(remote));
      stage.say('attached');
      if (thread === 0) for (let i = 0; stage.gates.get(1) === 0; i++) ends[i % 5].send(i, { timeoutMs: 1 });
      else stage.compute(1);
    });
    for (const thread of all) await thread.next();
    const mortal = new Set(ports.slice(5));
    assert.notEqual(select(ports, HANG), EMPTY);
    const killed = all[1]!.kill();
    const end = performance.now() + STEP_MS;
    while (mortal.size > 0) {
      assert.ok(performance.now() < end, `hang: ${mortal.size} not ended`);
      const port = select(ports, HANG) as Port;
      const value = port.tryReceive();
      if (!mortal.delete(port)) continue;
      assert.equal(value, CLOSED);
      assert.equal(port.reason, 'terminated');
      ports.splice(ports.indexOf(port), 1);
    }
    all[0]!.gates.open(1);
    await killed;
    await all[0]!.done();
    for (const port of ports) port.close();
  });
}

test('a port that is attached while select sleeps is heard', async () => {
  const busy = channel();
  const late = channel();
  const thread = startThread(
    async (stage) => {
      const first = stage.port();
      first.send('here');
      const remote = await stage.hear();
      stage.gates.pass(0);
      stage.pause(20);
      const second = stage.millrace.attach(remote);
      second.send('late');
      stage.gates.pass(1);
      for (let i = 0; i < 5; i++) {
        stage.pause(i * 3);
        second.send(i);
      }
      await stage.hear();
    },
    { remote: busy.remote },
  );
  const ports = [busy.port, late.port];
  assert.equal(select(ports, HANG), busy.port);
  assert.equal(busy.port.receive(), 'here');
  thread.tell(late.remote, late.remote.transfer);
  await turn();
  thread.gates.open(0);
  assert.equal(select(ports, HANG), late.port);
  assert.equal(late.port.receive(), 'late');
  thread.gates.open(1);
  for (let i = 0; i < 5; i++) {
    assert.equal(select(ports, HANG), late.port);
    assert.equal(late.port.receive(), i);
  }
  thread.tell('done');
  await thread.done();
  for (const port of ports) port.close();
});

test('event-loop listeners hear before, after and between calls of select', async () => {
  const { ports, all } = threads(1, 6, (stage) => {
    const ends = stage.data.remotes.map((remote: unknown) => stage.millrace.attach(remote));
    stage.say('attached');
    for (let i = 0; i < 40; i++) {
      stage.gates.pass(0);
      stage.gates.set(0, 0);
      for (const end of ends) end.send(i);
    }
    stage.gates.pass(1);
  });
  await all[0]!.next();
  const [listened, ...selected] = ports as [Port, ...Port[]];
  const heard: unknown[] = [];
  listened.on('message', (value) => heard.push(value));
  const [both] = selected as [Port];
  const heardBoth: unknown[] = [];
  both.on('message', (value) => heardBoth.push(value));
  const tookBoth: unknown[] = [];
  await turn();
  for (let i = 0; i < 40; i++) {
    const want = new Set(selected.slice(1));
    all[0]!.gates.open(0);
    while (want.size > 0) {
      // No event loop's turn in here.
      const before = heard.length;
      const port = select(selected, HANG) as Port;
      assert.equal(heard.length, before);
      if (port === both) tookBoth.push(port.tryReceive());
      else {
        assert.equal(port.tryReceive(), i);
        want.delete(port);
      }
    }
    await until(`message ${i} is heard`, () => heard.length === i + 1);
    await until(`message ${i} of both`, () => heardBoth.length + tookBoth.length === i + 1);
  }
  all[0]!.gates.open(1);
  await all[0]!.done();
  for (const port of ports) port.close();
});

test('a thread that only attached selects over channels of several makers', async () => {
  const made = Array.from({ length: 8 }, () => channel());
  const thread = startThread(
    (stage) => {
      const ends = stage.data.map((remote: unknown) => stage.millrace.attach(remote));
      const got: unknown[] = [];
      stage.gates.open(0);
      while (got.length < 80) {
        const port = stage.millrace.select(ends, { timeoutMs: 60_000 }) as Port;
        got.push([ends.indexOf(port), port.tryReceive()]);
      }
      return got;
    },
    {
      data: made.map(({ remote }) => remote),
      transfer: made.flatMap(({ remote }) => [...remote.transfer]),
    },
  );
  await thread.gates.passAsync(0);
  for (let i = 0; i < 10; i++) {
    for (const { port } of made) port.send(i);
    if (i % 3 === 0) await turn();
  }
  const got = (await thread.done()) as [number, number][];
  for (const [index] of made.entries()) {
    assert.deepEqual(
      got.filter(([at]) => at === index).map(([, value]) => value),
      [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
    );
  }
  for (const { port } of made) port.close();
});

test('the parent port of a spawned thread can be selected at once, or says what to do first', async () => {
  const { port, thread } = spawnThread(spawn, async (stage) => {
    const port = stage.port();
    const { select, UnsupportedError } = stage.millrace;
    let found: unknown;
    try {
      found = select([port], { timeoutMs: 60_000 });
    } catch (error) {
      if (!(error instanceof UnsupportedError && /await port\.ready/.test(error.message))) throw error;
      await port.ready;
      found = select([port], { timeoutMs: 60_000 });
    }
    return found === port && port.receive();
  });
  port.postMessage('hello');
  assert.equal(await thread.done(), 'hello');
  port.close();
});

test('a worker that does not open its end is an error after startTimeoutMs, unless another port has something before', async () => {
  const still = new URL('data:text/javascript,setInterval(() => {}, 1e6)');
  const { port, worker } = spawn(still, { startTimeoutMs: 150 });
  const late = spawn(still, { startTimeoutMs: 60_000 });
  const other = pair();
  const ports = [other.near, port, late.port];
  assert.equal(select(ports, { timeoutMs: 20 }), EMPTY);
  for (let i = 0; i < 2; i++) {
    other.far.postMessage(i);
    assert.equal(select(ports, HANG), other.near);
    assert.equal(other.near.receive(), i);
    assert.throws(() => select(ports, HANG), TimeoutError);
  }
  for (const each of [port, late.port, other.near, other.far]) each.close();
  await Promise.all([worker.terminate(), late.worker.terminate()]);
});
