// Tries out what the library stands on, on the runtime at hand, and says in a line each what it found.
import type { Worker } from 'node:worker_threads';
import { attach, CLOSED, channel, type Port, spawn } from '../src/index.ts';
import { features } from '../src/process/index.ts';

interface Check {
  readonly name: string;
  /** Answers what it found; throws if the library could not work here. */
  run(): Promise<string> | string;
}

/** A worker that echoes, blocking in between. */
function echo(): { readonly port: Port; readonly worker: Worker } {
  const { port, worker } = spawn(new URL('../examples/workers/echo.js', import.meta.url));
  return { port, worker: worker as Worker };
}

function expect(condition: boolean, otherwise: string): void {
  if (!condition) throw new Error(otherwise);
}

const CHECKS: readonly Check[] = [
  {
    name: 'runtime',
    run() {
      const found = features();
      return `${found.runtime}; blocking ${found.blocking ? 'allowed' : 'forbidden'}; event loops sleep by ${found.eventLoopWait}; peers ${found.probesPeers ? 'are' : 'cannot be'} probed while blocked`;
    },
  },
  {
    name: 'processes',
    run() {
      const { name, why } = features().processWay;
      return why === undefined ? `share ${name}` : `talk over sockets: ${why}`;
    },
  },
  {
    name: 'shared memory',
    run() {
      const { port, remote } = channel();
      const far = attach(remote);
      port.postMessage(new Map([['answer', 42n]]));
      const value = far.tryReceive() as Map<string, bigint>;
      expect(value.get('answer') === 42n, 'a value did not arrive as it was sent');
      far.close();
      return 'a channel within one thread carries values';
    },
  },
  {
    name: 'blocking worker',
    async run() {
      const { port, worker } = echo();
      const start = performance.now();
      port.postMessage('hello');
      expect((await port.receiveAsync()) === 'hello', 'the echo did not come back');
      const took = performance.now() - start;
      port.close();
      await worker.terminate();
      return `started and answered after ${took.toFixed(0)} ms`;
    },
  },
  {
    name: 'death of a peer',
    async run() {
      const { port, worker } = echo();
      port.postMessage('ready?');
      await port.receiveAsync();
      const pending = port.receiveAsync();
      const start = performance.now();
      void worker.terminate();
      expect((await pending) === CLOSED, 'a pending receive was not settled');
      return `noticed after ${(performance.now() - start).toFixed(1)} ms, reason ${await port.closed}`;
    },
  },
];

/** Runs every check; the exit code. */
export async function doctor(): Promise<number> {
  let failures = 0;
  for (const { name, run } of CHECKS) {
    try {
      console.log(`ok    ${name.padEnd(16)} ${await run()}`);
    } catch (error) {
      failures++;
      console.log(`FAIL  ${name.padEnd(16)} ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return failures === 0 ? 0 : 1;
}
