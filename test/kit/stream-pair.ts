// Ports over a byte stream, both ends here.
import type { ChannelOptions, Port as PublicPort } from '../../src/index.ts';
import { STREAM_WINDOW_MIN } from '../../src/limits.ts';
import { resolveOptions } from '../../src/port/options.ts';
import { Port } from '../../src/port/port.ts';
import { resolveStreamOptions } from '../../src/port/stream-options.ts';
import type { StreamChannel } from '../../src/transport/stream/channel.ts';
import { type ConnectionOptions, StreamConnection } from '../../src/transport/stream/connection.ts';
import type { Opening } from '../../src/transport/stream/opening.ts';
import { type StreamOptions, StreamTransport } from '../../src/transport/stream/stream-transport.ts';
import { Random, seed } from './prng.ts';
import { Wire, type WireScript } from './wire.ts';

export interface Ports {
  readonly a: PublicPort;
  readonly b: PublicPort;
}

export interface StreamPair {
  readonly wire: Wire;
  readonly connections: readonly [StreamConnection, StreamConnection];
  /** Opens a channel from side 0: both its ends. `wire` must not be delayed then. */
  channels(options?: ChannelOptions): readonly [StreamChannel, StreamChannel];
  /** Ports over such ends. */
  portsOf(ends: readonly [StreamChannel, StreamChannel], options?: ChannelOptions): Ports;
  /** Both in one. */
  ports(options?: ChannelOptions): Ports;
}

export function endOptions(options: ChannelOptions): StreamOptions {
  return resolveStreamOptions(options).transport;
}

export function portOver(connection: StreamConnection, channel: StreamChannel, options: ChannelOptions = {}): Port {
  return new Port((events) => new StreamTransport(connection, channel, endOptions(options), events));
}

/** Two connections over one wire, greeted. */
export function streamPair(options: ChannelOptions = {}, script: Partial<WireScript> = {}): StreamPair {
  const wire = new Wire({ random: new Random(seed), chunkMax: 100, ...script });
  const { capacityBytes, maxMessageBytes } = resolveOptions(options);
  const opened: Opening[] = [];
  const connect = (side: 0 | 1): StreamConnection =>
    new StreamConnection(
      wire.ends[side],
      { initiator: side === 0, windowBytes: capacityBytes, maxMessageBytes },
      { opened: (opening) => void opened.push(opening), ended: () => {} },
    );
  const connections = [connect(0), connect(1)] as const;
  wire.connect(0, connections[0]);
  wire.connect(1, connections[1]);
  const channels = (own: ChannelOptions = {}): readonly [StreamChannel, StreamChannel] => {
    const near = connections[0].open('', resolveStreamOptions({ ...options, ...own }).wish);
    return [near, connections[1].accept(opened.pop() as Opening)];
  };
  const portsOf = ([near, far]: readonly [StreamChannel, StreamChannel], own: ChannelOptions = {}): Ports => {
    const all = { ...options, ...own };
    return { a: portOver(connections[0], near, all), b: portOver(connections[1], far, all) };
  };
  return { wire, connections, channels, portsOf, ports: (own) => portsOf(channels(own), own) };
}

/** Two connections over a wire that delivers when it is told to: neither has heard the other's greeting. */
export function linked(
  left: Partial<ConnectionOptions> = {},
  right: Partial<ConnectionOptions> = {},
  script: Partial<WireScript> = {},
): { readonly wire: Wire; readonly sides: readonly [StreamConnection, StreamConnection] } {
  const wire = new Wire({ random: new Random(seed), chunkMax: 500, ...script });
  wire.delayed = true;
  const side = (i: 0 | 1, options: Partial<ConnectionOptions>): StreamConnection =>
    new StreamConnection(
      wire.ends[i],
      { initiator: i === 0, windowBytes: STREAM_WINDOW_MIN, ...options },
      { opened() {}, ended() {} },
    );
  const sides = [side(0, left), side(1, right)] as const;
  wire.connect(0, sides[0]);
  wire.connect(1, sides[1]);
  return { wire, sides };
}

/** Delivers all there is, and what that brings about. */
export function settle(wire: Wire): void {
  while (wire.step());
}
