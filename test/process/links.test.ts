// More channels over one connection, and how a connection ends: by its last channel, by a call, by a process that goes.
// watchdog: 300 s
import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { CLOSED, RefusedError, UnsupportedError, UsageError } from '../../src/index.ts';
import { connect, type Listener, listen, type Offer, type Port, type PortLink } from '../../src/process/index.ts';
import { inOneFile } from '../kit/in-one-file.ts';
import { STEP_MS, until, within } from '../kit/watchdog.ts';
import { wayOf } from '../kit/way.ts';
import { runProgram, runtimeKind } from '../runtimes/program.ts';

const PROGRAM = fileURLToPath(inOneFile(new URL('./program.js', import.meta.url)));
let names = 0;
const ADDRESSES = {
  tcp: () => 'tcp:127.0.0.1:0',
  unix: () => join(tmpdir(), `millrace-links-${process.pid}-${++names}.sock`),
};

const take = async (server: Listener): Promise<Port> => {
  for await (const port of server) return port;
  throw new Error('no connection');
};
const linkOf = (port: Port): PortLink => port.link as PortLink;

async function met(address: string): Promise<{ server: Listener; near: Port; far: Port }> {
  const server = await listen(address);
  const [near, far] = await within('both', Promise.all([connect(server.address), take(server)]));
  return { server, near, far };
}
async function offersOf(link: PortLink, count: number): Promise<Offer[]> {
  const offers: Offer[] = [];
  for await (const offer of link.channels) if (offers.push(offer) === count) break;
  return offers;
}

for (const [kind, address] of Object.entries(ADDRESSES)) {
  test(`${kind}: two that ask for a name have one channel, whoever asks first; what one side opens the other is offered`, async () => {
    const { server, near, far } = await met(address());
    const a = linkOf(near).channel<string, string>('both');
    const b = linkOf(far).channel<string, string>('both');
    a.postMessage('there');
    b.postMessage('back');
    assert.deepEqual(await within('both', Promise.all([a.receiveAsync(), b.receiveAsync()])), ['back', 'there']);

    const asked = linkOf(near).channel('asked');
    asked.postMessage('question');
    const unwanted = linkOf(near).channel('unwanted');
    const offers = await within('offers', offersOf(linkOf(far), 2));
    assert.deepEqual(
      offers.map((offer) => offer.name),
      ['asked', 'unwanted'],
    );
    const [first, second] = offers as [Offer, Offer];
    const answer = first.accept();
    assert.equal(await within('a message', answer.receiveAsync()), 'question');
    assert.equal(answer.link, far.link);
    second.refuse('not here');
    assert.equal(await within('the end', unwanted.closed), 'closed');
    assert.ok(unwanted.error instanceof RefusedError && unwanted.error.text === 'not here');
    await server.close();
    assert.equal(await within('the end', a.closed), 'closed');
  });

  test(`${kind}: a connection ends with its last channel, and lives as long as it has one`, async () => {
    const { server, near, far } = await met(address());
    const side = linkOf(near).channel('side');
    const other = linkOf(far).channel('side');
    await within('both ends', Promise.all([side.ready, other.ready]));
    near.close();
    assert.equal(await within('the end', far.closed), 'closed');
    side.postMessage('goes on');
    assert.equal(await within('a message', other.receiveAsync()), 'goes on');
    assert.deepEqual([linkOf(near).reason, linkOf(far).reason], [undefined, undefined]);
    other.close();
    assert.equal(await within('the end', side.receiveAsync()), CLOSED);
    assert.deepEqual(await within('both', Promise.all([linkOf(near).closed, linkOf(far).closed])), [
      'closed',
      'closed',
    ]);
    assert.throws(() => linkOf(near).channel('more'), UnsupportedError);
    const offers = linkOf(far).channels[Symbol.asyncIterator]();
    assert.equal((await offers.next()).done, true);
    await until('it is forgotten', () => server.connections === 0);
    await server.close();
  });

  test(`${kind}: a loop over what is offered ends with the connection`, async () => {
    const { server, near, far } = await met(address());
    const offered: string[] = [];
    const loop = (async () => {
      for await (const { name } of linkOf(far).channels) offered.push(name);
      offered.push('the end');
    })();
    linkOf(near).channel('one');
    await until('it is offered', () => offered.length > 0);
    assert.deepEqual(offered, ['one']);
    await linkOf(near).close({ text: 'enough' });
    await within('the loop', loop);
    assert.deepEqual(offered, ['one', 'the end']);
    assert.deepEqual([far.reason, near.reason], ['closed', 'closed']);
    await server.close();
  });

  for (const [how, reason, status] of [
    ['exit', 'exit', 7],
    ['throw', 'crash', 1],
    ['kill', 'lost', 'SIGKILL'],
    ['close', 'closed', 0],
  ] as const) {
    test(`${kind}: a process that ends (${how}) is told with its reason, behind what it has said`, async () => {
      const server = await listen(address());
      const ended = runProgram(PROGRAM, ['speak', server.address, how, '50', '100'], STEP_MS);
      const port = await within('a connection', take(server));
      const heard: unknown[] = [];
      for await (const value of port) heard.push((value as [number])[0]);
      const told = port.reason;
      assert.equal((await ended).status, status);
      // Deno writes nothing with the thread that ends: what was just said may be lost, and is never out of order.
      const whole = runtimeKind !== 'deno' || how === 'close';
      if (whole && how !== 'kill') assert.deepEqual([told, heard.length], [reason, 50]);
      else assert.ok([reason, 'lost'].includes(told as string), told);
      assert.deepEqual(heard, [...Array(heard.length).keys()]);
      await server.close();
      if (!whole || how === 'kill') return;
      const { exit } = linkOf(port);
      if (how === 'exit') assert.equal(exit?.code, 7);
      if (how === 'throw') {
        const { error } = port as { error: { message?: string; code?: string; stack?: string } };
        assert.deepEqual([error.message, error.code], ['what it died of', 'ERR_OWN']);
        // To the same user also where.
        assert.equal(/program/.test(error.stack ?? ''), kind === 'unix');
      }
    });
  }

  test(`${kind}: what was acknowledged before a SIGKILL was delivered, each message once`, async () => {
    const server = await listen(address());
    const ended = runProgram(PROGRAM, ['speak', server.address, 'flush-and-kill', '2000', '500'], STEP_MS);
    const port = await within('a connection', take(server));
    let count = 0;
    for await (const value of port) assert.equal((value as [number])[0], count++);
    assert.deepEqual([count, port.reason, (await ended).status], [2000, 'lost', 'SIGKILL']);
    await server.close();
  });

  test(`${kind}: a listener that is killed settles all who wait`, async () => {
    const at = await free(address());
    const ended = runProgram(PROGRAM, ['serve', at], STEP_MS);
    const port = await connected(at);
    port.postMessage('who');
    await within('an answer', port.receiveAsync());
    const waits = [port.receiveAsync(), linkOf(port).closed, port.closed, offersOf(linkOf(port), 1)];
    port.postMessage('end:kill');
    const flushed = port.flush();
    // Through memory it may have taken the word that it died of.
    const flush = within('flush', flushed);
    if (wayOf(kind as 'unix' | 'tcp') === 'memory') await flush.catch(() => {});
    else await assert.rejects(flush, /gone|closed|lost/);
    assert.deepEqual(await within('all', Promise.all(waits)), [CLOSED, 'lost', 'lost', []]);
    assert.equal((await ended).status, 'SIGKILL');
  });

  test(`${kind}: a listener that drains lets answers through, takes nobody new, and says so`, async () => {
    const at = await free(address());
    const ended = runProgram(PROGRAM, ['drain', at], STEP_MS);
    const port = await connected(at);
    port.postMessage('question');
    assert.deepEqual(await within('an answer', port.receiveAsync()), { answer: 'question' });
    assert.equal((await within('the news', linkOf(port).leaving)).text, 'a new version comes');
    assert.equal(linkOf(port).peerLeaving?.text, 'a new version comes');
    await assert.rejects(connect(at), /nobody listens there/);
    const late = linkOf(port).channel('late');
    assert.equal(await within('the end', late.closed), 'closed');
    assert.ok(late.error instanceof RefusedError && late.error.refusal === 6);
    port.close();
    const { status, output } = await ended;
    assert.deepEqual([status, output], [0, 'drained\n']);
  });
}

