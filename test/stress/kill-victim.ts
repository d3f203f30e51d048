// The process that is killed. It writes down at once what it has read and what was acknowledged to it: what stands there is true however it ends.
// Arguments: how it meets the other side, what it does, by which way, where it writes to (`Ledger`), and the address.
import process from 'node:process';
import { connect, listen, type Port, parentPort } from '../../src/process/index.ts';
import { Ledger, Reading, Writing } from './kill-load.ts';

export type Meeting = 'connect' | 'listen' | 'child';
export type Role = 'writes' | 'reads' | 'both';

const [meeting, role, way, path, address = ''] = process.argv.slice(2) as [Meeting, Role, string, string, string];
const choice = { memory: !['unix', 'tcp', 'pipe'].includes(way) };
const ledger = new Ledger(path);

async function met(): Promise<Port> {
  if (meeting === 'child') return parentPort(choice);
  if (meeting === 'connect') return connect(address, choice);
  const server = await listen(address, choice);
  console.log('listens', server.address);
  for await (const port of server) return port;
  throw new Error('nobody came');
}

const port = await met();
await port.ready;
console.log('way', port.stats().way?.name);
if (role !== 'writes') {
  const reading = new Reading();
  port.on('message', (value: unknown) => {
    const wrong = reading.take(value);
    if (wrong === undefined) ledger.write('read', reading.count);
    else console.log('wrong', wrong);
  });
}
if (role !== 'reads') await new Writing(port, (count) => ledger.write('certain', count)).run();
