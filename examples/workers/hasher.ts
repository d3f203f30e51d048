// Hashes texts, tells how far it is, and stops in the middle when nobody waits any more.

import { createHash } from 'node:crypto';
import { parentPort } from '../../src/index.ts';
import { currentCall, expose } from '../../src/rpc/index.ts';

const CHUNK = 'x'.repeat(64 * 1024);

const hasher = {
  /** @param chunks of 64 KiB; @param told of each part of a hundred */
  async hash(chunks: number, told: (share: number) => unknown): Promise<string> {
    const call = currentCall();
    const hash = createHash('sha256');
    for (let i = 1; i <= chunks && !call.interrupted; i++) {
      hash.update(CHUNK);
      // Awaited: who is told is not told faster than it listens.
      if (i % Math.ceil(chunks / 100) === 0) await told(i / chunks);
    }
    if (call.interrupted) throw new Error('Nobody waits for this hash');
    return hash.digest('hex');
  },
};
export type Hasher = typeof hasher;

expose(hasher, parentPort());
