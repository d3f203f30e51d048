// The port suite over connections of `millrace/process`, as programs have them: a listener, and who connects.
// watchdog: 300 s
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { after } from 'node:test';
import type { ChannelOptions, Port } from '../../src/index.ts';
import { connect, type LinkOptions, listen } from '../../src/process/index.ts';
import { within } from '../kit/watchdog.ts';
import { OVER_A_STREAM, type PortPair, portConformance } from './port.ts';

interface Probed {
  readonly ports: readonly [Port, Port];
  readonly probes: readonly [Port, Port];
}

/** Ports with a channel beside each, by which it is known when all that is on its way has arrived. */
class Connected {
  readonly #address: string;
  readonly #pairs: Probed[] = [];
  #words = 0;

  constructor(address: string) {
    this.#address = address;
  }

  async pair(options: ChannelOptions = {}): Promise<PortPair> {
    const { capacityBytes, maxMessageBytes } = options;
    const link: LinkOptions = { capacityBytes, maxMessageBytes };
    const server = await listen(this.#address, { ...options, link });
    const taken = server[Symbol.asyncIterator]().next();
    const b = await connect(server.address, { ...options, link });
    const a = (await within('a connection', taken)).value as Port;
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

const WORLDS: Readonly<Record<string, string>> = {
  'connected by TCP': 'tcp:127.0.0.1:0',
  'connected by a unix socket': join(tmpdir(), `millrace-port-${process.pid}.sock`),
};
for (const [name, address] of Object.entries(WORLDS)) {
  const connected = new Connected(address);
  after(() => connected.close());
  portConformance({
    name,
    ...OVER_A_STREAM,
    late: () => connected.quiet(),
    pair: (options) => connected.pair(options),
  });
}
