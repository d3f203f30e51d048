// A program of node:cluster for cluster.test.ts: its primary and its workers. Argument: what to do.
import cluster from 'node:cluster';
import { createServer, get, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { CLOSED } from '../../src/index.ts';
import { clusterFork, type ForkedWorker, fork, parentPort } from '../../src/process/index.ts';
import { inOneFile } from '../kit/in-one-file.ts';

const [what = ''] = process.argv.slice(2);
const CHILD = fileURLToPath(inOneFile(new URL('./child.js', import.meta.url)));

function whatThrows(call: () => unknown): string {
  try {
    call();
    return 'nothing';
  } catch (error) {
    return (error as { code?: string }).code ?? String(error);
  }
}
const exitOf = ({ worker }: Pick<ForkedWorker, 'worker'>): Promise<unknown> =>
  new Promise((resolve) => worker.once('exit', (code, signal) => resolve(code ?? signal)));

function work(): void {
  const port = parentPort();
  let server: Server | undefined;
  port.on('message', async (value: unknown) => {
    if (value === 'exit') process.exit(7);
    else if (value === 'throw') throw new RangeError('what it died of');
    else if (value === 'kill') process.kill(process.pid, 'SIGKILL');
    else if (value === 'leave') {
      // On Bun nobody else does.
      server?.close();
      port.close();
      cluster.worker?.disconnect();
    } else if (value === 'fork') {
      const { port: below } = fork(CHILD);
      below.postMessage('echo');
      port.postMessage([await below.receiveAsync(), whatThrows(() => clusterFork())]);
      below.close();
    } else if (value === 'serve') {
      const served = createServer((_, response) => response.end(`pid ${process.pid}`));
      served.listen(0, '127.0.0.1', () => port.postMessage((served.address() as AddressInfo).port));
      server = served;
    } else port.postMessage([process.pid, value]);
  });
}

/** Two workers at a time, with all that a cluster has beside their ports. */
async function talk(): Promise<void> {
  const workers = [clusterFork({ env: { MINE: 'yes' } }), clusterFork()];
  for (const { port, worker } of workers) {
    port.postMessage({ text: 'x'.repeat(300_000) });
    const [pid, value] = (await port.receiveAsync()) as [number, { text: string }];
    console.log(pid === worker.process.pid, value.text.length, worker.isConnected());
  }
  const [{ port }] = workers as [ForkedWorker];
  port.postMessage('serve');
  const number = (await port.receiveAsync()) as number;
  const answer = await new Promise((resolve) => {
    get({ port: number, host: '127.0.0.1', agent: false }, (response) => {
      response.setEncoding('utf8').on('data', resolve);
    });
  });
  console.log(String(answer).startsWith('pid '));
  const exits = workers.map(exitOf);
  for (const it of workers) it.port.postMessage('leave');
  console.log(await Promise.all(exits), await Promise.all(workers.map((it) => it.port.closed)));
}

async function ends(): Promise<void> {
  for (const how of ['exit', 'throw', 'kill']) {
    const { port } = clusterFork();
    port.postMessage(how);
    const last = await port.receiveAsync();
    const { code, signal } = port.link?.exit ?? {};
    console.log(how, last === CLOSED, port.reason, code, signal, (port.error as Error | undefined)?.message);
  }
}

/** A worker that starts children; a worker of the runtime's own, which has no pipe. */
async function others(): Promise<void> {
  const forked = clusterFork();
  forked.port.postMessage('fork');
  console.log(...((await forked.port.receiveAsync()) as unknown[]));
  forked.port.postMessage('leave');
  const plain = cluster.fork({ PLAIN: '1' });
  const said = new Promise((resolve) => plain.once('message', resolve));
  console.log(
    await said,
    plain.process.stdio.length,
    cluster.settings.stdio,
    whatThrows(() => clusterFork({ foo: 1 } as object)),
  );
  plain.disconnect();
}

if (cluster.isPrimary) await { talk, ends, others }[what as 'talk']();
else if (process.env['PLAIN'] === '1') process.send?.(whatThrows(parentPort));
else work();
