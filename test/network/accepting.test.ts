// Sockets that a server of the program's own has let in: they become ports, and their lines break, as those of a listener do.
// watchdog: 300 s
import assert from 'node:assert/strict';
import { createServer as createHttp, type IncomingMessage } from 'node:http';
import { connect as connectSocket, createServer, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { createServer as createTls } from 'node:tls';
import { features, type Port, RefusedError, UsageError } from '../../src/index.ts';
import { type Acceptor, acceptor, type EntranceOptions } from '../../src/net/index.ts';
import { packageOf } from '../../src/transport/network/ws-package.ts';
import { CuttingProxy } from '../kit/cutting-proxy.ts';
import { CERTIFICATE, connect } from '../kit/net.ts';
import { upgradeRequest } from '../kit/raw-web-socket.ts';
import { until, within } from '../kit/watchdog.ts';

interface WsPackage {
  readonly WebSocket: new (url: string, options?: object) => WsSocket;
  readonly WebSocketServer: new (options: object) => { on(type: 'connection', told: Give): void };
}
interface WsSocket {
  on(type: string, told: (error: unknown) => void): void;
  send(data: unknown): void;
}
const ws = async (): Promise<WsPackage> => (await packageOf('test')) as unknown as WsPackage;

/** A server as a program has it, which gives its sockets on. */
interface Own {
  readonly address: string;
  close(): Promise<unknown>;
}
type Give = (socket: object, request?: IncomingMessage) => void;

const listening = (server: ReturnType<typeof createServer>): Promise<number> =>
  new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port)));
const closed = (server: ReturnType<typeof createServer>): Promise<unknown> =>
  new Promise((resolve) => server.close(resolve));

const SERVERS: Record<string, (give: Give, options?: object) => Promise<Own>> = {
  async tcp(give) {
    const server = createServer(give);
    return { address: `tcp:${await listening(server)}`, close: () => closed(server) };
  },
  async tls(give) {
    const server = createTls(CERTIFICATE as object, give);
    return { address: `tls:127.0.0.1:${await listening(server)}`, close: () => closed(server) };
  },
  async ws(give, options = {}) {
    const { WebSocketServer } = await ws();
    const server = createHttp();
    const sockets = new WebSocketServer({ server, ...options });
    sockets.on('connection', give);
    return { address: `ws://127.0.0.1:${await listening(server)}/deep/path?of=theirs`, close: () => closed(server) };
  },
};
if (features().runtime === 'deno')
  SERVERS['deno'] = async (give) => {
    const { Deno } = globalThis as unknown as { Deno: DenoHost };
    const server = Deno.serve({ hostname: '127.0.0.1', port: 0, onListen() {} }, (request) => {
      const said = { url: request.url, headers: new Headers(request.headers) };
      const { socket, response } = Deno.upgradeWebSocket(request);

      give(socket, said as never);
      return response;
    });
    return { address: `ws://127.0.0.1:${server.addr.port}/deep/path`, close: () => server.shutdown() };
  };
interface DenoHost {
  serve(options: object, handler: (request: Request) => object): { addr: { port: number }; shutdown(): Promise<void> };
  upgradeWebSocket(request: object): { socket: object; response: object };
}

const toClose: (() => Promise<unknown>)[] = [];
after(() => Promise.all(toClose.map((close) => close())));

async function open(kind: string, options: EntranceOptions = {}): Promise<Own & { readonly clients: Acceptor }> {
  const clients = acceptor(options);
  const own = await (SERVERS[kind] as (give: Give) => Promise<Own>)((socket, request) =>
    clients.accept(socket, request),
  );
  toClose.push(async () => {
    await clients.close();
    await own.close();
  });
  return { ...own, clients };
}
async function take(clients: Acceptor): Promise<Port> {
  const { value } = await clients[Symbol.asyncIterator]().next();
  return value as Port;
}

