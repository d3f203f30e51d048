// A child of `fork` for memory.test.ts. Argument: what to do with its port.
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { CLOSED } from '../../src/index.ts';
import { connect, type Port, type PortLink, parentPort } from '../../src/process/index.ts';

const [what = '', address = ''] = process.argv.slice(2);
const port: Port = parentPort();
await port.ready;

function echoBlocked(): void {
  for (let value = port.receive(); value !== CLOSED; value = port.receive()) port.send(value);
}
/** As many as go in, and then some more. */
function flood(from: number, count: number): void {
  for (let i = from; i < from + count; i++) port.postMessage({ i, bytes: new Uint8Array(1000).fill(i) });
}

if (what === 'echo-blocked') echoBlocked();
else if (what === 'echo') {
  port.on('message', (value: unknown) => port.postMessage(value));
} else if (what === 'channels') {
  for await (const offer of (port.link as PortLink).channels) {
    const own = offer.accept({ capacityBytes: 16 << 10 });
    own.on('message', (value: unknown) => own.postMessage(value));
  }
} else if (what === 'kill-after') {
  for (let i = 0; i < 100; i++) port.send(i);
  process.kill(process.pid, 'SIGKILL');
} else if (what === 'killed-in-receive') {
  port.send('asleep');
  port.receive();
} else if (what === 'flood-and-exit') {
  flood(0, 2000);
  process.exit(9);
} else if (what === 'flood-and-close') {
  flood(0, 2000);
  port.close();
} else if (what === 'spin') {
  port.send('spins');
  for (;;);
} else if (what === 'wakes') {
  // Each time the other side has gone to sleep.
  for (let value = await port.receiveAsync(); value !== CLOSED; value = await port.receiveAsync()) {
    await sleep(5);
    port.postMessage(value);
  }
} else if (what === 'stranger') {
  const other = await connect(address);
  await other.ready;
  other.send((other.link as PortLink).way?.name);
  port.send('connected');
  port.receive();
}
