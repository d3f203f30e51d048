// Options of pools, taken apart once.
import { platform } from '#platform';
import type { ClosedError } from '../../errors.ts';
import {
  POOL_CONCURRENCY_MAX,
  POOL_GRACE_MS_DEFAULT,
  POOL_IDLE_MS_DEFAULT,
  POOL_QUEUE_DEFAULT,
  POOL_RESTART_MS_DEFAULT,
  POOL_RESTART_TRIES_DEFAULT,
  POOL_SIZE_MAX,
  START_TIMEOUT_MS_DEFAULT,
} from '../../limits.ts';
import { checkNames } from '../../port/options.ts';
import { handler, time, whole } from '../options.ts';

/** What becomes of members that end by themselves. */
export interface RestartOptions {
  /** Members in a row that end before they have done anything, until the pool ends with what the last one died of; default 5. */
  readonly tries?: number | undefined;
  /** Milliseconds before the second of them is started, and twice as many each time, up to 10 seconds; default 50. */
  readonly delayMs?: number | undefined;
}

export interface PoolOptions {
  /** Members at the most; default: as many as can run at the same time. They are started as they are needed. */
  readonly size?: number | undefined;
  /** Members that are there from the beginning, and stay; default 0. */
  readonly min?: number | undefined;
  /** Tasks that wait for a member, at the most; what is called beyond them is refused (ERR_QUEUE_FULL). Default 16,384. */
  readonly queue?: number | undefined;
  /** Tasks that a member runs at once; default 1. More is for tasks that wait more than they compute. */
  readonly concurrency?: number | undefined;
  /** Milliseconds without a task after which a member beyond `min` ends; default 60,000. It may take up to twice as long. Infinity: never. */
  readonly idleMs?: number | undefined;
  /** Milliseconds that an aborted task may run on before its member is terminated; default 1000. Infinity: for ever. */
  readonly graceMs?: number | undefined;
  /** Milliseconds that a member may take until it exposes something; default 30,000. */
  readonly startTimeoutMs?: number | undefined;
  readonly restart?: RestartOptions | undefined;
  /** Is told of each member that has ended by itself: `error.reason` says how, `error.cause` of what. */
  readonly onCrash?: ((error: ClosedError) => void) | undefined;
}

export interface ResolvedPool {
  readonly size: number;
  readonly min: number;
  readonly queue: number;
  readonly concurrency: number;
  readonly idleMs: number;
  readonly graceMs: number;
  readonly startTimeoutMs: number;
  readonly tries: number;
  readonly delayMs: number;
  readonly onCrash: ((error: ClosedError) => void) | undefined;
}

const POOL_OPTIONS = 'size min queue concurrency idleMs graceMs startTimeoutMs restart onCrash'.split(' ');

/** @throws UsageError ERR_OPTION */
export function resolvePool(options: PoolOptions): ResolvedPool {
  checkNames(options, POOL_OPTIONS);
  const { restart = {}, onCrash } = options;
  checkNames(restart, ['tries', 'delayMs']);
  const size = whole('size', options.size, Math.max(1, platform.parallelism), 1, POOL_SIZE_MAX);
  return {
    size,
    min: whole('min', options.min, 0, 0, size),
    queue: whole('queue', options.queue, POOL_QUEUE_DEFAULT, 0, Number.MAX_SAFE_INTEGER),
    concurrency: whole('concurrency', options.concurrency, 1, 1, POOL_CONCURRENCY_MAX),
    idleMs: time('idleMs', options.idleMs, POOL_IDLE_MS_DEFAULT),
    graceMs: time('graceMs', options.graceMs, POOL_GRACE_MS_DEFAULT),
    startTimeoutMs: time('startTimeoutMs', options.startTimeoutMs, START_TIMEOUT_MS_DEFAULT),
    tries: whole('restart.tries', restart.tries, POOL_RESTART_TRIES_DEFAULT, 1, Number.MAX_SAFE_INTEGER),
    delayMs: time('restart.delayMs', restart.delayMs, POOL_RESTART_MS_DEFAULT),
    onCrash: handler('onCrash', onCrash),
  };
}
