// A process that answers through a hub, wherever that is, and does nothing else; it ends when it is asked to.
import process from 'node:process';
import { openByUrl } from './open-by-url.ts';

const [url] = process.argv.slice(2) as [string];
const engine = await openByUrl('hub', url);
await engine.serve('member', (what) => {
  if (what === 'leave') setTimeout(() => void engine.close(), 10);
  return process.pid;
});
