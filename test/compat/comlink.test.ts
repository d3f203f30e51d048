// What Comlink's README says of it, sentence by sentence, of millrace/compat/comlink: over a Port, a native MessagePort and a Worker, and what it does not say but
// programs build upon. `console.log`, hostile paths and windows at the end.
// watchdog: 180 s
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { Worker } from 'node:worker_threads';
import nodeAdapter from '../../src/compat/comlink/node-adapter.ts';
import { Open } from '../../src/compat/comlink/open.ts';
import {
  createEndpoint,
  type Endpoint,
  expose,
  finalizer,
  nodeEndpoint,
  proxy,
  proxyMarker,
  type Remote,
  releaseProxy,
  transfer,
  transferHandlers,
  windowEndpoint,
  wrap,
} from '../../src/compat/comlink.ts';
import { attach, ClosedError, channel, type Port, UnsupportedError, UsageError } from '../../src/index.ts';
import { connect, listen } from '../../src/process/index.ts';
import { collect } from '../kit/collect.ts';
import { inOneFile } from '../kit/in-one-file.ts';
import { rejection } from '../kit/rejection.ts';
import { until, within } from '../kit/watchdog.ts';
import { Api, Celsius, Refused, setHandlers, Tally } from './comlink-api.ts';

setHandlers();
const PROTO = '__proto__';
const WORKER = inOneFile(new URL('./comlink-worker.js', import.meta.url));

/** What stands in a property that is neither a function nor marked is a copy in Comlink's types; a path leads into it all the same. */
function into<T>(property: Promise<T>): Remote<T> {
  return property as unknown as Remote<T>;
}

function deepOf(remote: Remote<Api>): Remote<Api['nested']['deep']> {
  return into(into(remote.nested).deep);
}

interface World {
  readonly name: string;
  open(): { readonly endpoint: Endpoint; readonly api?: Api; close(): unknown };
}
const worlds: World[] = [
  {
    name: 'a Port',
    open() {
      const { port, remote } = channel();
      const api = new Api();
      expose(api, attach(remote));
      return { endpoint: port as unknown as Endpoint, api, close: () => port.close() };
    },
  },
  {
    name: 'a MessagePort',
    open() {
      const { port1, port2 } = new MessageChannel();
      const api = new Api();
      expose(api, port2 as unknown as Endpoint);
      return { endpoint: port1 as unknown as Endpoint, api, close: () => port1.close() };
    },
  },
  {
    name: 'what knows no channel',
    open() {
      const [near, far] = plainPair();
      const api = new Api();
      expose(api, far);
      return { endpoint: near, api, close: () => {} };
    },
  },
  {
    name: 'a Worker',
    open() {
      const worker = new Worker(WORKER, { workerData: {} });
      return { endpoint: nodeEndpoint(worker), close: () => worker.terminate() };
    },
  },
];

/** Two endpoints that a program has put together itself: nothing but clones of messages. */
function plainPair(): [Endpoint, Endpoint] {
  const ends = [new EventTarget(), new EventTarget()] as const;
  const at = (own: 0 | 1): Endpoint => ({
    postMessage(message, moved) {
      const data: unknown = structuredClone(message, { transfer: moved ?? [] });
      queueMicrotask(() => ends[1 - own]!.dispatchEvent(Object.assign(new Event('message'), { data })));
    },
    addEventListener: (type, listener) => ends[own].addEventListener(type, listener as never),
    removeEventListener: (type, listener) => ends[own].removeEventListener(type, listener as never),
  });
  return [at(0), at(1)];
}

/** Two ends of a connection as between processes, which carries bytes. */
async function connectedPair(): Promise<{ readonly a: Port; readonly b: Port; close(): Promise<void> }> {
  const server = await listen('tcp:0');
  const taken = server[Symbol.asyncIterator]().next();
  const b = await connect(server.address);
  const a = (await within('a connection', taken)).value as Port;
  return { a, b, close: () => server.close() };
}

