// The port suite over connections of `millrace/process`, over their sockets.
// watchdog: 300 s
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { after } from 'node:test';
import { Connected, processPair } from '../kit/connected.ts';
import { OVER_A_STREAM, portConformance } from './port.ts';

const PATH = join(tmpdir(), `millrace-port-${process.pid}.sock`);
const WORLDS: Readonly<Record<string, readonly [address: string, blocks: boolean]>> = {
  'connected by TCP': ['tcp:127.0.0.1:0', false],
  'connected by a unix socket': [PATH, false],
  'connected by TCP, both sides may block': ['tcp:127.0.0.1:0', true],
  'connected by a unix socket, both sides may block': [PATH, true],
};
for (const [name, [address, blocks]] of Object.entries(WORLDS)) {
  const connected = new Connected(processPair(address, { blocking: blocks }));
  after(() => connected.close());
  portConformance({
    name,
    ...OVER_A_STREAM,
    blocks,
    late: () => connected.quiet(),
    pair: (options) => connected.pair(options),
  });
}
