// For memory.test.ts: opens and closes channels, and says how many mappings there are before and when the collector has been there.
import { readFileSync } from 'node:fs';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { fork, type Port, type PortLink, parentPort } from '../../src/process/index.ts';
import { collect } from '../kit/collect.ts';

const CHANNELS = 100;
const self = fileURLToPath(import.meta.url);

function mappings(): number {
  return readFileSync('/proc/self/maps', 'utf8').split('millrace').length;
}
/** The least that is left within a second or two; less than a fifth is enough. */
async function leftOver(): Promise<number> {
  let least = mappings();
  for (let i = 0; i < 20 && least >= CHANNELS / 5; i++) {
    collect();
    await sleep(50);
    least = Math.min(least, mappings());
  }
  return least;
}

if (process.argv[2] === 'child') {
  const port = parentPort();
  for await (const offer of (port.link as PortLink).channels) {
    const channel = offer.accept();
    channel.on('message', (value: unknown) => {
      channel.postMessage(value);
      if (value === CHANNELS - 1) void leftOver().then((left) => port.postMessage(left));
    });
  }
} else {
  const execArgv = process.versions['deno'] === undefined ? ['--expose-gc'] : ['run', '-A', '--v8-flags=--expose-gc'];
  const { port } = fork(self, { args: ['child'], child: process.versions['bun'] === undefined ? { execArgv } : {} });
  await port.ready;
  const there = port.receiveAsync();
  for (let i = 0; i < CHANNELS; i++) {
    const channel = (port.link as PortLink).channel(`c${i}`) as Port;
    channel.postMessage(i);
    await channel.receiveAsync();
    channel.close();
  }
  console.log(JSON.stringify({ way: port.stats().way?.name, here: await leftOver(), there: await there }));
  port.close();
}
