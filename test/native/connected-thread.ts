// A thread that connects by memory, says so, and stays until it is ended.
import { workerData } from 'node:worker_threads';
import { connect } from '../../src/process/index.ts';

const port = await connect(workerData as string);
await port.ready;
port.postMessage(port.link?.way?.name);
await port.receiveAsync();
