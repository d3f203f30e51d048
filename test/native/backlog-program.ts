// A process that closes many channels of one connection, each with a backlog. Arguments: address, how many, and a file to make when all are closed.
import { writeFileSync } from 'node:fs';
import process from 'node:process';
import { connect } from '../../src/process/index.ts';

const [address = '', count = '0', closed = ''] = process.argv.slice(2);
const main = await connect(address);
const options = { capacityBytes: 1024 };
const ports = Array.from({ length: Number(count) }, (_, i) => main.link!.channel(`backlog ${i}`, options));
await Promise.all([main, ...ports].map((port) => port.ready));
main.postMessage(main.link?.way?.name);
await main.flush();
for (const port of ports) {
  for (let i = 0; i < 10; i++) port.postMessage([i, 'x'.repeat(500)]);
  port.close();
}
main.close();
writeFileSync(closed, '');