for (const kind of Object.keys(SERVERS)) {
  test(`${kind}: what a server gives is a port, and goes on when its line is cut`, async () => {
    let asked = '';
    const authorize: EntranceOptions['authorize'] = ({ token, url }) => {
      asked = url;
      return token;
    };
    const { address, clients } = await open(kind, { authorize });
    const proxy = await CuttingProxy.to(Number(/:(\d+)(\/|$)/.exec(address)?.[1]));
    toClose.push(() => proxy.close());
    const refused = await within(
      'an answer',
      connect(address).catch((it) => it),
    );
    assert.ok(refused instanceof RefusedError && refused.refusal === 7, String(refused));
    const through = proxy.inFrontOf(address);
    const [far, near] = await within('both', Promise.all([connect(through, { token: 'ada' }), take(clients)]));
    assert.equal(near.link?.identity, 'ada');
    assert.equal(asked, address.startsWith('ws:') ? new URL(address).pathname + new URL(address).search : '');
    assert.equal(near.link?.way?.name, kind === 'deno' ? 'ws' : kind);
    const count = 300;
    const heard: unknown[] = [];
    near.onmessage = ({ data }) => {
      heard.push(data);
      near.postMessage({ back: data });
    };
    for (let i = 0; i < count; i++) {
      far.postMessage(i);
      if (i % 100 === 50) proxy.cut(i === 50 ? 'end' : 'reset');
      const { back } = (await within('an answer', far.receiveAsync())) as { back: number };
      assert.equal(back, i);
    }
    assert.deepEqual(
      heard,
      Array.from({ length: count }, (_, i) => i),
    );
    assert.equal(clients.connections, 1);
    await clients.close();
    assert.equal(await within('the end', far.closed), 'closed');
    // Nobody is let in any more.
    const late = await within(
      'an answer',
      connect(address, { token: 'ada' }).catch((it) => it),
    );
    assert.ok(late instanceof Error, String(late));
  });

  test(`${kind}: whoever speaks something else, or nothing, is closed, and nobody else notices`, async () => {
    const { address, clients } = await open(kind, { timeoutMs: 1000 });
    const [far, near] = await within('both', Promise.all([connect(address), take(clients)]));
    const port = Number(/:(\d+)(\/|$)/.exec(address)?.[1]);
    if (kind === 'tcp') {
      const said = await within('the end of who says something else', stranger(port, 'GET / HTTP/1.1\r\n\r\n'));
      assert.equal(said.includes('HTTP'), false);
      await within('the end of who says nothing', stranger(port, ''));
    } else if (kind === 'ws' || kind === 'deno') {
      const { WebSocket } = await ws();
      for (const word of ['a text', new Uint8Array(400).fill(77), undefined]) {
        const socket = new WebSocket(address);
        const over = new Promise((resolve) => socket.on('close', resolve));
        socket.on('error', () => {});
        if (word !== undefined) socket.on('open', () => socket.send(word));
        await within('its end', over);
      }
    }
    far.postMessage('still here');
    assert.equal(await within('a message', near.receiveAsync()), 'still here');
    await until('nobody else to be there', () => clients.connections === 1);
  });
}

