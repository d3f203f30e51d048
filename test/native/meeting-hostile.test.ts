// A peer that lies while it meets: whatever it says in place of its page, its bell, its ticket or its place, the connection goes on over its socket and says
// why, no descriptor stays, and another connection of the same process goes on.
// watchdog: 120 s
// asked for: node-22, node-26
// needs: native
import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { after, before, test } from 'node:test';
import { TimeoutError } from '../../src/index.ts';
import { LINK_PAGE_BYTES } from '../../src/link/layout.ts';
import { connect, type Listener, listen, type Port } from '../../src/process/index.ts';
import { BELL, FAILED, MEET, SHARED } from '../../src/transport/process/memory-meeting.ts';
import * as frames from '../../src/transport/stream/frames.ts';
import { type Lies, MemoryPeer } from '../kit/memory-peer.ts';
import { descriptors, native } from '../kit/native.ts';
import { TERMS } from '../kit/stream-bench.ts';
import { until, within } from '../kit/watchdog.ts';

const place = (name: string): string => join(tmpdir(), `millrace-meeting-${process.pid}-${name}`);
const FILE = place('file');
let server: Listener;
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

/** Nothing of a peer that has gone stays, and nobody else has heard of it. */
async function leavesNothing(had: number): Promise<void> {
  near.postMessage('goes on');
  assert.equal(await within('the other connection', far.receiveAsync()), 'goes on');
  await until('no descriptor is left', () => descriptors().length <= had);
}
/** Its first channel goes by the socket, for a reason that is told. */
async function goesBySocket(peer: MemoryPeer, ours: Port): Promise<void> {
  const [step] = (await peer.heard(MEET)).words;
  assert.equal(step, FAILED);
  await within('its channel', ours.ready);
  ours.postMessage('by the socket');
  await until('a message has come over the socket', () => peer.dataBytes > 0);
  const { name, why } = ours.stats().way ?? {};
  assert.notEqual(name, 'memory');
  assert.ok(why, 'a reason');
}

const COMES: Readonly<Record<string, (peer: MemoryPeer) => Lies>> = {
  'a ticket of its own': () => ({ ticket: () => Int32Array.of(1, 2, 3, 4) }),
  'a ticket with one bit changed': () => ({ ticket: (told) => told.with(3, (told[3] as number) ^ 1) }),
  'a bell in place of the page': () => ({ kind: BELL }),
  'no descriptors': () => ({ descriptors: () => [] }),
  'a page without a bell': () => ({ descriptors: (page) => [page] }),
  'three descriptors': () => ({ descriptors: (page, bell) => [page, bell, page] }),
  'half a message': () => ({ bytes: 16 }),
  'a page that is a file': (peer) => ({ descriptors: (_, bell) => [peer.file(FILE, 'r+'), bell] }),
  'a page that is too small': (peer) => ({ descriptors: (_, bell) => [peer.memory(LINK_PAGE_BYTES - 8), bell] }),
  'a page that can only be read': (peer) => ({
    descriptors: (page, bell) => [peer.file(`/proc/self/fd/${page}`, 'r'), bell],
  }),
  'a bell that is a file': (peer) => ({ descriptors: (page) => [page, peer.file(FILE, 'r+')] }),
  'a bell that is its page': () => ({ descriptors: (page) => [page, page] }),
  nothing: () => ({ times: 0 }),
};
for (const [what, lies] of Object.entries(COMES)) {
  test(`who connects and comes with ${what} is served over the socket`, async () => {
    const had = descriptors().length;
    const peer = await MemoryPeer.to(server.address.slice('unix:'.length));
    const taken = nextPort();
    await peer.come(lies(peer));
    const ours = await taken;
    await goesBySocket(peer, ours);
    peer.close();
    assert.equal(await within('the end', ours.closed), 'lost');
    await leavesNothing(had);
  });
}

test('who connects, offers memory and never comes keeps nobody else waiting', async () => {
  const had = descriptors().length;
  const peer = await MemoryPeer.to(server.address.slice('unix:'.length));
  const taken = nextPort();
  peer.greet();
  peer.open(1);
  await peer.heard(frames.HELLO);
  const honest = await within('another one', connect(server.address));
  const ours = await taken;
  honest.postMessage('first');
  assert.equal(await within('what it says', ours.receiveAsync()), 'first');
  honest.close();
  ours.close();
  peer.close();
  await within('both ends', Promise.all([honest.link!.closed, ours.link!.closed]));
  await leavesNothing(had);
});

const NAME = `millrace-meeting-${process.pid}`;
interface Host {
  readonly peer: MemoryPeer;
  readonly listener: number;
}
const LISTENS: Readonly<Record<string, (host: Host) => Promise<void>>> = {
  'a place where nobody listens': async ({ peer }) => peer.greetAt('\0nobody'),
  'no name': async ({ peer }) => peer.greetAt(''),
  'no place': async ({ peer }) => peer.greet(),
  'no bell': async ({ peer, listener }) => {
    peer.greetAt(NAME);
    await peer.meetAt(listener, []);
  },
  'two bells': async ({ peer, listener }) => {
    peer.greetAt(NAME);
    await peer.meetAt(listener, [peer.own(native.createBell()), peer.own(native.createBell())]);
  },
  'a bell that is a file': async ({ peer, listener }) => {
    peer.greetAt(NAME);
    await peer.meetAt(listener, [peer.file(FILE, 'r+')]);
  },
  'the word that it has shared, and nothing on the line': async ({ peer }) => {
    peer.greetAt(NAME);
    await peer.heard(MEET);
    peer.meet(SHARED);
  },
};
for (const [what, greets] of Object.entries(LISTENS)) {
  test(`who listens and meets with ${what} is talked to over the socket`, async () => {
    const had = descriptors().length;
    const path = place('host');
    const host = await MemoryPeer.at(path);
    const listener = native.listen(`\0${NAME}`);
    const connecting = connect(path);
    const peer = await within('a connection', host.peer);
    await greets({ peer, listener });
    const ours = await within('a port', connecting);
    peer.say([frames.ACCEPT, 1, ...TERMS, 0, 0]);
    await goesBySocket(peer, ours);
    peer.close();
    native.close(listener);
    host.close();
    assert.equal(await within('the end', ours.closed), 'lost');
    await leavesNothing(had);
  });
}

test('who listens, greets and meets nobody: connect says which, and nothing stays', async () => {
  const had = descriptors().length;
  const path = place('half');
  const host = await MemoryPeer.at(path);
  const listener = native.listen(`\0${NAME}`);
  const connecting = connect(path, { timeoutMs: 200 });
  connecting.catch(() => {});
  const peer = await within('a connection', host.peer);
  peer.greetAt(NAME);
  await assert.rejects(within('the end', connecting), (error) => {
    return error instanceof TimeoutError && /has greeted, and not said in 200 ms whether/.test(error.message);
  });
  peer.close();
  native.close(listener);
  host.close();
  await leavesNothing(had);
});

test('connect() is given up in the middle of a meeting: its reason is told, and nothing stays', async () => {
  const had = descriptors().length;
  const path = place('abort');
  const host = await MemoryPeer.at(path);
  const listener = native.listen(`\0${NAME}`);
  const reason = new Error('given up');
  const giveUp = new AbortController();
  const connecting = connect(path, { signal: giveUp.signal });
  const peer = await within('a connection', host.peer);
  giveUp.abort(reason);
  await assert.rejects(within('the end', connecting), reason);
  peer.greetAt(NAME);
  await until('it is gone', () => peer.over);
  peer.close();
  native.close(listener);
  host.close();
  await leavesNothing(had);
});
