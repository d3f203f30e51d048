// A peer that lies on the line of descriptors, once it has met: whatever it says there ends the channel that it is about, or the connection, with an error of
// ours, or nothing. Nobody hangs, no descriptor or mapping stays, and another connection of the same process goes on.
// watchdog: 120 s
// asked for: node-22, node-26
// needs: native
import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { after, before, test } from 'node:test';
import { LayoutError } from '../../src/index.ts';
import { ANNEX_BYTES, MEMORY_LEFT_FRAMES_MAX } from '../../src/limits.ts';
import * as layout from '../../src/memory/layout.ts';
import { connect, type Listener, listen, type Port } from '../../src/process/index.ts';
import { DONE, LEFT, LENT, REGION, TETHER } from '../../src/transport/process/memory-link.ts';
import { BELL, CAME, FAILED, PAGE, SHARED } from '../../src/transport/process/memory-meeting.ts';
import * as frames from '../../src/transport/stream/frames.ts';
import { collect } from '../kit/collect.ts';
import { MemoryPeer } from '../kit/memory-peer.ts';
import { descriptors, native } from '../kit/native.ts';
import { WINDOW } from '../kit/stream-bench.ts';
import { turn, until, within } from '../kit/watchdog.ts';

const place = (name: string): string => join(tmpdir(), `millrace-hostile-${process.pid}-${name}`);
const FILE = place('file');

let server: Listener;
/** Of this process with itself, beside all that follows. */
let near: Port;
let far: Port;

const nextPort = async (): Promise<Port> =>
  (await within('a connection', server[Symbol.asyncIterator]().next())).value as Port;

before(async () => {
  writeFileSync(FILE, 'nobody writes here');
  server = await listen(place('sock'));
  const taken = nextPort();
  near = await connect(server.address);
  far = await taken;
  assert.equal(near.stats().way?.name, 'memory');
});
after(async () => {
  near.close();
  await server.close();
  rmSync(FILE);
});

interface Stage {
  readonly peer: MemoryPeer;
  /** Ours, over the memory that we have made for it: channel 1. */
  readonly main: Port;
  /** Ours, which the peer has been asked for and has not accepted: channel 2. */
  readonly asked: Port;
}

/** The lie is told; what comes of it? */
async function staged(use: (stage: Stage) => unknown): Promise<void> {
  const had = descriptors().length;
  const peer = await MemoryPeer.to(server.address.slice('unix:'.length));
  const taken = nextPort();
  await peer.met();
  const main = await taken;
  await within('its channel', main.ready);
  const asked = main.link!.channel('asked', { capacityBytes: WINDOW }) as Port;
  await peer.heard(frames.OPEN);
  try {
    await use({ peer, main, asked });
    near.postMessage('goes on');
    assert.equal(await within('the other connection', far.receiveAsync()), 'goes on');
  } finally {
    peer.close();
    main.close();
    asked.close();
    await within('the end', main.link!.closed);
  }
  await within('both ends', Promise.all([main.closed, asked.closed]));
  await until('no descriptor is left', () => descriptors().length <= had);
}

const ENDS: Readonly<Record<string, (stage: Stage) => Promise<void>>> = {
  'ends the connection': async ({ main, asked }) => {
    const ends = await within('the ends', Promise.all([main.closed, asked.closed, main.link!.closed]));
    assert.deepEqual(ends, ['lost', 'lost', 'lost']);
    assert.ok(main.link!.error instanceof LayoutError, String(main.link!.error));
  },
  'ends its channel': async ({ main, asked }) => {
    await assert.rejects(within('the damage', asked.receiveAsync()), LayoutError);
    assert.equal(await within('the end', asked.closed), 'lost');
    assert.equal(main.reason, undefined);
  },
  'means nothing': async ({ peer, main, asked }) => {
    // Behind it, what is about the channel that was asked for is heard.
    peer.share(2);
    await within('a channel', asked.ready);
    assert.deepEqual([main.reason, asked.reason, asked.stats().way?.name], [undefined, undefined, 'memory']);
  },
};

type Lie = (stage: Stage) => unknown;
const shared = (stage: Stage): void => void stage.peer.share(2);
/** Accepts what it was asked for with a region of which something is not as it was agreed on. */
const region =
  (descriptorsOf: (peer: MemoryPeer, honest: number, bytes: number) => readonly number[]): Lie =>
  ({ peer }) => {
    const { descriptor, bytes } = peer.region();
    peer.accept(2);
    peer.tell(REGION, 2, [bytes], descriptorsOf(peer, descriptor, bytes));
  };
