// What is a hub's own: who may be joined, members that say anything, that take nothing in, that end; its bounds; and how its ports are found again.
// asked for: node-22, node-24
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Engine } from '../../src/engine/engine.ts';
import type { Taken } from '../../src/engine/queue.ts';
import { Hub, open } from '../../src/hub/index.ts';
import {
  DONE,
  FLUSH,
  HEARD,
  HELLO,
  HUB,
  HUB_VERSION,
  OVER,
  PUBLISH,
  QUEUE,
  SUBSCRIBE,
  TELL,
  UNSUBSCRIBE,
} from '../../src/hub/words.ts';
import {
  AddressError,
  attach,
  CLOSED,
  ClosedError,
  channel,
  LayoutError,
  type Port,
  RefusedError,
  TimeoutError,
  UnsupportedError,
  UsageError,
} from '../../src/index.ts';
import { HUB_AGAIN_AT_ONCE } from '../../src/limits.ts';
import { connect as connectNet, type LinkedPort, listen } from '../../src/net/index.ts';
import { connect, listen as listenHere } from '../../src/process/index.ts';
import { collect } from '../kit/collect.ts';
import { CuttingProxy, portIn } from '../kit/cutting-proxy.ts';
import { startServer } from '../kit/engine-servers.ts';
import { inOneFile } from '../kit/in-one-file.ts';
import { Random, seed } from '../kit/prng.ts';
import { rejection } from '../kit/rejection.ts';
import { turn, until, untilSo, within } from '../kit/watchdog.ts';
import { RUN } from '../runtimes/program.ts';

const MEMBER = fileURLToPath(inOneFile(new URL('./hub-member.js', import.meta.url)));

function pairOfPorts(): [Port, Port] {
  const { port, remote } = channel();
  return [port, attach(remote)];
}
/** A port to a hub, of somebody who says what they like. */
function stranger(hub: Hub): Port {
  const [here, there] = pairOfPorts();
  hub.join(there);
  here.postMessage([HELLO, HUB_VERSION]);
  return here;
}
/** What it is told as it is ended. */
async function endOf(port: Port): Promise<string> {
  let last: unknown;
  for await (const words of port) last = words;
  const [word, text] = last as [number, string];
  assert.equal(word, OVER);
  return text;
}

test('what is no hub, no port and no option is named', async () => {
  for (const odd of [undefined, null, 5, {}, 'unix:/tmp/x'])
    assert.ok((await rejection(open(odd as never))) instanceof UsageError, String(odd));
  assert.ok((await rejection(open(() => 5 as never))) instanceof UsageError);
  assert.ok((await rejection(open(new Hub(), { client: {} } as never))) instanceof UsageError);
  assert.throws(() => new Hub().join(5 as never), UsageError);
  assert.throws(() => new Hub({ maxBytes: 5 } as never), UsageError);
  assert.throws(() => new Hub({ maxQueueBytes: -1 }), UsageError);
  assert.equal(await rejection(open(() => Promise.reject('no port'))), 'no port');

  for (const [said, error] of [
    [['what', 'is', 'this'], UnsupportedError],
    [[HELLO, HUB_VERSION + 1, HUB], UnsupportedError],
    [[HELLO, HUB_VERSION, 'a'.repeat(32)], UnsupportedError],
  ] as const) {
    const [here, there] = pairOfPorts();
    there.postMessage(said);
    assert.ok((await within('the answer', rejection(open(here)))) instanceof error, String(said));
    assert.equal(await within('its end', there.closed), 'closed');
  }
  const [ended, other] = pairOfPorts();
  other.close();
  assert.ok((await within('the answer', rejection(open(ended)))) instanceof ClosedError);
});

