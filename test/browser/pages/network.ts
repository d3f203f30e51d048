// A page and a server that speak over a WebSocket, whose line is cut between them.
import { connect, listen } from '../../../src/net/index.ts';
import { wrap } from '../../../src/rpc/index.ts';
import { afterwards, check, equal, ok, rejection, within } from './checks.ts';

const addressOf = async (name = 'address'): Promise<string> => (await fetch(`/net/${name}`)).text();
const cut = (): Promise<unknown> => fetch('/net/cut', { method: 'POST' });

interface Value {
  readonly text: string;
  readonly at: Date;
  readonly set: Set<number>;
  readonly bytes: Uint8Array;
}
check('values there and back, in order', async () => {
  const port = await connect(await addressOf());
  afterwards(() => port.link?.close());
  port.postMessage({ text: 'žluť', at: new Date(7), set: new Set([1]), bytes: new Uint8Array(100_000).fill(7) });
  const { text, at, set, bytes } = await within('an answer', port.receiveAsync() as Promise<Value>);
  equal([text, at, [...set]], ['žluť', new Date(7), [1]]);
  equal([bytes.length, bytes.at(-1)], [100_000, 7]);
  for (let i = 0; i < 2000; i++) port.postMessage(i);
  for (let i = 0; i < 2000; i++) equal(await within('an answer', port.receiveAsync()), i);
});

check('calls over another channel of the connection', async () => {
  const port = await connect(await addressOf());
  afterwards(() => port.link?.close());
  const api = wrap<{ double(number: number): number }>(port.link?.channel('calls') as never);
  equal(await within('an answer', Promise.resolve(api.double(21))), 42);
});

check('lines that are cut: nothing is lost or doubled', async () => {
  const port = await connect<number, number>(await addressOf());
  afterwards(() => port.link?.close());
  const statuses: unknown[] = [];
  port.link?.addEventListener('status', ({ data }) => statuses.push(data));
  const COUNT = 20_000;
  const come: number[] = [];
  const all = new Promise<void>((resolve) => {
    port.onmessage = ({ data }) => {
      come.push(data);
      if (come.length === COUNT) resolve();
    };
  });
  for (let i = 0; i < COUNT; i++) {
    port.postMessage(i);
    if (i % 4000 === 2000) await cut();
    else if (i % 500 === 0) await new Promise((resolve) => setTimeout(resolve));
  }
  await within('all of them', all, 15);
  ok(
    come.every((value, i) => value === i),
    'each once, in order',
  );
  ok(statuses.includes('reconnecting') && statuses.at(-1) === 'open', String(statuses));
});

check('a token says who it is, and whoever is nobody is refused', async () => {
  const address = await addressOf();
  const port = await connect<unknown, unknown>(address, { token: 'ada' });
  afterwards(() => port.link?.close());
  port.postMessage('identity');
  equal(await within('an answer', port.receiveAsync()), 'ada');
  equal((await rejection(connect(address, { token: 'nobody' }))).code, 'ERR_REFUSED');
});

check('a page of another origin is turned down', async () => {
  equal((await rejection(connect(await addressOf('other')))).code, 'ERR_UNREACHABLE');
});

check('what a browser has not is said', async () => {
  for (const address of ['tcp:127.0.0.1:9', 'tls:127.0.0.1:9']) {
    const { code, message } = await rejection(connect(address));
    equal(code, 'ERR_UNSUPPORTED');
    ok(message.includes(address), message);
  }
  equal((await rejection(listen('ws://127.0.0.1:0/'))).code, 'ERR_UNSUPPORTED');
  equal((await rejection(connect('nonsense'))).code, 'ERR_OPTION');
});

check('from a worker', async () => {
  const source = `
    import { connect } from ${JSON.stringify(`${location.origin}/src/net/index.js`)};
    const port = await connect(${JSON.stringify(await addressOf())});
    port.postMessage('from a worker');
    postMessage(await port.receiveAsync());
    await port.link.close();`;
  const worker = new Worker(URL.createObjectURL(new Blob([source], { type: 'text/javascript' })), { type: 'module' });
  afterwards(() => worker.terminate());
  const said = new Promise((resolve, reject) => {
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = ({ message }) => reject(new Error(message));
  });
  equal(await within('the worker', said), 'from a worker');
});
