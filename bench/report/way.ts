// How the two ends of a contender waited, for comparing like with like. Results say it themselves since 2026-11-22; of
// older files, which stay as they were measured, it follows from label and subject.
import type { Result } from '../schema.ts';
import { WAIT_NAMES, WAITS, type Wait } from '../wait.ts';
import { kindOf } from './kind.ts';

/**
 * Scenarios that don't ask how anybody waits: instructions counted in one thread, workers and channels made; and `browsers`, where the
 * seed's own table has all ways in one.
 */
const WITHOUT_WAYS: ReadonlySet<string> = new Set(['shared-ipc', 'startup', 'workers-50', 'open', 'browsers']);

/** Subjects of older files whose worker stays in a call that reads; `:block` and `:polled` do so on both sides. */
const WORKER_BLOCKS: ReadonlySet<string> = new Set([
  'millrace-port:mixed',
  'millrace-ring',
  'millrace-sab',
  'millrace-sab:mw',
  'millrace-shared',
  'nxtedition-shared',
  'ringbuf',
  'sab-message-port',
  'sab-message-port:mw',
]);

/** Undefined for limits, which belong to every way, and where nobody waits. */
export function wayOf(result: Result, scenario: string): Wait | undefined {
  const { subject, label, wait } = result;
  if (kindOf(subject) === 'limit' || WITHOUT_WAYS.has(scenario)) return undefined;
  if (wait !== undefined) return wait;
  const named = WAITS.find((one) => label.endsWith(WAIT_NAMES[one]));
  if (named !== undefined) return named;
  if (/:(block|polled)$/.test(subject)) return 'block/block';
  return WORKER_BLOCKS.has(subject) ? 'loop/block' : 'loop/loop';
}
