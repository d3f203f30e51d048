// What stands in a transfer list, looked at before anything moves. Runtimes differ in what they have moved already when they
// refuse a list: Deno detaches the buffers in front of the entry that it does not like.
import { platform } from '#platform';
import { BUFFER, Classifier, HOST } from '../../codec/classify.ts';
import { UsageError } from '../../errors.ts';
import { isSharedMemory } from '../../memory/region.ts';
import { isMovingEnd, isMovingHandle } from './moving-end.ts';

const classifier = new Classifier();

/**
 * @param own the channel's own native ports, which must stay
 * @throws UsageError ERR_TRANSFER for what certainly does not move, or stands there twice; nothing has moved
 */
export function checkTransfer(transfer: readonly unknown[], own: readonly unknown[]): void {
  for (const item of transfer) {
    if (own.includes(item)) throw refused("the channel's own native port: leave it out of the transfer list");
    if (isSharedMemory(item)) throw refused('a SharedArrayBuffer: leave it out of the transfer list');
    if (!mayMove(item)) throw refused(`what stands in the list: ${nameOf(item)} does not move`);
    if (isDetached(item)) throw refused('what stands in the list: an ArrayBuffer in it has moved already');
  }
  const moving =
    transfer.length > 1 ? new Set(transfer.map((item) => (isMovingEnd(item) ? item.port : item))) : undefined;
  if (moving !== undefined && moving.size < transfer.length) throw refused('the same object twice');
}

/** Whether a failed post has moved a buffer of its list all the same. */
export function movedAnyway(transfer: readonly unknown[]): boolean {
  return transfer.some(isDetached);
}

/** Whether this is a buffer, a native port, or something of the runtime's that only the runtime knows. */
function mayMove(item: unknown): boolean {
  if (typeof item !== 'object' || item === null) return false;
  if (item instanceof ArrayBuffer || platform.isNativePort(item)) return true;
  if (isMovingEnd(item) || isMovingHandle(item)) return true;
  if (Array.isArray(item) || ArrayBuffer.isView(item)) return false;
  const prototype: unknown = Object.getPrototypeOf(item);
  if (typeof prototype !== 'object' || prototype === null) return false;
  const kind = classifier.kindOf(item, prototype);
  return kind === BUFFER || kind === HOST;
}

function isDetached(item: unknown): boolean {
  if (!(item instanceof ArrayBuffer) || item.byteLength > 0) return false;
  try {
    // `detached` would say so, where there is one: not on Node 20.
    return new Uint8Array(item).length > 0;
  } catch {
    return true;
  }
}

function nameOf(item: unknown): string {
  if (typeof item !== 'object' || item === null) return typeof item === 'string' ? 'a string' : String(item);
  const { name } = (item as { constructor?: { name?: unknown } }).constructor ?? {};
  return typeof name === 'string' && name !== '' ? `an object of class ${name}` : 'an object';
}

function refused(what: string): UsageError {
  return new UsageError('ERR_TRANSFER', `Cannot transfer ${what}`);
}
