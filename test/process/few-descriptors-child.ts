// A child of `fork`, or one that connects to an address, for few-descriptors.test.ts: takes every descriptor that it may have, and goes on.
import { closeSync, openSync } from 'node:fs';
import process from 'node:process';
import { CLOSED } from '../../src/index.ts';
import { connect, type Port, type PortLink, parentPort } from '../../src/process/index.ts';

const [address] = process.argv.slice(2);
const port: Port = address === undefined ? parentPort() : await connect(address);
const link = port.link as PortLink;
await port.ready;

// Deno takes some when it first looks for a signal, and ends itself where there are none.
const ignored = (): void => {};
process.on('SIGUSR2', ignored);
process.off('SIGUSR2', ignored);

const taken: number[] = [];
/** All that there are; how many. */
function fill(): number {
  try {
    for (;;) taken.push(openSync('/dev/null', 'r'));
  } catch (error) {
    if ((error as { code?: string }).code !== 'EMFILE') throw error;
  }
  return taken.length;
}
async function count(of: Port): Promise<number> {
  let all = 0;
  for (let value = await of.receiveAsync(); value !== CLOSED; value = await of.receiveAsync()) all++;
  return all;
}

async function accept(): Promise<void> {
  for await (const offer of link.channels) {
    const own = offer.accept({ capacityBytes: 16 << 10 });
    if (offer.name === 'counted') void count(own).then((all) => port.postMessage(all));
    else own.on('message', (value: unknown) => own.postMessage(value));
  }
}
void accept();

port.on('message', async (what: unknown) => {
  if (what === 'fill') port.postMessage(fill());
  if (what === 'free') {
    for (const each of taken.splice(0)) closeSync(each);
    port.postMessage('free');
  }
  if (what === 'leave') {
    const own = link.channel('left', { capacityBytes: 1024 });
    for (let i = 0; i < 30; i++) own.postMessage([i, 'x'.repeat(200)]);
    own.close();
  }
  if (Array.isArray(what)) {
    const [name, value] = what as [string, unknown];
    const own = link.channel(name, { capacityBytes: 16 << 10 });
    own.postMessage(value);
    port.postMessage([await own.receiveAsync(), own.stats().way?.name]);
    own.close();
  }
});
