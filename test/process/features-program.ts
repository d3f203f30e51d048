// Says by what it could go, and by what it goes. Argument: where to listen.
import process from 'node:process';
import { connect, features, listen } from '../../src/process/index.ts';

const server = await listen(process.argv[2] as string);
const port = await connect(server.address);
const { processWay } = features();
console.log(JSON.stringify({ processWay, taken: port.link?.way }));
port.close();
await server.close();
