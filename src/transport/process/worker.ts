// A worker of node:cluster with one pipe more, beside the channel that the cluster gives it.
import type { Cluster, Worker } from 'node:cluster';
import { UnsupportedError } from '../../errors.ts';
import { builtin } from '../../platform/builtins.ts';
import { parentIs } from './child.ts';

export type { Worker };

type Stdio = readonly unknown[] | 'inherit' | 'ignore' | 'pipe';

/**
 * `cluster.fork`, with the cluster's settings, which are as before when this returns.
 * @param pipe its end of the pipe: one to be made, or a descriptor of this process
 * @throws UnsupportedError in a worker; what `cluster.fork` throws
 */
export function startWorker(pipe: 'pipe' | number, given: Readonly<Record<string, unknown>>): Worker {
  // Its types are those of a module; it is the object that such a module has as its default.
  const cluster = builtin('node:cluster') as unknown as Cluster;
  if (!cluster.isPrimary) {
    throw new UnsupportedError(
      'Cannot fork a worker of the cluster here: this process is one itself; `fork` starts a child of its own',
    );
  }
  const { stdio, silent } = cluster.settings as { readonly stdio?: Stdio; readonly silent?: boolean };
  const each = typeof stdio === 'string' ? stdio : silent === true ? 'pipe' : 'inherit';
  const first = typeof stdio === 'object' ? stdio : [each, each, each, 'ipc'];
  cluster.setupPrimary({ stdio: [...first, pipe] as 'pipe'[] });
  try {
    return cluster.fork({ ...given, ...parentIs(first.length) });
  } finally {
    cluster.setupPrimary({ stdio: stdio as 'pipe'[] | undefined });
  }
}
