// Who gets in at a listener of `millrace/net`, and what strangers at its socket can do: nothing to anybody else.
// watchdog: 300 s
import assert from 'node:assert/strict';
import { connect as connectSocket, createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { AddressError, features, type Port, RefusedError, TimeoutError, UsageError } from '../../src/index.ts';
import type { Listener, ListenOptions, Visitor } from '../../src/net/index.ts';
import { RESUMES } from '../../src/transport/network/heard.ts';
import * as frames from '../../src/transport/stream/frames.ts';
import { joined } from '../../src/transport/stream/joined.ts';
import { collect } from '../kit/collect.ts';
import { CuttingProxy, portIn } from '../kit/cutting-proxy.ts';
import { CERTIFICATE, connect, listen } from '../kit/net.ts';
import { cases, Random, seed } from '../kit/prng.ts';
import { masked, upgraded, upgradeRequest } from '../kit/raw-web-socket.ts';
import { rejection } from '../kit/rejection.ts';
import { chunk, HELLO } from '../kit/stream-bench.ts';
import { turn, until, untilSo, within } from '../kit/watchdog.ts';

const ADDRESSES = { tcp: 'tcp:127.0.0.1:0', tls: 'tls:127.0.0.1:0', ws: 'ws://127.0.0.1:0/path' };
const take = async (server: Listener): Promise<Port> => {
  for await (const port of server) return port;
  throw new Error('no connection');
};

for (const [kind, address] of Object.entries(ADDRESSES)) {
  test(`${kind}: authorize is asked who it is, at once or later, and whoever is nobody is refused`, async () => {
    const asked: Visitor[] = [];
    const said: Readonly<Record<string, () => ReturnType<NonNullable<ListenOptions['authorize']>>>> = {
      ada: () => 'ada',
      bob: async () => 'bob',
      any: () => true,
      sesame0: () => false,
      sesame1: async () => undefined,
      // As of a user that has no name: it is nobody, and not just anybody.
      sesame3: () => '',
      sesame4: async () => '',
    };
    const server = await listen(address, {
      authorize: (visitor) => {
        asked.push(visitor);
        assert.match(visitor.header('host') ?? 'none', kind === 'ws' ? /^127\.0\.0\.1:/ : /^none$/);
        return said[visitor.token ?? 'sesame0']?.();
      },
    });
    for (const token of ['sesame0', 'sesame1', 'sesame2', 'sesame3', 'sesame4', undefined]) {
      const error = await within(
        'the answer',
        connect(server.address, { token }).catch((it) => it),
      );
      assert.ok(error instanceof RefusedError, String(error));
      assert.equal(error.refusal, 7);
      assert.equal(error.message.includes('sesame'), false);
    }
    for (const [token, identity] of [
      ['ada', 'ada'],
      ['bob', 'bob'],
      ['any', ''],
    ]) {
      const [far, near] = await within('both', Promise.all([connect(server.address, { token }), take(server)]));
      assert.equal(near.link?.identity, identity);
      assert.equal(far.link?.identity, undefined);
      await far.link?.close();
    }
    assert.match(asked[0]?.from ?? '', /127\.0\.0\.1/);
    await server.close();
  });

  test(`${kind}: an authorize that throws lets nobody in, and ends nobody else`, async () => {
    const thrown: unknown[] = [];
    const authorize = ({ token }: Visitor): string => {
      if (token === 'late') return Promise.reject(new RangeError('late')) as never;
      if (token !== 'ada') throw new RangeError('at once');
      return token;
    };
    const server = await listen(address, { authorize, onError: (error) => thrown.push((error as Error).message) });
    const [far] = await within('both', Promise.all([connect(server.address, { token: 'ada' }), take(server)]));
    for (const token of ['late', 'other']) {
      const error = await within(
        'the answer',
        connect(server.address, { token }).catch((it) => it),
      );
      assert.ok(error instanceof RefusedError && error.refusal === 7, String(error));
    }
    assert.deepEqual(thrown, ['late', 'at once']);
    assert.equal(far.reason, undefined);
    await far.link.close();
    await server.close();
    const warned: unknown[] = [];
    const { warn } = console;
    console.warn = (...said: unknown[]) => void warned.push(...said);
    const quiet = await listen(address, { authorize });
    await assert.rejects(connect(quiet.address, { token: 'other' }), RefusedError);
    console.warn = warn;
    assert.match(String(warned[0]), /authorize has thrown/);
    await quiet.close();
  });

  test(`${kind}: an authorize that takes too long, or says what is no identity, lets nobody in, and is told`, async () => {
    const told: unknown[] = [];
    const onError = (error: unknown): void => void told.push(error);
    const slow = await listen(address, { authorize: () => new Promise<string>(() => {}), timeoutMs: 200, onError });
    const late = await within('the answer', rejection(connect(slow.address)));
    assert.ok(late instanceof RefusedError && late.refusal === 7, String(late));
    assert.match(late.message, /not known in 200 ms/);
    assert.ok(told.length === 1 && told[0] instanceof TimeoutError, String(told));
    assert.match(String(told[0]), /authorize.*200 ms/);
    await slow.close();
    for (const [said, shown] of [
      [5, /return 5:/],
      [{ id: 1 }, /return an object:/],
      [0, /return 0:/],
    ] as const) {
      const wrong = await listen(address, { authorize: async () => said as never, onError });
      const refused = await within('the answer', rejection(connect(wrong.address)));
      assert.ok(refused instanceof RefusedError && refused.refusal === 7, String(refused));
      const error = told.at(-1);
      assert.ok(error instanceof UsageError && shown.test(error.message), String(error));
      await wrong.close();
    }
    const absent = await listen(address, { authorize: () => null as never, onError });
    assert.ok((await within('the answer', rejection(connect(absent.address)))) instanceof RefusedError);
    assert.equal(told.length, 4, 'null is nobody');
    await absent.close();
  });

  test(`${kind}: a token may be another one for each line, and who is not let in any more is told so`, async () => {
    const asked: (string | undefined)[] = [];
    const server = await listen(address, {
      authorize: ({ token }) => {
        asked.push(token);
        return token !== 'token 3' && 'ada';
      },
    });
    const proxy = await CuttingProxy.to(portIn(server.address));
    let count = 0;
    const token = async (): Promise<string> => {
      if (++count === 2) throw new Error('its server is away for now');
      return `token ${count < 3 ? count : count - 1}`;
    };
    const connecting = connect(proxy.inFrontOf(server.address), { token });
    const [far, near] = await within('both', Promise.all([connecting, take(server)]));
    proxy.cut();
    near.postMessage('again');
    assert.equal(await within('a message', far.receiveAsync()), 'again');
    proxy.cut();
    assert.equal(await within('the end', far.closed), 'lost');
    assert.ok(far.error instanceof RefusedError && far.error.refusal === 7, String(far.error));
    assert.deepEqual(asked, ['token 1', 'token 2', 'token 3']);
    await proxy.close();
    await server.close();
    const odd = connect(server.address, { token: () => 5 as never }).catch((it) => it);
    assert.ok((await odd) instanceof UsageError);
  });

  test(`${kind}: nothing waits for a token that does not come`, async () => {
    const server = await listen(address, { authorize: ({ token }) => token });
    const proxy = await CuttingProxy.to(portIn(server.address));
    const through = proxy.inFrontOf(server.address);
    let hangs = true;
    let asked = 0;
    const token = (): string | Promise<string> => {
      asked++;
      return hangs ? new Promise<string>(() => {}) : 'token';
    };
    const late = await within('the end of its time', rejection(connect(through, { token, timeoutMs: 200 })));
    assert.ok(late instanceof TimeoutError, String(late));
    const signal = AbortSignal.abort('enough');
    assert.equal(await within('its signal', rejection(connect(through, { token, signal }))), 'enough');
    // What it says later is nobody's, and no error of the program's.
    const fails = async (): Promise<string> => {
      await turn();
      throw new Error('no token');
    };
    assert.equal(await within('its signal', rejection(connect(through, { token: fails, signal }))), 'enough');
    hangs = false;
    const connecting = connect(through, { token, timeoutMs: 500 });
    const [far, near] = await within('both', Promise.all([connecting, take(server)]));
    hangs = true;
    asked = 0;
    proxy.cut();
    await until('another one to be asked for', () => asked === 2);
    hangs = false;
    near.postMessage('again');
    assert.equal(await within('a message', far.receiveAsync()), 'again');
    await Promise.all([server.close(), proxy.close()]);
  });

  for (const resume of [true, false])
    test(`${kind}: a connection that is over is garbage long before its times are, resume: ${resume}`, async () => {
      const times = { timeoutMs: 600_000, pingMs: 600_000, resume };
      const server = await listen(address, times);
      const links: WeakRef<object>[] = [];
      const once = async (): Promise<void> => {
        const connecting = connect(server.address, times);
        const [far, near] = await within('both', Promise.all([connecting, take(server)]));
        far.postMessage('here');
        assert.equal(await within('a message', near.receiveAsync()), 'here');
        for (const port of [far, near]) links.push(new WeakRef(port.link as object));
        await far.link?.close();
        await within('its end', near.closed);
      };
      for (let i = 0; i < 5; i++) await once();
      // Last words are waited for for two seconds.
      await untilSo('most to be collected', async () => {
        collect();
        await turn();
        return links.filter((link) => link.deref() !== undefined).length <= 2;
      });
      await server.close();
    });

  test(`${kind}: only who was let in as the same one goes on with a connection`, async () => {
    let identity: string | false = 'ada';
    const server = await listen(address, { authorize: () => identity });
    const proxy = await CuttingProxy.to(portIn(server.address));
    const through = proxy.inFrontOf(server.address);
    const [far, near] = await within('both', Promise.all([connect(through), take(server)]));
    proxy.cut();
    far.postMessage('still here');
    assert.equal(await within('a message', near.receiveAsync()), 'still here');
    identity = 'eve';
    proxy.cut();
    assert.equal(await within('the end', far.closed), 'lost');
    assert.ok(far.error instanceof RefusedError, String(far.error));
    assert.equal(near.reason, undefined, 'who it belongs to may still come');
    await Promise.all([server.close(), proxy.close()]);
  });

  test(`${kind}: a listener that is closed holds nobody who has said nothing, and a signal gives up whatever is under way`, async () => {
    const server = await listen(address, { timeoutMs: 600_000 });
    const silent = connectSocket(portIn(server.address), '127.0.0.1');
    silent.on('error', () => {});
    await new Promise((resolve) => silent.once('connect', resolve));
    const closed = new Promise((resolve) => silent.once('close', resolve));
    for (const signal of [AbortSignal.abort('at once'), AbortSignal.timeout(1)]) {
      const error = await within(
        'an answer',
        connect(server.address, { signal }).catch((it) => it),
      );
      assert.ok(
        error === 'at once' || error?.name === 'TimeoutError' || typeof error?.postMessage === 'function',
        String(error),
      );
      if (typeof error !== 'string') await error.link?.close();
    }
    await server.close();
    if (kind !== 'ws' || features().runtime === 'node') await within('it to be closed', closed);
    silent.destroy();
  });

  test(`${kind}: who says nothing, or anything, is closed, and nobody else notices`, async () => {
    const server = await listen(address, { timeoutMs: 500 });
    const [far, near] = await within('both', Promise.all([connect(server.address), take(server)]));
    const silent = connectSocket(portIn(server.address), '127.0.0.1');
    const closed = new Promise((resolve) => silent.on('close', resolve));
    silent.on('error', () => {});
    // Whose time Bun's and Deno's own servers decide about.
    if (kind !== 'ws' || features().runtime === 'node') await within('it to be closed', closed);
    const random = new Random(seed);
    for (let i = 0; i < cases(200, 35_000); i++) await stranger(portIn(server.address), random, kind === 'ws');
    far.postMessage('still here');
    assert.equal(await within('a message', near.receiveAsync()), 'still here');
    await until('nobody else to be there', () => server.connections === 1);
    silent.destroy();
    await server.close();
  });

  test(`${kind}: an address that somebody has, and one where nobody is`, async () => {
    const server = await listen(address);
    const again = await within(
      'an answer',
      listen(server.address).catch((error) => error),
    );
    assert.ok(again instanceof AddressError, String(again));
    assert.equal(again.code, 'ERR_ADDRESS_IN_USE');
    await server.close();
    const nobody = await within(
      'an answer',
      connect(server.address).catch((error) => error),
    );
    assert.ok(nobody instanceof AddressError, String(nobody));
    assert.equal(nobody.code, 'ERR_UNREACHABLE');
  });
}

/** Connects, says what may be a HELLO at the beginning, and goes. */
async function stranger(port: number, random: Random, upgrade: boolean): Promise<void> {
  const socket = connectSocket(port, '127.0.0.1');
  socket.on('error', () => {});
  await new Promise((resolve) => socket.once('connect', resolve));
  if (upgrade) await upgraded(socket);
  const hello = new Int32Array(16 + random.int(0, 64));
  hello.set([1 | ((14 * 4) << 5), 0, 0x5343524d, 1, 1, random.int(0, 0x1ffff), random.int(0, 1e9), 16, 1024]);
  for (let i = random.int(0, 6); i > 0; i--)
    hello[random.int(0, hello.length - 1)] = random.int(-(2 ** 31), 2 ** 31 - 1);
  const bytes = new Uint8Array(hello.buffer, 0, random.int(1, hello.byteLength));
  socket.write(upgrade ? masked(bytes) : bytes);
  await new Promise((resolve) => setTimeout(resolve, random.int(0, 2)));
  socket.destroy();
}

/** The beginning of what a client says, as `kind` has it. */
async function begun(kind: string, port: number): Promise<Uint8Array> {
  const said: Uint8Array[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (bytes: Uint8Array) => said.push(bytes));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port: own } = server.address() as { port: number };
  const address = kind === 'ws' ? `ws://127.0.0.1:${own}/path` : `tcp:127.0.0.1:${own}`;
  const connecting = connect(address, { timeoutMs: 500 }).catch(() => {});
  await until('its first words', () => said.length > 0);
  await connecting;
  server.close();
  return Buffer.from(Buffer.concat(said).toString('latin1').replaceAll(`:${own}`, `:${port}`), 'latin1');
}

