// Ports over byte streams that deliver when they like: a wire in memory that gives a few chunks a turn. And sockets on this machine.
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { createServer, connect as netConnect, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import type { ChannelOptions, Port } from '../../src/index.ts';
import { resolveStreamOptions } from '../../src/port/stream-options.ts';
import { type ByteStream, type ConnectionOptions, StreamConnection } from '../../src/transport/stream/connection.ts';
import { Random, seed } from './prng.ts';
import { type Ports, portOver } from './stream-pair.ts';
import { within } from './watchdog.ts';
import { Wire } from './wire.ts';

export type Connections = readonly [StreamConnection, StreamConnection];
type Connect = (side: 0 | 1, stream: ByteStream) => StreamConnection;

/** Makes pairs of ports over one kind of medium, and knows when all that is on its way has arrived. */
export class LatePairs {
  readonly #make: (connect: Connect) => Connections | Promise<Connections>;
  readonly #pairs: { readonly connections: Connections; readonly probes: readonly [Port, Port] }[] = [];
  readonly #over: typeof portOver;
  #probes = 0;

  /** @param over makes a port over an end */
  constructor(make: (connect: Connect) => Connections | Promise<Connections>, over: typeof portOver = portOver) {
    this.#make = make;
    this.#over = over;
  }

  /** Two connections, greeted or about to be. */
  async connections(options: Partial<ConnectionOptions> = {}): Promise<Connections> {
    return this.#make(
      (side, stream) =>
        new StreamConnection(stream, { initiator: side === 0, ...options }, { opened() {}, ended() {} }),
    );
  }

  async ports(options: ChannelOptions = {}): Promise<Ports> {
    const { wish } = resolveStreamOptions(options);
    const connections = await this.connections({ windowBytes: wish.window, maxMessageBytes: wish.messageMax });
    const open = (name: string): [Port, Port] =>
      connections.map((side) => {
        return this.#over(side, side.open(name, wish), name === '' ? options : {});
      }) as [Port, Port];
    const [a, b] = open('');
    const probes = open('probe');
    await within('both ends', Promise.all([a, b, ...probes].map((port) => port.ready)));
    this.#pairs.push({ connections, probes });
    return { a, b };
  }

  /** A word goes round behind everything else, on each connection that is open. */
  async quiet(): Promise<void> {
    const open = this.#pairs.filter(({ connections }) => connections.every(({ ended }) => ended === undefined));
    this.#pairs.splice(0, Number.POSITIVE_INFINITY, ...open);
    await Promise.all(
      open.map(async ({ probes: [a, b] }) => {
        const word = ++this.#probes;
        const there = b.receiveAsync();
        const back = a.receiveAsync();
        a.postMessage(word);
        await within('the probe there', there);
        b.postMessage(word);
        await within('the probe back', back);
      }),
    );
  }
}

/** Over wires in memory that deliver a few chunks in each of some later turns. */
export function lateWires(chunkMax: number, bufferBytes?: number): LatePairs {
  const random = new Random(seed);
  return new LatePairs((connect) => {
    const wire = new Wire({ random, chunkMax, ...(bufferBytes === undefined ? {} : { bufferBytes }) });
    wire.delayed = true;
    let runs = false;
    const run = (): void => {
      for (let i = random.int(1, 1000); i > 0 && wire.step(); i--);
      runs = !wire.idle;
      if (runs) later();
    };
    const later = (): void => void (random.chance(0.05) ? setTimeout(run, 0) : setImmediate(run));
    const late = (stream: ByteStream): ByteStream => {
      const starts = (): void => {
        if (runs) return;
        runs = true;
        later();
      };
      return {
        write: (bytes) => {
          starts();
          return stream.write(bytes);
        },
        end: () => {
          starts();
          stream.end();
        },
        hold: (held) => stream.hold(held),
      };
    };
    const connections = [connect(0, late(wire.ends[0])), connect(1, late(wire.ends[1]))] as const;
    wire.connect(0, connections[0]);
    wire.connect(1, connections[1]);
    return connections;
  });
}

/** A server that keeps nobody alive, and where to reach it. */
export async function listening(kind: 'tcp' | 'unix'): Promise<{ server: Server; address: string | number }> {
  const server = createServer({ allowHalfOpen: true });
  server.unref();
  if (kind === 'tcp') {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return { server, address: (server.address() as { port: number }).port };
  }
  const path = join(tmpdir(), `millrace-${process.pid}-${Math.random().toString(36).slice(2)}`);
  process.once('exit', () => rmSync(path, { force: true }));
  server.listen(path);
  await once(server, 'listening');
  return { server, address: path };
}

export function socketTo(address: string | number): Socket {
  return typeof address === 'number'
    ? netConnect({ port: address, host: '127.0.0.1', allowHalfOpen: true })
    : netConnect({ path: address, allowHalfOpen: true });
}
