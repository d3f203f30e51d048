// A value that Node clones for its sender and cannot read at its receiver. Of the other runtimes none does so.
import assert from 'node:assert/strict';
import { BlockList } from 'node:net';
import process from 'node:process';

/** Whether this is Node. */
export const hasUnreadable: boolean = process.versions['bun'] === undefined && process.versions['deno'] === undefined;

/** Node asks it how it is to be cloned; it names a class that its receiver does not have. */
export function unreadable(): unknown {
  const value = new BlockList();
  const [clone] = Object.getOwnPropertySymbols(BlockList.prototype).filter(({ description }) =>
    /messaging_clone/.test(description ?? ''),
  );
  assert.ok(clone !== undefined);
  const asks = { value: () => ({ data: {}, deserializeInfo: 'internal/nowhere:Nothing' }) };
  return Object.defineProperty(value, clone, asks);
}
