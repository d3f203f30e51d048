// What somebody threw, as text: it may be anything, and have accessors that throw, too.
import { QUEUE_WHY_MAX } from '../limits.ts';

/** Its message, or what it is as text, cut off where it is long. */
export function messageOf(thrown: unknown): string {
  return textOf(() => (thrown instanceof Error ? thrown.message : thrown), 'something that cannot be told');
}
export function nameOf(thrown: unknown): string {
  return textOf(() => (thrown instanceof Error ? thrown.name : 'Error'), 'Error');
}
function textOf(value: () => unknown, otherwise: string): string {
  try {
    return String(value()).slice(0, QUEUE_WHY_MAX);
  } catch {
    return otherwise;
  }
}
