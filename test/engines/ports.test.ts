// Ports through servers between programs: servers that vanish, peers that are killed, messages that are lost or made up, and whoever is not let in.
// asked for: node-22, node-24
// watchdog: 300 s
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import process from 'node:process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Engine } from '../../src/engine/engine.ts';
import { AddressError, type Port, RefusedError, UsageError } from '../../src/index.ts';
import * as nats from '../../src/nats/index.ts';
import type { LinkedPort, Listener } from '../../src/net/index.ts';
import * as redis from '../../src/redis/index.ts';
import { expose, wrap } from '../../src/rpc/index.ts';
import { startServer } from '../kit/engine-servers.ts';
import { overEngines } from '../kit/engines.ts';
import { inOneFile } from '../kit/in-one-file.ts';
import { rejection } from '../kit/rejection.ts';
import { turn, until, within } from '../kit/watchdog.ts';
import { RUN } from '../runtimes/program.ts';

const SOAK = process.env['SOAK'] === '1';
const AWAY_MS = SOAK ? 10_000 : 1000;
const PROGRAM = fileURLToPath(inOneFile(new URL('./program.js', import.meta.url)));
async function take(listener: Listener): Promise<LinkedPort> {
  const { value } = await within('a connection', listener[Symbol.asyncIterator]().next());
  return value as LinkedPort;
}