for (const world of worlds) {
  const given = (name: string, body: (remote: Remote<Api>, api: Api | undefined) => Promise<void>): unknown =>
    test(`${world.name}: ${name}`, async () => {
      const { endpoint, api, close } = world.open();
      try {
        await within(name, body(wrap<Api>(endpoint), api));
      } finally {
        await close();
      }
    });

  given('a property is read by await, and a method changes what it reads', async (remote) => {
    assert.equal(await remote.counter, 0);
    await remote.inc();
    assert.equal(await remote.counter, 1);
  });
  given('a property is set, and set before what comes behind it', async (remote) => {
    remote.counter = 41 as never;
    assert.equal(await remote.inc(), 42);
    (deepOf(remote) as unknown as { value: number }).value = 5;
    assert.equal(await deepOf(remote).name(), 'deep 5');
    assert.equal(await deepOf(remote).value, 5);
  });
  given('what is copied is copied', async (remote) => {
    const value = { list: [1, -0, new Map([[1, new Date(5)]])], text: 'x', none: undefined };
    assert.deepEqual(await remote.echo(value), value);
    assert.equal(await remote.echo(undefined), undefined);
    assert.equal(await remote.echo(null), null);
    assert.equal(await remote.echo(7n), 7n);
  });
  given('a class constructs, and what it has made is a proxy', async (remote) => {
    const tally = await new remote.Tally(3);
    assert.equal(await tally.add(4), 7);
    assert.equal(await tally.count, 7);
    assert.equal(await tally.double, 14);
    tally.double = 4 as never;
    assert.equal(await tally.count, 2);
    assert.equal(await remote.Tally.unit, 'pieces');
    assert.equal(await remote.Tally.make(), 'made');
  });
  given('exceptions are caught and thrown again, with class, code, fields, cause and both stacks', async (remote) => {
    const error = await rejection(remote.fail());
    assert.ok(error instanceof Refused && error instanceof RangeError, String(error));
    assert.equal(error.message, 'too hot');
    assert.equal(error.code, 'E_REFUSED');
    assert.equal(error.limit, 7);
    assert.ok(error.cause instanceof TypeError);
    assert.match(String(error.stack), /comlink-(api|worker)/);
    assert.equal(await rejection(remote.failWith(5)), 5);
    assert.deepEqual(await rejection(remote.failWith({ code: 5 })), { code: 5 });
    assert.ok((await rejection((remote as unknown as { none(): unknown }).none())) instanceof TypeError);
    assert.ok((await rejection(new (remote as unknown as { list: new () => object }).list())) instanceof TypeError);
  });
  given('a function is called back by proxy, and without the word, too', async (remote) => {
    const double = (value: unknown): number => (value as number) * 2;
    assert.equal(await remote.call(proxy(double), 4), 8);
    assert.equal(await remote.call((value) => (value as number) * 3, 4), 12);
    const error = await rejection(
      remote.call(
        proxy(() => Promise.reject(new Refused('here'))),
        1,
      ),
    );
    assert.ok(error instanceof Refused);
  });
  given('myProxy.onready = proxy(...)', async (remote) => {
    const heard: unknown[] = [];
    (remote as unknown as { onready: unknown }).onready = proxy((value: unknown) => {
      heard.push(value);
      return 'heard';
    });
    assert.equal(await remote.ready({ data: 1 }), 'heard');
    assert.deepEqual(heard, [{ data: 1 }]);
  });
  given('both threads work on the same value, which goes back as itself', async (remote) => {
    const tally = (await remote.tally(1)) as unknown as Remote<Tally>;
    await tally.add(1);
    assert.equal(await tally.count, 2);
    const back = (await remote.echo(tally as never)) as unknown as Remote<Tally>;
    assert.equal(await back.add(1), 3);
    assert.equal(await tally.count, 3);
    const own = proxy({ value: 1 });
    const identity = await remote.echo(own);
    assert.equal(identity, own as unknown);
  });
  given('transfer moves, both ways, and returns the value itself', async (remote) => {
    const bytes = new Uint8Array(100);
    assert.equal(transfer(bytes, [bytes.buffer]), bytes);
    assert.equal(await remote.lengthOf(bytes), 100);
    assert.equal(bytes.length, 0);
    assert.deepEqual(await remote.bytes(3), new Uint8Array([7, 7, 7]));
  });
  given(
    'a value is copied, and moved, when it is said: before anybody answers, and while calls are under way',
    async (remote) => {
      const list = [1];
      const bytes = new Uint8Array([1, 2]);
      const cold = [remote.echo(list), remote.lengthOf(transfer(bytes, [bytes.buffer]))] as const;
      list.push(2);
      assert.equal(bytes.length, 0);
      assert.deepEqual(await Promise.all(cold), [[1], 2]);
      const warm = remote.echo(list);
      list.push(3);
      remote.onready = list as never;
      list.push(4);
      assert.deepEqual(
        [await warm, await remote.onready],
        [
          [1, 2],
          [1, 2, 3],
        ],
      );
      const there = into(remote.list);
      const [before, , between, , after] = await Promise.all([
        there.reverse(),
        there.push(4 as never),
        there.reverse(),
        there.push(5 as never),
        there.reverse(),
      ]);
      assert.deepEqual(
        [before, between, after],
        [
          [3, 2, 1],
          [4, 1, 2, 3],
          [5, 3, 2, 1, 4],
        ],
      );
    },
  );
  given('bind gives what is called with the same object', async (remote) => {
    const inc = (remote.inc as unknown as { bind(self: unknown): () => Promise<number> }).bind(remote);
    await inc();
    assert.equal(await remote.counter, 1);
  });
  given('methods of the runtime are called, and what is inherited is read', async (remote) => {
    assert.equal(await into(remote.list).push(4 as never), 4);
    assert.equal(await into(remote.list).length, 4);
    assert.equal(await into(remote.list)[3], 4);
    assert.equal(await into(remote.map).get('a'), 1);
    assert.equal(await into(remote.map).size, 1);
    // By `call` it is called on a copy of what is given.
    assert.equal(await (remote.inc as unknown as { call(self: object): Promise<number> }).call({ counter: 4 }), 5);
  });
  given('await and a promise leave a proxy as it is', async (remote) => {
    assert.equal(await remote, remote);
    assert.equal(await Promise.resolve(remote), remote);
    assert.equal(inspect(remote), '[Remote exposed]');
    assert.equal(String(deepOf(remote)), '[Remote exposed.nested.deep]');
  });
  given('createEndpoint brings one more port to the same object, which outlives the first proxy', async (remote) => {
    const port = await remote[createEndpoint]();
    assert.ok((port as unknown) instanceof MessagePort);
    const second = wrap<Api>(port as unknown as Endpoint);
    await remote.inc();
    assert.equal(await second.counter, 1);
    if (world.name !== 'a Worker') remote[releaseProxy]();
    assert.equal(await second.inc(), 2);
    second[releaseProxy]();
  });
  given('releaseProxy ends it: calls in flight reject, and later ones throw', async (remote) => {
    assert.equal(await remote.inc(), 1);
    const pending = rejection(remote.forever());
    remote[releaseProxy]();
    const error = await pending;
    assert.ok(error instanceof ClosedError, String(error));
    assert.match(error.message, /released/);
    assert.throws(() => remote.inc(), ClosedError);
    assert.equal(inspect(remote), '[Remote exposed (released)]');
    remote[releaseProxy]();
  });
  given('a proxy that was given is released, and another one of the same is not', async (remote) => {
    const first = (await remote.tally(1)) as unknown as Remote<Tally>;
    const pending = rejection((first as unknown as { none: { at: unknown } }).none.at);
    first[releaseProxy]();
    assert.ok((await pending) instanceof ClosedError);
    assert.equal(await remote.inc(), 1);
  });
  given('a prototype is not reached, by any way', async (remote) => {
    type Any = { [name: string]: Any } & ((...values: unknown[]) => Promise<unknown>);
    const any = remote as unknown as Any;
    const deep = any['nested']!['deep']!;
    for (const name of ['__proto__', 'constructor', 'prototype', '__defineGetter__', '__lookupSetter__']) {
      for (const at of [any, deep, any['inc']!, any['list']!]) {
        const errors = [
          await rejection(at[name]),
          await rejection(at[name]!['x']),
          await rejection(at[name]!('x')),
          await rejection(at[name]!['x']!('x')),
          await rejection(new (at[name] as unknown as new () => object)()),
        ];
        for (const error of errors) {
          assert.ok(error instanceof UsageError && error.code === 'ERR_NO_METHOD', `${name}: ${String(error)}`);
        }
      }
    }
    // What all objects of a thread have in common is reached through methods, too.
    for (const at of [any['hasOwnProperty'], any['list']!['push'], any['inc']!['call']] as unknown as Any[]) {
      assert.equal((await rejection(at['x']))['code'], 'ERR_NO_METHOD');
      assert.equal((await rejection(at))['code'], 'ERR_NO_METHOD');
    }
    assert.equal(({} as { polluted?: unknown }).polluted, undefined);
  });
}