for (const kind of ['tcp', 'ws'] as const)
  test(`${kind}: who says its first words a byte at a time is closed when its time is over, and takes nobody's place`, async () => {
    const server = await listen(ADDRESSES[kind], { timeoutMs: 400, maxConnections: 8 });
    const words = await begun(kind, portIn(server.address));
    const slow = Array.from({ length: 6 }, () => connectSocket(portIn(server.address), '127.0.0.1'));
    const ends = slow.map((socket) => {
      socket.on('error', () => {});
      socket.resume();
      let at = 0;
      const drip = setInterval(() => socket.write(words.subarray(at, ++at)), 20);
      return new Promise<number>((resolve) =>
        socket.once('close', () => {
          clearInterval(drip);
          resolve(at);
        }),
      );
    });
    const [far, near] = await within('both', Promise.all([connect(server.address), take(server)]));
    // Whose time Bun's and Deno's own servers decide about.
    if (kind === 'ws' && features().runtime !== 'node') for (const socket of slow) socket.destroy();
    for (const at of await within('all to be closed', Promise.all(ends)))
      assert.ok(at < words.length, 'it has said all of it');
    far.postMessage('still here');
    assert.equal(await within('a message', near.receiveAsync()), 'still here');
    await until('nobody else to be there', () => server.connections === 1);
    await far.link.close();
    await server.close();
  });

