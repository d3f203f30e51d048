// Clones a value now that is to be posted later, and says why one cannot be.
import { platform } from '#platform';
import { DataCloneError } from '../../errors.ts';
import type { HeldValue } from '../../lane/beside.ts';
import { lacksTransfer } from '../../memory/handle.ts';
import { movedAnyway } from './transfer-list.ts';

/**
 * Clones a value with what moves along, which has been checked. It moves now.
 * @throws DataCloneError; nothing was moved (but see `refusal`)
 */
export function cloneForLater(value: unknown, transfer: readonly unknown[]): HeldValue {
  if (typeof value === 'string' && transfer.length === 0) return { value, transfer };
  try {
    const [held, moved] = platform.cloneMoving([value, transfer], transfer) as [unknown, readonly unknown[]];
    return { value: held, transfer: moved };
  } catch (cause) {
    throw refusal(value, transfer, cause);
  }
}

/**
 * The list was in order, so it is the value. Deno has moved the buffers by then: nothing brings them back, and only a
 * second clone of every value beforehand would spare them.
 */
export function refusal(value: unknown, transfer: readonly unknown[], cause: unknown): DataCloneError {
  const text = lacksTransfer(value, transfer)
    ? 'pass `remote.transfer`, or `transferOf(remote)` for one that arrived, as transfer list when you post `remote`'
    : cause instanceof Error
      ? cause.message
      : String(cause);
  const lost = movedAnyway(transfer) ? '; this runtime has detached the buffers of its transfer list all the same' : '';
  return new DataCloneError(`Cannot clone the value: ${text}${lost}`, '$', cause);
}