test('a member that says anything else than members say is ended, and nobody else notices', async () => {
  const hub = new Hub();
  const engine = await open(hub);
  await engine.serve('there', () => 'still');
  await engine.queue<number>('odd', { ackMs: 1000 });
  const subject = 'millrace.topic.odd';
  const odd: unknown[][] = [
    [],
    ['x'],
    [-1],
    [99],
    [99, 0],
    [PUBLISH],
    [PUBLISH, 5, new Uint8Array(1)],
    [PUBLISH, subject, 'text'],
    [PUBLISH, 'x'.repeat(1000), new Uint8Array(1)],
    [PUBLISH, 'a.*', new Uint8Array(1)],
    [PUBLISH, 'a.>', new Uint8Array(1)],
    [PUBLISH, subject, new Uint8Array(1 << 20)],
    [PUBLISH, subject, new Uint8Array(new SharedArrayBuffer(1))],
    [{ toString: 1, valueOf: 1 }],
    [QUEUE, 0, 'millrace.queue.odd', { toString: 1, valueOf: 1 }, 0],
    [TELL, Number.NaN, subject, new Uint8Array(1)],
    [TELL, -1, subject, new Uint8Array(1)],
    [SUBSCRIBE, 0, 2 ** 60, subject],
    [SUBSCRIBE, 0, 0, ''],
    [QUEUE, 0, 5, 'make', 1000],
    [QUEUE, 0, 'q', 'make', Number.POSITIVE_INFINITY],
    // More parts than one may have; the last of so many.
    [SUBSCRIBE, 0, 0, `${'*.'.repeat(255)}>`],
  ];
  for (const words of odd) {
    const port = stranger(hub);
    if (words[0] === SUBSCRIBE && words[2] === 0)
      for (let i = 1; i <= 1024; i++) port.postMessage([...words.slice(0, 2), i, words[3]]);
    port.postMessage(words);
    assert.notEqual(await within('its end', endOf(port)), '', JSON.stringify(words));
  }
  for (const value of [null, 'text', 5, { 0: PUBLISH }]) {
    const port = stranger(hub);
    port.postMessage(value);
    await within('its end', endOf(port));
  }
  const twice = stranger(hub);
  for (let i = 0; i < 2; i++) twice.postMessage([SUBSCRIBE, i, 7, subject, false]);
  assert.match(await within('its end', endOf(twice)), /two subscriptions/);
  const older = pairOfPorts();
  hub.join(older[1]);
  older[0].postMessage([HELLO, HUB_VERSION + 1]);
  assert.match(await within('its end', endOf(older[0])), /version/);

  const queue = await engine.queue<number>('odd', { ackMs: 1000 });
  await queue.put(1);
  const random = new Random(seed);
  for (let i = 0; i < 300; i++) {
    const port = stranger(hub);
    const actions = ['done', 'again', 'back', 'extend', 'bury', 'drop', 'retry', 'take', 'dead', 'nothing', 'stats'];
    const action = actions[random.int(0, actions.length - 1)];
    // Of a job that it has not: `done` alone is believed, so its number is another one.
    port.postMessage([QUEUE, 1, 'millrace.queue.odd', action, random.int(5, 99), random.int(-5, 5), 1, 'why']);
    port.close();
  }
  assert.equal(await within('an answer', engine.request('there', 1)), 'still');
  const done: number[] = [];
  const worker = queue.work((i) => void done.push(i));
  await until('the job', () => done.length === 1);
  await worker.close();
  await engine.close();
  await until('all to be gone', () => hub.stats().members === 0);
  hub.close();
});

test('who takes nothing in is said no more than 32 MiB, and everybody else hears all', async () => {
  const hub = new Hub();
  const [here, there] = [await open(hub), await open(hub)];
  const [slow, inHub] = pairOfPorts();
  hub.join(inHub);
  slow.postMessage([HELLO, HUB_VERSION]);
  slow.postMessage([SUBSCRIBE, 0, 0, 'millrace.topic.large', false]);
  const reader = await there.subscribe<Uint8Array>('large');
  await until('it to listen', () => inHub.stats().received === 2);
  const topic = here.topic<Uint8Array>('large');
  for (let i = 0; i < 60; i++) {
    topic.publish(new Uint8Array(1_000_000).fill(i));
    assert.equal(((await within('a message', reader.receiveAsync())) as Uint8Array)[0], i);
  }
  assert.equal(reader.missed, 0);
  assert.ok(hub.stats().dropped > 50, `${hub.stats().dropped} dropped`);
  const { outboxBytes } = inHub.stats();
  assert.ok(outboxBytes > 24 << 20 && outboxBytes < 34 << 20, `${outboxBytes} bytes wait`);
  slow.close();
  await Promise.all([here.close(), there.close()]);
  hub.close();
});

test('queues keep so many bytes together, and give back all that they took', async () => {
  const hub = new Hub({ maxQueueBytes: 20_000 });
  const engine = await open(hub);
  const queue = await engine.queue<Uint8Array>('small');
  const empty = hub.stats().queueBytes;
  let put = 0;
  let refused: unknown;
  while (refused === undefined) {
    refused = await queue.put(new Uint8Array(1000)).then(
      () => void put++,
      (error) => error,
    );
  }
  assert.ok(refused instanceof RefusedError && /maxQueueBytes/.test(refused.message), String(refused));
  assert.ok(put >= 12 && put <= 19, `${put} jobs`);
  let tries = 0;
  const worker = queue.work(
    () => {
      if (tries++ % 2 === 0) throw new Error('every other one');
    },
    { maxAttempts: 1 },
  );
  await untilSo('all to be settled', async () => (await queue.stats()).waiting + (await queue.stats()).running === 0);
  await worker.close();
  const { dead } = await queue.stats();
  assert.equal(dead, Math.ceil(put / 2));
  const letters = await queue.deadLetters();
  await Promise.all(letters.map((letter) => letter.drop()));
  assert.equal(hub.stats().queueBytes, empty);
  await queue.put(new Uint8Array(1000), { delayMs: 60_000 });
  await engine.close();
  hub.close();
});