test('tcp: an answer of authorize that hangs keeps nobody out who comes back over another line', async () => {
  let asked = 0;
  const authorize = (): boolean | Promise<boolean> => ++asked !== 2 || new Promise(() => {});
  const server = await listen(ADDRESSES.tcp, { authorize });
  const proxy = await CuttingProxy.to(portIn(server.address));
  const connecting = connect(proxy.inFrontOf(server.address), { resumeMs: 4000 });
  const [far, near] = await within('both', Promise.all([connecting, take(server)]));
  proxy.cut();
  near.postMessage('again');
  assert.equal(await within('a message', far.receiveAsync()), 'again');
  assert.ok(asked >= 3, `asked ${asked} times`);
  await far.link?.close();
  await Promise.all([server.close(), proxy.close()]);
});

test('tcp: who asks for a session that is not here is turned away, and nobody is asked who it is', async () => {
  let asked = 0;
  const authorize = (): boolean => ++asked > 0;
  const server = await listen(ADDRESSES.tcp, { authorize });
  const words = [...HELLO];
  words[3] = RESUMES;
  words.splice(8, 6, 1, 2, 3, 4, 0, 0);
  const socket = connectSocket(portIn(server.address), '127.0.0.1');
  const said: Uint8Array[] = [];
  const ended = new Promise((resolve) => socket.once('end', resolve));
  socket.on('data', (bytes: Uint8Array) => said.push(bytes));
  socket.write(chunk([frames.HELLO, 0, ...words]));
  await within('the end', ended);
  const bytes = joined(said);
  const [head = 0, , code] = new Int32Array(bytes.slice(frames.frameBytes(bytes)).buffer.slice(0, 12));
  assert.deepEqual([frames.typeOf(head), code, asked], [frames.RESET, frames.CODE_NAME, 0]);
  socket.destroy();
  await server.close();
});

