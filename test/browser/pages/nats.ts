// A page and a program that meet at a server of NATS: the four shapes, and a server that is killed in between.
import { open } from '../../../src/nats/index.ts';
import { afterwards, check, equal, ok, rejection, within } from './checks.ts';

interface Client {
  wsconnect(options: object): Promise<never>;
  readonly jetstream: object;
}
const CLIENT = '/nats/client.js';
async function opened(): Promise<Awaited<ReturnType<typeof open>>> {
  const { wsconnect, jetstream } = (await import(CLIENT)) as Client;
  const servers = await (await fetch('/nats/address')).text();
  const connection = await within(
    'a connection',
    wsconnect({ servers, maxReconnectAttempts: -1, reconnectTimeWait: 100 }),
  );
  const engine = await open(connection, { jetstream });
  afterwards(async () => {
    await engine.close({ drainMs: 0 });
    await (connection as { close(): Promise<void> }).close();
  });
  return engine;
}

check('requests, topics and queues', async () => {
  const engine = await opened();
  equal(await within('an answer', engine.request('double', 21)), 42);
  const nobody = await rejection(engine.request('nobody', 1));
  ok((nobody as { code?: string }).code === 'ERR_UNREACHABLE', String(nobody));

  const sums = await engine.subscribe<number>('sums');
  const numbers = engine.topic<number>('numbers.page');
  for (let i = 1; i <= 100; i++) numbers.publish(i);
  let sum: unknown;
  for (let i = 1; i <= 100; i++) sum = await within('a sum', sums.receiveAsync());
  equal([sum, sums.missed], [5050, 0]);

  const queue = await engine.queue<Map<string, number>>('jobs');
  const done: unknown[] = [];
  const worked = new Promise<void>((resolve) => {
    queue.work((value, { attempt }) => {
      done.push([value, attempt]);
      resolve();
    });
  });
  await queue.put(new Map([['a job', 1]]));
  await within('it to be done', worked);
  equal(done, [[new Map([['a job', 1]]), 1]]);
});

check('a port, and a server that is killed under it', async () => {
  const engine = await opened();
  const port = await engine.connect<number | Uint8Array, number | Uint8Array>('echo');
  const bytes = new Uint8Array(3_000_000).fill(7);
  port.postMessage(bytes);
  equal(((await within('the echo', port.receiveAsync())) as Uint8Array).length, bytes.length);
  const COUNT = 5000;
  const come: unknown[] = [];
  const all = new Promise<void>((resolve) => {
    port.onmessage = ({ data }) => {
      come.push(data);
      if (come.length === COUNT) resolve();
    };
  });
  let killed: Promise<unknown> | undefined;
  for (let i = 0; i < COUNT; i++) {
    port.postMessage(i);
    if (i === COUNT / 2) killed = fetch('/nats/kill', { method: 'POST' });
    if (i % 250 === 0) await new Promise((resolve) => setTimeout(resolve));
  }
  await killed;
  await within('all of them', all, 50);
  ok(
    come.every((value, i) => value === i),
    'each once, in order',
  );
  await port.link.close();
});

check('what is missing in a page is named', async () => {
  const url = await rejection(open('nats://127.0.0.1:1'));
  ok(/transport-node.*hand in/.test(String(url)), String(url));
  const option = await rejection(open({} as never, { jetstream: {} }));
  ok(/Option jetstream/.test(String(option)), String(option));
});
