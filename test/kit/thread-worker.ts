// The other thread of thread.ts: makes a function out of the role's text and calls it.
import process from 'node:process';
import { parentPort, workerData } from 'node:worker_threads';
import * as millrace from '../../src/index.ts';
import * as ring from '../../src/ring/index.ts';
import * as topic from '../../src/topic/index.ts';
import { Gates } from './gate.ts';
import { settleIn } from './neighbours.ts';
import { sleeping } from './sleeping.ts';
import type { Casting, Role, Stage } from './thread.ts';

const { roleText, roleData, gatesMemory, roleRemote, neighbours, ...cast } = workerData as Casting;
const roleOptions = { ...cast.roleOptions, ...sleeping(cast.roleSleep) };
const port = parentPort!;
const gates = new Gates(gatesMemory);
const still = new Int32Array(new SharedArrayBuffer(4));

const held: millrace.Port[] = [];

const stage: Stage = {
  data: roleData,
  port: () => {
    const port = roleRemote === undefined ? millrace.parentPort() : millrace.attach(roleRemote, roleOptions);
    held.push(port);
    return port;
  },
  letGo: () => void held.splice(0),
  millrace,
  ring,
  topic,
  gates,
  pause: (ms) => void Atomics.wait(still, 0, 0, ms),
  say: (value, transfer = []) => port.postMessage({ said: value }, transfer as never),
  load: (url) => import(url),
  compute: (gate) => {
    while (gates.get(gate) === 0);
  },
  hear: () => new Promise((resolve) => port.once('message', resolve)),
  crash: () => {
    throw new Error('a crash that the test asked for');
  },
  exit: () => process.exit(0),
};

// Before the first channel is opened: a module that a test has named.
const { MILLRACE_TEST_FIRST: first } = process.env;
if (first !== undefined) await import(first);
if (neighbours.length > 0) settleIn(neighbours);

const role = new Function(`return (${roleText});`)() as Role;
// A crash must not be turned into a failed promise: the runtime is to see it.
const uncaught = (error: unknown): boolean => error instanceof Error && error.message.startsWith('a crash that');
try {
  const result = role(stage);
  if (result instanceof Promise) {
    result.then(
      (value) => port.postMessage({ done: value }),
      (error) => {
        if (uncaught(error)) setTimeout(() => stage.crash(), 0);
        else port.postMessage({ failed: String((error as Error)?.stack ?? error) });
      },
    );
  } else port.postMessage({ done: result });
} catch (error) {
  if (uncaught(error)) throw error;
  port.postMessage({ failed: String((error as Error)?.stack ?? error) });
}