/** Where nobody listens now. */
async function free(address: string): Promise<string> {
  const server = await listen(address);
  await server.close();
  return server.address;
}

/** As soon as somebody listens. */
async function connected(address: string): Promise<Port> {
  let port: Port | undefined;
  const end = performance.now() + STEP_MS;
  while (port === undefined) {
    try {
      port = await connect(address);
    } catch (error) {
      if ((error as { code?: string }).code !== 'ERR_UNREACHABLE' || performance.now() > end) throw error;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
  return port;
}

test('what can be no name of a channel is said', async () => {
  const { server, near } = await met(ADDRESSES.tcp());
  for (const name of ['', 1, '\0kept', 'x'.repeat(257), '\ud800'])
    assert.throws(() => linkOf(near).channel(name as string), UsageError);
  await assert.rejects(linkOf(near).close({ drainMs: -1 }), UsageError);
  await assert.rejects(linkOf(near).close({ drain: 1 } as object), /Unknown option drain/);
  await assert.rejects(server.close({ drain: 1 } as object), /Unknown option drain/);
  assert.equal(near.reason, undefined);
  await server.close();
});

test('more channels than the other side lets wait are refused; a thousand that are wanted come', async () => {
  const server = await listen(ADDRESSES.tcp(), { link: { maxWaitingChannels: 10 } });
  const [near, far] = await within('both', Promise.all([connect(server.address), take(server)]));
  const ports = Array.from({ length: 12 }, (_, i) => linkOf(near).channel(`c${i}`));
  await within('refusals', Promise.all(ports.slice(10).map((port) => port.closed)));
  assert.ok(ports[10]?.error instanceof RefusedError && ports[10].error.refusal === 3);
  for (const offer of await within('offers', offersOf(linkOf(far), 10))) {
    const port = offer.accept();
    port.on('message', (value) => port.postMessage(value));
  }
  for (let i = 0; i < 1000; i++) {
    const name = `d${i}`;
    const there = linkOf(far).channel(name);
    there.on('message', (value) => there.postMessage(value));
    const here = linkOf(near).channel(name);
    here.postMessage(i);
    assert.equal(await within('an echo', here.receiveAsync()), i);
    if (i % 2 === 0) here.close();
  }
  await server.close();
});