overEngines((way) => {
  test(`${way.name}: none of many messages is lost, doubled or out of order while the server is killed and started`, async () => {
    const [here, there] = (await way.open(2)) as [Engine, Engine];
    const listener = await here.listen('stream');
    const [far, near] = await Promise.all([there.connect('stream'), take(listener)]);
    const [count, kills] = SOAK ? [500_000, 40] : [20_000, 3];
    let killed = 0;
    const send = async (port: Port): Promise<void> => {
      for (let i = 0; i < count; i++) {
        port.postMessage({ i, pad: 'x'.repeat(i % 200) });
        if (port.full) await within('room', port.drained());
        if (i % 500 === 499) await turn();
        if (port !== far || killed >= Math.floor((i / count) * (kills + 1))) continue;
        killed++;
        await way.server.kill();
        await turn();
        await way.server.start();
      }
    };
    const hear = async (port: Port): Promise<void> => {
      for (let i = 0; i < count; i++)
        assert.equal(((await within('a message', port.receiveAsync())) as { i: number }).i, i);
    };
    await Promise.all([send(far), send(near), hear(far), hear(near)]);
    assert.equal(killed, kills);
    await far.link?.close();
    await listener.close();
  });

  test(`${way.name}: a message of 64 MB arrives whole, and a server that is away for long ends nothing`, async () => {
    const server = await startServer(way.kind);
    const [here, there] = [await way.another(server), await way.another(server)];
    const listener = await here.listen('large');
    const [far, near] = await within('both', Promise.all([there.connect('large'), take(listener)]));
    const bytes = new Uint8Array(64 << 20).map((_, i) => (i * 2654435761) >>> 24);
    far.postMessage(bytes);
    const got = (await within('it', near.receiveAsync())) as Uint8Array;
    assert.ok(Buffer.from(bytes.buffer).equals(got));
    await server.kill();
    near.postMessage('while it is away');
    await until('it to be noticed', () => [near, far].every((port) => port.link.status === 'reconnecting'));
    await new Promise((resolve) => setTimeout(resolve, AWAY_MS));
    await server.start();
    assert.equal(await within('what was said', far.receiveAsync()), 'while it is away');
    assert.deepEqual([near.reason, far.reason], [undefined, undefined]);
    await Promise.all([here.close(), there.close()]);
    await server.stop();
  });

  test(`${way.name}: where nobody listens it is said at once, and by whom it was asked`, async () => {
    const [here] = (await way.open(1)) as [Engine];
    const error = await rejection(here.connect('nobody'));
    assert.ok(error instanceof AddressError && error.code === 'ERR_UNREACHABLE', String(error));
    assert.match(error.message, /as nobody: nobody listens there/);
    const listener = await here.listen('nobody');
    await listener.close();
    assert.ok((await rejection(here.connect('nobody'))) instanceof AddressError);
  });

  test(`${way.name}: a process that is killed is noticed, and the port ends as lost when its time is over`, async () => {
    const [here] = (await way.open(1)) as [Engine];
    const listener = await here.listen('killed', { resumeMs: 1500 });
    const child = spawn(process.execPath, [...RUN, PROGRAM, way.kind, way.server.url, 'killed'], {
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    const near = await take(listener);
    near.postMessage('hello');
    assert.deepEqual(await within('an answer', near.receiveAsync()), { back: 'hello' });
    child.kill('SIGKILL');
    await until('it to be noticed', () => near.link?.status === 'reconnecting');
    assert.equal(await within('the end', near.closed), 'lost');
    await listener.close();
  });

  test(`${way.name}: several listen by one name, each who connects has one of them, and comes back to that one`, async () => {
    const [first, second, there] = (await way.open(3)) as [Engine, Engine, Engine];
    const listeners = [await first.listen('shared'), await second.listen('shared')];
    const serve = async (listener: Listener, who: number): Promise<void> => {
      for await (const port of listener) port.on('message', (value) => port.postMessage([who, value]));
    };
    const serving = listeners.map(serve);
    const ports: Port[] = [];
    const seen = new Set<number>();
    while (seen.size < 2 && ports.length < 64) {
      const port = await there.connect('shared');
      ports.push(port);
      port.postMessage('who');
      seen.add(((await within('an answer', port.receiveAsync())) as [number])[0]);
    }
    assert.equal(seen.size, 2, `${ports.length} connections went to one of two`);
    const asked = async (port: Port): Promise<number> => {
      port.postMessage('who');
      return ((await within('an answer', port.receiveAsync())) as [number])[0];
    };
    const before = await Promise.all(ports.map(asked));
    await way.server.kill();
    await way.server.start();
    assert.deepEqual(await Promise.all(ports.map(asked)), before);
    await Promise.all(ports.map((port) => port.link?.close()));
    await Promise.all(listeners.map((listener) => listener.close()));
    await Promise.all(serving);
  });

  test(`${way.name}: who is not let in is told so, who is has a name; calls go over it, and values larger than a message`, async () => {
    const [here, there] = (await way.open(2)) as [Engine, Engine];
    const listener = await here.listen('guarded', { authorize: ({ token }) => token?.slice(1) });
    const refused = await rejection(there.connect('guarded'));
    assert.ok(refused instanceof RefusedError && refused.refusal === 7, String(refused));
    const [far, near] = await Promise.all([there.connect('guarded', { token: '*ada' }), take(listener)]);
    assert.equal(near.link?.identity, 'ada');
    assert.equal(near.link?.way?.name, { thread: 'hub', cluster: 'redis' }[way.kind as string] ?? way.kind);
    const large = new Uint8Array(5_000_000).fill(7);
    far.postMessage(large);
    assert.deepEqual(await within('a large one', near.receiveAsync()), large);
    const api = { double: (n: number) => n * 2 };
    expose(api, near);
    assert.equal(await within('an answer', wrap<typeof api>(far).double(21)), 42);
    await far.link?.close();
    await listener.close();
  });

  test(`${way.name}: whoever says anything to a listener, or to the subjects of a line, hurts nobody`, async () => {
    const [here, there] = (await way.open(2)) as [Engine, Engine];
    const driver = here.driver;
    const heard = new Set<string>();
    const watching = await driver.subscribe('millrace.line.*.*', (_bytes, subject) => void heard.add(subject));
    const listener = await here.listen('attacked', { timeoutMs: 500 });
    const [far, near] = await Promise.all([there.connect('attacked', { pingMs: 500 }), take(listener)]);
    far.postMessage('before');
    assert.equal(await within('a message', near.receiveAsync()), 'before');
    const asked = new Uint8Array(33).fill(97);
    asked[0] = 1;
    const lies = [
      new Uint8Array(0),
      new Uint8Array(1),
      new Uint8Array(40).fill(9),
      new Uint8Array(5000).fill(1),
      asked,
    ];
    for (let i = 0; i < 200; i++) {
      const lie = lies[i % lies.length] as Uint8Array;
      await driver.tellOne('millrace.port.attacked', lie);
      // A number that cannot be: as if the server had lost some.
      const head = new Uint8Array(64);
      new DataView(head.buffer).setUint32(4, i * 1000, true);
      for (const subject of heard) driver.publish(subject, i % 2 === 0 ? lie : head);
    }
    for (let i = 0; i < 100; i++) far.postMessage(i);
    for (let i = 0; i < 100; i++) assert.equal(await within('a message', near.receiveAsync()), i);
    await until('strangers to be gone', () => listener.connections === 1);
    watching.close();
    await far.link?.close();
    await listener.close();
  });

  test(`${way.name}: what is closed says so, and a wrong option is named`, async () => {
    const [here, there] = (await way.open(2)) as [Engine, Engine];
    for (const name of ['', 'a b', 'a.*', '.a', 'a.', 'é', 5, undefined, 'x'.repeat(201)]) {
      const error = await rejection(here.connect(name as string));
      assert.ok(error instanceof UsageError && /Option name cannot be/.test(error.message), String(error));
      assert.ok((await rejection(here.listen(name as string))) instanceof UsageError);
    }
    assert.ok((await rejection(here.listen('a', { origins: 'any' } as never))) instanceof UsageError);
    assert.ok((await rejection(here.connect('a', { tokens: 'x' } as never))) instanceof UsageError);
    assert.ok((await rejection(way.another(way.server, { prefix: 'a b' }))) instanceof UsageError);
    const listener = await here.listen('closing', { resumeMs: 500 });
    const [far, near] = await Promise.all([there.connect('closing', { resumeMs: 500 }), take(listener)]);
    await there.close();
    assert.equal(await within('its end', far.closed), 'closed');
    assert.equal(await within('the other end', near.closed), 'closed');
    assert.match(String(await rejection(there.connect('closing'))), /closed/);
    assert.match(String(await rejection(there.listen('closing'))), /closed/);
    await there.close();
    await listener.close();
  });
});

test('what is no client, and a server that is not there, is named, without its password', async () => {
  for (const door of [nats, redis]) {
    for (const client of [undefined, null, {}, 5]) {
      const error = await rejection(door.open(client as never));
      assert.ok(error instanceof UsageError, String(error));
      assert.match(error.message, /it takes the URL of a server/);
    }
    const kind = door === nats ? 'nats' : 'redis';
    const error = await rejection(door.open(`${kind}://ada:s3cret@127.0.0.1:1`));
    assert.ok(error instanceof AddressError && error.code === 'ERR_UNREACHABLE', String(error));
    assert.equal(/s3cret|ada/.test(`${error.message} ${error.address}`), false, error.message);
    assert.ok((await rejection(door.open('redis://127.0.0.1:1', { clients: {} } as never))) instanceof UsageError);
  }
});
