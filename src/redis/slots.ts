// How a cluster of Redis has its keys and channels: each belongs to one of 16384 slots, by the CRC16 of its name, or of what stands in its first braces; each slot
// belongs to a node. https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/

import { UsageError } from '../errors.ts';
import { type Text, textOf } from './replies.ts';

export const SLOTS = 16384;

/** Where a node is. */
export interface Address {
  readonly host: string;
  readonly port: number;
}
export const addressText = ({ host, port }: Address): string => `${host}:${port}`;
export function addressOf(text: string): Address {
  const colon = text.lastIndexOf(':');
  return { host: text.slice(0, colon), port: Number(text.slice(colon + 1)) };
}

/** Where nodes are for this side, by where the cluster says that they are: as `nodeAddressMap` of `redis`, and `natMap` of `ioredis`. */
export type AddressMap = Readonly<Record<string, Address>> | ((address: string) => Address | null | undefined);
export function mapped(map: AddressMap | undefined, at: Address): Address {
  if (map === undefined) return at;
  const text = addressText(at);
  let cause: unknown;
  try {
    const { host, port } = (typeof map === 'function' ? map(text) : map[text]) ?? at;
    if (typeof host === 'string' && Number.isInteger(port)) return { host, port };
  } catch (thrown) {
    cause = thrown;
  }
  const why = `Option nodeAddressMap has no { host, port } for ${text}`;
  throw new UsageError('ERR_OPTION', why, { option: 'nodeAddressMap', cause });
}

/** CRC-16/XMODEM, by bytes. */
const CRC = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8;
  for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
  return crc & 0xffff;
});

/** @param name in ASCII, as all of ours are */
export function slotOf(name: string): number {
  const open = name.indexOf('{');
  const close = open < 0 ? -1 : name.indexOf('}', open + 1);
  const [from, to] = close > open + 1 ? [open + 1, close] : [0, name.length];
  let crc = 0;
  for (let i = from; i < to; i++) crc = ((crc << 8) & 0xffff) ^ (CRC[(crc >> 8) ^ name.charCodeAt(i)] as number);
  return crc % SLOTS;
}

/** Slots that one node has: from, to (inclusive). */
export interface Shard {
  readonly from: number;
  readonly to: number;
  readonly at: Address;
}

/**
 * What CLUSTER SLOTS says.
 * @param asked the host that was asked: a node may not know what it is called
 */
export function shardsOf(said: unknown, asked: string): Shard[] {
  return (said as [number, number, [Text | null, number]][]).map(([from, to, [name, port]]) => {
    const host = textOf(name ?? '');
    const known = host !== '' && host !== '?';
    return { from: Number(from), to: Number(to), at: { host: known ? host : asked, port: Number(port) } };
  });
}
