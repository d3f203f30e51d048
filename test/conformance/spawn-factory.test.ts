// Workers that the caller makes: how they are handed their end of the channel, and how their failures are told.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { inspect } from 'node:util';
import { Worker as NodeWorker } from 'node:worker_threads';
import { CLOSED, EMPTY, features, type Port, parentPort, spawn } from '../../src/index.ts';
import { STEP_MS, turn, within } from '../kit/watchdog.ts';

const { runtime } = features();
/** Where a thread takes its start data at will: elsewhere it listens, and awaits `ready` before it blocks. */
const takes = (kind: string): boolean => kind === 'node' && runtime !== 'deno';

const index = JSON.stringify(new URL('../../src/index.js', import.meta.url).href);
const MODULES: Readonly<Record<string, string>> = {
  'talk.mjs': `
    import { parentPort } from ${index};
    import { parentPort as native } from 'node:worker_threads';
    const port = parentPort();
    const tell = (value) => (native ?? globalThis).postMessage(value);
    if (native?.on !== undefined) native.on('message', (value) => tell(['heard', value]));
    else globalThis.addEventListener('message', (event) => tell(['heard', event.data]));
    port.postMessage('early');
    let blocked = 'may';
    try { port.receive({ timeoutMs: 5 }); } catch ({ code, message }) { blocked = code + message; }
    await port.ready;
    port.postMessage(blocked);
    port.on('message', (value) => port.postMessage(['answer', value]));`,
  'progress.mjs': `
    import { parentPort } from ${index};
    const { port, thrown } = chooses();
    function chooses() {
      const thrown = [];
      const refused = (options) => { try { parentPort(options); } catch ({ code }) { thrown.push(code); } };
      refused({ overflow: 'newest' });
      refused({ capacityBytes: 4096 });
      const port = parentPort({ overflow: 'latest', spinMicroseconds: false, codec: undefined });
      refused({ overflow: 'wait' });
      refused({ codec: 'json' });
      refused({ overfow: 'latest' });
      if (parentPort({ overflow: 'latest', spinMicroseconds: 0 }) !== port || parentPort() !== port) thrown.push('another');
      return { port, thrown };
    }
    await port.ready;
    const jobs = [];
    while (jobs.length < 5) jobs.push(await port.receiveAsync());
    port.cork(() => { for (let done = 0; done <= 100; done++) port.postMessage({ done, jobs, thrown }); });`,
  'late.mjs': `
    import { parentPort } from ${index};
    import { parentPort as native } from 'node:worker_threads';
    const gate = new BroadcastChannel('late');
    const opened = new Promise((resolve) => { gate.onmessage = resolve; });
    (native ?? globalThis).postMessage('up');
    await opened;
    gate.close();
    const port = parentPort();
    await port.ready;
    port.postMessage('late');`,
  'blocks.mjs': `
    import { parentPort } from ${index};
    const port = parentPort();
    await port.ready;
    for (const value of port.blocking()) port.postMessage(['answer', value]);`,
  'flushes.mjs': `
    import { parentPort } from ${index};
    import { parentPort as native } from 'node:worker_threads';
    const port = parentPort();
    const first = port.flush();
    port.postMessage('early');
    const flushed = port.flush();
    (native ?? globalThis).postMessage('up');
    await first;
    await flushed;
    port.postMessage('flushed');`,
  'ports.mjs': `
    import { attach, channel, parentPort } from ${index};
    const port = parentPort();
    const { port: end, remote } = channel();
    const far = attach(remote);
    port.postMessage({ far }, [far]);
    end.on('message', (value) => end.postMessage(['answer', value]));`,
  'silent.mjs': `
    import { parentPort } from ${index};
    const port = parentPort();
    await port.ready;
    port.receive();
    port.postMessage('message');
    port.on('message', () => {});`,
  'refused.mjs': `
    import { parentPort } from ${index};
    const port = parentPort();
    const codes = [];
    const refused = (...args) => { try { port.postMessage(...args); } catch ({ code }) { codes.push(code); } };
    refused(port);
    refused({ port }, [new ArrayBuffer(8)]);
    refused(() => {});
    await port.ready;
    port.postMessage(codes);`,
  'syntax.mjs': 'let x = = 5;',
  'throws.mjs': 'throw new Error("on purpose");',
  'opened.mjs': `import { parentPort } from ${index}; await parentPort().ready; throw new Error("on purpose");`,
  'closes.mjs': `import { parentPort } from ${index}; const port = parentPort(); port.postMessage('last'); port.close();`,
  'exits.mjs': 'import process from "node:process"; process.exit(3);',
  'stays.mjs': 'setInterval(() => {}, 1_000_000);',
};
const folder = mkdtempSync(join(tmpdir(), 'millrace-factory-'));
after(() => rmSync(folder, { recursive: true, force: true }));
for (const [file, text] of Object.entries(MODULES)) writeFileSync(join(folder, file), text);
const urlOf = (file: string): URL => pathToFileURL(join(folder, file));

