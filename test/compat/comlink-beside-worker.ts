// The other thread of comlink-beside.test.ts: exposes at itself, or at each port that it is sent.
import { parentPort, workerData } from 'node:worker_threads';
import type { Endpoint, NodeEndpoint } from '../../src/compat/comlink.ts';
import { attach, type RemoteHandle } from '../../src/index.ts';
import { type LibraryName, library } from './comlink-libraries.ts';
import { makeApi, setHandlers } from './comlink-program.ts';

export interface WorkerTask {
  readonly library: LibraryName;
  /** Exposes at the worker itself, and not at what it is sent. */
  readonly itself: boolean;
}
export interface WorkerMessage {
  readonly port?: MessagePort;
  readonly remote?: RemoteHandle;
}

const task = workerData as WorkerTask;
const { C, nodeEndpoint } = await library(task.library);
setHandlers(C);
if (task.itself) C.expose(makeApi(C), nodeEndpoint(parentPort as unknown as NodeEndpoint));
else {
  parentPort?.on('message', ({ port, remote }: WorkerMessage) => {
    C.expose(makeApi(C), (remote === undefined ? port : attach(remote)) as Endpoint);
  });
}
