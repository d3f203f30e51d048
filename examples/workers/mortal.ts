// Ends in the way it is told, while the other side waits for it.
import { CLOSED, parentPort } from '../../src/index.ts';

const port = parentPort<string>();
const how = port.receive();
if (how !== CLOSED) port.postMessage(`going to ${how}`);
if (how === 'exit') process.exit(3);
if (how === 'throw') throw new Error('thrown on purpose by an example');
if (how === 'close') port.close();
// Busy for ever: only terminate() ends it.
if (how === 'compute') for (;;);
// "return" simply ends.
