// The other processes of blocking.test.ts: children of `fork`, and who connects. Arguments: what to do, where, and more.
import process from 'node:process';
import { Worker } from 'node:worker_threads';
import { CLOSED, EMPTY, type Port } from '../../src/index.ts';
import { connect, listen, parentPort } from '../../src/process/index.ts';
import { STEP_MS } from '../kit/watchdog.ts';

const [what = '', address = '', ...more] = process.argv.slice(2);
const NUMBERS = 1000;

/** Does what it is told, with its thread blocked in between. */
function obey(port: Port): void {
  for (const value of port.blocking()) {
    if (value === 'close') port.close();
    else if (value === 'exit') {
      for (let i = 0; i < NUMBERS; i++) port.postMessage(i);
      process.exit(7);
    } else if (value === 'throw') throw Object.assign(new RangeError('what it died of'), { code: 'ERR_OWN' });
    else if (value === 'kill') process.kill(process.pid, 'SIGKILL');
    else if (value === 'interrupt') port.interrupt(7);
    else if (value === 'flood') {
      port.postMessage('begins');
      for (let i = 0; i < 40; i++) port.postMessage(String(i).padEnd(100_000, 'y'));
    } else if (value === 'send') for (let i = 0; i < NUMBERS; i++) port.send([i, 'x'.repeat(1000)]);
    else port.postMessage(value);
  }
}

/** Takes nothing until it is told to, by a channel of its own. */
async function lazy(): Promise<void> {
  const port = parentPort<unknown, unknown>({ blocking: true, capacityBytes: 1024 });
  const control = port.link?.channel('control') as Port;
  control.receive();
  let count = 0;
  while (port.receive() !== CLOSED) count++;
  control.postMessage(count);
  await control.flush();
  control.close();
}

/** Listens until it is killed. */
async function serve(): Promise<void> {
  await listen(address, { blocking: true });
  parentPort().postMessage('listens');
}

/** Ends in its own way while it blocks over a connection whose other side reads nothing. */
async function stuck(): Promise<void> {
  const port = await connect(address, { blocking: true, capacityBytes: 1024 });
  await port.ready;
  for (let i = 0; port.send(i, { timeoutMs: 100 }); i++);
  port.postMessage('x'.repeat(1_000_000));
  const [how] = more;
  if (how === 'exit') process.exit(3);
  throw new Error('what it died of');
}

/** Has a thread that blocks, and terminates it. */
async function terminated(): Promise<void> {
  const worker = new Worker(new URL(import.meta.url), { argv: ['blocked', address] });
  const code = await new Promise((resolve) => {
    worker.once('message', () => void worker.terminate().then(resolve));
  });
  console.log('terminated', code);
}
async function blocked(): Promise<void> {
  const { parentPort: native } = await import('node:worker_threads');
  const port = await connect(address, { blocking: true });
  port.postMessage('blocks');
  await port.flush();
  native?.postMessage('soon');
  port.receive();
}

/** Asks, and is answered by one that blocks, as it does itself. */
function pingPong(): void {
  const port = parentPort<number, number>({ blocking: true });
  for (const number of port.blocking()) port.postMessage(number + 1);
}

/** Never comes back to its event loop. */
function loopless(): void {
  const port = parentPort<unknown, unknown>({ blocking: true, capacityBytes: 1024 });
  const untilMs = performance.now() + STEP_MS;
  const wait = (look: () => boolean): void => {
    while (!look()) if (performance.now() > untilMs) process.exit(9);
  };
  let value: unknown = EMPTY;
  wait(() => (value = port.tryReceive()) !== EMPTY);
  wait(() => port.interrupted === 5);
  for (let i = 0; i < NUMBERS; i++) wait(() => port.trySend(`${value} ${i}`));
  wait(() => port.tryReceive() === CLOSED);
  process.exit(port.reason === 'closed' ? 0 : 8);
}

const roles: Record<string, () => unknown> = {
  obey: () => obey(parentPort({ blocking: true })),
  join: async () => obey(await connect(address, { blocking: true })),
  lazy,
  serve,
  stuck,
  terminated,
  blocked,
  pingPong,
  loopless,
};
await roles[what]?.();