test('a path that a hostile side has made sets nothing that is not of the object', () => {
  const open = Open.of(new Api());
  for (const path of [
    [],
    [PROTO],
    [PROTO, 'polluted'],
    ['nested', 'constructor'],
    ['nested', 'constructor', 'prototype', 'polluted'],
    ['hasOwnProperty', 'polluted'],
    ['list', 'push', 'polluted'],
    ['inc', 'call', 'polluted'],
    ['Tally', 'prototype', 'polluted'],
  ]) {
    assert.throws(
      () => open.answer('set', path, [1]),
      (error: unknown) => error instanceof UsageError && error.code === 'ERR_NO_METHOD',
      path.join('.'),
    );
  }
  assert.throws(() => open.answer('another', ['inc'], []), UsageError);
  assert.throws(() => open.answer('set', ['counter', 'x'], [1]), TypeError);
  assert.equal(({} as { polluted?: unknown }).polluted, undefined);
  assert.equal(Object.hasOwn(Object.prototype.hasOwnProperty, 'polluted'), false);
});

test('a function and a class are exposed as they are', async () => {
  for (const what of [(a: number) => a + 1, Tally] as const) {
    const { port1, port2 } = new MessageChannel();
    expose(what, port1 as unknown as Endpoint);
    const remote = wrap(port2 as unknown as Endpoint) as unknown as {
      (a: number): Promise<number>;
      new (a: number): Promise<Remote<Tally>>;
    };
    if (what === Tally) assert.equal(await (await new remote(3)).add(1), 4);
    else assert.equal(await remote(3), 4);
    port1.close();
  }
});

