// What RPC libraries do to the MessagePort they are given, call by call as recorded from Comlink 4.4.2, birpc 4.2.0 and
// capnweb 0.12.0, done to a Port. The libraries are no dependencies; docs/guides/rpc.md shows them at work.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MessageChannel } from 'node:worker_threads';
import { attach, channel, type Port, type PortEvent } from '../../src/index.ts';
import { turn, within } from '../kit/watchdog.ts';

interface Pair extends Disposable {
  readonly here: Port;
  readonly there: Port;
}
function pair(): Pair {
  const { port: here, remote } = channel();
  const there = attach(remote);
  return {
    here,
    there,
    [Symbol.dispose]() {
      here.close();
      there.close();
    },
  };
}

interface Call {
  readonly id: string;
  readonly path: readonly string[];
  readonly argumentList: readonly { readonly value: unknown }[];
}

test('Comlink: a call goes through listeners that are functions, and its answer is matched by id', async () => {
  const both = pair();
  const { here, there } = both;
  // expose(): one listener, then start(); it reads origin and data, and answers through event.data's id.
  there.addEventListener('message', function answer(event: PortEvent) {
    assert.equal(event.origin, '');
    const { id, path, argumentList } = event.data as Call;
    const [a, b] = argumentList.map(({ value }) => value as number);
    there.postMessage({ id, type: 'RAW', value: path.join('.') === 'math.add' ? a! + b! : undefined }, []);
  });
  there.start();
  // wrap(): a listener that finds the pending call, and one posting for each call with a transfer list.
  const pending = new Map<string, (value: unknown) => void>();
  here.addEventListener('message', (event: PortEvent) => {
    const { data } = event as PortEvent<{ id?: string; value: unknown } | null>;
    if (!data?.id) return;
    pending.get(data.id)?.(data.value);
  });
  here.start();
  const answered = new Promise((resolve) => pending.set('7f-1', resolve));
  const argumentList = [1, 2].map((value) => ({ type: 'RAW', value }));
  here.postMessage({ id: '7f-1', type: 'APPLY', path: ['math', 'add'], argumentList }, []);
  assert.equal(await within('the answer', answered), 3);
  both[Symbol.dispose]();
});

test('Comlink: proxy() moves a native MessagePort through the Port, and it works on the other side', async () => {
  const both = pair();
  const { port1, port2 } = new MessageChannel();
  both.here.postMessage({ type: 'HANDLER', name: 'proxy', value: port2 }, [port2]);
  const { value } = (await within('the handler', both.there.receiveAsync())) as { value: typeof port1 };
  const heard = new Promise((resolve) => port1.once('message', resolve));
  value.postMessage('called back');
  assert.equal(await within('the call back', heard), 'called back');
  port1.close();
  both[Symbol.dispose]();
});

test('Comlink: a Port is no "MessagePort" by name, so that releasing a proxy leaves it open', () => {
  const both = pair();
  // closeEndPoint(): closes what has this name, and nothing else. The guide tells people to close the port.
  assert.notEqual(both.here.constructor.name, 'MessagePort');
  both[Symbol.dispose]();
});

test('Comlink: a listener that removes itself while it runs is gone, and lets the process go', async () => {
  const both = pair();
  const { here, there } = both;
  const released = new Promise<void>((resolve) => {
    there.addEventListener('message', function release() {
      there.removeEventListener('message', release);
      resolve();
    });
  });
  here.postMessage({ id: '1', type: 'RELEASE' });
  await within('the release', released);
  await turn();
  assert.equal(there.hasRef(), false);
  both[Symbol.dispose]();
});

test('birpc: `on` is handed a function of the bare message, and `post` one argument', async () => {
  const both = pair();
  const { here, there } = both;
  const client = {
    post: (data: unknown) => here.postMessage(data),
    on: (f: (data: unknown) => void) => here.on('message', f),
  };
  const server = {
    post: (data: unknown) => there.postMessage(data),
    on: (f: (data: unknown) => void) => there.on('message', f),
  };
  server.on((data) => {
    const { i, a } = data as { i: string; a: string[] };
    server.post({ t: 's', i, r: `hi ${a[0]}` });
  });
  const answer = new Promise((resolve) => client.on(resolve));
  client.post({ t: 'q', i: 'x1', m: 'hi', a: ['there'], o: undefined });
  assert.deepEqual(await within('the answer', answer), { t: 's', i: 'x1', r: 'hi there' });
  both[Symbol.dispose]();
});

test('capnweb: start() comes before the listener, messages are strings, and null says goodbye', async () => {
  const both = pair();
  const { here, there } = both;
  here.postMessage('["push",["pipeline",0,["hello"],["w"]]]');
  here.postMessage('["pull",1]');
  here.postMessage(null);
  const got: unknown[] = [];
  const goodbye = new Promise<void>((resolve) => {
    there.start();
    there.addEventListener('message', ({ data }) => {
      got.push(data);
      if (data === null) resolve();
    });
    there.addEventListener('messageerror', () => assert.fail('nothing was damaged'));
  });
  await within('the goodbye', goodbye);
  assert.deepEqual(got, ['["push",["pipeline",0,["hello"],["w"]]]', '["pull",1]', null]);
  there.close();
  both[Symbol.dispose]();
});

test('Comlink: posting on a port that has ended is quiet, as a released and a collected proxy do', async () => {
  const both = pair();
  // releaseProxy(): posts RELEASE; the other side answers, and closes the port before or after that.
  both.there.addEventListener('message', () => {
    both.there.close();
    both.there.postMessage({ id: '1', type: 'RAW', value: undefined }, []);
  });
  both.here.postMessage({ id: '1', type: 'RELEASE' }, []);
  assert.equal(await within('the end', both.here.closed), 'closed');
  // A finalizer posts the same once more when the proxy is collected.
  both.here.postMessage({ id: '2', type: 'RELEASE' }, []);
  both.here.close();
  both.here.postMessage({ id: '3', type: 'RELEASE' }, []);
  assert.equal(both.there.stats().undelivered, 1);
  assert.equal(both.here.stats().undelivered, 2);
  both[Symbol.dispose]();
});
