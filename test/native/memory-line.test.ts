// A peer that does not read its line of descriptors: what is said about a channel keeps its order with what goes over the connection, and what waits is bounded.
// watchdog: 120 s
// asked for: node-22, node-26
// needs: native
import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { after, before, test } from 'node:test';
import { DESCRIPTOR_LINE_BUSY } from '../../src/limits.ts';
import { type Listener, listen, type Port } from '../../src/process/index.ts';
import { DONE, LEFT, NO_REGION, REGION } from '../../src/transport/process/memory-link.ts';
import * as frames from '../../src/transport/stream/frames.ts';
import { MemoryPeer } from '../kit/memory-peer.ts';
import { text, WINDOW } from '../kit/stream-bench.ts';
import { turn, until, within } from '../kit/watchdog.ts';

let server: Listener;
before(async () => {
  server = await listen(join(tmpdir(), `millrace-line-${process.pid}.sock`), { link: { maxWaitingChannels: 4096 } });
});
after(() => server.close());

async function met(): Promise<{ peer: MemoryPeer; main: Port }> {
  const peer = await MemoryPeer.to(server.address.slice('unix:'.length));
  const taken = server[Symbol.asyncIterator]().next();
  await peer.met();
  const main = (await within('a connection', taken)).value as Port;
  await within('its channel', main.ready);
  return { peer, main };
}
/** The peer opens so many channels, which we accept. */
async function opened(peer: MemoryPeer, main: Port, count: number): Promise<Port[]> {
  const ports: Port[] = [];
  const offers = main.link!.channels[Symbol.asyncIterator]();
  for (let i = 0; i < count; i++) peer.open(3 + 2 * i, text(`${i}`));
  while (ports.length < count) {
    const offer = (await within('an offer', offers.next())).value;
    ports.push(offer.accept({ capacityBytes: WINDOW }));
  }
  await until(
    'all of them are accepted',
    () => peer.frames.filter(({ type }) => type === frames.ACCEPT).length > count,
  );
  return ports;
}

test('a channel that closes with a backlog says CLOSE over the connection when what it has left over is out on the line', async () => {
  const { peer, main } = await met();
  // Two messages of each, which is more than a line has room for that nobody reads.
  const ports = await opened(peer, main, 300);
  for (const port of ports) {
    for (let i = 0; i < 10; i++) port.postMessage('x'.repeat(500));
    port.close();
  }
  const closes = (): Set<number> =>
    new Set(peer.frames.filter(({ type }) => type === frames.CLOSE).map(({ channel }) => channel));
  const heard = new Map<number, number[]>();
  const take = (): boolean => {
    const said = peer.take();
    if (said === undefined) return false;
    heard.set(said.number, [...(heard.get(said.number) ?? []), said.kind]);
    return true;
  };
  // All that is said before anybody reads the line.
  for (let i = 0; i < 50; i++) await turn();
  const early = closes();
  // Whoever has been told of the end finds what belongs to it on the line, as far as that goes without our side having a turn.
  while (take());
  for (const number of early) {
    const kinds = heard.get(number) ?? [];
    assert.ok(kinds.includes(LEFT) && kinds.includes(DONE), `CLOSE of ${number} came before ${kinds.join()} was all`);
  }
  assert.ok(early.size < ports.length, 'the line has room for all of it');
  await until('all of them are closed', () => {
    while (take());
    return closes().size === ports.length;
  });
  for (const kinds of [...heard].filter(([number]) => number > 1).map(([, kinds]) => kinds))
    assert.deepEqual(kinds, [REGION, LEFT, DONE]);
  peer.close();
  main.close();
  await within('the end', main.link!.closed);
});

test('who does not read its line is given no more memory once so much waits: its channels go over the connection', async () => {
  const { peer, main } = await met();
  const ports = await opened(peer, main, DESCRIPTOR_LINE_BUSY + 400);
  const ways = new Map<string | undefined, number>();
  for (const port of ports) {
    const way = port.stats().way?.name;
    ways.set(way, (ways.get(way) ?? 0) + 1);
  }
  assert.ok((ways.get('unix') ?? 0) > 0, [...ways].join());
  assert.ok((ways.get('memory') ?? 0) >= DESCRIPTOR_LINE_BUSY, [...ways].join());
  const kinds: number[] = [];
  await until('all of them are told of', () => {
    for (let said = peer.take(); said !== undefined; said = peer.take()) {
      kinds.push(said.kind);
      peer.letGo(said.descriptors);
    }
    return kinds.length === ports.length + 1;
  });
  assert.equal(kinds.filter((kind) => kind === NO_REGION).length, ways.get('unix'));
  peer.close();
  main.close();
  await within('the end', main.link!.closed);
});