test("what a member has that ends is another one's at once, in its next try", async () => {
  const hub = new Hub();
  const [here, there] = [await open(hub), await open(hub)];
  const queue = await here.queue<string>('left');
  const store = await there.driver.queue('left', 30_000);
  await queue.put('left');
  const has = new Promise<number>((resolve) => void store.take(1, 100, ({ attempt }) => resolve(attempt)));
  assert.equal(await within('the job', has), 1);
  const tries: number[] = [];
  const worker = queue.work((_, { attempt }) => void tries.push(attempt));
  assert.deepEqual(await queue.stats(), { waiting: 0, running: 1, dead: 0 });
  await there.driver.close();
  await until('it to be done', () => tries.length === 1, 5);
  assert.deepEqual(tries, [2]);
  await worker.close();
  await here.close();
  hub.close();
});

test('a job is who has it since this very time, of this very hub', async () => {
  let hub = new Hub();
  const joined = (): Port => {
    const [here, there] = pairOfPorts();
    hub.join(there);
    return here;
  };
  const engine = await open(joined);
  const taken = async (): Promise<Taken> => {
    const store = await engine.driver.queue('turns', 1000);
    let job: Taken | undefined;
    await untilSo('a job', async () => {
      await store.take(1, 500, (given) => {
        job = given;
      });
      return job !== undefined;
    });
    return job as Taken;
  };
  const queue = await engine.queue<string>('turns', { ackMs: 1000 });
  await queue.put('slow');
  const first = await taken();
  // Its time is over, and the same member has it again.
  const second = await taken();
  assert.deepEqual([first.attempt, second.attempt], [1, 2]);
  assert.equal(await first.extend(), false);
  await first.again(0);
  await first.back();
  await first.bury(1, 'why');
  assert.deepEqual(await queue.stats(), { waiting: 0, running: 1, dead: 0 });
  assert.equal(await second.extend(), true);
  await second.back();
  const third = await taken();
  assert.equal(third.attempt, 2);

  hub.close();
  hub = new Hub();
  await until('it to be noticed', () => !engine.driver.up);
  await within('another one', engine.driver.ready());
  await queue.put('of another hub');
  await third.done();
  await second.done();
  assert.deepEqual(await queue.stats(), { waiting: 1, running: 0, dead: 0 });
  await engine.close();
  hub.close();
});

test('a hub that is closed gives nothing to anybody', async () => {
  const hub = new Hub();
  const engine = await open(hub);
  const [one, two] = [await engine.queue<string>('closing'), await (await open(hub)).queue<string>('closing')];
  const runs: string[] = [];
  const hang = (job: string): Promise<never> => {
    runs.push(job);
    return new Promise(() => {});
  };
  one.work(hang);
  await one.put('a');
  await until('it to be worked at', () => runs.length === 1);
  two.work(hang);
  await turn();
  hub.close();
  await turn();
  await within('the end', engine.close());
  assert.deepEqual(runs, ['a']);
  assert.equal(hub.stats().queueBytes, 0);
});

test("a port is one hub's, or one engine's", async () => {
  const hub = new Hub();
  const [here, there] = pairOfPorts();
  hub.join(there);
  assert.throws(() => hub.join(there), /has it already/);
  const engine = await open(here);
  assert.match(String(await rejection(open(here))), /has it already/);
  assert.throws(() => hub.join(here), UsageError);
  assert.throws(() => hub.join(Object.create(null)), UsageError);
  await engine.serve('still', () => 1);
  assert.equal(await within('an answer', engine.request('still', 1)), 1);
  // Of one that is given once and again.
  hub.close();
  await within(
    'its end',
    (async () => {
      while (!engine.driver.closed) await turn();
    })(),
  );
});

test('a port that drops messages is refused, at either end: whoever waits for one that was dropped waits for ever', async () => {
  const hub = new Hub();
  for (const overflow of ['drop-oldest', 'drop-newest', 'latest'] as const) {
    const error = { name: 'UsageError', code: 'ERR_OPTION', option: 'overflow', value: overflow };
    const { port, remote } = channel({ overflow });
    assert.throws(() => hub.join(port), { ...error, message: /'wait' or 'reject'/ });
    await assert.rejects(open(port), error);
    await assert.rejects(
      open(() => port),
      error,
    );
    hub.join(attach(remote, { overflow: 'wait' }));
  }
  const { port, remote } = channel({ overflow: 'reject' });
  hub.join(port);
  const engine = await within('an engine', open(attach(remote, { overflow: 'wait' })));
  await engine.close();
  // One that is asked for in one call, of which that is known once it is there.
  const listener = await listenHere(`unix:${join(tmpdir(), `millrace-hub-${process.pid}.sock`)}`);
  void (async () => {
    for await (const first of listener) for await (const offer of first.link.channels) hub.join(offer.accept());
  })();
  const { link } = await connect(listener.address);
  const late = await within('an error', rejection(open(link.channel('late', { overflow: 'drop-newest' }))));
  assert.ok(late instanceof UsageError && late.option === 'overflow', String(late));
  await link.close();
  await listener.close();
  hub.close();
});

