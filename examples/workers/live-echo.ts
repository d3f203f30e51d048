// Our side of the live table: echoes, or counts and answers when told.
import { parentPort } from '../../src/index.ts';

const port = parentPort<{ readonly count?: boolean; readonly last?: boolean }>();
let count = 0;
for (const message of port.blocking()) {
  if (message.count !== true) port.postMessage(message);
  else {
    count++;
    if (message.last === true) port.postMessage(count);
  }
}
