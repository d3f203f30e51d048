// The port suite over servers between programs, NATS and Redis: no program can tell.
// asked for: node-22, node-24
// watchdog: 300 s
import { after } from 'node:test';
import type { Engine } from '../../src/engine/engine.ts';
import type { ChannelOptions, Port } from '../../src/index.ts';
import { Connected } from '../kit/connected.ts';
import { EngineServer, overEngines } from '../kit/engines.ts';
import { within } from '../kit/watchdog.ts';
import { OVER_A_STREAM, portConformance } from './port.ts';

overEngines((way) => {
  let opened: Promise<readonly [EngineServer, Engine, Engine]> | undefined;
  let count = 0;
  const open = async (): Promise<readonly [EngineServer, Engine, Engine]> => {
    const server = await EngineServer.start(way.kind);
    return [server, await way.open(server), await way.open(server)];
  };
  const connected = new Connected(async (options: ChannelOptions) => {
    opened ??= open();
    const [, here, there] = await opened;
    const name = `pair-${count++}`;
    const { capacityBytes, maxMessageBytes } = options;
    const link = { capacityBytes, maxMessageBytes };
    const server = await here.listen(name, { ...options, link });
    const taken = server[Symbol.asyncIterator]().next();
    const b = await there.connect(name, { ...options, link });
    const a = (await within('a connection', taken)).value as Port;
    return { a, b, server };
  });
  after(async () => {
    connected.close();
    if (opened === undefined) return;
    const [server, here, there] = await opened;
    await Promise.all([here.close(), there.close()]);
    await server.stop();
  });
  portConformance({
    name: `through ${way.name}`,
    ...OVER_A_STREAM,
    late: () => connected.quiet(),
    pair: (options) => connected.pair(options),
  });
});
