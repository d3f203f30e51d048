// Several copies of this library in one program: two that were installed of one version, and one of another version that lays
// out its memory in another way. What there is one of in a thread is one (src/agent.ts), an error is known whichever copy
// made it, and a handle that another copy made attaches, or is refused with a typed error.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import type { Port } from '../src/index.ts';
import { SEAT, SIDE_0, SIDE_1 } from '../src/memory/layout.ts';
import { type Copies, makeCopies } from './copies/make.ts';
import { STEP_MS, until, within } from './kit/watchdog.ts';

const { first, second, other, urls, sabUrls, remove } = await makeCopies();
after(remove);
const all: Copies = [first, second, other];

/** Deno's `assert.throws` takes a class for its prototype, where Node's and Bun's ask `instanceof`. */
const is =
  (known: new (...args: never[]) => Error) =>
  (error: unknown): boolean =>
    error instanceof known;

test('they are copies', () => {
  assert.notEqual(first.door.Port, second.door.Port);
  assert.notEqual(first.door.UsageError, other.door.UsageError);
});

test('EMPTY and CLOSED are the same in all', () => {
  for (const { door } of all) {
    assert.equal(door.EMPTY, first.door.EMPTY);
    assert.equal(door.CLOSED, first.door.CLOSED);
  }
});

test('instanceof knows an error whichever copy made it, and its kind', () => {
  for (const made of all) {
    const { door } = made;
    const errors = [
      new door.UsageError('ERR_OPTION', 'x'),
      new door.ClosedError('x', 'closed'),
      new door.CodecError('ERR_DECODE', 'x'),
      new door.DataCloneError('x', '$'),
      new door.LayoutError('x'),
      new door.UnsupportedError('x'),
      new door.TimeoutError('x'),
    ];
    for (const asked of all) {
      const classes = [
        asked.door.UsageError,
        asked.door.ClosedError,
        asked.door.CodecError,
        asked.door.DataCloneError,
        asked.door.LayoutError,
        asked.door.UnsupportedError,
        asked.door.TimeoutError,
      ];
      errors.forEach((error, i) => {
        assert.ok(error instanceof asked.door.MillraceError && error instanceof Error);
        classes.forEach((each, k) => {
          // A DataCloneError is a CodecError, too.
          assert.equal(error instanceof each, i === k || (i === 3 && k === 2), `${error.name} of ${made.name}`);
        });
      });
      for (const not of [new Error('x'), undefined, null, 'x', {}, new DOMException('x')]) {
        assert.ok(!(not instanceof asked.door.MillraceError));
      }
    }
  }
});

test("what a user derives from an error is known by its class, not by its parent's", () => {
  class Mine extends first.door.UsageError {}
  const mine = new Mine('ERR_OPTION', 'x');
  assert.ok(mine instanceof Mine && mine instanceof first.door.UsageError && mine instanceof second.door.UsageError);
  assert.ok(!(new first.door.UsageError('ERR_OPTION', 'x') instanceof Mine));
});

test('errors that one copy throws are caught by the class of another, from every door', () => {
  assert.throws(() => first.door.attach({}), is(second.door.UsageError));
  assert.throws(() => second.ring.allocate(-1), is(other.door.UsageError));
  assert.throws(
    () => other.shared.alloc(-1),
    (error) => !(error instanceof first.door.ClosedError),
  );
});

test('a handle that one copy made attaches in another of the same layout', () => {
  const { port, remote } = first.door.channel();
  const far = second.door.attach(remote);
  port.postMessage({ answer: 42, list: [1, 'x'] });
  assert.deepEqual(far.tryReceive(), { answer: 42, list: [1, 'x'] });
  assert.equal(far.tryReceive(), first.door.EMPTY);
  assert.throws(() => first.door.attach(remote), is(second.door.UsageError));
  far.postMessage('back');
  assert.equal(port.tryReceive(), 'back');
  port.close();
  assert.equal(far.tryReceive(), first.door.CLOSED);
  far.close();
});