test('a port that ends as it greets, or before all is said again, is none', async () => {
  const hub = new Hub();
  let ways: (() => Port)[] = [];
  const ports: Port[] = [];
  const joined = (to: Hub): Port => {
    const [here, there] = pairOfPorts();
    to.join(there);
    ports.push(there);
    return here;
  };
  const closesAtOnce = (): Port => {
    const other = new Hub();
    const port = joined(other);
    other.close();
    return port;
  };
  /** Greets, and ends behind so many words. */
  const greets = (words: number) => (): Port => {
    const [here, there] = pairOfPorts();
    there.postMessage([HELLO, HUB_VERSION, HUB]);
    let heard = 0;
    there.on('message', () => {
      if (++heard > words) there.close();
    });
    if (words < 0) there.close();
    return here;
  };
  const engine = await open(() => (ways.shift() ?? (() => joined(hub)))());
  const reader = await engine.subscribe('deaf');
  const queue = await engine.queue<number>('deaf');
  /** What was done as its port ended is done again. */
  const done = new Set<number>();
  const worker = queue.work((i) => void done.add(i));
  for (let round = 0; round < 5; round++) {
    ways = [closesAtOnce, greets(-1), greets(0), greets(1), closesAtOnce].slice(round % 5);
    const [last] = ports.splice(0).reverse();
    last?.close();
    await until('it to be noticed', () => !engine.driver.up);
    await until('it to be back', () => ways.length === 0 && engine.driver.up);
    await within('another one', engine.driver.ready());
    engine.topic('deaf').publish(round);
    assert.equal(await within('a message', reader.receiveAsync()), round);
    await queue.put(round);
    await until('the job', () => done.has(round), 5);
  }
  await within('its end', worker.close(), 2);
  await engine.close();
  for (const way of [closesAtOnce, greets(-1), greets(0)]) {
    const opened = await within(
      'an answer',
      open(way()).catch((error) => error),
      5,
    );
    if (opened instanceof ClosedError) continue;
    await until('its end', () => (opened as Engine).driver.closed, 5);
  }
  hub.close();
});

test('who closes an engine waits for no port, and who is connecting hears of it', async () => {
  const hub = new Hub();
  let hang = false;
  const engine = await open(() => {
    const [here, there] = pairOfPorts();
    if (hang) return new Promise(() => {});
    hub.join(there);
    return here;
  });
  const other = await open(hub);
  // Who is asked for a line, and does not answer.
  const silent = await other.driver.share('millrace.port.silent', () => {});
  const connecting = rejection(engine.connect('silent'));
  await turn();
  hang = true;
  await within('its end', engine.close(), 2);
  const error = await within('an answer', connecting, 2);
  assert.ok(error instanceof ClosedError, String(error));
  silent.close();
  await other.close();
  hub.close();
});

test('an engine holds its process while its hub is away, until it is closed', async () => {
  const server = await startServer('hub');
  const engine = await open(() => connect(server.url));
  const member = spawn(process.execPath, [...RUN, MEMBER, server.url], { stdio: ['ignore', 'inherit', 'inherit'] });
  let code: number | null | undefined;
  member.once('exit', (status) => {
    code = status;
  });
  const ask = (what: string): Promise<unknown> => engine.request('member', what).catch(() => 0);
  await untilSo('it to answer', async () => (await ask('there')) === member.pid);
  await server.kill();
  await new Promise((resolve) => setTimeout(resolve, 500));
  await server.start();
  await untilSo('it to answer again', async () => (await ask('there')) === member.pid);
  assert.equal(code, undefined);
  assert.equal(await ask('leave'), member.pid);
  await until('its end', () => code !== undefined, 5);
  assert.equal(code, 0);
  await engine.close();
  await server.stop();
});

test('a member whose port takes short messages misses the others, and is told why an answer does not come', async () => {
  const hub = new Hub();
  const engine = await open(hub);
  const { port, remote } = channel({ maxMessageBytes: 50_000 });
  hub.join(port);
  const small = await open(attach(remote));
  const reader = await small.subscribe<Uint8Array>('large');
  const topic = engine.topic<Uint8Array>('large');
  topic.publish(new Uint8Array(1));
  assert.equal(((await within('a message', reader.receiveAsync())) as Uint8Array).length, 1);
  topic.publish(new Uint8Array(100_000));
  await topic.flush();
  topic.publish(new Uint8Array(1));
  assert.equal(((await within('a message', reader.receiveAsync())) as Uint8Array).length, 1);
  assert.equal(reader.missed, 1);
  const queue = await engine.queue<Uint8Array>('large');
  await queue.put(new Uint8Array(100_000));
  const other = await small.queue('large');
  other.work(() => {});
  await until('its end', () => small.driver.closed);
  assert.deepEqual(await queue.stats(), { waiting: 1, running: 0, dead: 0 });
  await engine.close();
  hub.close();
});

