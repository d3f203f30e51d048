// The browser's platform, as far as the web's globals that every runtime has can show it. Real browsers come later.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { platformStart, platformText, platform as web } from './browser.ts';
import { nodeText } from './node-memory.ts';

const TEXTS = [
  '',
  'plain',
  'é ÿ',
  'žluťoučký',
  '日本語',
  'pair \u{1f600} end',
  'lone \ud800 mid \udc00 end',
  'x'.repeat(9000),
];

/** Both text memories, over memory of their own, with the same bytes in it. */
function pair(): {
  ours: ReturnType<typeof platformText>;
  theirs: ReturnType<typeof platformText>;
  same(): void;
} {
  const memories = [new SharedArrayBuffer(40_000), new SharedArrayBuffer(40_000)] as const;
  return {
    ours: platformText(memories[0]),
    theirs: nodeText(memories[1]),
    same: () => assert.deepEqual(new Uint8Array(memories[0]), new Uint8Array(memories[1])),
  };
}

for (const [encoding, texts] of [
  ['latin1', TEXTS.filter((text) => /^[\0-ÿ]*$/.test(text))],
  ['utf8', TEXTS],
  ['utf16', TEXTS],
] as const) {
  test(`${encoding} text is written and read as Node does it`, () => {
    const { ours, theirs, same } = pair();
    for (const text of texts) {
      for (const maxLength of [0, 1, 2, 3, 4, 5, 7, 39_984]) {
        const written = ours[`${encoding}Write`](text, 16, maxLength);
        assert.equal(written, theirs[`${encoding}Write`](text, 16, maxLength), `${JSON.stringify(text)}, ${maxLength}`);
        assert.equal(ours[`${encoding}Slice`](16, 16 + written), theirs[`${encoding}Slice`](16, 16 + written));
      }
      same();
    }
  });
}

test('a native port carries messages to the handlers', async () => {
  const [near, far] = web.messageChannel();
  assert.ok(web.isNativePort(near));
  assert.ok(!web.isNativePort({}));
  const arrived = new Promise((resolve) => web.listen(far, { message: resolve, closed: () => {} }));
  near.postMessage({ a: 1 });
  assert.deepEqual(await arrived, { a: 1 });
  near.close();
  far.close();
});

test('tasks run in order, each in a later turn, and those that they start too', async () => {
  const order: string[] = [];
  await new Promise<void>((resolve) => {
    web.turn(() => {
      order.push('first');
      web.turn(() => {
        order.push('started by the first');
        web.turn(resolve);
      });
    });
    web.turn(() => order.push('second'));
    order.push('now');
  });
  assert.deepEqual(order, ['now', 'first', 'second', 'started by the first']);
});

test('the thread that runs the tests may block', () => {
  assert.equal(web.canBlock, true);
});

test('without its event loop a thread can neither take messages nor find out whether its peer is gone', () => {
  const [near, far] = web.messageChannel();
  near.postMessage('waits');
  assert.deepEqual([web.canTake, web.canProbe()], [false, false]);
  assert.deepEqual([web.takeMessage(far), web.probeGone(far)], [undefined, false]);
  near.close();
});

test('spawn names the remedy', () => {
  const spawn = (): unknown => platformStart.spawn(new URL('file:///x.js'), {} as never, {}, () => {});
  assert.throws(spawn, { code: 'ERR_UNSUPPORTED', message: /spawn\(\(\) => new Worker\(/ });
});

test('a page that goes to sleep in the back-forward cache is no end; one that is left is', () => {
  const listened = new Map<string, (event: unknown) => void>();
  const mine = Object.getOwnPropertyDescriptor(globalThis, 'addEventListener');
  const addEventListener = (type: string, listener: (event: unknown) => void): void =>
    void listened.set(type, listener);
  Object.defineProperty(globalThis, 'addEventListener', { value: addEventListener, configurable: true });
  const told: string[] = [];
  try {
    web.onThreadEnd((how) => told.push(how));
  } finally {
    if (mine === undefined) Reflect.deleteProperty(globalThis, 'addEventListener');
    else Object.defineProperty(globalThis, 'addEventListener', mine);
  }
  listened.get('pagehide')?.({ persisted: true });
  assert.deepEqual(told, []);
  listened.get('pagehide')?.({ persisted: false });
  assert.deepEqual(told, ['exit']);
});

test('a native message that cannot be made here is told', async () => {
  const [near, far] = web.messageChannel();
  const told = new Promise<void>((unreadable) => web.listen(far, { message: () => {}, closed: () => {}, unreadable }));
  (far as unknown as EventTarget).dispatchEvent(new Event('messageerror'));
  await told;
  near.close();
});

test('the end of the other thread is told where a native port tells it', () => {
  const port = Object.assign(new EventTarget(), { start() {} });
  let told = 0;
  web.listen(port as never, { message: () => {}, closed: () => told++ });
  port.dispatchEvent(new Event('close'));
  assert.equal(told, 1);
});
