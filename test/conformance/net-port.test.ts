// The port suite over connections of `millrace/net`, also while their lines are cut all the time: no program can tell.
// watchdog: 600 s
import { after } from 'node:test';
import { Connected, netPair } from '../kit/connected.ts';
import { OVER_A_STREAM, portConformance } from './port.ts';

const WORLDS: Readonly<Record<string, readonly [address: string, cutMs?: number | undefined, blocking?: boolean]>> = {
  'connected by a network': ['tcp:127.0.0.1:0'],
  'connected by a network that breaks all the time': ['tcp:127.0.0.1:0', 20],
  'connected by a network, sealed': ['tls:127.0.0.1:0'],
  'connected by a sealed network that breaks all the time': ['tls:127.0.0.1:0', 20],
  'connected by a WebSocket': ['ws://127.0.0.1:0/'],
  'connected by WebSockets that break all the time': ['ws://127.0.0.1:0/', 20],
  'connected by a network, both sides may block': ['tcp:127.0.0.1:0', undefined, true],
  'connected by a sealed network that breaks all the time, both sides may block': ['tls:127.0.0.1:0', 20, true],
  'connected by a WebSocket, both sides may block': ['ws://127.0.0.1:0/', undefined, true],
};
for (const [name, [address, cutMs, blocking = false]] of Object.entries(WORLDS)) {
  const connected = new Connected(netPair(address, cutMs, blocking));
  after(() => connected.close());
  portConformance({
    name,
    ...OVER_A_STREAM,
    // Where the thread blocks that cuts the lines none would come in their place.
    blocks: blocking && cutMs === undefined,
    late: () => connected.quiet(),
    pair: (options) => connected.pair(options),
  });
}
