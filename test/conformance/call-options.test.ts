// What calls are told, and makes no sense: one error each time, which names the value, what is expected, and what helps. Nothing of it is taken in silence.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attach, channel, type Port } from '../../src/index.ts';
import { expose, pool, reference, start, streams, transfer, within, wrap, wrapSync } from '../../src/rpc/index.ts';

function withPort(body: (port: Port, far: Port) => void): void {
  const { port, remote } = channel();
  const far = attach(remote);
  try {
    body(port, far);
  } finally {
    port.close();
    far.close();
  }
}
const refused = (run: () => unknown, message: RegExp): void =>
  withPort(() => assert.throws(run, { name: 'UsageError', code: 'ERR_OPTION', message }, String(message)));

class Api {
  readonly files: object = reference({ read: () => 1 });
  readonly limit: number = 5;
  get late(): () => number {
    return () => 1;
  }
  add(a: number, b: number): number {
    return a + b;
  }
}
class Empty extends EventTarget {
  limit: number = 5;
}

test('what has nothing that may be called is not exposed', () => {
  const nothing: [object, RegExp][] = [
    [
      new Map(),
      /^Cannot expose \[object Map\]: nothing of it may be called.*functions of its own.*where they are a reference/,
    ],
    [{}, /\[object Object\]: nothing/],
    [{ deep: { get: () => 1 } }, /objects within it only where they are a reference/],
    [Object.fromEntries([['then', () => 1]]), /nothing of it/],
    [new Empty(), /nothing of it/],
    [[], /nothing of it/],
    [new Date(), /nothing of it/],
    [() => 1, /the function .*expose\(\{ name: /],
    [function named() {}, /the function named/],
  ];
  withPort((port) => {
    for (const [api, message] of nothing) refused(() => expose(api, port), message);
    for (const api of [null, 5, 'x', undefined] as never[])
      refused(() => expose(api, port), /expected an object with methods/);
    // Nothing was: it is free.
    expose(new Api(), port);
  });
  const callable: object[] = [
    { add: () => 1 },
    Object.assign(Object.create(null) as object, { add: () => 1 }),
    new Api(),
    new (class extends Api {})(),
    { files: reference({}) },
    class extends Api {
      static make(): number {
        return 1;
      }
    },
    Object.assign(() => 1, { also: () => 2 }),
  ];
  for (const api of callable) withPort((port) => expose(api, port));
});

test('`only` names what may be called', () => {
  withPort((port) => {
    refused(
      () => expose(new Api(), port, { only: ['add', 'typo'] }),
      /^Option only cannot hold "typo": .*it may hold files, add$/,
    );
    refused(() => expose(new Api(), port, { only: ['limit'] }), /"limit"/);
    refused(() => expose(new Api(), port, { only: ['late'] }), /"late"/);
    refused(() => expose(new Api(), port, { only: ['constructor'] }), /"constructor"/);
    refused(() => expose(new Api(), port, { only: [] }), /Option only cannot be \[\]/);
    for (const only of ['add', [5], new Set(['add']), null] as never[])
      refused(() => expose(new Api(), port, { only }), /Option only cannot be .*: it takes an array of names/);
    expose(new Api(), port, { only: ['files', 'add'] });
  });
});

test('options of a connection, of calls and of streams', () => {
  const own: [object, RegExp][] = [
    [{ maxPending: 0 }, /^Option maxPending cannot be 0: it takes a whole number from 1 to 16777216$/],
    [{ maxPending: '5' }, /maxPending cannot be "5"/],
    [{ window: 1.5 }, /window cannot be 1.5/],
    [{ stacks: 'x' }, /^Option stacks cannot be "x": it takes true or false$/],
    [{ onError: 'x' }, /^Option onError cannot be "x": it takes a function$/],
  ];
  const calls: [object, RegExp][] = [
    [{ timeoutMs: Number.NaN }, /^Option timeoutMs cannot be NaN: it takes 0 or more milliseconds, or Infinity$/],
    [{ timeoutMs: '5' }, /Option timeoutMs cannot be "5"/],
    [{ signal: {} }, /^Option signal cannot be \[object Object\]: it takes an AbortSignal$/],
    [{ signal: Object.create(null) }, /signal/],
    [{ callbacks: 'never' }, /^Option callbacks cannot be "never": it takes kept, call$/],
  ];
  withPort((port) => {
    for (const [options, message] of own) {
      refused(() => expose(new Api(), port, options), message);
      refused(() => wrap(port, options), message);
      refused(() => wrapSync(port, options), message);
    }
    for (const [options, message] of calls) {
      refused(() => wrap(port, options), message);
      refused(() => within(wrap(port), options), message);
    }
    refused(
      () => within(wrap(port), { timeout: 5 } as object),
      /^Unknown option timeout; known are timeoutMs, signal, /,
    );
    refused(() => wrap(port, { only: ['add'] } as object), /^Unknown option only; known are timeoutMs, .*onError$/);
    refused(
      () => expose(new Api(), port, { timeoutMs: 5 } as object),
      /^Unknown option timeoutMs; known are .*, only$/,
    );
    refused(() => streams(port, { window: 5 } as object), /^Unknown option window; known are highWaterMark$/);
    refused(
      () => streams(port, { highWaterMark: 0 }),
      /^Option highWaterMark cannot be 0: it takes a whole number from 1 /,
    );
    refused(
      () => pool(() => port as never, { threads: 2 } as object),
      /^Unknown option threads; known are size, min, /,
    );
    for (const options of [5, 'x', null] as never[]) {
      refused(() => wrap(port, options), /Cannot use .* as options: expected an object/);
      refused(() => within(wrap(port), options), /Cannot use .* as options/);
      refused(() => expose(new Api(), port, options), /Cannot use .* as options/);
      refused(() => pool(() => port as never, options), /Cannot use .* as options/);
    }
  });
});

test('who comes second over a port cannot choose what the first has chosen', () => {
  withPort((port, far) => {
    const onError = (): void => {};
    wrap(port);
    refused(
      () => expose(new Api(), port, { onError }),
      /^Option onError cannot be chosen any more: whoever first exposes or wraps over a port says it$/,
    );
    refused(() => wrap(port, { maxPending: 5 }), /maxPending cannot be chosen any more/);
    expose(new Api(), far, { maxPending: 5, onError });
    // The same is no other choice.
    wrap(far, { maxPending: 5, onError, window: undefined });
  });
});

test('references and what is to move', () => {
  for (const target of [5, null, undefined, 'x'] as never[])
    refused(() => reference(target), /^Cannot make a reference of .*: expected an object with methods$/);
  const bytes = new Uint8Array(1);
  refused(
    () => transfer(bytes, bytes.buffer as never),
    /^Cannot transfer by \[object ArrayBuffer\]: expected an array of what is to move, as in transfer\(bytes, \[bytes\.buffer\]\)$/,
  );
});

test('start lists all that it takes', async () => {
  const url = 'data:text/javascript,';
  const unknown =
    /^Unknown option timeout; known are capacityBytes, .*startTimeoutMs, worker, timeoutMs, signal, callbacks, maxPending, window, stacks, onError$/;
  const code = 'ERR_OPTION';
  await assert.rejects(start(url, { timeout: 5 } as object), { code, message: unknown });
  await assert.rejects(start(url, { workerData: 5 } as object), { code, message: /go into worker: \{ workerData: / });
  await assert.rejects(start(url, 5 as never), { code, message: /Cannot use 5 as options/ });
  await assert.rejects(start(url, null as never), { code, message: /Cannot use null as options/ });
  // Nothing is started that would not be called.
  let made = 0;
  const make = (): never => {
    made++;
    throw new Error('made');
  };
  await assert.rejects(start(make, { stacks: 5 } as object), { code });
  assert.equal(made, 0);
});
