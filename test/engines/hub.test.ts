// What is a hub's own: who may be joined, members that say anything, that take nothing in, that end; its bounds; and how its ports are found again.
// asked for: node-22, node-24
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Engine } from '../../src/engine/engine.ts';
import { Hub, open } from '../../src/hub/index.ts';
import { HELLO, HUB_VERSION, OVER, PUBLISH, QUEUE, SUBSCRIBE, TELL } from '../../src/hub/words.ts';
import {
  attach,
  CLOSED,
  ClosedError,
  channel,
  type Port,
  RefusedError,
  UnsupportedError,
  UsageError,
} from '../../src/index.ts';
import { Random, seed } from '../kit/prng.ts';
import { rejection } from '../kit/rejection.ts';
import { turn, until, untilSo, within } from '../kit/watchdog.ts';

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
    [[HELLO, HUB_VERSION + 1], UnsupportedError],
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
    [TELL, Number.NaN, subject, new Uint8Array(1)],
    [TELL, -1, subject, new Uint8Array(1)],
    [SUBSCRIBE, 0, 2 ** 60, subject],
    [SUBSCRIBE, 0, 0, ''],
    [QUEUE, 0, 5, 'make', 1000],
    [QUEUE, 0, 'q', 'make', Number.POSITIVE_INFINITY],
  ];
  for (const words of odd) {
    const port = stranger(hub);
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
    port.postMessage([QUEUE, 1, 'millrace.queue.odd', action, random.int(5, 99), random.int(-5, 5), 'why']);
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

test('who takes nothing in is said no more than 16 MiB, and everybody else hears all', async () => {
  const hub = new Hub();
  const [here, there] = [await open(hub), await open(hub)];
  const [slow, inHub] = pairOfPorts();
  hub.join(inHub);
  slow.postMessage([HELLO, HUB_VERSION]);
  slow.postMessage([SUBSCRIBE, 0, 0, 'millrace.topic.large', false]);
  const reader = await there.subscribe<Uint8Array>('large');
  await until('it to listen', () => inHub.stats().received === 2);
  const topic = here.topic<Uint8Array>('large');
  for (let i = 0; i < 40; i++) {
    topic.publish(new Uint8Array(1_000_000).fill(i));
    assert.equal(((await within('a message', reader.receiveAsync())) as Uint8Array)[0], i);
  }
  assert.equal(reader.missed, 0);
  assert.ok(hub.stats().dropped > 50, `${hub.stats().dropped} dropped`);
  const { outboxBytes } = inHub.stats();
  assert.ok(outboxBytes > 8 << 20 && outboxBytes < 18 << 20, `${outboxBytes} bytes wait`);
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
  const done: number[] = [];
  const worker = queue.work((i) => void done.push(i));
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
    await until('the job', () => done.length === round + 1);
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