test('the finalizer is called once, when the last proxy has gone: of two wraps, a createEndpoint and a proxy that was given', async () => {
  const { port1, port2 } = new MessageChannel();
  const api = new Api();
  const given = proxy({
    finalized: 0,
    [finalizer](): void {
      this.finalized++;
    },
  });
  expose(Object.assign(api, { given: () => given }), port2 as unknown as Endpoint);
  const first = wrap<Api & { given(): typeof given }>(port1 as unknown as Endpoint);
  const second = wrap<Api>(port1 as unknown as Endpoint);
  assert.deepEqual([await first.inc(), await second.inc()], [1, 2]);
  const third = wrap<Api>((await first[createEndpoint]()) as unknown as Endpoint);
  await third.inc();
  const one = await first.given();
  one[releaseProxy]();
  await until('what was given is finalized', () => given.finalized === 1);
  first[releaseProxy]();
  second[releaseProxy]();
  assert.equal(await third.inc(), 4);
  assert.equal(api.finalized, 0);
  third[releaseProxy]();
  await until('it is finalized', () => api.finalized > 0);
  assert.equal(api.finalized, 1);
});

test('what nobody holds any more is released by the garbage collector, but not while a part of it is held or an answer is awaited', async () => {
  const open = (): { api: Api; inc: () => Promise<number> } => {
    const { port1, port2 } = new MessageChannel();
    const api = new Api();
    expose(api, port2 as unknown as Endpoint);
    return { api, inc: wrap<Api>(port1 as unknown as Endpoint).inc };
  };
  const { api, inc } = open();
  for (let i = 0; i < 5; i++) {
    collect();
    assert.equal(await inc(), i + 1);
  }
  // Many, for a collector may take what lies on its stack for a reference.
  const dropped: Api[] = [];
  const drop = async (): Promise<void> => {
    const one = open();
    dropped.push(one.api);
    await one.inc();
  };
  for (let i = 0; i < 20; i++) await drop();
  await until('one is collected', () => {
    collect();
    return dropped.some(({ finalized }) => finalized === 1);
  });
  assert.equal(await inc(), 6);
  assert.equal(api.finalized, 0);
  (inc as unknown as Remote<object>)[releaseProxy]();
});

