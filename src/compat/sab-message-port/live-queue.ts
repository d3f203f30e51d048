// A queue with the documented limit: when it is exceeded the oldest messages go, after the callback has seen the
// queue itself and may have changed it.

/**
 * What a read returns: JSON, or null (or `[]`) for nothing there. `any`, so that code written for the original, which
 * has no types, compiles as it is.
 */
// biome-ignore lint/suspicious/noExplicitAny: see above
export type Received = any;

export type OverflowCallback = ((queue: unknown[]) => void) | null;

const LIMIT_TEXT = 'queueLimit must be null or a non-negative integer';

/** The value itself, if it may be a limit. */
function checkLimit(limit: number | null): number | null {
  if (limit === null || (Number.isInteger(limit) && limit >= 0)) return limit;
  throw new Error(LIMIT_TEXT);
}

/** Applies `limit` to `queue`; whether anything changed. */
export function trim(queue: unknown[], limit: number | null, overflow: OverflowCallback): boolean {
  if (limit === null || queue.length <= limit) return false;
  overflow?.(queue);
  if (queue.length > limit) queue.splice(0, queue.length - Math.max(0, limit));
  return true;
}

/** Something with a queue that is limited so. */
export abstract class Limited {
  protected limit: number | null;
  protected overflow: OverflowCallback = null;

  constructor(limit: number | null) {
    this.limit = limit;
  }

  get queueLimit(): number | null {
    return this.limit;
  }
  set queueLimit(limit: number | null) {
    this.limit = checkLimit(limit);
    this.applyLimit();
  }
  get onQueueOverflow(): OverflowCallback {
    return this.overflow;
  }
  set onQueueOverflow(callback: OverflowCallback) {
    this.overflow = callback ?? null;
  }

  protected abstract applyLimit(): void;
}
