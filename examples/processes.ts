// Processes: a child listens, this program connects, asks, and kills it in the middle of a question. Nobody hangs, and its address is free again.
import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { CLOSED } from '../src/index.ts';
import { connect, listen, type Port } from '../src/process/index.ts';

const self = fileURLToPath(import.meta.url);
const [role, address = join(tmpdir(), `millrace-example-${process.pid}.sock`)] = process.argv.slice(2);

async function serve(): Promise<void> {
  const server = await listen(address);
  console.log('listening');
  for await (const port of server) {
    port.on('message', (value: unknown) => {
      if (typeof value === 'number') port.postMessage({ pid: process.pid, double: value * 2 });
    });
  }
}

/** The child listens as soon as it says so. */
async function started(): Promise<{ readonly port: Port; kill(): void }> {
  // Whatever runs this program runs the child: Node, Bun, Deno.
  const args = process.versions['deno'] === undefined ? [self] : ['run', '-A', self];
  const child = spawn(process.execPath, [...args, 'serve', address], { stdio: ['ignore', 'pipe', 'inherit'] });
  await new Promise((resolve) => child.stdout.once('data', resolve));
  return { port: await connect(address), kill: () => void child.kill('SIGKILL') };
}

if (role === 'serve') await serve();
else {
  for (const round of [1, 2]) {
    const { port, kill } = await started();
    port.postMessage(round * 21);
    const answer = (await port.receiveAsync()) as { double: number };
    console.log(`round ${round}: the child says ${answer.double}`);
    const pending = port.receiveAsync();
    const flushed = port.flush().then(
      () => 'taken',
      (error: Error) => error.name,
    );
    port.postMessage('a question without an answer');
    const before = performance.now();
    kill();
    const value = await pending;
    const took = (performance.now() - before).toFixed(1);
    console.log(`killed: ${value === CLOSED ? 'CLOSED' : value}, ${port.reason}, ${await flushed}, after ${took} ms`);
  }
  rmSync(address, { force: true });
}
