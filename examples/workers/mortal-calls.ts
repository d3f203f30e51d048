// Answers calls until one of them ends it.

import { parentPort } from '../../src/index.ts';
import { expose } from '../../src/rpc/index.ts';

const mortal = {
  square: (n: number): number => n * n,
  forever: (): Promise<never> => new Promise(() => {}),
  compute(): void {
    for (;;);
  },
  exit(): void {
    process.exit(0);
  },
  fail(): void {
    setTimeout(() => {
      throw new RangeError('out of luck');
    });
  },
};
export type Mortal = typeof mortal;

expose(mortal, parentPort());