test('a port that ends is asked for again, however often that fails; one that was given ends its engine', async () => {
  let hub = new Hub();
  let fails = 0;
  const ports: Port[] = [];
  const engine = await open(() => {
    if (fails-- > 0) throw new Error('no port now');
    const [here, there] = pairOfPorts();
    hub.join(there);
    ports.push(here);
    return here;
  });
  const reader = await engine.subscribe('again');
  const queue = await engine.queue<number>('again');
  const done = new Set<number>();
  const worker = queue.work((i) => void done.add(i));
  for (let round = 0; round < 5; round++) {
    fails = round;
    if (round % 2 === 0) ports.at(-1)?.close();
    else {
      hub.close();
      hub = new Hub();
    }
    await until('it to be noticed', () => !engine.driver.up);
    await within('another one', engine.driver.ready());
    engine.topic('again').publish(round);
    assert.equal(await within('a message', reader.receiveAsync()), round);
    await queue.put(round);
    await until('the job', () => done.has(round));
  }
  await worker.close();
  // In the middle of looking for one.
  fails = Number.POSITIVE_INFINITY;
  hub.close();
  await until('it to be noticed', () => !engine.driver.up);
  await within('its end', engine.close());
  assert.equal(reader.tryReceive(), CLOSED);

  const other = new Hub();
  const [here, there] = pairOfPorts();
  other.join(there);
  const once: Engine = await open(here);
  const listener = await once.listen('once');
  other.close();
  await within(
    'the end',
    (async () => {
      for await (const _ of listener);
    })(),
  );
  assert.ok((await rejection(once.request('once', 1))) instanceof ClosedError);
  await turn();
  await once.close();
});

test('what a hub never says ends the port, and not the process; two engines at one channel are no hub', async () => {
  const hub = new Hub();
  const ends: Promise<unknown>[] = [];
  const odd: unknown[] = [
    null,
    5,
    [HEARD],
    [HEARD, 5, new Uint8Array(1), [0]],
    [HEARD, 'a', 'b', [0]],
    [HEARD, 'a', new Uint8Array(1), 5],
    [99, { toString: 1 }],
  ];
  const dial = (): Port => {
    const [here, there] = pairOfPorts();
    if (odd.length === 0) hub.join(there);
    else {
      there.postMessage([HELLO, HUB_VERSION, HUB]);
      there.postMessage(odd.shift());
      ends.push(there.closed);
    }
    return here;
  };
  const engine = await within('a hub', openUntil(dial));
  await untilSo('a hub', async () =>
    engine
      .serve('there', () => 1)
      .then(
        () => true,
        () => false,
      ),
  );
  assert.equal(await within('an answer', engine.request('there', 1)), 1);
  await within('the ends', Promise.all(ends));
  assert.equal(ends.length, 7);
  await engine.close();

  const [one, other] = pairOfPorts();
  const both = await within('both', Promise.all([rejection(open(one)), rejection(open(other))]));
  for (const error of both) assert.ok(error instanceof UnsupportedError || error instanceof ClosedError, String(error));
  assert.ok(
    both.some((error) => /member of a hub, too/.test(String(error))),
    String(both),
  );

  const [read] = pairOfPorts();
  read.receiveAsync().catch(() => {});
  assert.throws(() => hub.join(read), { code: 'ERR_BUSY' });
  read.close();
});
/** The first one may end before `open` is through. */
async function openUntil(dial: () => Port): Promise<Engine> {
  for (;;) {
    try {
      return await open(dial);
    } catch (error) {
      if (!(error instanceof ClosedError)) throw error;
    }
  }
}

test('a port that takes no greeting, and dials in vain, leave nothing behind', async () => {
  const unhandled: unknown[] = [];
  const told = (error: unknown): void => void unhandled.push(error);
  process.on('unhandledRejection', told);
  const { port: full } = channel({ outboxBytes: 1, overflow: 'reject' });
  const fill = (): void => {
    for (;;) full.postMessage('x'.repeat(1000));
  };
  assert.throws(fill, { code: 'ERR_OUTBOX_FULL' });
  assert.ok((await rejection(open(full))) instanceof UsageError);
  await turn();
  await turn();
  assert.deepEqual(unhandled, []);
  process.off('unhandledRejection', told);
});

test('what could not be said as a reader left, or who answers, is said when there is room', async () => {
  const server = await startServer('thread');
  const dial = (): Port => {
    const port = server.member();
    return port;
  };
  const [one, two] = [await open(dial), await open(dial)];
  const served = await one.serve('shared', () => 1);
  await two.serve('shared', () => 2);
  const queue = await one.queue<Uint8Array>('large');
  await server.freeze(true);
  // Its outbox is full.
  const bytes = new Uint8Array(200_000);
  const asked: Promise<unknown>[] = [];
  for (let i = 0; i < 500; i++) asked.push(queue.put(bytes));
  const all = Promise.allSettled(asked);
  await turn();
  const closing = served.close({ drainMs: 100 });
  await turn();
  await server.freeze(false);
  await within('its end', closing);
  await within('what was asked', all);
  for (let i = 0; i < 10; i++)
    assert.equal(await within('an answer', two.request('shared', i, { timeoutMs: 2000 })), 2);
  await one.close();
  await two.close();
  await server.stop();
});