/** What both kinds of Worker have, as far as it is needed here. */
interface Made {
  postMessage(value: unknown): void;
  terminate(): unknown;
}
interface Kind {
  readonly name: 'node' | 'web';
  make(url: URL): Made;
  /** Calls `heard` with the messages that the worker posts natively. */
  hear(worker: Made, heard: (value: unknown) => void): void;
  /** Takes its errors. */
  forgive(worker: Made): void;
}
const KINDS: Kind[] = [
  {
    name: 'node',
    make: (url) => new NodeWorker(url, { stderr: true }),
    hear: (worker, heard) => (worker as NodeWorker).on('message', heard),
    forgive: (worker) => (worker as NodeWorker).on('error', () => {}),
  },
];
if (typeof globalThis.Worker === 'function') {
  KINDS.push({
    name: 'web',
    make: (url) => new globalThis.Worker(url, { type: 'module' }),
    hear: (worker, heard) => (worker as Worker).addEventListener('message', (event) => heard(event.data)),
    forgive: (worker) => (worker as Worker).addEventListener('error', (event) => event.preventDefault()),
  });
}

const next = (port: Port): Promise<unknown> => within('a message', port.receiveAsync());

for (const kind of KINDS) {
  const start = (file: string, options = {}): { port: Port; worker: Made } =>
    spawn<unknown, unknown, Made>(() => kind.make(urlOf(file)), options);

  test(`${kind.name}: both ends talk, the early messages first, and native ones pass`, async () => {
    const { port, worker } = start('talk.mjs');
    const native = new Promise((resolve) => kind.hear(worker, resolve));
    worker.postMessage('native');
    await within('both ends', port.ready);
    assert.equal(await next(port), 'early');
    const blocked = (await next(port)) as string;
    if (takes(kind.name)) assert.equal(blocked, 'may');
    else assert.match(blocked, /^ERR_UNSUPPORTED.*await port\.ready/);
    port.postMessage(new Map([[1, 2]]));
    assert.deepEqual(await next(port), ['answer', new Map([[1, 2]])]);
    assert.deepEqual(await within('the native echo', native), ['heard', 'native']);
    port.close();
    await worker.terminate();
  });

  test(`${kind.name}: a blocked parent is heard and answered`, async () => {
    const { port, worker } = start('blocks.mjs');
    port.postMessage('first');
    assert.deepEqual(port.receive({ timeoutMs: STEP_MS }), ['answer', 'first']);
    port.send('second');
    assert.deepEqual(port.receive({ timeoutMs: STEP_MS }), ['answer', 'second']);
    port.close();
    await worker.terminate();
  });

  test(`${kind.name}: an event loop learns that a blocked worker was terminated`, async () => {
    const { port, worker } = start('blocks.mjs');
    await within('both ends', port.ready);
    port.postMessage('first');
    assert.deepEqual(await next(port), ['answer', 'first']);
    await worker.terminate();
    assert.equal(await next(port), CLOSED);
    assert.equal(port.reason, 'terminated');
  });

  test(`${kind.name}: parentPort(options) are of the worker's end alone, and of its first call`, async () => {
    const { port, worker } = start('progress.mjs', { overflow: 'wait', capacityBytes: 4096 });
    for (let job = 0; job < 5; job++) port.postMessage(job);
    const code = 'ERR_OPTION';
    assert.deepEqual(await next(port), { done: 100, jobs: [0, 1, 2, 3, 4], thrown: [code, code, code, code, code] });
    port.close();
    await worker.terminate();
  });

  test(`${kind.name}: parentPort() may come late, where millrace was loaded in time`, async () => {
    const { port, worker } = start('late.mjs');
    // Its start data was on its way before it began to run.
    await within('the worker', new Promise((resolve) => kind.hear(worker, resolve)));
    const gate = new BroadcastChannel('late');
    gate.postMessage('open');
    assert.equal(await next(port), 'late');
    gate.close();
    port.close();
    await worker.terminate();
  });

  test(`${kind.name}: a flush that was asked for before the start data came resolves`, async () => {
    const made = kind.make(urlOf('flushes.mjs'));
    await within('its flush', new Promise((resolve) => kind.hear(made, resolve)));
    const { port } = spawn(() => made);
    assert.equal(await next(port), 'early');
    assert.equal(await next(port), 'flushed');
    port.close();
    await made.terminate();
  });

  test(`${kind.name}: a Port that was posted before the start data came arrives`, async () => {
    const { port, worker } = start('ports.mjs');
    const { far } = (await next(port)) as { far: Port };
    far.postMessage('over there');
    assert.deepEqual(await next(far), ['answer', 'over there']);
    far.close();
    port.close();
    await worker.terminate();
  });

  test(`${kind.name}: ready resolves though a blocked call has taken the bell that told of it`, async () => {
    const { port, worker } = start('silent.mjs');
    const { ready } = port;
    await turn();
    // A call that blocks looks at what the other side has rung, and takes it; several do so after the worker has come.
    for (let taken = 0; taken < 3; ) {
      assert.equal(port.receive({ timeoutMs: 20 }), EMPTY);
      if (inspect(port).includes("peer: 'attached'")) taken++;
    }
    port.postMessage('go on');
    assert.equal(port.receive({ timeoutMs: STEP_MS }), 'message');
    await within('both ends', ready);
    port.close();
    await worker.terminate();
  });

  test(`${kind.name}: what cannot be cloned is refused before the start data came as it is afterwards`, async () => {
    const { port, worker } = start('refused.mjs');
    assert.deepEqual(await next(port), Array(3).fill('ERR_DATA_CLONE'));
    port.close();
    await worker.terminate();
  });

  test(`${kind.name}: an end that is closed before it was connected still sends what it had`, async () => {
    const { port, worker } = start('closes.mjs');
    assert.equal(await next(port), 'last');
    assert.equal(await next(port), CLOSED);
    assert.equal(port.reason, 'closed');
    await worker.terminate();
  });

  for (const [file, says] of [
    ['not-there.mjs', /not-there\.mjs/],
    ['syntax.mjs', /Unexpected|Expression expected/],
    ['throws.mjs', /on purpose/],
    ['opened.mjs', /on purpose/],
  ] as const) {
    test(`${kind.name}: an event loop learns why ${file} failed`, async () => {
      const { port, worker } = start(file);
      kind.forgive(worker);
      const { ready } = port;
      assert.equal(await next(port), CLOSED);
      assert.equal(port.reason, 'crash');
      assert.match((port.error as Error).message, says);
      if (file !== 'opened.mjs')
        await assert.rejects(ready, { code: 'ERR_CLOSED', reason: 'crash', cause: port.error });
      await worker.terminate();
    });
  }

  test(`${kind.name}: a blocked parent learns of a crash behind the opening`, async () => {
    const { port, worker } = start('opened.mjs');
    kind.forgive(worker);
    assert.equal(port.receive({ timeoutMs: STEP_MS }), CLOSED);
    assert.equal(port.reason, 'crash');
    assert.equal((port.error as Error).message, 'on purpose');
    await worker.terminate();
  });

  test(`${kind.name}: a blocked parent gets an error that says what to do when the worker does not come`, async () => {
    const { port, worker } = start('stays.mjs', { startTimeoutMs: 100 });
    const late = { code: 'ERR_TIMEOUT', timeoutMs: 100, message: /port\.ready.*parentPort\(\)/ };
    assert.throws(() => port.receive(), late);
    while (port.trySend('x'.repeat(10_000)));
    assert.throws(() => port.send('x'.repeat(10_000)), late);
    assert.throws(() => port.receive({ timeoutMs: STEP_MS }), late);
    const waited = port.receiveAsync();
    await worker.terminate();
    assert.equal(await within('the end', waited), CLOSED);
    assert.equal(port.reason, 'terminated');
  });

  test(`${kind.name}: a blocked parent does not wait for ever for one that failed to start`, async () => {
    // Node has a sign that the thread is gone, though not why.
    const { port, worker } = start('syntax.mjs', { startTimeoutMs: runtime === 'node' ? STEP_MS : 300 });
    kind.forgive(worker);
    if (runtime === 'node') assert.deepEqual([port.receive(), port.reason], [CLOSED, 'terminated']);
    else assert.throws(() => port.receive(), { code: 'ERR_TIMEOUT' });
    port.close();
    await worker.terminate();
  });
}

