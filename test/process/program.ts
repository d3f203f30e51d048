// A process for the tests of `millrace/process`. Arguments: what to do, where, and more.
import process from 'node:process';
import { createInterface } from 'node:readline';
import type { Port } from '../../src/index.ts';
import { connect, type Listener, listen } from '../../src/process/index.ts';

const [what = '', address = '', ...more] = process.argv.slice(2);

/** Ends this process as it is told. */
function end(port: Port, how: string): void {
  if (how === 'exit') process.exit(7);
  if (how === 'throw') throw Object.assign(new RangeError('what it died of'), { code: 'ERR_OWN' });
  if (how === 'kill') process.kill(process.pid, 'SIGKILL');
  if (how === 'close') port.close();
}

/** Says so many messages and ends. */
async function speak(): Promise<void> {
  const [how = '', count = '0', bytes = '0'] = more;
  const port = await connect(address, { outboxBytes: 2 ** 30 });
  await port.ready;
  const text = 'x'.repeat(Number(bytes));
  for (let i = 0; i < Number(count); i++) port.postMessage([i, text]);
  if (how === 'flush-and-kill') await port.flush();
  end(port, how.replace('flush-and-', ''));
}

/** Listens, and answers until somebody says how to end. */
async function serve(): Promise<void> {
  try {
    const server = await listen(address);
    console.log('won');
    for await (const port of server) {
      port.on('message', (value: unknown) => {
        if (typeof value === 'string' && value.startsWith('end:')) {
          if (value === 'end:close') void server.close();
          else end(port, value.slice(4));
        } else port.postMessage({ pid: process.pid, value });
      });
    }
  } catch (error) {
    console.log((error as { code?: string }).code);
  }
}

/** Closes with time for who has a question under way, as for SIGTERM. */
async function drain(): Promise<void> {
  const server = await listen(address);
  for await (const port of server) {
    port.on('message', async (value: unknown) => {
      const closing = server.close({ drainMs: 60_000, text: 'a new version comes' });
      await new Promise((resolve) => setTimeout(resolve, 20));
      port.postMessage({ answer: value });
      await closing;
      console.log('drained');
    });
  }
}

/** Listens at an address at a moment, both told on standard input, and says what came of it; closes when it is told the next line. */
async function race(): Promise<void> {
  let server: Listener | undefined;
  for await (const line of createInterface({ input: process.stdin })) {
    const [path = '', atMs = ''] = line.split(' ');
    await server?.close();
    server = undefined;
    while (path !== '' && Date.now() < Number(atMs));
    try {
      server = path === '' ? undefined : await listen(path);
      console.log(path === '' ? 'closed' : 'won');
    } catch (error) {
      console.log((error as { code?: string }).code ?? String(error));
    }
  }
}

await { speak, serve, drain, race }[what as 'speak']();
