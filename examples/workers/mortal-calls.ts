// Answers calls until one of them ends it.

import { parentPort } from '../../src/index.ts';
import { expose } from '../../src/rpc/index.ts';

const mortal = {
  square: (n: number): number => n * n,
  exit: (): never => process.exit(0),
  fail(): Promise<never> {
    setTimeout(() => {
      throw new RangeError('out of luck');
    });
    return new Promise(() => {});
  },
  compute(): never {
    for (;;);
  },
};
export type Mortal = typeof mortal;

expose(mortal, parentPort());
