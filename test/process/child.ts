// A child of `fork` for fork.test.ts: does what it is told, by its arguments or by a message.
import { spawn } from 'node:child_process';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { connect, fork, type PortLink, parentPort } from '../../src/process/index.ts';
import { inOneFile } from '../kit/in-one-file.ts';

const [what = ''] = process.argv.slice(2);
const self = fileURLToPath(import.meta.url);

function whatThrows(call: () => unknown): string {
  try {
    call();
    return 'nothing';
  } catch (error) {
    return (error as { code?: string }).code ?? String(error);
  }
}

/** What it starts has neither its port nor its pipe, unless it forks. */
async function below(): Promise<unknown> {
  const args = process.versions['deno'] === undefined ? [self, 'alone'] : ['run', '-A', self, 'alone'];
  const alone = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const said = await new Promise((resolve) => alone.stdout.once('data', (text) => resolve(String(text).trim())));
  const { port, child } = fork(self);
  port.postMessage('echo');
  const echo = await port.receiveAsync();
  port.close();
  await new Promise((resolve) => child.once('exit', resolve));
  return { said, echo };
}

if (what === 'alone') console.log(whatThrows(parentPort));
else if (what === 'offers') {
  // Nothing else keeps it.
  for await (const offer of (parentPort().link as PortLink).channels) {
    offer.accept().postMessage(offer.name);
    break;
  }
} else if (what === 'never') setTimeout(() => process.exit(3), 20);
else {
  const port = parentPort();
  if (parentPort() !== port) throw new Error('another port');
  port.on('message', (value: unknown) => {
    if (value === 'exit') {
      for (let i = 0; i < 50; i++) port.postMessage(i);
      process.exit(7);
    }
    if (value === 'throw') throw Object.assign(new RangeError('what it died of'), { code: 'ERR_OWN' });
    if (value === 'kill') process.kill(process.pid, 'SIGKILL');
    if (value === 'abort') process.kill(process.pid, 'SIGSEGV');
    if (value === 'return') port.close();
    if (value === 'grandchild') void below().then((told) => port.postMessage(told));
    if (value === 'thread') {
      const worker = new Worker(inOneFile(new URL('./child-thread.js', import.meta.url)));
      worker.once('message', (text) => port.postMessage(text));
    }
    if (value === 'own pipe') {
      const said = connect('pipe:3').catch((error: { code?: string }) => error.code);
      void said.then((told) => port.postMessage(told));
    }
    if (value === 'echo') port.postMessage(value);
    if (typeof value === 'object') port.postMessage(value);
  });
}