test('a member whose port has room for less than is left to spare is passed over, and has its answers', async () => {
  const hub = new Hub();
  const engine = await open(hub);
  const { port, remote } = channel({ outboxBytes: 1 << 20 });
  hub.join(port);
  const slow = attach(remote);
  const said: unknown[][] = [];
  const read = async (): Promise<void> => {
    const words = await within('a word', slow.receiveAsync());
    assert.ok(Array.isArray(words), String(words));
    said.push(words);
  };
  slow.postMessage([HELLO, HUB_VERSION, null]);
  slow.postMessage([SUBSCRIBE, 1, 1, 'millrace.topic.x', false]);
  await read();
  await read();
  const topic = engine.topic('x');
  for (let i = 0; i < 80; i++) {
    topic.publish(new Uint8Array(250_000));
    await topic.flush();
  }
  for (let ask = 2; ask < 600; ask++) slow.postMessage([FLUSH, ask]);
  await turn();
  while (said.at(-1)?.[1] !== 599) await read();
  assert.deepEqual(
    said.filter(([word]) => word === DONE).map(([, ask]) => ask),
    Array.from({ length: 599 }, (_, i) => i + 1),
  );
  const heard = said.filter(([word]) => word === HEARD).length;
  assert.ok(heard > 0 && heard < 80, `${heard} were heard`);
  assert.equal(hub.stats().dropped, 80 - heard);
  topic.publish(1);
  await topic.flush();
  await read();
  assert.equal(said.at(-1)?.[0], HEARD);
  await engine.close();
  hub.close();
});

test('a member whose port is damaged harms nobody else', async () => {
  const hub = new Hub();
  const [first, publisher] = [await open(hub), await open(hub)];
  const heard = await first.subscribe('>');
  const { port, remote } = channel();
  hub.join(port);
  const damaged = await open(attach(remote));
  await damaged.subscribe('x');
  const behind = await (await open(hub)).subscribe('x');
  Object.defineProperty(port, 'full', {
    get() {
      throw new LayoutError('its memory is damaged', { value: 1 });
    },
  });
  for (const name of ['x', 'y', 'x']) publisher.topic(name).publish(name);
  await publisher.topic('x').flush();
  for (const name of ['x', 'x', 'y']) assert.equal(await within('it', heard.receiveAsync()), name);
  for (const name of ['x', 'x']) assert.equal(await within('it', behind.receiveAsync()), name);
  assert.ok(!publisher.driver.closed);
  await until('it to have been ended', () => damaged.driver.closed);
  assert.equal(hub.stats().members, 3);
  hub.close();
});

test('who flushes, or stops reading, over a port that has no room waits for it, and has lost nothing', async () => {
  const hub = new Hub();
  const { port, remote } = channel({ outboxBytes: 1 << 20 });
  hub.join(attach(remote));
  const engine = await open(port);
  const [queue, reader] = [await engine.queue('large'), await engine.subscribe('x')];
  const topic = engine.topic('x');
  const puts = Promise.allSettled(Array.from({ length: 60 }, () => queue.put(new Uint8Array(100_000))));
  // They are said, and nothing was taken in yet.
  for (let i = 0; i < 20; i++) await undefined;
  const flushing = topic.flush();
  reader.close();
  await within('the hub', flushing);
  assert.ok((await within('all', puts)).some(({ status }) => status === 'rejected'));
  await within('the hub', topic.flush());
  await engine.close();
  hub.close();
});

test('who asks over a port that has no room has an error of this library', async () => {
  const hub = new Hub();
  const { port, remote } = channel({ outboxBytes: 1 << 20 });
  hub.join(attach(remote));
  const engine = await open(port);
  const served = await engine.serve('length', (text: string) => text.length);
  const text = 'x'.repeat(100_000);
  const asks: Promise<unknown>[] = Array.from({ length: 60 }, () => engine.request('length', text));
  const come = await within('all', Promise.allSettled([...asks, engine.subscribe('x')]));
  const refused = come.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
  assert.ok(refused.length > 0 && refused.length < come.length, `${refused.length} were refused`);
  for (const error of refused) assert.ok(error instanceof ClosedError && error.reason === 'lost', String(error));
  await within('its end', served.close());
  await engine.close();
  hub.close();
});

test('more subscriptions than a port takes in one turn are all said again', async () => {
  const hub = new Hub();
  const ports: Port[] = [];
  const dial = (): Port => {
    const { port, remote } = channel({ outboxBytes: 1 << 20 });
    const there = attach(remote);
    hub.join(there);
    ports.push(there);
    return port;
  };
  const engine = await open(dial);
  const count = 10_000;
  for (let i = 0; i < count; ) {
    const some = Array.from({ length: 1000 }, () => engine.driver.subscribe(`a.${i++}`, () => {}));
    await within('some', Promise.all(some));
  }
  ports.shift()?.close();
  await until('it to be gone', () => !engine.driver.up);
  await within('all of them', engine.driver.ready());
  assert.equal(await engine.driver.tell(`a.${count - 1}`, new Uint8Array(1)), true);
  assert.equal(await engine.driver.tell('a.0', new Uint8Array(1)), true);
  assert.equal(ports.length, 1);
  await engine.close();
});

