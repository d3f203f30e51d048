// A process that has a hub: whoever connects to its address takes part.
import process from 'node:process';
import { Hub } from '../../src/hub/index.ts';
import { listen } from '../../src/process/index.ts';

const [address] = process.argv.slice(2) as [string];
const hub = new Hub();
const listener = await listen(address);
console.log('Hub is ready');
for await (const port of listener) hub.join(port);
