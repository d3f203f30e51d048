// Answers in capitals. Posts before both ends are connected, and waits for that before it blocks.

import { parentPort } from '../../src/index.ts';

const port = parentPort<string, string>();
await port.ready;
for (const value of port.blocking()) port.postMessage(value.toUpperCase());