for (const how of ['released', 'collected'] as const) {
  test(`what was made by way of a proxy that is ${how} lives on, and the port is closed behind it`, async () => {
    const { port1, port2 } = new MessageChannel();
    const api = new Api();
    expose(api, port1 as unknown as Endpoint);
    let closed = false;
    (port2 as unknown as EventTarget).addEventListener('close', () => {
      closed = true;
    });
    // In an array: a promise of it would read it.
    const [tally] = await (async () => {
      const remote = wrap<Api>(port2 as unknown as Endpoint);
      const made = await new remote.Tally(1);
      if (how === 'released') {
        const pending = rejection(remote.forever());
        remote[releaseProxy]();
        assert.match((await pending).message, /released/);
      }
      return [made] as const;
    })();
    await until('nobody has what was exposed', () => {
      collect();
      return api.finalized === 1;
    });
    assert.equal(await tally.add(1), 2);
    assert.equal(closed, false);
    tally[releaseProxy]();
    await until('the port is closed', () => closed);
    assert.equal(api.finalized, 1);
  });
}

test('callbacks are called on when the proxy that they went by was collected', async () => {
  const { port1, port2 } = new MessageChannel();
  const api = new Api();
  expose(api, port1 as unknown as Endpoint);
  const heard: unknown[] = [];
  await (async () => {
    await wrap<Api>(port2 as unknown as Endpoint).keep(proxy((value: unknown) => heard.push(value)));
  })();
  await until('nobody has what was exposed', () => {
    collect();
    return api.finalized === 1;
  });
  assert.equal(await api.kept[0]!('x'), 1);
  assert.deepEqual(heard, ['x']);
  (api.kept[0] as unknown as Remote<object>)[releaseProxy]();
});

test('a callback that is held is not let go of by the garbage collector', async () => {
  const { port, remote } = channel();
  const other = attach(remote);
  let held: ((n: number) => Promise<number>) | undefined;
  expose({ keep: (each: (n: number) => Promise<number>) => void (held = each) }, nodeEndpoint(other));
  const api = wrap<{ keep(each: object): void }>(nodeEndpoint(port));
  await api.keep(proxy((n: number) => n + 1));
  for (let turn = 0; turn < 5; turn++) {
    collect();
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(await held!(turn), turn + 1);
  }
  // Held until here: without it the connection would be what is collected.
  api[releaseProxy]();
  port.close();
});

test('a part of a proxy that was given keeps it', async () => {
  const { port1, port2 } = new MessageChannel();
  expose(new Api(), port2 as unknown as Endpoint);
  const remote = wrap<Api>(port1 as unknown as Endpoint);
  // In an array: a promise of it would read it.
  const [add] = await (async () => [((await remote.tally(1)) as unknown as Remote<Tally>).add] as const)();
  for (let i = 0; i < 10; i++) {
    collect();
    // The registry of what was collected has its turn.
    await new Promise((resolve) => setTimeout(resolve, 0));
    assert.equal(await add(1), 2 + i);
  }
  remote[releaseProxy]();
});

for (const world of worlds.filter(({ name }) => name !== 'a Worker')) {
  test(`${world.name}: what was said in the turn of the release is done over there`, async () => {
    const { endpoint, api } = world.open();
    const remote = wrap<Api>(endpoint);
    assert.equal(await remote.inc(), 1);
    const calls = Array.from({ length: 2000 }, () => rejection(remote.inc()));
    remote.onready = 'set' as never;
    remote[releaseProxy]();
    for (const error of await Promise.all(calls)) assert.ok(error instanceof ClosedError);
    await until('all is done', () => api!.finalized === 1);
    assert.equal(api!.counter, 2001);
    assert.equal(api!.onready as unknown, 'set');
  });
}

