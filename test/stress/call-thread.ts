// A thread of the fault tests of calls (call-roles.ts). What it has seen it reports by its native port when its channel is over.
import { parentPort as native, workerData } from 'node:worker_threads';
import { parentPort } from '../../src/index.ts';
import { expose } from '../../src/rpc/index.ts';
import { Gates } from '../kit/gate.ts';
import { leftOf, Node, Victim } from './call-roles.ts';

const { name, memory } = workerData as { readonly name?: string; readonly memory: SharedArrayBuffer };
const port = parentPort();
if (name !== undefined) expose(new Node(name), port);
else {
  const victim = new Victim(port, new Gates(memory));
  expose(victim, port);
  port.once('close', () => {
    // Behind what settles because of it.
    setTimeout(() => native?.postMessage({ seen: victim.seen, left: leftOf(port) }), 0);
  });
}