test('what the function posts itself arrives all the same', async () => {
  const make = (): NodeWorker => {
    const worker = new NodeWorker(urlOf('talk.mjs'));
    worker.postMessage('first of all');
    return worker;
  };
  const { port, worker } = spawn<unknown, unknown, NodeWorker>(make);
  const heard = new Promise((resolve) => worker.once('message', resolve));
  assert.equal(await next(port), 'early');
  // A thread that listens has the listeners that were there when it came; those of this module are not among them.
  if (takes('node')) assert.deepEqual(await within('it', heard), ['heard', 'first of all']);
  port.close();
  await worker.terminate();
});

test('exit codes tell an end of its own from a kill', async () => {
  const { port } = spawn(() => new NodeWorker(urlOf('exits.mjs')));
  assert.equal(await next(port), CLOSED);
  assert.equal(port.reason, 'exit');
});

// On Deno a Worker that has ended gives no sign of it.
if (runtime !== 'deno') {
  test('a Worker that had ended before is known to have ended', async () => {
    const made = new NodeWorker(urlOf('exits.mjs'));
    await new Promise((resolve) => made.once('exit', resolve));
    const { port } = spawn(() => made);
    assert.equal(await next(port), CLOSED);
    assert.equal(port.reason, 'terminated');
  });
}

test('the function must return a Worker, and what it throws is thrown', () => {
  for (const made of [undefined, null, {}, 5, Promise.resolve()]) {
    assert.throws(() => spawn(() => made), { code: 'ERR_OPTION', message: /must return a Worker/ });
  }
  const error = new Error('its own');
  const make = (): never => {
    throw error;
  };
  assert.throws(() => spawn(make), error);
});

test('options that have no place are refused before anything is made', () => {
  const make = (): never => assert.fail('called');
  for (const options of [{ worker: {} }, { startTimeoutMs: -1 }, { startTimeoutMs: '5' }, { timeout: 5 }, 5]) {
    assert.throws(() => spawn(make, options as never), { code: 'ERR_OPTION' });
  }
});

test('a main thread has no parent port', () => {
  assert.throws(() => parentPort(), { code: 'ERR_HANDLE' });
});

test('ready rejects for a module that cannot be started from its URL', async () => {
  const { port, worker } = spawn(urlOf('syntax.mjs'), { worker: { stderr: true } });
  worker.on('error', () => {});
  await assert.rejects(within('the end', port.ready), { code: 'ERR_CLOSED', reason: 'crash' });
});