for (const what of ['cannot be read', 'is none'] as const) {
  test(`where the handle of a channel ${what}, it goes over the endpoint`, async () => {
    const { port1, port2 } = new MessageChannel();
    const post = port2.postMessage.bind(port2);
    let spoiled = 0;
    port2.postMessage = (message: unknown[], moved?: unknown): void => {
      const withHandle = message[2] === 1 && message[3] !== undefined;
      if (!withHandle) post(message, moved as never);
      else if (what === 'is none') post([...message.slice(0, 3), { spoiled: ++spoiled }]);
      else {
        spoiled++;
        port1.dispatchEvent(new Event('messageerror'));
      }
    };
    expose(new Api(), port2 as unknown as Endpoint);
    const remote = wrap<Api>(port1 as unknown as Endpoint);
    assert.equal(await within('the answer', remote.inc() as Promise<number>), 1);
    assert.equal(
      await remote.call(
        proxy((value: unknown) => value),
        'x',
      ),
      'x',
    );
    assert.equal(spoiled, 1);
    remote[releaseProxy]();
  });
}

test('calls before anybody exposes wait for it', async () => {
  const worker = new Worker(WORKER, { workerData: { lateMs: 50 } });
  const remote = wrap<Api>(nodeEndpoint(worker));
  assert.equal(await within('the answer', remote.inc() as Promise<number>), 1);
  await worker.terminate();
  const [near, far] = plainPair();
  const early = wrap<Api>(near).inc();
  setTimeout(() => expose(new Api(), far), 30);
  assert.equal(await within('the answer of what loses messages', early as Promise<number>), 1);
});

test('other messages over the same endpoint are left alone', async () => {
  const { port1, port2 } = new MessageChannel();
  const heard: unknown[] = [];
  port2.addEventListener('message', ({ data }) => heard.push(data));
  expose(new Api(), port2 as unknown as Endpoint);
  const remote = wrap<Api>(port1 as unknown as Endpoint);
  for (const odd of [null, 'x', {}, [], ['millrace/comlink'], ['millrace/comlink', 'x', 9], { id: 1, type: 'GET' }]) {
    port1.postMessage(odd);
  }
  assert.equal(await remote.inc(), 1);
  assert.ok(heard.length >= 7);
  port1.close();
});

test('both sides of an endpoint expose and wrap, and a second object at one is refused', async () => {
  const { port1, port2 } = new MessageChannel();
  const [a, b] = [port1 as unknown as Endpoint, port2 as unknown as Endpoint];
  expose({ name: () => 'a' }, a);
  expose({ name: () => 'b' }, b);
  const ofB = wrap<{ name(): string }>(a);
  const ofA = wrap<{ name(): string }>(b);
  assert.deepEqual([await ofA.name(), await ofB.name()], ['a', 'b']);
  assert.throws(
    () => expose({}, a),
    (error: unknown) => error instanceof UsageError && error.code === 'ERR_BUSY',
  );
  ofA[releaseProxy]();
  assert.equal(await ofB.name(), 'b');
  ofB[releaseProxy]();
});

test('a native port that is closed ends what goes by a channel of its own, on both sides, behind what was said', async () => {
  const { port1, port2 } = new MessageChannel();
  const api = new Api();
  expose(api, port1 as unknown as Endpoint);
  const remote = wrap<Api>(port2 as unknown as Endpoint);
  assert.equal(await remote.inc(), 1);
  const pending = rejection(remote.forever());
  const said = rejection(remote.inc());
  await null;
  await null;
  port2.close();
  assert.equal((await within('the pending call', pending)).code, 'ERR_CLOSED');
  await said;
  while (api.counter < 2) await new Promise((resolve) => setTimeout(resolve, 1));
  await assert.rejects(async () => await remote.inc());
});

test('the node adapter makes endpoints', async () => {
  const { port1, port2 } = new MessageChannel();
  expose(new Api(), nodeAdapter(port1 as never));
  assert.equal(await wrap<Api>(nodeAdapter(port2 as never)).inc(), 1);
  port1.close();
});

test('what is no endpoint, and what is no object, is refused', () => {
  assert.throws(() => wrap({} as never), UsageError);
  assert.throws(() => wrap(undefined as never), UsageError);
  assert.throws(() => expose(5, new MessageChannel().port1 as never), UsageError);
});