function stranger(port: number, says: string): Promise<string> {
  return new Promise((resolve) => {
    let heard = '';
    const socket: Socket = connectSocket(port, '127.0.0.1', () => void (says !== '' && socket.write(says)));
    socket.on('data', (bytes) => {
      heard += bytes.toString('latin1');
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve(heard));
  });
}

test('pages of other origins are not let in, and it wants to know whose page it was', async () => {
  const { WebSocket } = await ws();
  const from = (origin: string | undefined) => ({
    webSocket: (url: string) => new WebSocket(url, { origin }) as never,
    timeoutMs: 5000,
  });
  const named = await open('ws', { origins: ['https://app.example'] });
  for (const origin of ['https://app.example', new URL(named.address.replace('ws:', 'http:')).origin, undefined]) {
    const [port] = await within('both', Promise.all([connect(named.address, from(origin)), take(named.clients)]));
    await port.link?.close();
  }
  for (const origin of ['https://app.example.evil.example', 'https://evil.example', 'null', 'http://app.example']) {
    const error = await within(
      'an answer',
      connect(named.address, from(origin)).catch((it) => it),
    );
    assert.match(String(error), /1008.*origin/);
  }
  assert.equal(named.clients.connections, 0);

  const errors: unknown[] = [];
  for (const [origins, accepted] of [
    [undefined, 0],
    [['https://app.example'], 0],
    ['any', 1],
  ] as const) {
    const clients = acceptor({ origins, timeoutMs: 5000 });
    const own = await (SERVERS['ws'] as (give: Give) => Promise<Own>)((socket) => {
      try {
        clients.accept(socket);
      } catch (error) {
        errors.push(error);
        (socket as { close(): void }).close();
      }
    });
    const answer = await within(
      'an answer',
      connect(own.address, { timeoutMs: 5000 }).then(
        () => 1,
        () => 0,
      ),
    );
    assert.equal(answer, accepted);
    await clients.close();
    await own.close();
  }
  assert.equal(errors.length, 2);
  for (const error of errors) assert.match(String(error), /accept\(socket, request\)/);
});

test('a page that may not come, and then says nonsense, harms nobody', async () => {
  const clients = acceptor({ timeoutMs: 5000 });
  const own = await (SERVERS['ws'] as (give: Give) => Promise<Own>)((socket, request) =>
    clients.accept(socket, request),
  );
  const stranger = connectSocket(Number(new URL(own.address).port), '127.0.0.1');
  stranger.on('error', () => {});
  stranger.write(upgradeRequest('/', new URL(own.address).host, ['Origin: https://evil.example']));
  await within('an answer', new Promise((resolve) => stranger.once('data', resolve)));
  const gone = new Promise((resolve) => stranger.resume().once('close', resolve));
  stranger.write(new Uint8Array([0xff, 0xff, 0xff, 0xff]));
  stranger.end();
  await within('its end', gone);
  const [port] = await within('both', Promise.all([connect(own.address), take(clients)]));
  await port.link?.close();
  await clients.close();
  await own.close();
});

test('a socket that was not accepted, for want of its request, can be with it', async () => {
  const clients = acceptor();
  const socket = { readyState: 3, addEventListener() {}, send() {}, close() {} };
  assert.throws(() => clients.accept(socket), /accept\(socket, request\)/);
  clients.accept(socket, { headers: {}, url: '/', socket: {} });
  await clients.close();
});

test('what is no socket, and what is no request, is named', () => {
  const clients = acceptor();
  const webSocket = { addEventListener() {}, send() {}, readyState: 3 };
  // As Deno's are.
  const says = (): never => {
    throw new TypeError('Request closed');
  };
  const upgraded = { url: 'http://127.0.0.1/', headers: { get: says, [Symbol.iterator]: says } };
  for (const [socket, request, text] of [
    [undefined, undefined, /accept undefined that is no socket/],
    [null, undefined, /accept null that is no socket/],
    [{}, undefined, /accept an object that is no socket.*node:net/],
    [webSocket, 5, /with a number for its request.*node:http/],
    [webSocket, {}, /with an object for its request/],
    [webSocket, null, /with null for its request/],
    [webSocket, upgraded, /says nothing any more \(Request closed\).*before Deno.upgradeWebSocket/],
  ] as const)
    assert.throws(
      () => clients.accept(socket as never, request as never),
      (error: unknown) => error instanceof UsageError && error.code === 'ERR_OPTION' && text.test(error.message),
    );
  assert.throws(() => acceptor({ origins: ['x'] }), UsageError);
  assert.throws(() => acceptor({ tls: {} } as never), UsageError);
});

test('a server whose WebSockets take less than is said in one message ends what is larger, and says so', async () => {
  const clients = acceptor({ resumeMs: 2000 });
  const own = await (SERVERS['ws'] as (give: Give, options: object) => Promise<Own>)(
    (socket, request) => clients.accept(socket, request),
    { maxPayload: 8 * 1024 },
  );
  toClose.push(async () => {
    await clients.close();
    await own.close();
  });
  const [far, near] = await within('both', Promise.all([connect(own.address, { resumeMs: 2000 }), take(clients)]));
  far.postMessage('small');
  assert.equal(await within('a message', near.receiveAsync()), 'small');
  far.postMessage('x'.repeat(300_000));
  assert.equal(await within('the end', far.closed), 'lost');
  assert.match(String(far.error), /1009/);
});
