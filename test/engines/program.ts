// A process at the other end of a server: it connects by a name and answers, until it is killed.
import process from 'node:process';
import { openByUrl } from './open-by-url.ts';

const [kind, url, name] = process.argv.slice(2) as [string, string, string];
const engine = await openByUrl(kind, url);
const port = await engine.connect(name);
for await (const value of port) port.postMessage({ back: value });
await engine.close();
