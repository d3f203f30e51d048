// The other process of process-soak.ts: says back what comes, on every channel that is opened, until its port ends.

import { type Port, type PortLink, parentPort } from '../../src/process/index.ts';
import { collect } from '../kit/collect.ts';

function echo(port: Port): void {
  port.on('message', (value: unknown) => port.postMessage(value));
}

setInterval(collect, 2000).unref();
const port = parentPort();
echo(port);
for await (const offer of (port.link as PortLink).channels) echo(offer.accept());
