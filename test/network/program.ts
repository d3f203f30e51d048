// A process for the tests of `millrace/net`. Arguments: what to do, where, and more.
import process from 'node:process';
import type { Port } from '../../src/index.ts';
import { connect, listen } from '../../src/net/index.ts';

const [what = '', address = '', ms = '0', how = ''] = process.argv.slice(2);
const OPTIONS = { pingMs: 100, resumeMs: 1000 };

/** Blocks for a while as soon as it is told to, and answers all it was told meanwhile. */
function answer(port: Port): void {
  port.on('message', (value: unknown) => {
    if (value === 'block') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Number(ms));
    else port.postMessage({ answer: value });
  });
}

if (what === 'answer') answer(await connect(address, OPTIONS));
if (what === 'serve') {
  const server = await listen(address, OPTIONS);
  console.log(server.address);
  for await (const port of server) answer(port);
}
if (what === 'say' || what === 'kill') {
  const port = await connect(address);
  for (let i = 0; i < 100; i++) port.postMessage(i);
  if (what === 'say') port.close();
  else {
    await port.flush();
    process.kill(process.pid, 'SIGKILL');
  }
}
/** Says more than a system takes at once, while it is told of it, and has nothing else to do. */
if (what === 'much') {
  const port = await connect(address);
  for (let i = 0; i < Number(ms); i++) port.postMessage(new Uint8Array(50_000).fill(i));
  port.close();
}
/** Ends its connection, and exits the moment that this is done. */
if (what === 'close-link') {
  const port = await connect(address, { blocking: how === 'blocking' });
  // Over the line that it has by then.
  if (Number(ms) > 1) {
    const back = new Promise<void>((resolve) => {
      // It may be lost and found between two looks.
      port.link.addEventListener('status', ({ data }) => data === 'open' && resolve());
    });
    const held = setInterval(() => {}, 1000);
    port.postMessage('cut');
    await back;
    clearInterval(held);
  }
  for (let i = 0; i < Number(ms); i++) port.postMessage(new Uint8Array(10_000).fill(i));
  await port.link.close();
  process.exit(0);
}
/** Says its last words while there is no line, and has nothing else to do. */
if (what === 'last') {
  const port = await connect(address);
  port.postMessage('ready');
  await port.receiveAsync();
  while (port.link.status === 'open') await new Promise((resolve) => setTimeout(resolve, 1));
  port.postMessage('last');
  port.close();
}

/** Does what it is told, with its thread blocked all the time. */
function obey(port: Port): void {
  for (const value of port.blocking()) {
    if (value === 'exit') {
      for (let i = 0; i < 1000; i++) port.postMessage(i);
      process.exit(7);
    }
    port.postMessage(value);
  }
  const { name } = Object(port.error) as { name?: string };
  console.log(`${port.reason} ${name}`);
}
if (what === 'obey') obey(await connect(address, { blocking: true, resumeMs: Number(ms) || undefined }));
if (what === 'serve-blocked') {
  const server = await listen(address, { blocking: true });
  console.log(server.address);
  for await (const port of server) {
    obey(port);
    break;
  }
  await server.close();
}
/** Both sides of a connection of its own end in the same moment; nothing is to hold it behind that. */
if (what === 'both-end') {
  const server = await listen(address);
  const connected = connect(server.address, { blocking: ms === 'blocking' });
  const [{ value: far }, near] = await Promise.all([server[Symbol.asyncIterator]().next(), connected]);
  near.postMessage('here');
  await (far as Port).receiveAsync();
  await Promise.all([near.link.close(), server.close()]);
}
