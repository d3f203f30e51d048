// A worker of node:cluster with a port to it.
import { UsageError } from '../errors.ts';
import type { Port } from '../port/port.ts';
import { ownCarrier } from '../transport/process/carrier.ts';
import { pipeTo } from '../transport/process/child.ts';
import { startWorker, type Worker } from '../transport/process/worker.ts';
import { type ParentPortOptions, PIPE, portTo } from './fork.ts';
import { resolveChoice } from './options.ts';

export interface ClusterForkOptions extends ParentPortOptions {
  /** What `cluster.fork` takes: more for the worker's environment. */
  readonly env?: Readonly<Record<string, unknown>> | undefined;
}

export interface ForkedWorker<In = unknown, Out = unknown> {
  readonly port: Port<In, Out>;
  /** As `cluster.fork` gives it. */
  readonly worker: Worker;
}

/**
 * `cluster.fork()` of `node:cluster` with a port to the worker, which has the other end from `parentPort()` of `millrace/process`. The cluster is as ever: its settings
 * (`cluster.setupPrimary`), servers that workers share, `worker.send`, its events. What is posted before the worker is there waits; the port ends with the worker, as
 * that of `fork` does. A worker whose port is in use lives on behind `worker.disconnect()`, until one side closes that.
 * ```
 * if (cluster.isPrimary) {
 *   const { port, worker } = clusterFork();
 *   port.postMessage('hello');
 * } else parentPort().onmessage = ({ data }) => console.log(data);   // hello
 * ```
 * @throws UsageError ERR_OPTION; UnsupportedError in a worker; what `cluster.fork` throws; with `blocking` what `fork` throws
 */
export function clusterFork<In = unknown, Out = unknown>(options: ClusterForkOptions = {}): ForkedWorker<In, Out> {
  const choice = resolveChoice(PIPE, options, ['env']);
  const { env = {} } = options;
  if (typeof env !== 'object' || env === null) {
    throw new UsageError('ERR_OPTION', `Option env cannot be ${String(env)}: it takes an object`, {
      option: 'env',
      value: env,
    });
  }
  if (choice.blocking) {
    const { given: worker, stream } = ownCarrier().pair((fd) => startWorker(fd, env));
    return { worker, port: portTo(worker.process, stream, choice) as Port<In, Out> };
  }
  const worker = startWorker('pipe', env);
  return { worker, port: portTo(worker.process, pipeTo(worker.process), choice) as Port<In, Out> };
}
