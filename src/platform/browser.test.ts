// The browser's platform, as far as the web's globals that every runtime has can show it. Real browsers come later.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cases, eachCase } from '../../test/kit/prng.ts';
import { TEXT_DECODED_MIN, TEXT_SCRATCH_BYTES } from '../limits.ts';
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

const MEMORY_BYTES = 10 * TEXT_SCRATCH_BYTES;
const isLatin1 = (text: string): boolean => !/[^\0-\xff]/.test(text);

const memories = [new SharedArrayBuffer(MEMORY_BYTES), new SharedArrayBuffer(MEMORY_BYTES)] as const;
const ours = platformText(memories[0]);
const theirs = nodeText(memories[1]);

/** Node 26 leaves out a character of two bytes that ends where the room does, if more of a Latin-1 text follows. No browser does. */
const encodesAll = new TextEncoder().encodeInto(`${'x'.repeat(254)}éx`, new Uint8Array(256)).written === 256;

/** Writes and reads the text as Node does it, with so much room, and nothing beside it. */
function asNode(encoding: 'latin1' | 'utf8' | 'utf16', text: string, maxLength: number): void {
  if (encoding === 'utf8' && !encodesAll && isLatin1(text) && Buffer.byteLength(text) > maxLength) return;
  const what = `${encoding} of ${text.length} in ${maxLength}: ${JSON.stringify(text.slice(0, 40))}`;
  const written = ours[`${encoding}Write`](text, 16, maxLength);
  assert.equal(written, theirs[`${encoding}Write`](text, 16, maxLength), what);
  const [a, b] = memories.map((memory) => new Uint8Array(memory, 0, 16 + written + 16));
  assert.ok(Buffer.compare(a!, b!) === 0, what);
  const read = ours[`${encoding}Slice`](16, 16 + written);
  // Not assert.equal, which would show all of a large text.
  assert.ok(read === theirs[`${encoding}Slice`](16, 16 + written), what);
}

for (const [encoding, some] of [
  ['latin1', TEXTS.filter(isLatin1)],
  ['utf8', TEXTS],
  ['utf16', TEXTS],
] as const) {
  test(`${encoding} text is written and read as Node does it`, () => {
    for (const text of some) {
      for (const maxLength of [0, 1, 2, 3, 4, 5, 7, 39_984]) asNode(encoding, text, maxLength);
    }
  });
}

test('each byte is its character in Latin-1, also among many', () => {
  for (let byte = 0; byte < 256; byte++) {
    const unit = String.fromCharCode(byte);
    for (const text of [unit, `${'x'.repeat(TEXT_DECODED_MIN)}${unit}`, unit.repeat(TEXT_DECODED_MIN)]) {
      asNode('latin1', text, text.length);
    }
  }
});

test('each code unit is itself in UTF-16, alone and behind any half of a pair', () => {
  let all = '';
  for (let unit = 0; unit < 0x1_0000; unit++) all += String.fromCharCode(unit);
  for (const text of [all, all.split('').join('\ud800'), all.split('').join('\udfff')]) {
    assert.equal(ours.utf16Write(text, 0, MEMORY_BYTES), 2 * text.length);
    assert.ok(ours.utf16Slice(0, 2 * text.length) === text);
  }
  new Uint8Array(memories[0]).set(new Uint8Array(memories[1]));
});

/** Around what is decoded at all, and what is decoded or encoded at once: whatever stands at a seam is whole behind it. */
const SIZES = [TEXT_DECODED_MIN, TEXT_SCRATCH_BYTES / 2, TEXT_SCRATCH_BYTES, 2 * TEXT_SCRATCH_BYTES].flatMap((size) =>
  [-2, -1, 0, 1].map((more) => size + more),
);

test('nothing happens to what stands at a seam of large texts', () => {
  for (const size of SIZES) {
    const filled = 'x'.repeat(size);
    for (const end of [
      '',
      '\u{1f600}',
      '\ud83d',
      '\ude00',
      '日',
      'é',
      '\x80',
      '\ufffd',
      '\ufeff',
      '\u{1f600}'.repeat(9),
    ]) {
      for (const text of [filled + end, filled + end + filled, `\ufeff${filled}${end}`]) {
        asNode('utf8', text, MEMORY_BYTES - 16);
        asNode('utf16', text, MEMORY_BYTES - 16);
        if (isLatin1(text)) asNode('latin1', text, MEMORY_BYTES - 16);
      }
      for (const less of [0, 1, 2, 3, 4]) {
        asNode('utf8', filled + end + filled, size + less);
        asNode('utf8', filled + end, size + less);
      }
    }
  }
});

test('random texts are written and read as Node does it', () => {
  const alphabets = [
    'ax9',
    'aé\xff',
    'a\x80\x9f',
    'a日λ',
    '\u{1f600}\u{10ffff}',
    'a\ud800\udc00',
    'é日\u{1f600}\ufffd\ufeff\0',
  ];
  eachCase(0, cases(200, 4000), (random) => {
    const alphabet = random.pick(alphabets);
    const unitOf = (): string => alphabet[random.int(0, alphabet.length - 1)]!;
    const some = Array.from({ length: 1 + random.int(0, 63) }, unitOf).join('');
    const text = some.repeat(1 + random.int(0, random.pick([1, 40, 4000])));
    const most = MEMORY_BYTES - 16;
    const room = Math.min(
      random.pick([most, random.int(0, text.length + 8), random.int(0, 3 * text.length + 8)]),
      most,
    );
    asNode('utf8', text, room);
    asNode('utf16', text, room);
    if (isLatin1(text)) asNode('latin1', text, room);
  });
});

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