test('tcp: who says nothing makes room for whoever comes beyond maxConnections, the first one first', async () => {
  const server = await listen(ADDRESSES.tcp, { maxConnections: 2, timeoutMs: 600_000 });
  const come = async (): Promise<Socket> => {
    const socket = connectSocket(portIn(server.address), '127.0.0.1');
    socket.on('error', () => {});
    await new Promise((resolve) => socket.once('connect', resolve));
    return socket;
  };
  const silent: Socket[] = [];
  const closed = (socket: Socket): Promise<Socket> =>
    new Promise((resolve) => socket.resume().once('close', () => resolve(socket)));
  for (let i = 0; i < 3; i++) silent.push(await come());
  const first = await within('one to be closed', Promise.race(silent.map(closed)));
  assert.equal(first, silent[0], 'the one that came first');
  assert.ok(!silent[1]?.destroyed && !silent[2]?.destroyed);
  // However many there are, who greets has a place.
  const port = await within('a connection', connect(server.address));
  port.postMessage('here');
  for await (const near of server) {
    assert.equal(await near.receiveAsync(), 'here');
    break;
  }
  for (const socket of silent) socket.destroy();
  await server.close();
});

for (const blocking of [false, true])
  test(`ws: pages of other origins are turned down, those of the address itself and those that were named are not, blocking: ${blocking}`, async () => {
    const server = await listen('ws://127.0.0.1:0/path', { origins: ['https://app.example'], blocking });
    const own = new URL(server.address).host;
    const statusFor = async (path: string, origin?: string): Promise<string> => {
      const socket = connectSocket(portIn(server.address), '127.0.0.1');
      socket.write(upgradeRequest(path, own, origin === undefined ? [] : [`Origin: ${origin}`]));
      const answer = await within('the answer', new Promise((resolve) => socket.once('data', resolve)));
      socket.destroy();
      return /^HTTP\/1\.1 (\d+)/.exec(String(answer))?.[1] ?? '';
    };
    assert.equal(await statusFor('/path'), '101');
    assert.equal(await statusFor('/path', 'https://app.example'), '101');
    assert.equal(await statusFor('/path', `http://${own}`), '101');
    assert.equal(await statusFor('/path', 'https://evil.example'), '403');
    assert.equal(await statusFor('/path', 'null'), '403');
    assert.equal(await statusFor('/other'), '404');
    const plain = await fetch(server.address.replace('ws:', 'http:'));
    assert.equal(plain.status, 426);
    await plain.arrayBuffer();
    await server.close();
  });

