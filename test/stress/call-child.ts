// A child process of call-kills.test.ts and of test/process/calls.test.ts (call-roles.ts). Arguments: whether it blocks, how it is reached, and where.
import { createServer, type Socket, connect as toSocket } from 'node:net';
import process from 'node:process';
import type { Port } from '../../src/index.ts';
import { connect, listen, parentPort } from '../../src/process/index.ts';
import { expose } from '../../src/rpc/index.ts';
import { Gates } from '../kit/gate.ts';
import { leftOf, Victim } from './call-roles.ts';

const [, , blocks, way, address = ''] = process.argv;
const options = { blocking: blocks === 'blocks' };
/** By it a test hears of the rest. */
const parent = parentPort(options);

function serve(port: Port): void {
  const victim = new Victim(port, new Gates());
  expose(victim, port);
  if (port === parent) return;
  port.once('close', () => {
    // Behind what settles because of it.
    setTimeout(() => parent.postMessage({ seen: victim.seen, left: leftOf(port) }), 0);
  });
}

/** What goes between two sockets goes through here, until it is cut. */
async function cuttable(port: number): Promise<string> {
  const sockets: Socket[] = [];
  const between = createServer((near) => {
    const far = toSocket(port, '127.0.0.1');
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.setNoDelay(true);
      from.on('error', () => {});
      from.pipe(to);
    }
    sockets.push(near, far);
  });
  parent.on('message', () => {
    for (const socket of sockets) socket.destroy();
    between.close();
  });
  await new Promise<void>((resolve) => between.listen(0, '127.0.0.1', resolve));
  return `tcp:127.0.0.1:${(between.address() as { port: number }).port}`;
}

async function reach(): Promise<void> {
  if (way === 'connects') {
    serve(await connect(address, options));
    return;
  }
  const server = await listen(address, options);
  const [, port] = /:(\d+)$/.exec(server.address) ?? [];
  parent.postMessage(way === 'cut' ? await cuttable(Number(port)) : server.address);
  for await (const each of server) serve(each);
}

// Not awaited: on Bun an exception is none that ends a process while its main module still waits for something.
if (way === undefined) serve(parent);
else void reach();