test('a handle of another layout is refused by name, and stays whole for its rightful receiver', () => {
  const { port, remote } = first.door.channel();
  assert.throws(() => other.door.attach(remote), is(first.door.LayoutError));
  const far = first.door.attach(remote);
  port.postMessage(1);
  assert.equal(far.tryReceive(), 1);
  port.close();
  far.close();
});

/** A thread in which all copies are loaded, for a module's text. */
function thread(text: string, workerData: unknown, transfer: readonly unknown[] = []): Worker {
  const head = `
    const { workerData, parentPort: native } = await import('node:worker_threads');
    const [first, second, other] = await Promise.all(${JSON.stringify(urls)}.map((it) => import(it)));
    const compat = await Promise.all(${JSON.stringify(sabUrls)}.map((it) => import(it)));
  `;
  const module = new URL(`data:text/javascript,${encodeURIComponent(head + text)}`);
  return new Worker(module, { workerData, transferList: transfer as never });
}

test('all copies and doors share one exit hook, by which all peers hear how their thread ended', async () => {
  const one = first.door.channel();
  const two = second.door.channel();
  const three = other.door.channel();
  const channels = [one, two, three];
  const remotes = channels.map((it) => it.remote);
  const worker = thread(
    `const process = (await import('node:process')).default;
     const before = process.listenerCount('exit');
     const ports = [first, second, other].map((copy, i) => copy.attach(workerData[i]));
     const sides = compat.map(({ SABMessagePort }) => new SABMessagePort('a', 16));
     ports.forEach((port) => port.postMessage(process.listenerCount('exit') - before));
     process.exit(0);`,
    remotes,
    remotes.flatMap((it) => it.transfer as readonly unknown[]),
  );
  const hooks = await Promise.all(channels.map(({ port }) => within('the count of hooks', port.receiveAsync())));
  assert.deepEqual(hooks, [1, 1, 1]);
  for (const { port } of channels) assert.equal(await within('the end', port.closed), 'exit');
  await worker.terminate();
});

test('a thread that blocks in one copy rings the bells that it put off in another', async () => {
  const asked = new first.sab.SABMessagePort('a', 16);
  const answered = new second.sab.SABMessagePort('a', 16);
  const [one] = asked.postInit(null);
  const [two] = answered.postInit(null);
  const worker = thread(
    `const [ask, answer] = [compat[0], compat[1]].map(({ SABMessagePort }, i) => SABMessagePort.from(workerData[i]));
     for (let i = 0; i < 3; i++) answer.postMessage(ask.read() * 2);
     native.postMessage(ask.read());`,
    [one, two],
  );
  for (const value of [1, 2, 3]) {
    // The reader is asleep by then, in all likelihood, and this thread has to wake it before it sleeps itself.
    await new Promise((resolve) => setTimeout(resolve, 20));
    asked.postMessage(value);
    assert.equal(answered.read(STEP_MS), value * 2);
  }
  asked.postMessage('end');
  assert.equal(await within('the end', new Promise((resolve) => worker.once('message', resolve))), 'end');
  asked.close();
  answered.close();
  await worker.terminate();
});

