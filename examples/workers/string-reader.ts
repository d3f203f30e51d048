// Looks at one character of every string it gets, so that none can be put off; answers null with what it saw.
import { parentPort } from '../../src/index.ts';

const port = parentPort<unknown, number>();
let seen = 0;

function look(value: unknown): void {
  if (typeof value === 'string') seen += value.charCodeAt(value.length - 1);
  else if (typeof value === 'object' && value !== null) for (const part of Object.values(value)) look(part);
}

for (const value of port.blocking()) {
  look(value);
  if (value === null) port.postMessage(seen);
}
