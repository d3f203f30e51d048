// Sends back what it gets, blocking in between; native ports inside a message come back in order too.

import { parentPort } from '../../src/index.ts';
import { isNativePort } from './native-port.ts';

const port = parentPort();
for (const value of port.blocking()) {
  const moved: unknown[] = [];
  if (value instanceof ArrayBuffer) moved.push(value);
  if (isNativePort(value)) moved.push(value);
  port.postMessage(value, moved);
}