test('channels of two copies share one link: what blocks in one hears, and what listens in the other one does after it', async () => {
  const made = [first, second, first, second].map(({ door }) => door.channel());
  const remotes = made.map((it) => it.remote);
  const worker = thread(
    `const ports = workerData.map((remote, i) => [second, first, first, second][i].attach(remote));
     ports.forEach((port, i) => port.on('message', (value) => ports[(i + 1) % 4].postMessage(new Map([[i, value]]))));
     native.postMessage('attached');`,
    remotes,
    remotes.flatMap((it) => it.transfer as readonly unknown[]),
  );
  await within('the worker', new Promise((resolve) => worker.once('message', resolve)));
  const seats = (memory: SharedArrayBuffer): readonly (number | undefined)[] => {
    const words = new Int32Array(memory);
    return [SIDE_0, SIDE_1].map((side) => words[side + SEAT]);
  };
  await until('all are linked', () => remotes.every(({ memory }) => seats(memory).every((seat) => seat !== 0)));
  // Seats of one set: none is given twice.
  for (const side of [0, 1]) assert.equal(new Set(remotes.map(({ memory }) => seats(memory)[side])).size, 4);
  const ports = made.map(({ port }) => port);
  const heard: unknown[] = [];
  ports[1]!.on('message', (value) => heard.push(value));
  for (let i = 0; i < 20; i++) {
    ports[0]!.postMessage(i);
    ports[3]!.postMessage(i);
    assert.equal(first.door.select([ports[0]!, ports[2]!], { timeoutMs: STEP_MS }), ports[0]);
    assert.deepEqual(ports[0]!.receive(), new Map([[3, i]]));
    await until('the listener hears', () => heard.length === i + 1);
    assert.deepEqual(heard[i], new Map([[0, i]]));
    // A port of another copy is none for this one, and says so.
    assert.throws(() => first.door.select([ports[0]!, ports[1]!]), is(second.door.UsageError));
  }
  await worker.terminate();
  await until('the end is told', () => ports[0]!.reason !== undefined);
  assert.deepEqual(
    ports.map(({ reason }) => reason),
    Array(4).fill('terminated'),
  );
  for (const port of ports) port.close();
});

test('a spawned thread has one parent port, whichever copy it asks; another layout says so', async () => {
  const text = `
    const [first, second, other] = await Promise.all(${JSON.stringify(urls)}.map((it) => import(it)));
    const port = first.parentPort();
    let refused;
    try {
      other.parentPort();
    } catch (error) {
      refused = error instanceof first.LayoutError;
    }
    port.postMessage([port === second.parentPort(), refused]);
    port.close();`;
  const { port } = first.door.spawn(new URL(`data:text/javascript,${encodeURIComponent(text)}`));
  assert.deepEqual(await within('the answer', port.receiveAsync()), [true, true]);
  port.close();
});

test('a Port of one copy moves through a Port of another, and arrives as one of the copy that reads it', async () => {
  const carrier = second.door.channel();
  const worker = thread(
    `const by = first.attach(workerData);
     by.on('message', async ({ port }) => {
       port.postMessage([port instanceof first.Port, await port.receiveAsync(), new SharedArrayBuffer(4)]);
       by.postMessage({ port }, [port]);
     });`,
    carrier.remote,
    carrier.remote.transfer as readonly unknown[],
  );
  const { port, remote } = first.door.channel();
  const peer = second.door.attach(remote);
  peer.postMessage('unread');
  carrier.port.postMessage({ port }, [port]);
  assert.equal(port.reason, 'detached');
  assert.throws(() => carrier.port.postMessage({ port }, [port]), is(second.door.UsageError));
  assert.deepEqual(await within('what was unread', peer.receiveAsync()), [true, 'unread', new SharedArrayBuffer(4)]);
  const { port: back } = (await within('the port', carrier.port.receiveAsync())) as { port: Port };
  assert.deepEqual(
    all.map(({ door }) => back instanceof door.Port),
    [false, true, false],
  );
  peer.postMessage('again');
  assert.equal(back.receive({ timeoutMs: STEP_MS }), 'again');
  back.close();
  assert.equal(await within('the end', peer.closed), 'closed');
  carrier.port.close();
  await worker.terminate();
});

test('a Port of another layout is refused by name where it would travel, and goes on', () => {
  const carrier = first.door.channel();
  const { port, remote } = other.door.channel();
  const far = other.door.attach(remote);
  for (const transfer of [[port], [new ArrayBuffer(1), port]]) {
    assert.throws(
      () => carrier.port.postMessage({ port }, transfer),
      (error) => error instanceof first.door.UsageError && /another version/.test(error.message),
    );
  }
  port.postMessage(1);
  assert.equal(far.tryReceive(), 1);
  for (const each of [carrier.port, port, far]) each.close();
});
