// Two ends of a connection of `millrace/process` or `millrace/net` in one thread, as programs have them: a listener, and who connects.
import assert from 'node:assert/strict';
import type { ChannelOptions, Port } from '../../src/index.ts';

import type { LinkOptions } from '../../src/process/index.ts';
import * as process from '../../src/process/index.ts';
import { CuttingProxy, portIn } from './cutting-proxy.ts';
import * as net from './net.ts';
import { Random, seed } from './prng.ts';
import { within } from './watchdog.ts';

interface Probed {
  readonly ports: readonly [Port, Port];
  readonly probes: readonly [Port, Port];
}

/** How a pair is made: `a` is the listener's. */
export type MakePair = (options: ChannelOptions) => Promise<Met>;
interface Met {
  readonly a: Port;
  readonly b: Port;
  readonly server: process.Listener;
}

/** A door's `listen` and `connect`. */
type Door = {
  listen(address: string, options: object): Promise<process.Listener>;
  connect(address: string, options: object): Promise<Port>;
};

/** @param by how to come from the listener's address to the one that is connected to */
async function meet(
  door: Door,
  address: string,
  options: ChannelOptions & { blocking?: boolean },
  by: (address: string) => string | Promise<string> = (it) => it,
): Promise<Met> {
  const { capacityBytes, maxMessageBytes } = options;
  const link: LinkOptions = { capacityBytes, maxMessageBytes };
  const server = await door.listen(address, { ...options, link });
  const taken = server[Symbol.asyncIterator]().next();
  const b = await door.connect(await by(server.address), { ...options, link });
  const a = (await within('a connection', taken)).value as Port;
  return { a, b, server };
}

/** @param blocking whether both sides may block over their sockets; @param memory whether values go through it */
export function processPair(
  address: string,
  { memory = false, blocking = false }: { memory?: boolean; blocking?: boolean } = {},
): MakePair {
  return async (options) => {
    const all = { ...options, memory, blocking };
    const pair = await meet(process, address, all);
    for (const port of [pair.a, pair.b]) {
      await within('both ends', port.ready);
      assert.equal(port.stats().way?.name === 'memory', memory);
    }
    return pair;
  };
}

/**
 * Over a network, and a proxy in between where lines are to be cut: each after `cutMs` milliseconds at the least, and six times as many at the most, for where
 * each line ends before anything goes over it nothing ever does.
 */
export function netPair(address: string, cutMs?: number, blocking = false): MakePair {
  if (cutMs === undefined) return (options) => meet(net, address, { ...options, blocking });
  return async (options) => {
    let proxy: CuttingProxy | undefined;
    const pair = await meet(net, address, { ...options, blocking }, async (at) => {
      proxy = await CuttingProxy.to(portIn(at));
      return proxy.inFrontOf(at);
    });
    const random = new Random(seed);
    let timer: NodeJS.Timeout | undefined;
    const cutNext = (): void => {
      proxy?.cut();
      timer = setTimeout(cutNext, random.int(cutMs, 6 * cutMs));
      timer.unref();
    };
    timer = setTimeout(cutNext, cutMs);
    timer.unref();
    // As where a listener has gone: nobody is there any more.
    void Promise.all([pair.a.link?.closed, pair.b.link?.closed]).then(async () => {
      clearTimeout(timer);
      await proxy?.close();
    });
    return pair;
  };
}

/** Ports with a channel beside each, by which it is known when all that is on its way has arrived. */
export class Connected {
  readonly #make: MakePair;
  readonly #pairs: Probed[] = [];
  #words = 0;

  constructor(make: MakePair) {
    this.#make = make;
  }

  async pair(options: ChannelOptions = {}): Promise<{ readonly a: Port; readonly b: Port }> {
    const { a, b, server } = await this.#make(options);
    const probes = [a, b].map((port) => port.link?.channel('probe') as Port) as [Port, Port];
    await within('both ends', Promise.all([a, b, ...probes].map((port) => port.ready)));
    // What is there stays: it is left alone for as long as it lasts.
    void server.close({ drainMs: 1e9 });
    this.#pairs.push({ ports: [a, b], probes });
    return { a, b };
  }

  async quiet(): Promise<void> {
    const open = this.#pairs.filter(({ probes }) => probes.every(({ reason }) => reason === undefined));
    this.#pairs.splice(0, Number.POSITIVE_INFINITY, ...open);
    const words = open.map(async ({ ports, probes: [a, b] }) => {
      const word = ++this.#words;
      const there = b.receiveAsync();
      const back = a.receiveAsync();
      a.postMessage(word);
      await within('the probe there', there);
      b.postMessage(word);
      await within('the probe back', back);
      // A connection ends with its last channel.
      if (ports.every(({ reason }) => reason !== undefined)) a.close();
    });
    await Promise.all(words);
  }
  close(): void {
    for (const { ports } of this.#pairs) for (const port of ports) void port.link?.close();
  }
}