test('over a network: who has no line is passed over, has its jobs taken, and is one member when it comes anew', async () => {
  const hub = new Hub();
  const listener = await listen('tcp:127.0.0.1:0');
  const joining = (async () => {
    for await (const port of listener) hub.join(port);
  })();
  const proxy = await CuttingProxy.to(portIn(listener.address));
  const there = await open(() => connectNet(proxy.inFrontOf(listener.address), { resumeMs: 500 }));
  const here = await open(hub);
  const [mine, theirs] = [await here.queue<number>('jobs'), await there.queue<number>('jobs')];
  await there.serve('shared', () => 'there');
  const begun: number[] = [];
  const works = (i: number): Promise<void> => {
    begun.push(i);
    return new Promise(() => {});
  };
  theirs.work(works, { concurrency: 2 });
  for (const i of [1, 2]) await mine.put(i);
  await until('both to be begun', () => begun.length === 2);
  await proxy.close();
  // A line that is lost for a moment is nobody's loss; one that is for long is.
  await untilSo(
    'it to be passed over',
    async () => (await rejection(here.request('shared', 1, { timeoutMs: 300 }))) instanceof AddressError,
  );
  await here.serve('shared', () => 'here');
  const done = new Set<number>();
  mine.work((i) => void done.add(i), { concurrency: 2 });
  await until('both to be done', () => done.size === 2);
  await proxy.open();
  await within(
    'it to be back',
    there.driver.ready().then(() => untilSo('it', async () => there.driver.up)),
  );
  await untilSo('it to answer', async () => (await here.request('shared', 1)) === 'there');
  assert.equal(hub.stats().members, 2);
  for (let i = 0; i < 10; i++) await within('an answer', here.request('shared', i, { timeoutMs: 1000 }));
  await there.close({ drainMs: 0 });
  await here.close();
  hub.close();
  await listener.close();
  await joining;
  await proxy.close();
});

test('over a network: who is joined without its line is passed over, as whoever loses it', async () => {
  const hub = new Hub();
  const here = await open(hub);
  const listener = await listen('tcp:127.0.0.1:0');
  const taken = listener[Symbol.asyncIterator]().next();
  const proxy = await CuttingProxy.to(portIn(listener.address));
  const member = await connectNet(proxy.inFrontOf(listener.address));
  const inHub = (await within('a connection', taken)).value as typeof member;
  // What is said in one turn goes in one write.
  member.postMessage('first');
  member.postMessage([HELLO, HUB_VERSION, 'ab'.repeat(16)]);
  member.postMessage([SUBSCRIBE, 0, 1, 'millrace.call.job', true]);
  assert.equal(await within('it', inHub.receiveAsync()), 'first');
  await proxy.close();
  await until('it to be lost', () => inHub.link?.status === 'reconnecting');
  hub.join(inHub);
  await here.serve('job', () => 'here');
  await untilSo('it to be passed over', async () => {
    const answers = await Promise.all([1, 2, 3].map((i) => here.request('job', i, { timeoutMs: 300 }).catch(() => '')));
    return answers.every((answer) => answer === 'here');
  });
  await here.close();
  hub.close();
  member.close();
  await listener.close();
});

test('over a network: what was given up while there was no line is not done when it is back', async () => {
  const hub = new Hub();
  const here = await open(hub);
  const done: unknown[] = [];
  await here.serve('job', (value) => done.push(value));
  const listener = await listen('tcp:127.0.0.1:0');
  const joining = (async () => {
    for await (const port of listener) hub.join(port);
  })();
  const proxy = await CuttingProxy.to(portIn(listener.address));
  let port: LinkedPort | undefined;
  const there = await open(async () => {
    port = await connectNet(proxy.inFrontOf(listener.address));
    return port;
  });
  await there.request('job', 'first');
  await proxy.close();
  await until('it to be lost', () => port?.link.status === 'reconnecting');
  assert.ok((await rejection(there.request('job', 'given up', { timeoutMs: 50 }))) instanceof TimeoutError);
  const waits = there.request('job', 'waits');
  // Not more than may.
  const many = Array.from({ length: 200 }, (_, i) => there.request('job', new Uint8Array(250_000).fill(i)));
  const settled = Promise.allSettled(many);
  await turn();
  await proxy.open();
  await within('an answer', waits);
  const answers = await within('all of them', settled);
  const lost = answers.filter(({ status }) => status === 'rejected').length;
  assert.ok(lost > 50 && lost < 90, `${lost} of 200 refused`);
  assert.deepEqual(done.slice(0, 2), ['first', 'waits']);
  assert.equal(done.length, 2 + 200 - lost);
  await there.close();
  await here.close();
  hub.close();
  await listener.close();
  await joining;
  await proxy.close();
});

