// `npm run demo:machines`: a session over a WebSocket whose line is cut again and again, and, with the servers that are here (redis-server, nats-server), a queue
// one of whose workers is killed at its job. Nothing is lost, and it is counted. `-- --all`: a server that is not here is a failure.
// runtimes: node
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, connect as dial, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import * as nats from '../src/nats/index.ts';
import { connect, listen } from '../src/net/index.ts';
import * as redis from '../src/redis/index.ts';
import { bold, dim, green, heading, red, say } from './screen.ts';

type Kind = 'nats' | 'redis';
const DOORS = { nats, redis };

const MESSAGES = 10_000;
const CUTS = 5;
const JOBS = 12;
const ACK_MS = 1000;

// ---- a worker of the queue -----------------------------------------------------------------------------------------

async function work(kind: Kind, url: string): Promise<void> {
  const engine = await DOORS[kind].open(url);
  const queue = await engine.queue<number>('demo', { ackMs: ACK_MS });
  queue.work(async (job, { attempt }) => {
    process.send?.({ took: job, attempt });
    await new Promise((resolve) => setTimeout(resolve, 100));
    process.send?.({ did: job, attempt });
  });
}

// ---- a line that is cut ----------------------------------------------------------------------------------------------

/** Something in the way, as a mobile network is. */
async function inTheWay(to: number): Promise<{ port: number; cut(): void; close(): void }> {
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = dial(to, '127.0.0.1');
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.on('error', () => {}).on('close', () => other.destroy());
      one.pipe(other);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  return {
    port: (server.address() as { port: number }).port,
    cut,
    close: () => {
      cut();
      server.close();
    },
  };
}

async function session(): Promise<void> {
  heading('A session over a WebSocket whose line is cut');
  const server = await listen('ws://127.0.0.1:0/');
  void (async () => {
    for await (const client of server) client.onmessage = ({ data }) => client.postMessage(data);
  })();
  const url = new URL(server.address);
  const way = await inTheWay(Number(url.port));
  url.port = String(way.port);
  const port = await connect<number, number>(url.href);
  let lines = 1;
  port.link?.addEventListener('status', ({ data }) => {
    if (data === 'reconnecting') say(red(`line ${lines} is cut`) + dim(`, ${heard} of ${MESSAGES} messages are back`));
    else if (data === 'open') say(green(`line ${++lines} goes on`));
  });
  let heard = 0;
  const start = performance.now();
  const back = (async () => {
    for (; heard < MESSAGES; heard++) {
      const value = await port.receiveAsync();
      if (value !== heard) throw new Error(`${String(value)} came in the place of ${heard}`);
      if (heard % Math.ceil(MESSAGES / CUTS) === 1000) way.cut();
    }
  })();
  for (let i = 0; i < MESSAGES; i++) {
    port.postMessage(i);
    if (port.full) await port.drained();
  }
  await back;
  say(
    bold(`${MESSAGES.toLocaleString('en')} messages there and back, in order, none lost, none doubled`) +
      dim(` over ${lines} lines in ${(performance.now() - start).toFixed(0)} ms`),
  );
  await port.link?.close();
  await server.close();
  way.close();
}

// ---- a queue, and a worker that is killed ------------------------------------------------------------------------------

const READY = /Server is ready|Ready to accept connections/;

async function started(kind: Kind): Promise<{ url: string; stop(): Promise<void> } | undefined> {
  if (spawnSync(`${kind}-server`, ['--version']).error !== undefined) return undefined;
  const free = createServer();
  await new Promise<void>((resolve) => free.listen(0, '127.0.0.1', resolve));
  const { port } = free.address() as { port: number };
  await new Promise((resolve) => free.close(resolve));
  const folder = mkdtempSync(join(tmpdir(), 'millrace-demo-'));
  const options = {
    nats: ['-a', '127.0.0.1', '-p', `${port}`, '-js', '-sd', folder],
    redis: ['--bind', '127.0.0.1', '--port', `${port}`, '--dir', folder, '--appendonly', 'yes'],
  };
  const server = spawn(`${kind}-server`, options[kind]);
  await new Promise<void>((resolve, reject) => {
    server.once('exit', (code) => reject(new Error(`${kind}-server has ended with ${code}`)));
    const heard = (text: Buffer): void => {
      if (READY.test(String(text))) resolve();
    };
    server.stdout.on('data', heard);
    server.stderr.on('data', heard);
  });
  return {
    url: `${kind}://127.0.0.1:${port}`,
    async stop() {
      // It is to keep nothing.
      const gone = once(server, 'exit');
      server.kill('SIGKILL');
      await gone;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function queue(kind: Kind): Promise<void> {
  heading(`A queue on ${kind}, and a worker that is killed at its job`);
  const server = await started(kind);
  if (server === undefined) {
    if (process.argv.includes('--all')) throw new Error(`there is no ${kind}-server here`);
    say(dim(`there is no ${kind}-server here`));
    return;
  }
  const engine = await DOORS[kind].open(server.url);
  const jobs = await engine.queue<number>('demo', { ackMs: ACK_MS });
  for (let job = 1; job <= JOBS; job++) await jobs.put(job);
  const done = new Map<number, number>();
  const workers: ChildProcess[] = [];
  let killed = false;
  const all = new Promise<void>((resolve, reject) => {
    for (const name of ['Ada', 'Bela', 'Cleo']) {
      const worker = spawn(
        process.execPath,
        [fileURLToPath(import.meta.url), 'work', kind, (server as { url: string }).url],
        {
          stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
        },
      );
      workers.push(worker);
      worker.once('exit', (code) => {
        if (code !== null && code !== 0) reject(new Error(`${name} has ended with ${code}`));
      });
      const tell = (text: string): void => say(`${bold(name.padEnd(6))}${text}`);
      worker.on('message', ({ took, did, attempt }: { took?: number; did?: number; attempt: number }) => {
        if (took !== undefined && !killed && took > JOBS / 3) {
          killed = true;
          tell(red(`is killed at job ${took}: kill -9 ${worker.pid}`));
          worker.kill('SIGKILL');
        }
        if (did === undefined) return;
        done.set(did, (done.get(did) ?? 0) + 1);
        tell(
          `${green(`job ${did}`)}${attempt > 1 ? dim(`, at the ${attempt}nd try: nobody had said that it was done`) : ''}`,
        );
        if (done.size === JOBS) resolve();
      });
    }
  });
  await all;
  const twice = [...done.values()].filter((times) => times > 1).length;
  say(bold(`${done.size} of ${JOBS} jobs are done`) + dim(`, ${twice} of them twice`));
  for (const worker of workers) {
    if (worker.exitCode !== null || worker.signalCode !== null) continue;
    worker.kill();
    await once(worker, 'exit');
  }
  await jobs.close();
  await engine.close();
  await server.stop();
}

if (process.argv[2] === 'work') await work(process.argv[3] as Kind, process.argv[4] as string);
else {
  await session();
  for (const kind of ['redis', 'nats'] as const) await queue(kind);
}
