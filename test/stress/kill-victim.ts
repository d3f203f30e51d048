// The process that is killed. It writes down at once what it has read and what was acknowledged to it: what stands there is true however it ends.
// Argument: its lines, each with how it meets the other side, what it does, by which way, where it writes to (`Ledger`), and the address.
import process from 'node:process';
import { connect, listen, type Port, parentPort } from '../../src/process/index.ts';
import { Ledger, Reading, Writing } from './kill-load.ts';

export type Meeting = 'connect' | 'listen' | 'child';
export type Role = 'writes' | 'reads' | 'both';

interface Line {
  readonly meeting: Meeting;
  readonly role: Role;
  readonly way: string;
  readonly path: string;
  readonly address: string;
}

async function met({ meeting, way, address }: Line): Promise<Port> {
  const choice = { memory: !['unix', 'tcp', 'pipe'].includes(way) };
  if (meeting === 'child') return parentPort(choice);
  if (meeting === 'connect') return connect(address, choice);
  const server = await listen(address, choice);
  console.log(way, 'listens', server.address);
  for await (const port of server) return port;
  throw new Error('nobody came');
}

async function work(line: Line): Promise<void> {
  const { role, way, path } = line;
  const ledger = new Ledger(path);
  const port = await met(line);
  await port.ready;
  console.log(way, 'way', port.stats().way?.name);
  if (role !== 'writes') {
    const reading = new Reading();
    port.on('message', (value: unknown) => {
      const wrong = reading.take(value);
      if (wrong === undefined) ledger.write('read', reading.count);
      else console.log(way, 'wrong', wrong);
    });
  }
  if (role !== 'reads') await new Writing(port, (count) => ledger.write('certain', count)).run();
}

await Promise.all((JSON.parse(process.argv[2] as string) as Line[]).map(work));