const header =
  (word: number, value: number): Lie =>
  ({ peer }) => {
    const { descriptor, words, bytes } = peer.region();
    words[word] = value;
    peer.accept(2);
    peer.tell(REGION, 2, [bytes], [descriptor]);
  };
const LEFT_BYTES = 64;
const left =
  (bytes: number, count: number, size: number = LEFT_BYTES, words: readonly number[] = []): Lie =>
  ({ peer }) => {
    const descriptor = peer.memory(size);
    new Int32Array(peer.map(descriptor, size).buffer, 0, size >> 2).set(words);
    peer.tell(LEFT, 1, [bytes, count], [descriptor]);
  };
const lent =
  (bytes: number, slot: number, size = 4096): Lie =>
  ({ peer }) =>
    peer.tell(LENT, 1, [bytes, 7, slot], [peer.memory(size)]);

const LIES: readonly (readonly [what: string, comes: string, lie: Lie])[] = [
  ['REGION without memory', 'ends its channel', region(() => [])],
  ['REGION with two', 'ends its channel', region((_, honest) => [honest, honest])],
  ['REGION that is a file', 'ends its channel', region((peer) => [peer.file(FILE, 'r+')])],
  ['REGION that is a bell', 'ends its channel', region((peer) => [peer.own(native.createBell())])],
  ['REGION that can only be read', 'ends its channel', region((peer, fd) => [peer.file(`/proc/self/fd/${fd}`, 'r')])],
  ['REGION too small', 'ends its channel', region((peer, _, bytes) => [peer.memory(bytes - 8)])],
  ['REGION too large', 'ends its channel', region((peer, _, bytes) => [peer.memory(bytes + 8)])],
  ['REGION of zeros', 'ends its channel', region((peer, _, bytes) => [peer.memory(bytes)])],
  ['REGION of another version', 'ends its channel', header(layout.VERSION, 2)],
  ['REGION with another capacity', 'ends its channel', header(layout.CAPACITY_0, 2 * WINDOW)],
  ['REGION with a capacity that is none', 'ends its channel', header(layout.CAPACITY_1, -1)],
  ['REGION with longer messages', 'ends its channel', header(layout.MESSAGE_MAX, 2 ** 30)],
  ['REGION in which we begin at no position', 'ends its channel', header(layout.LANE_1 + layout.TAIL, 3)],
  ['REGION in which it begins at no position', 'ends its channel', header(layout.LANE_0 + layout.TAIL, 3)],
  [
    'more REGIONs for nobody than we have asked for',
    'ends the connection',
    ({ peer }) => {
      for (const number of [97, 99]) peer.tell(REGION, number, [8], [peer.memory(8)]);
    },
  ],
  [
    'REGION twice, early',
    'ends the connection',
    ({ peer }) => {
      for (let i = 0; i < 2; i++) peer.put(REGION, 2, [8], [peer.memory(8)]);
      peer.ring();
    },
  ],
  [
    'REGION twice, late',
    'ends the connection',
    async (stage) => {
      shared(stage);
      await within('a channel', stage.asked.ready);
      stage.peer.tell(REGION, 2, [8], [stage.peer.memory(8)]);
    },
  ],
  ['REGION for a channel whose memory is ours', 'ends the connection', ({ peer }) => peer.tell(REGION, 1)],
  ['LEFT without memory', 'ends the connection', ({ peer }) => peer.tell(LEFT, 1, [LEFT_BYTES, 1])],
  ['LEFT of more bytes', 'ends the connection', left(2 ** 31 - 1, 1)],
  ['LEFT of less than none', 'ends the connection', left(-1, 1)],
  ['LEFT of bytes that are no words', 'means nothing', left(61, 1, 61)],
  ['LEFT of one byte', 'means nothing', left(1, 0, 1)],
  ['LEFT of more messages than lie in it', 'ends the connection', left(LEFT_BYTES, 9)],
  ['LEFT of 2,147,483,647 messages', 'ends the connection', left(LEFT_BYTES, 2 ** 31 - 1)],
  ['LEFT of one message too many', 'ends the connection', left(LEFT_BYTES, MEMORY_LEFT_FRAMES_MAX + 1)],
  ['LEFT of a message with less than no bytes', 'ends the connection', left(LEFT_BYTES, 1, LEFT_BYTES, [1, -8])],
  ['LEFT of a message that is longer', 'ends the connection', left(LEFT_BYTES, 1, LEFT_BYTES, [1, 57])],
  ['LEFT of less than no messages', 'means nothing', left(LEFT_BYTES, -5)],
  [
    'LEFT of too many, and another channel that is closed then',
    'ends the connection',
    async (stage) => {
      const { peer, main, asked } = stage;
      shared(stage);
      await within('a channel', asked.ready);
      peer.tell(LEFT, 2, [LEFT_BYTES, 1], [peer.memory(LEFT_BYTES)]);
      left(LEFT_BYTES, 2 ** 30)(stage);
      await within('the end', main.closed);
      asked.close();
    },
  ],
  [
    'LEFT twice',
    'ends the connection',
    (stage) => {
      left(LEFT_BYTES, 1)(stage);
      left(LEFT_BYTES, 1)(stage);
    },
  ],
  ['LENT without memory', 'ends the connection', ({ peer }) => peer.tell(LENT, 1, [8, 0, 0])],
  ['LENT of another size', 'ends the connection', lent(8192, 0)],
  ['LENT of no bytes', 'ends the connection', lent(0, 0)],
  ['LENT for a slot that is none', 'ends the connection', lent(4096, 3)],
  ['LENT for a slot below', 'ends the connection', lent(4096, -1)],
  ['LENT for a slot of the newest', 'ends the connection', lent(4096, 1)],
  ['LENT of more than a channel takes', 'ends the connection', lent(ANNEX_BYTES + 8, 0, ANNEX_BYTES + 8)],
  [
    'LENT twice',
    'ends the connection',
    (stage) => {
      lent(4096, 0)(stage);
      lent(4096, 0)(stage);
    },
  ],
  [
    'LENT, LEFT and DONE of nobody',
    'means nothing',
    ({ peer }) => {
      for (const kind of [LENT, LEFT, DONE]) peer.tell(kind, 98, [8, 1, 0], [peer.memory(8)]);
    },
  ],
  ['DONE with memory', 'ends the connection', ({ peer }) => peer.tell(DONE, 1, [], [peer.memory(8)])],
  [
    'DONE again, and more behind it',
    'means nothing',
    (stage) => {
      stage.peer.tell(DONE, 1);
      stage.peer.tell(DONE, 1);
      left(LEFT_BYTES, 99)(stage);
    },
  ],
  [
    'PAGE and BELL again',
    'means nothing',
    ({ peer }) => {
      for (const kind of [PAGE, BELL]) peer.tell(kind, 0, [], [peer.memory(8), peer.own(native.createBell())]);
    },
  ],
  ['PAGE for a channel', 'ends the connection', ({ peer }) => peer.tell(PAGE, 1, [1, 2, 3, 4], [peer.memory(8)])],
  [
    'half a message',
    'ends the connection',
    ({ peer }) => {
      peer.write(new Uint8Array(16), [peer.memory(8)]);
      peer.ring();
    },
  ],
  [
    'more descriptors than there can be',
    'ends the connection',
    ({ peer }) => {
      peer.tell(LENT, 1, [8, 0, 0], Array<number>(64).fill(peer.memory(8)));
    },
  ],
  ['TETHER without one', 'ends the connection', ({ peer }) => peer.tell(TETHER, 0)],
  ['TETHER of a channel', 'ends the connection', ({ peer }) => peer.tell(TETHER, 1, [], [peer.memory(8)])],
  ['TETHER with two', 'ends the connection', ({ peer }) => peer.tell(TETHER, 0, [], [peer.memory(8), peer.memory(8)])],
  [
    'TETHER twice',
    'ends the connection',
    ({ peer }) => {
      for (let i = 0; i < 2; i++) peer.tell(TETHER, 0, [], [peer.memory(8)]);
    },
  ],
  ['TETHER that is a file', 'means nothing', (stage) => stage.peer.tell(TETHER, 0, [], [stage.peer.file(FILE, 'r+')])],
  ['MEET came, again', 'ends the connection', ({ peer }) => peer.meet(CAME)],
  ['MEET shared', 'ends the connection', ({ peer }) => peer.meet(SHARED)],
  ['MEET failed, once both have it', 'ends the connection', ({ peer }) => peer.meet(FAILED)],
];

for (const [what, comes, lie] of LIES) {
  test(`${what}: ${comes}`, () =>
    staged(async (stage) => {
      await lie(stage);
      await ENDS[comes]?.(stage);
    }));
}

test('the line is at its end: what is over memory goes on, and what was asked for waits for as long as the connection', () =>
  staged(async ({ peer, main, asked }) => {
    peer.endLine();
    peer.share(2);
    main.postMessage('goes on');
    await turn();
    assert.deepEqual([main.reason, asked.reason], [undefined, undefined]);
  }));

test('no memory of any of them is left', async () => {
  const mapped = (): number => readFileSync('/proc/self/maps', 'utf8').split('memfd:millrace').length - 1;
  // What is left is the other connection's: a page and a channel, at both ends.
  await until('it is given back', () => {
    collect();
    return mapped() < 8;
  });
});