test('a proxy is passed on to a third side, and answers there', async () => {
  const one = new MessageChannel();
  const two = new MessageChannel();
  expose(new Api(), one.port1 as unknown as Endpoint);
  const middle = wrap<Api>(one.port2 as unknown as Endpoint);
  expose(middle, two.port1 as unknown as Endpoint);
  const far = wrap<Api>(two.port2 as unknown as Endpoint);
  assert.equal(await far.inc(), 1);
  assert.equal(await far.counter, 1);
  assert.equal(await deepOf(far).name(), 'deep 1');
  assert.equal(
    await far.call(
      proxy((value: unknown) => `${value}!`),
      'x',
    ),
    'x!',
  );
  assert.equal(await (await new far.Tally(2)).add(1), 3);
  one.port1.close();
  two.port1.close();
});

test('a handler called throw takes the place of ours, and one that uses the proxy handler works', async () => {
  const own = transferHandlers.get('throw');
  assert.ok(own !== undefined && transferHandlers.has('proxy'));
  transferHandlers.set('throw', {
    ...own,
    serialize: (thrown) => {
      const [form, list] = own.serialize(thrown);
      return [{ ...(form as object), extra: 'ours' }, list];
    },
    deserialize: (form) => {
      try {
        return own.deserialize(form);
      } catch (error) {
        throw Object.assign(error as object, { extra: (form as { extra: unknown }).extra });
      }
    },
  });
  class Source {
    readonly read: () => string = () => 'read';
  }
  transferHandlers.set('SOURCE', {
    canHandle: (value): value is Source => value instanceof Source,
    serialize: (value) => transferHandlers.get('proxy')!.serialize(value),
    deserialize: (port) => transferHandlers.get('proxy')!.deserialize(port),
  });
  try {
    const { port1, port2 } = new MessageChannel();
    expose(Object.assign(new Api(), { source: () => new Source() }), port1 as unknown as Endpoint);
    const remote = wrap<Api & { source(): Source }>(port2 as unknown as Endpoint);
    const error = await rejection(remote.fail());
    assert.equal(error.message, 'too hot');
    assert.equal(error['extra'], 'ours');
    const source = (await remote.source()) as unknown as Remote<Source>;
    assert.equal(await source.read(), 'read');
    source[releaseProxy]();
    remote[releaseProxy]();
  } finally {
    transferHandlers.set('throw', own);
    transferHandlers.delete('SOURCE');
  }
});

test('a value that a handler has made is refused where there is none of its name', async () => {
  const { port1, port2 } = new MessageChannel();
  expose(new Api(), port1 as unknown as Endpoint);
  const remote = wrap<Api>(port2 as unknown as Endpoint);
  const handler = transferHandlers.get('CELSIUS')!;
  transferHandlers.set('KELVIN', handler);
  transferHandlers.delete('CELSIUS');
  try {
    const asked = rejection(remote.echo(new Celsius(1)));
    await null;
    transferHandlers.delete('KELVIN');
    assert.equal((await asked).code, 'ERR_DECODE');
  } finally {
    transferHandlers.set('CELSIUS', handler);
  }
  assert.equal(await remote.inc(), 1);
  port1.close();
});