test('tcp: who connects to what speaks HTTP is told what it has found', async () => {
  const server = createServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await assert.rejects(connect(`tcp:127.0.0.1:${port}`), { code: 'ERR_LAYOUT', message: /speaks HTTP$/ });
  server.close();
});

// Asked of `ws`, on Node: the clients of runtimes take no certificate that nobody has signed.
const testOnNode = features().runtime === 'node' ? test : (): void => {};
testOnNode('wss: with a key and a certificate, and a WebSocket of the program', async () => {
  const tls = CERTIFICATE;
  const server = await listen('wss://127.0.0.1:0/', { tls });
  const name = 'ws';
  const { WebSocket: Made } = (await import(name)) as { WebSocket: new (url: string, options: object) => never };
  const webSocket = (url: string): never => new Made(url, { ca: tls.cert });
  const [far, near] = await within('both', Promise.all([connect(server.address, { webSocket }), take(server)]));
  far.postMessage('sealed');
  assert.equal(await within('a message', near.receiveAsync()), 'sealed');
  await far.link?.close();
  await server.close();
  for (const [address, options] of [
    ['wss://127.0.0.1:0/', {}],
    ['ws://127.0.0.1:0/', { tls }],
    ['tcp:127.0.0.1:0', { tls }],
  ] as const)
    await assert.rejects(listen(address, options), { code: 'ERR_OPTION', option: 'tls' }, address);
});

