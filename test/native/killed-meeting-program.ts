// Connects or listens, with memory, says something, hears it back and closes; killed by its own hand in the middle of call number `nth` of the system's.
// Arguments: role, address, nth. Says how many calls it made where it lives to tell.
import process from 'node:process';
import { connect, listen, type Port } from '../../src/process/index.ts';
import { native } from '../kit/native.ts';

const [role, address = '', nth] = process.argv.slice(2);

const calls = native as unknown as Record<string, (...values: unknown[]) => unknown>;
let count = 0;
for (const [name, call] of Object.entries(calls)) {
  calls[name] = (...values) => {
    const answer = call(...values);
    // What the call was for has happened, and nobody has been told.
    if (++count === Number(nth)) process.kill(process.pid, 'SIGKILL');
    return answer;
  };
}

const server = role === 'listens' ? await listen(address) : undefined;
const port =
  server === undefined ? await connect(address) : ((await server[Symbol.asyncIterator]().next()).value as Port);
port.postMessage(port.stats().way?.name);
await port.receiveAsync();
port.close();
await server?.close();
console.log(count);
