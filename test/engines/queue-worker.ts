// A process that works at a queue, and says what it has done, until it is killed.
import { writeSync } from 'node:fs';
import process from 'node:process';
import { openByUrl } from './open-by-url.ts';

const [kind, url, name] = process.argv.slice(2) as [string, string, string];
const engine = await openByUrl(kind, url);
const queue = await engine.queue<number>(name, { ackMs: 1000 });
queue.work(
  async (value) => {
    await new Promise((resolve) => setTimeout(resolve, 2));
    writeSync(1, `${value}\n`);
  },
  { concurrency: 4, maxAttempts: 100 },
);