testOnNode('wss: who is asked for a certificate is known by it', async () => {
  const subjects: (string | undefined)[] = [];
  const server = await listen('wss://127.0.0.1:0/', {
    tls: { ...CERTIFICATE, ca: CERTIFICATE.cert, requestCert: true },
    authorize: ({ subject }) => {
      subjects.push(subject);
      return subject;
    },
  });
  const name = 'ws';
  const { WebSocket: Made } = (await import(name)) as { WebSocket: new (url: string, options: object) => never };
  const webSocket = (own: object) => (url: string) => new Made(url, { ca: CERTIFICATE.cert, ...own });
  const nobody = await rejection(connect(server.address, { webSocket: webSocket({}) }));
  assert.match(String(nobody), /wants a certificate of this side/);
  const known = connect(server.address, { webSocket: webSocket(CERTIFICATE) });
  const [far, near] = await within('both', Promise.all([known, take(server)]));
  assert.equal(near.link?.identity, 'localhost');
  assert.deepEqual(subjects, ['localhost']);
  await far.link?.close();
  await server.close();
});

test('certificates are asked for, or it is said that they are not', async () => {
  const misspelt = { tls: { ...CERTIFICATE, requestCerts: true } as never };
  await assert.rejects(listen('tls:127.0.0.1:0', misspelt), /requestCerts/);
  if (features().runtime !== 'deno') return;
  const asks = { tls: { ...CERTIFICATE, requestCert: true } };
  await assert.rejects(listen('wss://127.0.0.1:0/', asks), { code: 'ERR_UNSUPPORTED' });
});

test('ws: a host that is none is a bad request, and shows nothing of this program', async () => {
  const server = await listen('ws://127.0.0.1:0/');
  const socket = connectSocket(portIn(server.address), '127.0.0.1');
  socket.on('error', () => {});
  let said = '';
  socket.on('data', (bytes) => {
    said += bytes;
  });
  const gone = new Promise((resolve) => socket.once('close', resolve));
  const lines = ['GET / HTTP/1.1', 'Host: a b', 'Connection: close'];
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  await within('its end', gone);
  assert.match(said, /^HTTP\/1.1 4\d\d /);
  assert.ok(said.length < 1000, said.slice(0, 1000));
  await server.close();
});

test('secrets of an address that is none stand in no error', async () => {
  for (const address of ['ws://ada:geheim@[/', 'ws://[/?token=geheim', 'tcp:ada:geheim@here:1', 'ws://h/?t=geheim#x']) {
    const error = await rejection(connect(address));
    assert.ok(error instanceof UsageError, String(error));
    assert.doesNotMatch(inspect(error, { depth: 9 }), /geheim/);
  }
});

for (const resume of [false, true])
  test(`tls: a byte that is damaged on its way ends the line, resume: ${resume}`, async () => {
    const server = await listen('tls:127.0.0.1:0', { resume });
    let damages = false;
    const between = createServer((near) => {
      const far = connectSocket(portIn(server.address), '127.0.0.1');
      for (const [one, other] of [
        [near, far],
        [far, near],
      ] as const) {
        one.on('error', () => {});
        one.on('close', () => other.destroy());
        one.on('data', (bytes) => {
          if (damages && one === near) {
            damages = false;
            bytes[bytes.length - 1] = (bytes.at(-1) as number) ^ 1;
          }
          other.write(bytes);
        });
      }
    });
    await new Promise<void>((resolve) => between.listen(0, '127.0.0.1', resolve));
    const { port } = between.address() as { port: number };
    const [far, near] = await within('both', Promise.all([connect(`tls:localhost:${port}`, { resume }), take(server)]));
    far.postMessage('whole');
    assert.equal(await within('a message', near.receiveAsync()), 'whole');
    damages = true;
    far.postMessage('damaged');
    if (resume) {
      assert.equal(await within('it, over another line', near.receiveAsync()), 'damaged');
      await far.link?.close();
    } else {
      // Nobody says anything any more: the line is all that tells.
      assert.deepEqual(await within('both ends', Promise.all([far.closed, near.closed])), ['lost', 'lost']);
    }
    await server.close();
    between.close();
  });

