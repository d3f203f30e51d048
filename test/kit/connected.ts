// Two ends of a connection of `millrace/process` in one thread, as programs have them: a listener, and who connects.
import assert from 'node:assert/strict';
import type { ChannelOptions, Port } from '../../src/index.ts';
import { connect, type LinkOptions, listen } from '../../src/process/index.ts';
import { within } from './watchdog.ts';

interface Probed {
  readonly ports: readonly [Port, Port];
  readonly probes: readonly [Port, Port];
}

/** Ports with a channel beside each, by which it is known when all that is on its way has arrived. */
export class Connected {
  readonly #address: string;
  readonly #memory: boolean;
  readonly #blocking: boolean;
  readonly #pairs: Probed[] = [];
  #words = 0;

  /**
   * @param memory whether values go through it
   * @param blocking whether both sides may block over their sockets
   */
  constructor(address: string, memory = false, blocking = false) {
    this.#address = address;
    this.#memory = memory;
    this.#blocking = blocking;
  }

  async pair(options: ChannelOptions = {}): Promise<{ readonly a: Port; readonly b: Port }> {
    const { capacityBytes, maxMessageBytes } = options;
    const link: LinkOptions = { capacityBytes, maxMessageBytes };
    const all = { ...options, link, memory: this.#memory, blocking: this.#blocking };
    const server = await listen(this.#address, all);
    const taken = server[Symbol.asyncIterator]().next();
    const b = await connect(server.address, all);
    const a = (await within('a connection', taken)).value as Port;
    const probes = [a, b].map((port) => port.link?.channel('probe') as Port) as [Port, Port];
    await within('both ends', Promise.all([a, b, ...probes].map((port) => port.ready)));
    assert.equal(a.link?.way?.name === 'memory', this.#memory);
    assert.equal(b.stats().way?.name === 'memory', this.#memory);
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