test('who takes no answers in is said no more than 48 MiB of them, and is told what it asks otherwise', async () => {
  const hub = new Hub();
  const [asker, inHub] = pairOfPorts();
  hub.join(inHub);
  asker.postMessage([HELLO, HUB_VERSION, 'ab'.repeat(16)]);
  const reply = `millrace.reply.${'ab'.repeat(16)}`;
  asker.postMessage([SUBSCRIBE, 0, 0, reply, false]);
  await until('it to listen', () => inHub.stats().received === 2);
  const here = stranger(hub);
  for (let i = 0; i < 400; i++) {
    here.postMessage([PUBLISH, reply, new Uint8Array(250_000)]);
    if (here.full) await within('room', here.drained());
    await turn();
  }
  here.postMessage([TELL, 1, 'millrace.call.nobody', new Uint8Array(1)]);
  await until('all to be heard', () => hub.stats().dropped > 160);
  const { outboxBytes } = inHub.stats();
  assert.ok(outboxBytes > 40 << 20 && outboxBytes < 50 << 20, `${outboxBytes} bytes wait`);
  asker.postMessage([TELL, 7, 'millrace.call.nobody', new Uint8Array(1)]);
  for (;;) {
    const words = (await within('words', asker.receiveAsync())) as unknown[];
    assert.notEqual(words[0], OVER);
    if (words[0] === DONE && words[1] === 7) break;
  }
  hub.close();
});

test('answers to many requests at a time come, however large they are together', async () => {
  const hub = new Hub();
  const [here, there] = [await open(hub), await open(hub)];
  await there.serve('large', (bytes) => new Uint8Array(bytes as number));
  for (const [count, bytes] of [
    [200, 240_000],
    [3, 16_000_000],
  ] as const) {
    const answers = await Promise.all(Array.from({ length: count }, () => here.request('large', bytes)));
    assert.ok(answers.every((answer) => (answer as Uint8Array).length === bytes));
  }
  assert.equal(hub.stats().dropped, 0);
  await Promise.all([here.close(), there.close()]);
  hub.close();
});

test('who leaves while all is said again is not said again behind that', async () => {
  const asks: unknown[][] = [];
  let hold = false;
  const hubs: Port[] = [];
  const answer = (port: Port, [word, ask]: readonly unknown[]): void => {
    if (word === HELLO) port.postMessage([HELLO, HUB_VERSION, HUB]);
    else port.postMessage([DONE, ask, true]);
  };
  const held: (readonly unknown[])[] = [];
  const engine = await open(() => {
    const [here, there] = pairOfPorts();
    hubs.push(there);
    there.on('message', (words: unknown[]) => {
      asks.push(words);
      if (hold && (words[0] === SUBSCRIBE || words[0] === UNSUBSCRIBE)) held.push(words);
      else answer(there, words);
    });
    return here;
  });
  const served = await engine.serve('sum', () => 1);
  const [, , number] = asks.at(-1) as unknown[];
  await Promise.all(Array.from({ length: HUB_AGAIN_AT_ONCE }, (_, i) => engine.subscribe(`topic${i}`)));
  hold = true;
  asks.length = 0;
  hubs[0]?.close();
  await until('the first portion', () => held.length === HUB_AGAIN_AT_ONCE);
  const closing = served.close();
  await until('it to be said', () => asks.some(([word, , of]) => word === UNSUBSCRIBE && of === number));
  hold = false;
  // Of who leaves the hub says it last.
  for (const words of held.slice(0, -1)) answer(hubs[1] as Port, words);
  await within('the rest', engine.driver.ready());
  answer(hubs[1] as Port, held.at(-1) as unknown[]);
  await within('the end', closing);
  const said = asks.filter(([word, , of]) => (word === SUBSCRIBE || word === UNSUBSCRIBE) && of === number);
  assert.deepEqual(
    said.map(([word]) => word),
    [UNSUBSCRIBE],
  );
  await engine.close();
});

test('members that were channels of a link which stays leave nothing behind', async () => {
  const hub = new Hub();
  const listener = await listen('tcp:127.0.0.1:0');
  const joined: WeakRef<Port>[] = [];
  void (async () => {
    for await (const port of listener)
      for await (const offer of port.link.channels) {
        const member = offer.accept();
        joined.push(new WeakRef(member));
        hub.join(member);
      }
  })();
  const first = await connectNet(listener.address);
  for (let i = 0; i < 100; i++) await (await open(first.link.channel(`member${i}`))).close();
  await until('them to be gone', () => joined.length === 100 && hub.stats().members === 0);
  await untilSo('them to be collected', async () => {
    collect();
    await turn();
    return joined.filter((member) => member.deref() !== undefined).length < 10;
  });
  hub.close();
  await first.link.close();
  await listener.close();
});