test('tls: who listens has to have a good certificate, and so has who connects where it is asked for one', async () => {
  const server = await listen('tls:127.0.0.1:0');
  const untrusted = await connect(server.address, { tls: {} }).catch((it) => it);
  assert.ok(untrusted instanceof AddressError && untrusted.code === 'ERR_UNREACHABLE', String(untrusted));
  assert.match(untrusted.message, /certificate|unknown.?issuer/i);
  const other = await connect(server.address, { tls: { ca: CERTIFICATE.cert, servername: 'other.example' } }).catch(
    (it) => it,
  );
  assert.ok(other instanceof AddressError && other.code === 'ERR_UNREACHABLE', String(other));
  await server.close();

  const subjects: (string | undefined)[] = [];
  const strict = await listen('tls:127.0.0.1:0', {
    tls: { ...CERTIFICATE, ca: CERTIFICATE.cert, requestCert: true },
    authorize: ({ subject }) => {
      subjects.push(subject);
      return subject;
    },
  });
  const own = { tls: { ...CERTIFICATE, ca: CERTIFICATE.cert } };
  const [far, near] = await within('both', Promise.all([connect(strict.address, own), take(strict)]));
  far.postMessage('sealed');
  assert.equal(await within('a message', near.receiveAsync()), 'sealed');
  assert.equal(near.link?.identity, 'localhost');
  const nobody = await within(
    'an answer',
    connect(strict.address).catch((it) => it),
  );
  assert.ok(nobody instanceof Error, String(nobody));
  assert.deepEqual(subjects, ['localhost'], 'nobody else was asked for');
  await far.link?.close();
  await strict.close();
});

test('wrong options are named, with what they take', async () => {
  const wrong: readonly (readonly [object, string])[] = [
    [{ resumeMs: 0 }, 'resumeMs'],
    [{ pingMs: 1 }, 'pingMs'],
    [{ resume: 'yes' }, 'resume cannot be "yes"'],
    [{ authorize: 'ada' }, 'authorize cannot be "ada"'],
    [{ origins: ['https://app.example/'] }, 'origins'],
    [{ origins: 'no' }, 'origins cannot be "no"'],
    [{ maxParkedSessions: -1 }, 'maxParkedSessions'],
    [{ maxParkedBytes: 0.5 }, 'maxParkedBytes'],
    [{ nonsense: 1 }, 'nonsense'],
  ];
  for (const [options, option] of wrong) {
    const error = await listen('tcp:127.0.0.1:0', options as ListenOptions).catch((it) => it);
    assert.ok(error instanceof UsageError, `${option}: ${error}`);
    assert.match(error.message, new RegExp(option));
  }
  for (const address of [
    '',
    'http://127.0.0.1/',
    'unix:/tmp/x',
    'tcp:',
    'tcp:host:99999',
    'tls:host',
    'ws://',
    'ws://host/#x',
    7,
  ]) {
    await assert.rejects(connect(address as string), { code: 'ERR_OPTION', option: 'address' }, String(address));
  }
  for (const token of ['x'.repeat(5000), 7]) {
    const error = await connect('tcp:127.0.0.1:1', { token: token as string }).catch((it) => it);
    assert.ok(error instanceof UsageError && !error.message.includes('xx'), String(error));
  }
  for (const [address, why] of [
    ['tcp:127.0.0.1:1', /for 'tls:' addresses$/],
    ['wss://127.0.0.1:1/', /for 'tls:' addresses; .*webSocket/],
  ] as const)
    await assert.rejects(connect(address, { tls: {} }), { code: 'ERR_OPTION', option: 'tls', message: why });
  const noKey = await listen('tls:127.0.0.1:0', { tls: { key: 's3cret', cert: 's3cret' } }).catch((it) => it);
  assert.ok(noKey instanceof UsageError && !noKey.message.includes('s3cret'), String(noKey));
  const trusting = { rejectUnauthorized: false } as object;
  await assert.rejects(connect('tls:127.0.0.1:1', { tls: trusting }), {
    code: 'ERR_OPTION',
    option: 'rejectUnauthorized',
  });
  await assert.rejects(connect('tcp:127.0.0.1:1', { webSocket: 1 as never }), {
    code: 'ERR_OPTION',
    option: 'webSocket',
  });
});
