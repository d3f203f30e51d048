// A worker of policies.ts that blocks, and says what it was sent.
import { parentPort } from '../../../src/index.ts';

const port = parentPort();
await port.ready;
for (const value of port.blocking()) port.postMessage(value);
