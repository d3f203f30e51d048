// The port suite over connections of `millrace/process`, over their sockets.
// watchdog: 300 s
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { after } from 'node:test';
import { Connected } from '../kit/connected.ts';
import { OVER_A_STREAM, portConformance } from './port.ts';

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
