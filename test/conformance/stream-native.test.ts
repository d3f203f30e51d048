// The port suite over a stream whose medium is a native message port, which carries values beside the records: transfer lists, native ports, and what only
// structured clone writes.
// watchdog: 300 s
import { test } from 'node:test';
import { Port } from '../../src/port/port.ts';
import type { StreamConnection } from '../../src/transport/stream/connection.ts';
import { StreamTransport } from '../../src/transport/stream/stream-transport.ts';
import { LatePairs } from '../kit/late-pair.ts';
import { NativeStream } from '../kit/native-stream.ts';
import { endOptions } from '../kit/stream-pair.ts';
import { OVER_A_STREAM, portConformance } from './port.ts';

const streams = new Map<StreamConnection, NativeStream>();
const pairs = new LatePairs(
  (connect) => {
    const { port1, port2 } = new MessageChannel();
    const [near, far] = [port1, port2].map((port, side) => {
      const stream = new NativeStream(port as MessagePort);
      const connection = connect(side as 0 | 1, stream);
      streams.set(connection, stream);
      stream.connect(connection);
      return connection;
    }) as [StreamConnection, StreamConnection];
    return [near, far];
  },
  (connection, channel, options = {}) => {
    const beside = (streams.get(connection) as NativeStream).beside(channel);
    return new Port((events) => new StreamTransport(connection, channel, { ...endOptions(options), beside }, events));
  },
);

portConformance({
  name: 'stream over a native port',
  ...OVER_A_STREAM,
  sharesMemory: true,
  moves: true,
  late: () => pairs.quiet(),
  pair: (options) => pairs.ports(options),
});

test('stream over a native port: nothing is left that keeps the process', () => {
  for (const connection of streams.keys()) connection.close();
});
