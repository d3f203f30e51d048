// A log that is written for as long as somebody reads it.

import { parentPort } from '../../src/index.ts';
import { expose } from '../../src/rpc/index.ts';

let written = 0;
let ended = false;

const logger = {
  async *follow(level: string): AsyncGenerator<{ line: number; level: string }> {
    try {
      for (;;) yield { line: ++written, level };
    } finally {
      ended = true;
    }
  },
  state: (): { written: number; ended: boolean } => ({ written, ended }),
};
export type Logger = typeof logger;

expose(logger, parentPort());
