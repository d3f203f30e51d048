// The native side of the live table: echoes, or counts and answers when told.
import { parentPort } from 'node:worker_threads';

let count = 0;
parentPort?.on('message', (message: { readonly count?: boolean; readonly last?: boolean }) => {
  if (message.count !== true) parentPort?.postMessage(message);
  else {
    count++;
    if (message.last === true) parentPort?.postMessage(count);
  }
});