test('windows: messages of other windows and origins do not count, and targetOrigin is passed on', async () => {
  /** A window, as another one sees it: what is posted to it is an event of its own, with the other one as its source. */
  const makeWindow = (origin: string) => {
    const target = new EventTarget();
    const targetOrigins: string[] = [];
    const seenBy = (source: { origin: string; asSource: object }) => ({
      postMessage(message: unknown, targetOrigin: string, moved: unknown[] = []): void {
        targetOrigins.push(targetOrigin);
        const data: unknown = structuredClone(message, { transfer: moved as never });
        const event = Object.assign(new Event('message'), { data, origin: source.origin, source: source.asSource });
        queueMicrotask(() => target.dispatchEvent(event));
      },
    });
    return { target, origin, asSource: {}, targetOrigins, seenBy };
  };
  const page = makeWindow('https://page.example');
  const frame = makeWindow('https://frame.example');
  const stranger = makeWindow('https://stranger.example');
  // Each sees the others as the one object that their messages have as source.
  const frameOfPage = Object.assign(frame.asSource, frame.seenBy(page));
  const pageOfFrame = Object.assign(page.asSource, page.seenBy(frame));
  const pageOfStranger = page.seenBy(stranger);

  const warned: unknown[] = [];
  const { warn } = console;
  console.warn = (...what: unknown[]) => void warned.push(what.join(' '));
  try {
    expose(new Api(), windowEndpoint(frameOfPage as never, page.target as never, frame.origin), [/frame\.example$/]);
    const remote = wrap<Api>(windowEndpoint(pageOfFrame as never, frame.target as never));
    assert.equal(await remote.inc(), 1);
    assert.ok(frame.targetOrigins.every((origin) => origin === frame.origin));
    assert.ok(page.targetOrigins.every((origin) => origin === '*'));
    pageOfStranger.postMessage(['millrace/comlink', 'stranger', 0, 0], '*');
    frameOfStranger(page, stranger).postMessage(['millrace/comlink', 'stranger', 0, 0], '*');
    await until('the stranger is warned of', () => warned.length > 0);
    assert.equal(await remote.inc(), 2);
    assert.match(String(warned[0]), /stranger\.example/);
    assert.equal(warned.length, 1);
  } finally {
    console.warn = warn;
  }

  /** One that claims to be the frame, and whose origin says that it is not. */
  function frameOfStranger(
    to: typeof page,
    from: typeof stranger,
  ): { postMessage(message: unknown, origin: string): void } {
    return to.seenBy({ origin: from.origin, asSource: frame.asSource });
  }
});

test('createEndpoint where no MessagePort comes through rejects at once, and nothing is left of it', async () => {
  const { a, b, close } = await connectedPair();
  const api = new Api();
  expose(api, a as unknown as Endpoint);
  const remote = wrap<Api>(b as unknown as Endpoint);
  const error = await rejection(remote[createEndpoint]());
  assert.ok(error instanceof UnsupportedError);
  assert.equal(error['feature'], 'createEndpoint');
  assert.equal((error.cause as { code?: unknown }).code, 'ERR_TRANSFER');
  assert.equal(await remote.inc(), 1);
  remote[releaseProxy]();
  // What it would have led to does not hold the object.
  await until('it is finalized', () => api.finalized === 1);
  await close();

  const [near, far] = plainPair();
  const { postMessage } = far;
  far.postMessage = (message, moved) => {
    // What does not move is its own to end.
    for (const port of (moved ?? []) as MessagePort[]) port.close();
    postMessage.call(far, JSON.parse(JSON.stringify(message)));
  };
  expose(new Api(), far);
  const other = wrap<Api>(near);
  assert.ok((await rejection(other[createEndpoint]())) instanceof UnsupportedError);
  assert.equal(await other.inc(), 1);
  other[releaseProxy]();
});

test('whoever is refused by its origin is told of once, however often it asks', async () => {
  const [near, far] = plainPair();
  const warned: unknown[] = [];
  const { warn } = console;
  console.warn = (...what: unknown[]) => void warned.push(what.join(' '));
  try {
    let asked = 0;
    const { postMessage } = near;
    near.postMessage = (message, moved) => {
      asked++;
      postMessage.call(near, message, moved);
    };
    expose({}, far, ['https://a.example']);
    const remote = wrap<{ f(): void }>(near);
    const call = rejection(remote.f());
    await until('it has asked again', () => asked >= 3);
    assert.equal(warned.length, 1);
    remote[releaseProxy]();
    await call;
  } finally {
    console.warn = warn;
  }
});

test('proxyMarker may be had from a class', async () => {
  class Marked {
    readonly [proxyMarker]: true = true;
    readonly name: string = 'marked';
  }
  const { port1, port2 } = new MessageChannel();
  expose(Object.assign(new Api(), { marked: () => new Marked() }), port1 as unknown as Endpoint);
  const remote = wrap<Api & { marked(): Marked }>(port2 as unknown as Endpoint);
  const marked = await remote.marked();
  assert.equal(await marked.name, 'marked');
  port1.close();
});
