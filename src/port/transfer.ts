// What moves with a message instead of being cloned: a list, or an options object that has one, as with a native port.
import { UsageError } from '../errors.ts';
import { PortEvents } from './port-events.ts';

export type Transfer = readonly unknown[] | { readonly transfer?: readonly unknown[] | undefined };

const NO_TRANSFER: readonly unknown[] = [];

/** @throws UsageError ERR_TRANSFER if it is no list, or a port of ours is in it */
export function transferList(transfer: Transfer | undefined): readonly unknown[] {
  if (transfer === undefined || transfer === null) return NO_TRANSFER;
  const list = Array.isArray(transfer)
    ? transfer
    : ((transfer as { transfer?: readonly unknown[] }).transfer ?? NO_TRANSFER);
  if (typeof transfer !== 'object' || !Array.isArray(list)) {
    throw new UsageError('ERR_TRANSFER', 'Cannot transfer: the transfer list must be an array');
  }
  for (const item of list) {
    if (item instanceof PortEvents) {
      throw new UsageError('ERR_TRANSFER', 'Cannot transfer a Port: send a `remote` of a new channel instead');
    }
  }
  return list;
}
