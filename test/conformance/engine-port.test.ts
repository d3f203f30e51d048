// The port suite over servers between programs, NATS and Redis: no program can tell.
// asked for: node-22, node-24
// watchdog: 300 s
import { after } from 'node:test';
import type { Engine } from '../../src/engine/engine.ts';
import type { ChannelOptions, Port } from '../../src/index.ts';
import { Connected } from '../kit/connected.ts';
import { overEngines } from '../kit/engines.ts';
import { within } from '../kit/watchdog.ts';
import { OVER_A_STREAM, portConformance } from './port.ts';

overEngines((way) => {
  let opened: Promise<Engine[]> | undefined;
  let count = 0;
  const connected = new Connected(async (options: ChannelOptions) => {
    opened ??= way.open(2);
    const [here, there] = (await opened) as [Engine, Engine];
    const name = `pair-${count++}`;
    const { capacityBytes, maxMessageBytes } = options;
    const link = { capacityBytes, maxMessageBytes };
    const server = await here.listen(name, { ...options, link });
    const taken = server[Symbol.asyncIterator]().next();
    const b = await there.connect(name, { ...options, link });
    const a = (await within('a connection', taken)).value as Port;
    return { a, b, server };
  });
  after(() => connected.close());
  portConformance({
    name: `through ${way.name}`,
    ...OVER_A_STREAM,
    late: () => connected.quiet(),
    pair: (options) => connected.pair(options),
  });
});
